/// A playback PCM without hardware, in a time of its own, that fails when told to.
///
/// It is an external I/O plug-in of ALSA, whose interface is one of C. All of it belongs to one thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// What the device can do, as it tells when it is opened. Lists end with their count.
typedef struct {
  unsigned rates[8];
  unsigned rateCount;
  unsigned channelCounts[8];
  unsigned channelCountCount;
  /// Bits of cfp_encoding.
  unsigned encodings;
  bool hasReadWrite;
  bool hasMemoryMap;
  unsigned leastPeriodLength, greatestPeriodLength;
  unsigned greatestBufferLength;
  /// Parts in a million by which the device is faster than its rate.
  int drift;
  /// Whether it has the name of a stream of a sound server.
  bool isServerStream;
} cfp_abilities;

enum cfp_encoding { CFP_FLOAT = 1, CFP_S32 = 2, CFP_S24 = 4, CFP_S24_3 = 8, CFP_S16 = 16 };

/// States, as the device has them.
enum cfp_state { CFP_CLOSED, CFP_READY, CFP_RUNNING, CFP_DRY, CFP_SUSPENDED, CFP_GONE, CFP_UNSET };

/// Takes frames as they are heard: those from a moment in nanoseconds on, without a gap between them.
typedef void (*cfp_listener)(
    void *context, int64_t time, const float *samples, unsigned frameCount, unsigned channelCount);

/// Calls of the library.
enum cfp_call {
  CFP_CALL_START, CFP_CALL_STOP, CFP_CALL_POINTER, CFP_CALL_TRANSFER, CFP_CALL_PREPARE, CFP_CALL_RESUME, CFP_CALL_DELAY
};

/// Is told of every call as it begins, and may let time go by.
typedef void (*cfp_visitor)(void *context, enum cfp_call call);

typedef struct cfp_device cfp_device;

/// A device at time 0, never opened.
cfp_device *cfp_create(cfp_listener listener, cfp_visitor visitor, void *context);
/// Frees a device that is closed.
void cfp_destroy(cfp_device *device);

/// What it will offer when it is opened the next time.
void cfp_set_abilities(cfp_device *device, cfp_abilities abilities);
/// Makes a PCM of it: 0, or an error below zero. The PCM is a snd_pcm_t.
int cfp_open(cfp_device *device, void **pcm);
/// Frames it has taken in all, and frames it has played.
int64_t cfp_get_taken(const cfp_device *device);
int64_t cfp_get_heard(const cfp_device *device);

/// Plays on until a moment in nanoseconds; the moment never goes back.
void cfp_advance(cfp_device *device, int64_t time);
/// The next moment at which something happens by itself, INT64_MAX for never.
int64_t cfp_next_event(const cfp_device *device);

/// Runs dry at once: what is queued is never heard.
void cfp_run_dry(cfp_device *device);
/// Falls asleep; it goes on with what is queued where it can resume, and else has to be prepared.
void cfp_suspend(cfp_device *device, bool canResume);
/// Goes away: every call fails, what is queued is never heard.
void cfp_disconnect(cfp_device *device);
/// Holds still without a word, or plays on.
void cfp_stall(cfp_device *device, bool isStalled);
/// Takes at most this many frames at a time in the next transfers.
void cfp_limit_transfers(cfp_device *device, unsigned frameCount, unsigned transferCount);
/// Fails the next calls with an error below zero: transfers, starts, or preparations.
void cfp_fail_transfers(cfp_device *device, int error, unsigned count);
void cfp_fail_starts(cfp_device *device, int error, unsigned count);
void cfp_fail_preparations(cfp_device *device, int error, unsigned count);
/// Adds to the delay it tells.
void cfp_add_delay(cfp_device *device, long frameCount);
/// Passes over frames that are queued, which nobody hears.
void cfp_skip(cfp_device *device, long frameCount);
/* Drops the next frames as it takes them, at once. */
void cfp_swallow(cfp_device *device, long frameCount);
/// Claims to have taken so many frames more than it was given, in the next transfer.
void cfp_exceed(cfp_device *device, long frameCount);
/// Is in the state of a PCM that was never set up, and lost what was queued.
void cfp_unset(cfp_device *device);
/// Says it is ready at every wait, whether it is or not.
void cfp_cry_wolf(cfp_device *device, bool isReady);

/* How the device tells its pointer: as it is; at random between what was played and taken; as if all that was
 * taken had been played; in steps of so many frames; so many frames back. */
enum cfp_pointer { CFP_TRUE, CFP_RANDOM, CFP_FULL, CFP_STEPS, CFP_BACK };
void cfp_lie(cfp_device *device, enum cfp_pointer pointer, unsigned step);
