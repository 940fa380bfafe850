// Temblor: haptic patterns as sound. Reads, checks, changes, converts and renders patterns, and plays them on devices.
//
// All state is a host's. One thread at a time may use a host; threads that work at once take a host each. Calls render and
// read as fast as the machine can; only `temblor_session_open` and `temblor_session_close` wait for a device.
//
// Texts are UTF-8 by address and number of bytes; they are read during the call. What a call makes for its caller is the
// host's output, at `temblor_output`, until the host's next call. Where a call answers that something is wrong, the output
// is why, as JSON: {"severity", "rule", "message", "hint"?, "file", "line"?, "column"?, "place"}; lines and columns count
// from 1.
//
// Patterns are in slots by number, 0 to 65,535; profiles by their place in the report `profiles`. Times are seconds,
// frames are numbers of samples of one channel at the rate of a rendering or session.
#ifndef TEMBLOR_H
#define TEMBLOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct temblor temblor;

// Makes a host with the shipped profiles and three empty slots.
temblor *temblor_create(void);
// Ends a host: its session fades out, and nothing of it may be used any more.
void temblor_release(temblor *host);

// What the last call has made, and how many bytes it is.
const uint8_t *temblor_output(temblor *host);
int32_t temblor_output_length(temblor *host);
// The samples of the last rendering, in -1 to 1, until the next.
const float *temblor_samples(temblor *host);

// Patterns.

// Reads a file of any format into a slot; the name stands in messages and its ending helps where the content leaves a
// choice. 1 where it can be used, else 0; the pattern before it then stays the one that sounds.
int32_t temblor_open(temblor *host, int32_t slot, const char *name, int32_t name_length, const void *content,
                     int32_t length);
// Puts an AHAP text in the place of the slot's; 1 where it can be used, else 0.
int32_t temblor_replace(temblor *host, int32_t slot, const void *text, int32_t length);
// Makes changes at once, or none; 1, or 0 where one is refused. A JSON list of {"set": "events[3].time", "to": 1.25},
// {"remove": "curves[0].points[2]"}, {"add": {...}, "after": "events[3]"}, {"duplicate": "events[3]"}.
int32_t temblor_change(temblor *host, int32_t slot, const char *changes, int32_t length);
// Names the step that follows; changes up to the next name are undone together.
void temblor_begin(temblor *host, int32_t slot, const char *label, int32_t length);
// Takes the last step back, or makes it again where `forward` is not 0; 1, or 0 where there is none.
int32_t temblor_step(temblor *host, int32_t slot, int32_t forward);
// Makes a report the output; its bytes. "text" and "original" are those of the slot; "history", "lines", "score",
// "origin" and, with a profile, "check" are JSON about it; "losses" (of the last conversion), "formats" and "profiles"
// are JSON lists.
int32_t temblor_report(temblor *host, const char *name, int32_t length, int32_t slot, int32_t profile);
// The bytes of the part of the text that a path as "events[3]" leads to; 0 where it leads to none.
int32_t temblor_part(temblor *host, int32_t slot, const char *path, int32_t length);
// Writes the pattern in the format of an id of the report "formats"; its bytes, 0 where that cannot be.
int32_t temblor_save(temblor *host, int32_t slot, const char *format, int32_t length);

// Sound.

// The frequency in hertz that a profile plays a sharpness of 0 to 1 with.
double temblor_hertz(temblor *host, int32_t profile, double sharpness);
// Hands the samples of a sound file over, by the name that patterns have for it: channels interleaved, frames per second.
int32_t temblor_sound(temblor *host, const char *name, int32_t name_length, const float *samples, int32_t count,
                      int32_t channels, double rate);
// Makes a pattern of a sound of at most an hour and opens it in a slot as AHAP of a name; 1, or 0 and the output is why.
// The profile is that of a recording of vibration, or the one that the pattern is made for.
int32_t temblor_trace(temblor *host, int32_t slot, const char *name, int32_t name_length, const float *samples,
                      int32_t count, int32_t channels, double rate, int32_t profile);
