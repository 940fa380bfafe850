#include "include/random_calls.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../../Library/temblor.h"

/// The largest block of memory whose length is passed to a call.
enum { maximum_length = 4096 };

/// The calls of one host before it is replaced by a new one.
enum { calls_per_host = 400 };

/// The source of arguments, and the state of a run.
typedef struct {
  const uint8_t *bytes;
  size_t count;
  bool is_seeded;
  uint64_t state;
  temblor *host;
  int64_t calls_until_new_host;
  const char *function;
  char failure[512];
} run;

// Numbers

static bool has_more(const run *run) { return run->is_seeded || run->count > 0; }

/// Draws a number: the next bytes, or the next number of xorshift64 (G. Marsaglia, 2003).
static uint32_t next(run *run) {
  if (!run->is_seeded) {
    uint32_t value = 0;
    for (int index = 0; index < 2 && run->count > 0; index++) {
      value = value << 8 | *run->bytes++;
      run->count--;
    }
    // The lower half repeats the upper half, so that two bytes reach all magnitudes.
    return value << 16 | value;
  }
  run->state ^= run->state << 13;
  run->state ^= run->state >> 7;
  run->state ^= run->state << 17;
  return (uint32_t)(run->state >> 32);
}

static uint32_t below(run *run, uint32_t limit) { return next(run) % limit; }

static int32_t integer(run *run, int32_t typical_count) {
  static const int32_t edges[] = {0,     1,     -1,    2,     63,    64,        65,        4096,     4097,
                                  65535, 65536, 70000, 48000, -4096, 1000000, INT32_MAX, INT32_MIN, 536870912};
  uint32_t kind = below(run, 16);
  if (kind < 12) return (int32_t)below(run, (uint32_t)typical_count);
  if (kind < 15) return edges[below(run, sizeof edges / sizeof *edges)];
  return (int32_t)next(run);
}

static double number(run *run, double typical) {
  static const double edges[] = {0,    -0.0,  1,     -1,     0.5,    1e12,     -1e12,   1e300,    -1e300,  DBL_MIN,
                                 1e-9, 7999,  8000,  192000, 192001, 86400,    86401,   499,      1000000, 44100,
                                 9.3,  NAN,   -NAN,  INFINITY, -INFINITY, DBL_MAX, 4294967296.0, 9007199254740992.0};
  uint32_t kind = below(run, 8);
  if (kind < 5) return typical;
  if (kind < 7) return edges[below(run, sizeof edges / sizeof *edges)];
  return ((double)next(run) - 2147483648.0) / 1024;
}

static int64_t frame(run *run) {
  static const int64_t edges[] = {-1, 0, 1, INT64_MAX, INT64_MIN, (int64_t)1 << 53, ((int64_t)1 << 53) + 1};
  if (below(run, 4) > 0) return (int64_t)below(run, 96000);
  return edges[below(run, sizeof edges / sizeof *edges)];
}

// Memory

/// Bytes that a call may read, and the length that is passed.
typedef struct {
  const void *start;
  int32_t length;
} argument;

static const char *const texts[] = {
    "a.ahap", "a.wav", "ahap", "haptic", "he", "events[0]", "events[0].time", "curves[0]", "text", "original", "history",
    "lines", "score", "origin", "check", "losses", "formats", "profiles", "nothing", "null:", "",
    "{\"Version\":1,\"Pattern\":[]}",
    "{\"Version\":1,\"Pattern\":[{\"Event\":{\"Time\":0,\"EventType\":\"HapticTransient\"}}]}",
    "{\"Version\":1,\"Pattern\":[{\"Event\":{\"Time\":0.01,\"EventType\":\"HapticContinuous\",\"EventDuration\":0.05,"
    "\"EventParameters\":[{\"ParameterID\":\"HapticIntensity\",\"ParameterValue\":0.5}]}},{\"ParameterCurve\":{"
    "\"ParameterID\":\"HapticIntensityControl\",\"Time\":0,\"ParameterCurveControlPoints\":[{\"Time\":0,"
    "\"ParameterValue\":1},{\"Time\":0.05,\"ParameterValue\":0}]}}]}",
    "{\"Version\":1,\"Pattern\":[{\"Event\":{\"Time\":0,\"EventType\":\"AudioCustom\",\"EventWaveformPath\":\"a.wav\"}}]}",
    "{\"timings\":[0,20,10,20],\"amplitudes\":[0,255,0,128],\"repeat\":-1}",
    "{\"name\":\"puck\",\"summary\":\"a puck\",\"frequency\":{\"low\":25,\"high\":80}}",
    "[{\"set\":\"events[0].time\",\"to\":0.02}]",
    "[{\"set\":\"events[0].intensity\",\"to\":0.25}]",
    "[{\"remove\":\"events[0]\"}]",
    "[{\"duplicate\":\"events[0]\"}]",
    "[{\"addPoint\":{\"time\":0.02,\"value\":0.5},\"to\":\"curves[0]\"}]",
    "[{\"add\":{\"Event\":{\"Time\":0.03,\"EventType\":\"HapticTransient\"}},\"after\":\"events[0]\"}]",
};

