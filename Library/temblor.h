// Temblor: haptic patterns as sound.
//
// The library reads, checks, changes, converts, and renders haptic patterns, and plays them on devices.
//
//   temblor *host = temblor_create();
//   if (!temblor_open(host, 0, "knock.ahap", 10, content, length))
//     fprintf(stderr, "%.*s", (int)temblor_output_length(host), (const char *)temblor_output(host));
//   int32_t frames = temblor_render(host, 0, 0, 48000);
//   const float *samples = temblor_samples(host);
//   temblor_release(host);
//
// HOSTS AND THREADS
//
// A host has all state: patterns in slots, profiles, sound files, live sound, and one device. The library has no other
// state. A host may be used by one thread at a time. Several hosts may be used by several threads at the same time, and
// each may have its own device. A child of a fork must not use the hosts of its parent.
//
// Only temblor_session_open, temblor_session_close, and temblor_release wait, and only for a device. temblor_run and
// temblor_program wait as the program does.
//
// ARGUMENTS
//
// Texts are UTF-8, given by address and number of bytes, without a zero byte at the end. The library copies them before
// a call returns. An address may be NULL if the length is 0. Times are in seconds. A frame is one sample of each
// channel. Sample rates are in frames per second. A slot is a number from 0 to 65535. A profile is its position in the
// report "profiles", counted from 0.
//
// The library checks each number and each length, and no value ends the process: a call with a value outside the range
// below fails. The library cannot check addresses: memory must be readable for its length. A call with the host NULL
// fails and does nothing.
//
// RESULTS AND ERRORS
//
// Each function states its result for a failure: 0, unless it says otherwise. After a call, temblor_status tells a
// failure from a result that is 0 or empty. The output of a failed call is its own reason, as a JSON object on one line
// with the keys of Library/reports.schema.json#/$defs/finding:
//
//   {"severity":"error","rule":"argument","message":"there is no profile 999","hint":"use 0 to 27","file":"","place":""}
//
// "line" and "column" count from 1 and exist only for errors in a text. "hint" exists only if there is a remedy. The
// wording of messages may change at any time; programs decide by the status and by "rule".
//
// The output of a successful call is the result that the function describes, or empty. It is valid until the next call
// with the same host. The functions of live sound change the output only if they fail, so a successful call of theirs
// neither allocates nor frees memory, except as described below.
//
// COMPATIBILITY
//
// - The library is libtemblor.so.0. As long as the number after ".so." stays the same, a program runs with each later
//   version: no function is removed, and none changes its arguments, its results, or the meaning of a value.
// - A new function, status, report, or key of a JSON object may appear in any version. Ignore what you do not know.
// - The functions have the symbol version TEMBLOR_0, so a program that needs a newer library does not start with an
//   older one.
// - Rendered samples are the same on all processors, and in all versions with the same rendering model. The changelog
//   announces each new model.
// - Plans (temblor_plan) are valid only in the same build of the library.
#ifndef TEMBLOR_H
#define TEMBLOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// VERSION

// The version of this header.
#define TEMBLOR_VERSION_MAJOR 0
#define TEMBLOR_VERSION_MINOR 4
#define TEMBLOR_VERSION_PATCH 0
#define TEMBLOR_VERSION "0.4.0"

// Returns the version of the library at run time, such as "0.4.0". The text is valid as long as the process.
const char *temblor_version(void);

// HOSTS

typedef struct temblor temblor;

// Creates a host with the shipped profiles and three empty slots. Free it with temblor_release.
temblor *temblor_create(void);

// Frees a host. An open device fades out first. The pointers that the host returned become invalid. NULL is allowed.
void temblor_release(temblor *host);

// The status of a call.
enum {
  // The call succeeded.
  TEMBLOR_OK = 0,
  // A number, length, name, or address is outside its documented range.
  TEMBLOR_INVALID_ARGUMENT = 1,
  // A pattern, sound, profile, or change cannot be used.
  TEMBLOR_INVALID_INPUT = 2,
  // The call is valid only after another one: no device is open, nothing can be undone, or a playback has ended.
  TEMBLOR_INVALID_STATE = 3,
  // A device cannot be opened, or cannot play.
  TEMBLOR_DEVICE_FAILURE = 4
};