// Adds a profile by the JSON text of its file; its number, or -1.
int32_t temblor_add_profile(temblor *host, const char *content, int32_t length);
// Renders a slot with a profile at frames per second, 8,000 to 192,000; how many samples of one channel, the same as
// those of `temblor render --sample-format float`, with the silence in which the hardware comes to rest. 0 where it cannot
// be rendered, and the output is why; after a rendering without samples the output is empty.
int32_t temblor_render(temblor *host, int32_t slot, int32_t profile, double rate);
// The same as the bytes of a WAV file of 32-bit floats.
int32_t temblor_wav(temblor *host, int32_t slot, int32_t profile, double rate);
// Decibels of the last rendering between two times, as floats, column by column, rows from 0 Hz up.
int32_t temblor_spectrogram(temblor *host, int32_t columns, int32_t rows, double start, double end);
// The least and greatest acceleration of the profile's transducer in each column, as floats; 0 where it is not known.
int32_t temblor_felt(temblor *host, int32_t slot, int32_t profile, int32_t columns);

// Live sound, block by block, of slots 0 and 1 in step.

// Compiles a slot to bytes that `temblor_live_plan` of this build takes; the bytes.
int32_t temblor_plan(temblor *host, int32_t slot, int32_t profile, double rate);
// Memory for a plan of so many bytes, which no other call uses.
uint8_t *temblor_live_plan_input(temblor *host, int32_t length);
// Plays the plan that was copied there from where the slot's is; 1, or 0 where it is not a plan of this build and rate.
int32_t temblor_live_plan(temblor *host, int32_t slot, int32_t length, int32_t profile);
// Begins live sound at frames per second.
void temblor_live_start(temblor *host, double rate);
// Reads an AHAP text into slot 0 or 1 and plays it from where the one before is; 1 where it can be used.
int32_t temblor_live_load(temblor *host, int32_t slot, const void *text, int32_t length, int32_t profile);
// Plays from a frame, or stops.
void temblor_live_play(temblor *host, int32_t is_playing, int32_t frame);
// Repeats from one frame to another, or all where the end is 0; or plays once.
void temblor_live_loop(temblor *host, int32_t is_looping, int32_t start, int32_t end);
// Chooses the slot that is heard.
void temblor_live_hear(temblor *host, int32_t slot);
// Sets a control: 0 the factor on intensity, 0 to 1; 1 the change of sharpness, -1 to 1.
void temblor_live_control(temblor *host, int32_t control, double value);
// Renders the next frames, at most 4,096; their samples until the next call. Waits for nothing; the memory of a plan or
// profile that was exchanged is freed here.
const float *temblor_live_render(temblor *host, int32_t count);
// The frame of the pattern that comes next.
int32_t temblor_live_position(temblor *host);
// 1 while the pattern that is heard runs.
int32_t temblor_live_phase(temblor *host);

// A session: a device that is open, with a clock of frames from 0 on.

// Opens a device by its name, as the program's --device has it ("default", "plughw:CARD=Device", "wav:FILE", "null:"), and
// plays on all its channels with a strength of 0 to 1; 1, or 0. The rate is the nearest that the device has.
int32_t temblor_session_open(temblor *host, const char *device, int32_t length, int32_t profile, double rate,
                             double strength);
// Plays a slot at a frame of the session, or at once where it is negative or past; the number of the play, or -1.
int32_t temblor_session_play(temblor *host, int32_t slot, int32_t profile, int64_t frame);
// Moves a control of a play to a value within some seconds from a frame on: 0 the factor on intensity, 1 the change of
// sharpness, 2 the gain; or stops it: 3. 1, or 0 where it has ended.
int32_t temblor_session_control(temblor *host, int32_t play, int32_t control, double value, double seconds,
                                int64_t frame);
// Makes the state the output, as JSON; its bytes, 0 where no device is open. "rendered" and "heard" are frames, "time" and
// "onset" (of each of "plays") seconds of the monotonic clock, final once it was heard, "missed" frames that were not heard,
// "events" what happened since the last call.
int32_t temblor_session_status(temblor *host);
// Fades out, lets the rest be heard and closes the device; waits for it, at most its buffer and two seconds.
void temblor_session_close(temblor *host);

// The program.

// Runs a verb that ends by itself, its words with a zero byte behind each; its exit status. The output is what it prints,
// and behind a zero byte what it reports. The settings that 'temblor setup' saves, TEMBLOR_DEVICE and TEMBLOR_PROFILE are not
// used.
int32_t temblor_run(temblor *host, const char *words, int32_t length);
// Runs the program on the process's streams; its exit status. `words[0]` is its name.
int32_t temblor_program(int32_t count, const char *const *words);

#ifdef __cplusplus
}
#endif

#endif