/// Draws a text: of a range of the list, of the whole list, damaged, or with a length that contradicts the address.
static argument text(run *run, uint32_t first, uint32_t count, char damaged[maximum_length]) {
  uint32_t kind = below(run, 16);
  const char *chosen =
      kind < 12 ? texts[first + below(run, count)] : texts[below(run, sizeof texts / sizeof *texts)];
  int32_t length = (int32_t)strlen(chosen);
  if (kind == 14) {
    // Only characters that cannot increase a number, because a pattern of hours takes minutes to render.
    static const char signs[] = "{}[]\",: x\n\\\xff\x00-";
    memcpy(damaged, chosen, (size_t)length);
    if (length > 0) damaged[below(run, (uint32_t)length)] = signs[below(run, sizeof signs)];
    return (argument){damaged, (int32_t)below(run, (uint32_t)length + 1)};
  }
  if (kind == 15) {
    static const int32_t lengths[] = {-1, INT32_MIN, 0, 1, INT32_MAX};
    uint32_t index = below(run, 5);
    return (argument){index < 3 ? chosen : NULL, lengths[index]};
  }
  return (argument){chosen, length};
}

enum { name_first = 0, name_count = 2, format_first = 2, format_count = 3, path_first = 5, path_count = 3 };
enum { report_first = 8, report_count = 11, device_first = 19, device_count = 1, pattern_first = 21, pattern_count = 5 };
enum { profile_first = 26, profile_count = 1, change_first = 27, change_count = 6 };

/// Returns the samples of a sound, some of which are not finite; or NULL.
static const float *sound(run *run) {
  static float samples[maximum_length];
  static bool is_made = false;
  if (!is_made) {
    for (int index = 0; index < maximum_length; index++) samples[index] = 0.4f * sinf((float)index * 0.1f);
    samples[100] = NAN;
    samples[200] = INFINITY;
    samples[300] = 3e38f;
    is_made = true;
  }
  return below(run, 8) == 0 ? NULL : samples;
}

/// Draws a number of samples within the memory, or a negative number.
static int32_t sample_count(run *run) {
  if (below(run, 8) == 0) return -(int32_t)below(run, 1000);
  return (int32_t)below(run, 2) == 0 ? (int32_t)below(run, 2000) : 0;
}

// Guarantees

static bool fails(run *run, const char *guarantee) {
  snprintf(run->failure, sizeof run->failure, "%s: %s: status %d, output \"%.*s\"", run->function, guarantee,
           temblor_status(run->host), (int)fminf(200, (float)temblor_output_length(run->host)),
           (const char *)temblor_output(run->host));
  return false;
}

/// Checks the output and the status after a call.
static bool check(run *run, bool has_failed) {
  int32_t status = temblor_status(run->host);
  if (status < TEMBLOR_OK || status > TEMBLOR_DEVICE_FAILURE) return fails(run, "unknown status");
  if (has_failed != (status != TEMBLOR_OK)) return fails(run, "the result contradicts the status");
  if (!has_failed) return true;
  const char *output = (const char *)temblor_output(run->host);
  int32_t length = temblor_output_length(run->host);
  static const char start[] = "{\"severity\":\"error\",\"rule\":\"";
  if (length < (int32_t)sizeof start || memcmp(output, start, sizeof start - 1) != 0) {
    return fails(run, "a failure without a reason");
  }
  if (memchr(output, '\n', (size_t)length) != output + length - 1) return fails(run, "a reason of several lines");
  return true;
}

/// Checks a call that returns the number of bytes of the output.
static bool check_length(run *run, int32_t length) {
  bool has_failed = temblor_status(run->host) != TEMBLOR_OK;
  if (has_failed && length != 0) return fails(run, "a failure with a length");
  if (!has_failed && length != temblor_output_length(run->host)) return fails(run, "a wrong length");
  return check(run, has_failed);
}