// Returns the status of the last call with this host. Calls of temblor_status, temblor_output, temblor_output_length,
// and temblor_samples do not count.
int32_t temblor_status(temblor *host);

// Returns the output of the last call: its result, or the reason of its failure. Valid until the next call.
const uint8_t *temblor_output(temblor *host);

// Returns the number of bytes of the output.
int32_t temblor_output_length(temblor *host);

// Returns the samples of the last call of temblor_render, from -1 to 1. Valid until the next call of temblor_render.
const float *temblor_samples(temblor *host);

// PATTERNS

// Reads a file of any supported format into a slot, and clears the undo history of the slot.
//
//   name     The name of the file. Messages contain it, and its extension selects the format if the content fits several.
//   content  The bytes of the file.
//
// Returns 1, or 0 if the file cannot be used. After a failure the slot has the new text, which "check" reports on, and
// renders and plays the last pattern that could be used.
int32_t temblor_open(temblor *host, int32_t slot, const char *name, int32_t name_length, const void *content,
                     int32_t length);

// Replaces the text of a slot by an AHAP text, as an undo step. Returns 1, or 0 if the text cannot be used.
int32_t temblor_replace(temblor *host, int32_t slot, const void *text, int32_t length);

// Applies changes to the text of a slot, all of them or none. The rest of the text stays as it is, byte for byte.
//
//   changes  A JSON array as in Library/changes.schema.json, for example
//            [{"set": "events[3].time", "to": 1.25}, {"remove": "curves[0].points[2]"}, {"duplicate": "events[3]"},
//             {"add": {"Event": {...}}, "after": "events[3]"}, {"addPoint": {"time": 0.2, "value": 0.5}, "to": "curves[0]"}]
//
// Returns 1, or 0 if a change cannot be applied.
int32_t temblor_change(temblor *host, int32_t slot, const char *changes, int32_t length);

// Begins an undo step with a name. All changes until the next call of this function form one step. Returns 1, or 0.
int32_t temblor_begin(temblor *host, int32_t slot, const char *label, int32_t length);

// Undoes the last step, or redoes it if `forward` is not 0. Returns 1, or 0 if there is no step.
int32_t temblor_step(temblor *host, int32_t slot, int32_t forward);

// Makes a report the output. Library/reports.schema.json describes the JSON of each report.
//
//   name     "text"      the current AHAP text of the slot
//            "original"  the text of the slot when it was opened
//            "history"   the names of the next undo and redo steps, as JSON
//            "lines"     the numbers of the lines that differ from the original, as JSON
//            "score"     the events with their effective controls, the curves, and the parameters, as JSON
//            "origin"    the format of the opened file and the losses of its conversion, as JSON
//            "parts"     the clips of the opened file, or its patterns at different body locations, as JSON
//            "check"     the findings of `temblor check` for the profile, as JSON
//            "losses"    the losses of the last temblor_save, as JSON
//            "formats"   the formats that can be read and written, as JSON
//            "profiles"  the profiles, as JSON
//   slot     Not used by the last three.
//   profile  Used by "check" only.
//
// Returns the number of bytes of the output.
int32_t temblor_report(temblor *host, const char *name, int32_t length, int32_t slot, int32_t profile);

// Makes the bytes of a part of the text the output. A path is, for example, "events[3]". Returns the number of bytes.
int32_t temblor_part(temblor *host, int32_t slot, const char *path, int32_t length);

// Writes the pattern of a slot in another format, as one file, and makes it the output.
//
//   format  An "id" of the report "formats" with "writes": true.
//
// Returns the number of bytes. The report "losses" then lists everything that the format cannot express.
int32_t temblor_save(temblor *host, int32_t slot, const char *format, int32_t length);

// SOUND

// Returns the frequency in hertz at which a profile plays a sharpness, which is limited to 0 to 1. Returns NaN for an
// unknown profile or a sharpness that is not finite.
double temblor_hertz(temblor *host, int32_t profile, double sharpness);

