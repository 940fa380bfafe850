/* Inner loops of rendering in vectors that clang has for every processor; on x86-64 also with the instructions of AVX2
   and AVX-512 where the machine has them. All sets give the same bits. Nothing here allocates, locks or fails. */

#ifndef TEMBLOR_SAMPLE_KERNELS_H
#define TEMBLOR_SAMPLE_KERNELS_H

#include <stdint.h>

#pragma clang assume_nonnull begin

#define TEMBLOR_REALTIME __attribute__((swift_attr("@_noLocks")))

typedef float temblor_group __attribute__((ext_vector_type(4)));

/* What a one-pole low-pass adds up over a group of four frames: factors on the offset at the group's start and on its
   first three samples, for the offsets at its frames; on all four and on the start, for the offset behind it. */
typedef struct {
  temblor_group kept, first, second, third, all;
  float kept_behind;
} temblor_low_pass;

/* What the two low-passes of an offset remover do to a group: the first follows and the second decays, as long as no
   group is silent; both decay, as long as all are; both follow. */
typedef enum { temblor_slow, temblor_decaying, temblor_fast } temblor_removal;

/* Two low-passes in a row, with the offsets at the start of a group. */
typedef struct {
  temblor_low_pass first, second;
  float first_start, second_start;
  temblor_removal mode;
} temblor_offset_remover;

/* What a settled limiter lets pass, and what it needs to know of that. */
typedef struct {
  /* The greatest magnitudes of what arrives, its offset taken out, and of what leaves. */
  float limit, ceiling;
  /* Below these the offsets behind a silent group, and the second one behind any group, are 0. */
  float negligible, forgotten;
  /* The greatest magnitude of what arrived, its offset taken out. */
  float peak;
  /* The last frame and its offset, and what is left of the one before. */
  float latest, latest_offset, earlier;
} temblor_passing;

/* Sums over frames: plain, by their places, by the squares of these, and of squares. */
typedef struct {
  float sum, tilt, bend, square;
} temblor_sums;

/* One set of the loops. */
typedef struct {
  /* Rounds samples to 16 bits with the dither of SplitMix64; in memory at any alignment; returns the
     generator's state. */
  uint64_t (*dither)(uint64_t state, const float *samples, void *numbers, long count);
  /* The greatest magnitude; negative where a sample is not finite. */
  float (*peak)(const float *samples, long count);
  /* Samples times a factor; returns the greatest magnitude of what is written, as above. May be done in place. */
  float (*scale)(const float *samples, float factor, float *target, long count);
  /* Adds a sine: phase, step and growth of the step in parts of 2^32, level along a line from the frame `first`. */
  void (*sine)(
      uint32_t phase, uint32_t step, uint32_t glide, float start, float slope, float first, float *bus, long count);
  /* Gives groups that leave without their offset for those that arrive, until one is beyond the limits or would change
     what a remover does; returns how many. */
  long (*pass_groups)(
      temblor_offset_remover *ahead, temblor_offset_remover *behind, temblor_passing *passing, float *samples,
      float *delayed, long group_count);
  /* Sums over a multiple of four frames by two rows of weights: 1 or 0, and places. */
  temblor_sums (*moments)(const float *samples, const float *weights, long count);
  /* Moves groups of sixteen models, `length` numbers from one to the next, over a step: rows xx, xy, yx, yy, four
     factors on sum and tilt, x and y. Returns the greatest x * x + y * y. */
  float (*move)(float *lanes, long length, long count, float sum, float tilt);
} temblor_kernels;

/* The set of a level: 0 for every processor, 1 for AVX2, 2 for AVX-512; null where this machine has no such instructions. */
const temblor_kernels *_Nullable temblor_kernels_of(int level);

/* The same with the best set of this machine. */
TEMBLOR_REALTIME uint64_t temblor_dither(uint64_t state, const float *samples, void *numbers, long count);
TEMBLOR_REALTIME float temblor_peak(const float *samples, long count);
TEMBLOR_REALTIME float temblor_scale(const float *samples, float factor, float *target, long count);
TEMBLOR_REALTIME void temblor_sine(
    uint32_t phase, uint32_t step, uint32_t glide, float start, float slope, float first, float *bus, long count);
TEMBLOR_REALTIME long temblor_pass_groups(
    temblor_offset_remover *ahead, temblor_offset_remover *behind, temblor_passing *passing, float *samples,
    float *delayed, long group_count);
TEMBLOR_REALTIME temblor_sums temblor_moments(const float *samples, const float *weights, long count);
TEMBLOR_REALTIME float temblor_move(float *lanes, long length, long count, float sum, float tilt);

#pragma clang assume_nonnull end

#endif