static bool check_flag(run *run, int32_t result) {
  if (result != 0 && result != 1) return fails(run, "a result that is neither 0 nor 1");
  return check(run, result == 0);
}

// Calls. Each draws its arguments, makes one call, and checks it.

static bool open_pattern(run *run) {
  char space[2][maximum_length];
  argument name = text(run, name_first, name_count, space[0]);
  argument content = text(run, pattern_first, pattern_count, space[1]);
  return check_flag(
      run, temblor_open(run->host, integer(run, 4), name.start, name.length, content.start, content.length));
}

static bool replace(run *run) {
  char space[maximum_length];
  argument content = text(run, pattern_first, pattern_count, space);
  return check_flag(run, temblor_replace(run->host, integer(run, 4), content.start, content.length));
}

static bool change(run *run) {
  char space[maximum_length];
  argument changes = text(run, change_first, change_count, space);
  return check_flag(run, temblor_change(run->host, integer(run, 4), changes.start, changes.length));
}

static bool begin(run *run) {
  char space[maximum_length];
  argument label = text(run, name_first, name_count, space);
  return check_flag(run, temblor_begin(run->host, integer(run, 4), label.start, label.length));
}

static bool step(run *run) { return check_flag(run, temblor_step(run->host, integer(run, 4), integer(run, 2))); }

static bool report(run *run) {
  char space[maximum_length];
  argument name = text(run, report_first, report_count, space);
  return check_length(
      run, temblor_report(run->host, name.start, name.length, integer(run, 4), integer(run, 28)));
}

static bool part(run *run) {
  char space[maximum_length];
  argument path = text(run, path_first, path_count, space);
  return check_length(run, temblor_part(run->host, integer(run, 4), path.start, path.length));
}

static bool save(run *run) {
  char space[maximum_length];
  argument format = text(run, format_first, format_count, space);
  return check_length(run, temblor_save(run->host, integer(run, 4), format.start, format.length));
}

static bool hertz(run *run) {
  double result = temblor_hertz(run->host, integer(run, 28), number(run, 0.5));
  return check(run, isnan(result));
}

static bool add_sound(run *run) {
  char space[maximum_length];
  argument name = text(run, 1, 1, space);
  int32_t count = sample_count(run);
  return check_flag(
      run, temblor_sound(run->host, name.start, name.length, sound(run), count, integer(run, 3), number(run, 8000)));
}

static bool trace(run *run) {
  char space[maximum_length];
  argument name = text(run, name_first, name_count, space);
  int32_t count = sample_count(run);
  const float *samples = sound(run);
  int32_t channels = integer(run, 3);
  double rate = number(run, 8000);
  return check_flag(
      run, temblor_trace(
               run->host, integer(run, 4), name.start, name.length, samples, count, channels, rate, integer(run, 28)));
}

static bool add_profile(run *run) {
  char space[maximum_length];
  argument content = text(run, profile_first, profile_count, space);
  int32_t result = temblor_add_profile(run->host, content.start, content.length);
  return check(run, result == -1);
}

static bool render(run *run) {
  int32_t count = temblor_render(run->host, integer(run, 4), integer(run, 28), number(run, 8000));
  bool has_failed = temblor_status(run->host) != TEMBLOR_OK;
  if (has_failed ? count != 0 : temblor_output_length(run->host) != 0) return fails(run, "an output of a rendering");
  const float *samples = temblor_samples(run->host);
  for (int32_t index = 0; index < count; index++) {
    if (!(fabsf(samples[index]) <= 1)) return fails(run, "a sample beyond full scale");
  }
  return check(run, has_failed);
}

static bool wav(run *run) {
  return check_length(run, temblor_wav(run->host, integer(run, 4), integer(run, 28), number(run, 8000)));
}

static bool spectrogram(run *run) {
  int32_t columns = integer(run, 8);
  int32_t rows = integer(run, 8);
  double start = number(run, 0);
  double end = number(run, 0.1);
  // A picture of the maximum size takes seconds.
  if (columns > 64 && columns <= 8192 && rows > 64 && rows <= 1024) rows = 64;
  if (fabs(start) > 1 && fabs(start) <= 86400) start = 1;
  if (fabs(end) > 1 && fabs(end) <= 86400) end = 1;
  return check_length(run, temblor_spectrogram(run->host, columns, rows, start, end));
}