// Adds the samples of a sound file, for patterns that play it.
//
//   name      The path of the file in the pattern.
//   samples   The samples, with the channels interleaved.
//   count     The number of samples of all channels together: a multiple of `channels`.
//   channels  1 to 64. The first two are played.
//   rate      500 to 1000000.
//
// Returns 1, or 0.
int32_t temblor_sound(temblor *host, const char *name, int32_t name_length, const float *samples, int32_t count,
                      int32_t channels, double rate);

// Creates a pattern from a sound of at most an hour, and opens it in a slot as an AHAP file.
//
//   name     The name of the new file.
//   samples  As for temblor_sound.
//   profile  The profile of the transducer that was recorded, or for which the pattern is intended.
//
// Returns 1, or 0.
int32_t temblor_trace(temblor *host, int32_t slot, const char *name, int32_t name_length, const float *samples,
                      int32_t count, int32_t channels, double rate, int32_t profile);

// Adds a profile from the JSON text of its file. Returns its number, or -1.
int32_t temblor_add_profile(temblor *host, const char *content, int32_t length);

// Renders a slot on one channel, with the trailing silence in which the transducer comes to rest.
//
//   rate  8000 to 192000.
//
// Returns the number of samples at temblor_samples, at most 268435456. They equal those of
// `temblor render --sample-format float`, bit for bit. Events whose sound file was not added are omitted.
int32_t temblor_render(temblor *host, int32_t slot, int32_t profile, double rate);

// Makes a rendering the output, as a WAV file of 32-bit floats. Returns the number of bytes.
int32_t temblor_wav(temblor *host, int32_t slot, int32_t profile, double rate);

// Makes a spectrogram of the last rendering the output: decibels of full scale as floats, column by column, with the
// rows from 0 Hz up.
//
//   columns     1 to 8192.
//   rows        1 to 1024.
//   start, end  From -86400 to 86400. Outside the rendering there is silence.
//
// Returns the number of bytes; 0 if the range is empty.
int32_t temblor_spectrogram(temblor *host, int32_t columns, int32_t rows, double start, double end);

// Makes the minimum and the maximum acceleration of the transducer in each column the output, as pairs of floats. A
// full-scale sine at resonance has the amplitude 1.
//
//   columns  1 to 8192.
//
// Returns the number of bytes. Fails for a profile without a model of its transducer.
int32_t temblor_felt(temblor *host, int32_t slot, int32_t profile, int32_t columns);

// LIVE SOUND
//
// Live sound renders slots 0 and 1 in blocks, synchronized, for a program with its own audio thread. One of them is
// heard. The functions of this section, except temblor_plan, may be called between two blocks on the audio thread.

// Compiles a slot, and makes the plan the output, for temblor_live_plan in another host of the same build. Returns the
// number of bytes.
int32_t temblor_plan(temblor *host, int32_t slot, int32_t profile, double rate);

// Allocates memory for the bytes of a plan, which no other call uses. It can be filled over several blocks.
//
//   length  0 to 536870912.
//
// Returns the address, or NULL.
uint8_t *temblor_live_plan_input(temblor *host, int32_t length);

// Plays the plan that was copied to that memory, from the position of the previous plan of the slot, with a crossfade.
// The bytes must be the unchanged output of temblor_plan. Allocates memory for the voices of the plan.
//
//   slot    0 or 1.
//   length  The number of bytes of the plan.
//
// Returns 1, or 0 if the bytes are no plan of this build, or have another sample rate.
int32_t temblor_live_plan(temblor *host, int32_t slot, int32_t length, int32_t profile);

// Starts live sound at a sample rate of 8000 to 192000. Returns 1; or 0, and live sound is off.
int32_t temblor_live_start(temblor *host, double rate);

// Reads an AHAP text into slot 0 or 1 and plays it from the position of the previous pattern, with a crossfade. Allocates
// memory. Returns 1, or 0 if the text cannot be used.
int32_t temblor_live_load(temblor *host, int32_t slot, const void *text, int32_t length, int32_t profile);

