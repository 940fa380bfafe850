/// Pads of the kernel's module uinput, whose requests are calls of ioctl(2) with a varying number of arguments.
#pragma once

#include <linux/uinput.h>

/// Makes a pad with buttons, axes and force feedback on an open /dev/uinput; 0, or -1 and errno.
int cuinput_make_pad(int descriptor, const char *name, unsigned short vendor, unsigned short product);

/// Makes a pad with the buttons, axes and ids of another, which is open and is grabbed; 0, or -1 and errno.
int cuinput_copy_pad(int descriptor, int original);

/// An effect in the kernel's units: milliseconds, and parts of 15 or 16 bits.
struct cuinput_effect {
  int type, id;
  /// Both motors of a rumble, both ends of a ramp, or one level.
  int first, second;
  int period, length, delay;
  int attack_length, attack_level, fade_length, fade_level;
};

/// Begins to answer an upload, for which a game waits; 0, or -1 and errno.
int cuinput_begin_upload(int descriptor, unsigned request, struct cuinput_effect *effect);

/// Answers it: 0, or an error below 0.
int cuinput_end_upload(int descriptor, unsigned request, int result);

/// Answers the end of an effect; its number, or -1 and errno.
int cuinput_erase(int descriptor, unsigned request);