static bool felt(run *run) {
  return check_length(run, temblor_felt(run->host, integer(run, 4), integer(run, 28), integer(run, 600)));
}

static bool plan(run *run) {
  int32_t length = temblor_plan(run->host, integer(run, 2), integer(run, 28), number(run, 48000));
  if (!check_length(run, length)) return false;
  if (length == 0 || below(run, 2) == 0) return true;
  run->function = "temblor_live_plan_input";
  uint8_t *memory = temblor_live_plan_input(run->host, length);
  if (!memory) return fails(run, "no memory for a plan");
  memcpy(memory, temblor_output(run->host), (size_t)length);
  run->function = "temblor_live_plan";
  int32_t shortened = below(run, 8) == 0 ? integer(run, length) : length;
  return check_flag(run, temblor_live_plan(run->host, integer(run, 2), shortened, integer(run, 28)));
}

static bool live_plan_input(run *run) {
  uint8_t *memory = temblor_live_plan_input(run->host, integer(run, 4096));
  if (memory) memory[0] = 0;
  return check(run, !memory);
}

static bool live_plan(run *run) {
  // Arbitrary bytes are not a plan. The function `plan` passes the bytes of a plan.
  uint8_t *memory = temblor_live_plan_input(run->host, 4096);
  if (!memory) return fails(run, "no memory for a plan");
  memset(memory, (int)below(run, 256), 4096);
  return check_flag(run, temblor_live_plan(run->host, integer(run, 2), integer(run, 4096), integer(run, 28)));
}

static bool live_start(run *run) { return check_flag(run, temblor_live_start(run->host, number(run, 48000))); }

static bool live_load(run *run) {
  char space[maximum_length];
  argument content = text(run, pattern_first, pattern_count, space);
  return check_flag(
      run, temblor_live_load(run->host, integer(run, 2), content.start, content.length, integer(run, 28)));
}

static bool live_play(run *run) {
  return check_flag(run, temblor_live_play(run->host, integer(run, 2), integer(run, 9600)));
}

static bool live_loop(run *run) {
  return check_flag(run, temblor_live_loop(run->host, integer(run, 2), integer(run, 4800), integer(run, 9600)));
}

static bool live_hear(run *run) { return check_flag(run, temblor_live_hear(run->host, integer(run, 2))); }

static bool live_control(run *run) {
  return check_flag(run, temblor_live_control(run->host, integer(run, 2), number(run, 0.5)));
}

static bool live_render(run *run) {
  int32_t count = integer(run, 512);
  const float *samples = temblor_live_render(run->host, count);
  if (!samples) return fails(run, "no block");
  bool has_failed = temblor_status(run->host) != TEMBLOR_OK;
  for (int32_t index = 0; index < (has_failed ? 4096 : count); index++) {
    if (!(fabsf(samples[index]) <= (has_failed ? 0 : 1))) return fails(run, "a sample beyond full scale");
  }
  return check(run, has_failed);
}

static bool live_position(run *run) {
  return temblor_live_position(run->host) >= 0 ? check(run, temblor_status(run->host) != 0) : fails(run, "a negative frame");
}

static bool live_phase(run *run) {
  int32_t phase = temblor_live_phase(run->host);
  return phase == 0 || phase == 1 ? check(run, temblor_status(run->host) != 0) : fails(run, "an unknown phase");
}

static bool session_open(run *run) {
  char space[maximum_length];
  argument device = text(run, device_first, device_count, space);
  // Names of real devices and files are left out.
  bool is_null = device.start && device.length >= 5 && memcmp(device.start, "null:", 5) == 0;
  if (!is_null && device.length > 0) device.length = -1;
  return check_flag(
      run, temblor_session_open(
               run->host, device.start, device.length, integer(run, 28), number(run, 48000), number(run, 1)));
}

static bool session_play(run *run) {
  int32_t result = temblor_session_play(run->host, integer(run, 4), integer(run, 28), frame(run));
  return check(run, result == -1);
}

static bool session_control(run *run) {
  return check_flag(
      run, temblor_session_control(
               run->host, integer(run, 8), integer(run, 4), number(run, 0.5), number(run, 0.01), frame(run)));
}

static bool session_status(run *run) { return check_length(run, temblor_session_status(run->host)); }

static bool session_close(run *run) {
  temblor_session_close(run->host);
  return check(run, false);
}