// Plays both slots from a frame (0 or later), or stops them. Returns 1, or 0.
int32_t temblor_live_play(temblor *host, int32_t is_playing, int32_t frame);

// Repeats the frames from `start` to `end`, or to the end of the longer pattern if `end` is 0; or plays to the end once.
// Returns 1, or 0.
int32_t temblor_live_loop(temblor *host, int32_t is_looping, int32_t start, int32_t end);

// Selects the slot that is heard: 0 or 1. Returns 1, or 0.
int32_t temblor_live_hear(temblor *host, int32_t slot);

// Sets a control: 0 for the factor of intensity, from 0 to 1, or 1 for the addition to sharpness, from -1 to 1. Values
// outside the range are limited to it. Returns 1, or 0 for another control or a value that is not finite.
int32_t temblor_live_control(temblor *host, int32_t control, double value);

// Renders the next frames: 0 to 4096. Frees the memory of plans that were replaced.
//
// Returns the samples, which are valid until the next call. The address is never NULL: after a failure it is that of
// 4096 frames of silence.
const float *temblor_live_render(temblor *host, int32_t count);

// Returns the next frame of the pattern that is heard.
int32_t temblor_live_position(temblor *host);

// Returns 1 while the pattern that is heard is playing, else 0.
int32_t temblor_live_phase(temblor *host);

// SESSIONS
//
// A session is an open device with a clock of frames that starts at 0. A host has at most one. To play on two devices,
// use two hosts.

// Opens a device, and plays on all of its channels.
//
//   device    A name as for `temblor --device`: "default", "plughw:CARD=Device", "wav:FILE", or "null:".
//   profile   The profile of the transducer, whose limits protect it.
//   rate      8000 to 192000. The device uses the nearest rate that it supports.
//   strength  0 to 1, a factor for everything.
//
// Returns 1; or 0 if the device cannot be opened, or if the host has an open device.
int32_t temblor_session_open(temblor *host, const char *device, int32_t length, int32_t profile, double rate,
                             double strength);

// Plays a slot from a frame of the session, or immediately if the frame is negative or has passed. At most 2^53.
//
// Returns the number of the playback, or -1.
int32_t temblor_session_play(temblor *host, int32_t slot, int32_t profile, int64_t frame);

// Moves a control of a playback.
//
//   play     A number that temblor_session_play returned.
//   control  0 for the factor of intensity, from 0 to 1; 1 for the addition to sharpness, from -1 to 1; 2 for the gain,
//            from 0 to 1000; 3 to stop, which fades out in 2 ms and does not use `value`.
//   value    The new value.
//   seconds  The duration of the change, from 0 to 86400.
//   frame    The frame of the session at which the change begins, as for temblor_session_play.
//
// Returns 1, or 0 if the playback has ended or no device is open.
int32_t temblor_session_control(temblor *host, int32_t play, int32_t control, double value, double seconds,
                                int64_t frame);

// Makes the state of the session the output, as JSON (Library/reports.schema.json#/$defs/session). "time" and "onset" are
// in seconds of the monotonic clock. An onset is final once it has been heard. "events" lists what happened since the
// last call. Returns the number of bytes.
int32_t temblor_session_status(temblor *host);

// Fades out, plays the rest, and closes the device. Waits at most for the buffer of the device and two seconds. Does
// nothing if no device is open.
void temblor_session_close(temblor *host);

// THE PROGRAM

// Runs a command of the program that ends by itself, such as "compare", and makes its standard output, a zero byte, and
// its standard error the output. Settings of `temblor setup`, TEMBLOR_DEVICE, and TEMBLOR_PROFILE are not used.
//
//   words   The words of the command, each followed by a zero byte.
//   length  The number of bytes of all words.
//
// Returns the exit status of the command, with the status TEMBLOR_OK; or 64 if the words are invalid.
int32_t temblor_run(temblor *host, const char *words, int32_t length);

// Runs the program on the streams of this process. words[0] is its name. Returns the exit status.
int32_t temblor_program(int32_t count, const char *const *words);

#ifdef __cplusplus
}
#endif

#endif