static bool run_program(run *run) {
  static const char words[] = "formats\0--json\0profiles\0x\0--version\0";
  static const int32_t starts[] = {0, 8, 15, 24, 26};
  int32_t start = starts[below(run, 5)];
  int32_t length = (int32_t)strlen(words + start) + (below(run, 4) > 0 ? 1 : 0);
  if (below(run, 8) == 0) length = -length;
  int32_t status = temblor_run(run->host, words + start, length);
  if (temblor_status(run->host) == TEMBLOR_OK) return true;
  return status == 64 ? check(run, true) : fails(run, "a failure with another exit status");
}

static bool use_no_host(run *run) {
  // Every function accepts NULL. These are examples of each kind of result.
  temblor_release(NULL);
  bool holds = temblor_status(NULL) == TEMBLOR_INVALID_ARGUMENT && temblor_output(NULL) == NULL &&
               temblor_output_length(NULL) == 0 && temblor_samples(NULL) == NULL && temblor_render(NULL, 0, 0, 48000) == 0 &&
               isnan(temblor_hertz(NULL, 0, 0)) && temblor_add_profile(NULL, NULL, 0) == -1 &&
               temblor_session_play(NULL, 0, 0, 0) == -1 && temblor_live_render(NULL, 0) == NULL &&
               temblor_live_plan_input(NULL, 0) == NULL && temblor_run(NULL, NULL, 0) == 64;
  return holds || fails(run, "a call without a host succeeds");
}

/// The functions with their relative frequencies. Functions that open devices or run commands are rare.
static const struct {
  const char *name;
  bool (*call)(run *);
  int weight;
} functions[] = {
    {"temblor_open", open_pattern, 600},
    {"temblor_replace", replace, 200},
    {"temblor_change", change, 300},
    {"temblor_begin", begin, 200},
    {"temblor_step", step, 400},
    {"temblor_report", report, 300},
    {"temblor_part", part, 400},
    {"temblor_save", save, 150},
    {"temblor_hertz", hertz, 600},
    {"temblor_sound", add_sound, 300},
    {"temblor_trace", trace, 10},
    {"temblor_add_profile", add_profile, 100},
    {"temblor_render", render, 100},
    {"temblor_wav", wav, 50},
    {"temblor_spectrogram", spectrogram, 40},
    {"temblor_felt", felt, 50},
    {"temblor_plan", plan, 300},
    {"temblor_live_plan_input", live_plan_input, 300},
    {"temblor_live_plan", live_plan, 200},
    {"temblor_live_start", live_start, 60},
    {"temblor_live_load", live_load, 200},
    {"temblor_live_play", live_play, 500},
    {"temblor_live_loop", live_loop, 500},
    {"temblor_live_hear", live_hear, 500},
    {"temblor_live_control", live_control, 500},
    {"temblor_live_render", live_render, 1500},
    {"temblor_live_position", live_position, 500},
    {"temblor_live_phase", live_phase, 500},
    {"temblor_session_open", session_open, 2},
    {"temblor_session_play", session_play, 200},
    {"temblor_session_control", session_control, 300},
    {"temblor_session_status", session_status, 200},
    {"temblor_session_close", session_close, 5},
    {"temblor_run", run_program, 3},
    {"NULL", use_no_host, 100},
};

static bool call_function(run *run) {
  if (run->calls_until_new_host-- <= 0) {
    temblor_release(run->host);
    run->host = temblor_create();
    run->calls_until_new_host = calls_per_host;
  }
  int total = 0;
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) total += functions[index].weight;
  int drawn = (int)below(run, (uint32_t)total);
  size_t index = 0;
  while (drawn >= functions[index].weight) drawn -= functions[index++].weight;
  run->function = functions[index].name;
  return functions[index].call(run);
}

static const char *call_functions(run *run, int64_t count) {
  // The failure that is returned to the caller.
  static _Thread_local char failure[sizeof run->failure];
  bool holds = true;
  for (int64_t number = 0; holds && number < count && has_more(run); number++) holds = call_function(run);
  temblor_release(run->host);
  memcpy(failure, run->failure, sizeof failure);
  return holds ? NULL : failure;
}

const char *random_calls(uint64_t seed, int64_t count) {
  run run = {.is_seeded = true, .state = seed * 0x9E3779B97F4A7C15u | 1};
  return call_functions(&run, count);
}

const char *random_calls_from(const uint8_t *bytes, size_t count) {
  run run = {.bytes = bytes, .count = count};
  return call_functions(&run, INT64_MAX);
}
