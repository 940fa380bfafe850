/* Inner loops of rendering for the vector units of x86-64: for every set of instructions the same bits as the Swift code
   that they stand in for, which is what other processors run. Nothing here allocates, locks or fails. */

#ifndef TEMBLOR_SAMPLE_KERNELS_H
#define TEMBLOR_SAMPLE_KERNELS_H

#if defined(__x86_64__)

#include <stdint.h>

#pragma clang assume_nonnull begin

#define TEMBLOR_REALTIME __attribute__((swift_attr("@_noLocks")))

/* A one-pole low-pass over groups of four frames: factors on the offset at the group's start and on its first three
   samples, for the offsets at its four frames; and those of all four and of the start for the offset behind it. */
typedef struct {
  float kept[4], first[4], second[4], third[4], sums[4];
  float keptBehind;
} temblor_follower;

/* What follows the groups: the offset behind them, that at the last frame, the greatest magnitude of the output. */
typedef struct {
  float start, offset, peak;
  /* Whether the last group was silent. */
  int32_t is_silent;
} temblor_following;

/* Two low-passes in a row: the offsets behind the groups, that of both at the last frame, the greatest magnitude that
   is left. */
typedef struct {
  float first, second, offset, peak;
} temblor_pursuit;

/* Sums over frames: plain, by their places, by the squares of these, and of squares. */
typedef struct {
  float sum, tilt, bend, square;
} temblor_sums;

/* A step of the drive: sums over its frames plain, by their places, the same of a ramp's share, and the mean square. */
typedef struct {
  float sum, tilt, rising_sum, rising_tilt, square;
} temblor_step;

/* Why steps were not all passed. */
typedef enum {
  temblor_guard_free = 0,
  /* A model moves too far: the step that arrived last has been followed and is not done. */
  temblor_guard_loud = 1,
  /* The power asked for is more than is allowed behind the last step. */
  temblor_guard_warm = 2,
} temblor_guard_outcome;

/* The protection of a transducer while its gain is 1. */
typedef struct {
  /* Groups of models as `move` takes them. */
  float *_Nullable lanes;
  long lane_length, lane_count;
  /* Two steps, of which that at `start` leaves, and rows of weights as `moments` takes them. */
  float *_Nullable frames;
  const float *_Nullable weights;
  long step_length, read_count, start;
  /* The step that arrived last, and the one before it. */
  temblor_step latest, leaving;
  /* The greatest norm of a step, and those up to which nothing is to be done and everything is forgotten. */
  float greatest, quiet, negligible;
  /* The greatest norms of this period and the two before, and the place in this one. */
  float newest, newer, older;
  long bucket_place, bucket_length;
  /* The temperature rise, and the power asked for, averaged. */
  double coil, magnet, asked;
  double power, coil_fraction, coil_step, magnet_step, averaging_step, aim, headroom;
  /* The first three models' shares of the movement, the furthest it was, and the warmest. */
  float shares[3];
  float excursion;
  double rise;
  temblor_guard_outcome outcome;
} temblor_guard;

/* One set of the loops. */
typedef struct {
  /* Rounds samples to 16 bits with the dither of SplitMix64; returns the generator's state. */
  uint64_t (*dither)(uint64_t state, const float *samples, int16_t *numbers, long count);
  /* The greatest magnitude; negative where a sample is not finite. */
  float (*peak)(const float *samples, long count);
  /* Samples times a factor; returns the greatest magnitude of what is written, as above. May be done in place. */
  float (*scale)(const float *samples, float factor, float *target, long count);
  /* Adds a sine: phase, step and growth of the step in parts of 2^32, level along a line from the frame `first`. */
  void (*sine)(
      uint32_t phase, uint32_t step, uint32_t glide, float start, float slope, float first, float *bus, long count);
  /* Takes the followed offset from groups until one is silent, which is the last; returns how many were done. Below
     `negligible` the offset behind a silent group is 0. May be done in place. */
  long (*follow)(
      const temblor_follower *follower, temblor_following *following, float negligible, const float *samples,
      float *target, long group_count);
  /* The same while nothing is added to the offset, until a group is not silent. */
  long (*forget)(
      const temblor_follower *follower, temblor_following *following, float negligible, const float *samples,
      float *target, long group_count);
  /* Takes from groups what two equal low-passes in a row follow. Behind a silent group offsets that are together below
     `negligible` are 0, behind any the second one below `forgotten` is. Writes what is left and what was taken, each where
     it is wanted. May be done in place. */
  void (*pursue)(
      const temblor_follower *follower, temblor_pursuit *pursuit, float negligible, float forgotten,
      const float *samples, float *_Nullable target, float *_Nullable offsets, long group_count);
  /* Exchanges samples. */
  void (*swap)(float *samples, float *others, long count);
  /* Sums over a multiple of four frames by two rows of weights: 1 or 0, and places. */
  temblor_sums (*moments)(const float *samples, const float *weights, long count);
  /* Moves groups of sixteen models, `length` numbers from one to the next, over a step: rows xx, xy, yx, yy, four
     factors on sum and tilt, x and y. Returns the greatest x * x + y * y. */
  float (*move)(float *lanes, long length, long count, float sum, float tilt);
  /* Passes whole steps, giving what leaves for what arrives; returns how many are done. */
  long (*pass)(temblor_guard *guard, float *samples, long step_count);
} temblor_kernels;

/* The set of a level: 0 for every processor, 1 for AVX2, 2 for AVX-512; null where this machine has no such instructions. */
const temblor_kernels *_Nullable temblor_kernels_of(int level);

TEMBLOR_REALTIME uint64_t temblor_dither(uint64_t state, const float *samples, int16_t *numbers, long count);
TEMBLOR_REALTIME float temblor_peak(const float *samples, long count);
TEMBLOR_REALTIME float temblor_scale(const float *samples, float factor, float *target, long count);
TEMBLOR_REALTIME void temblor_sine(
    uint32_t phase, uint32_t step, uint32_t glide, float start, float slope, float first, float *bus, long count);
TEMBLOR_REALTIME long temblor_follow(
    const temblor_follower *follower, temblor_following *following, float negligible, const float *samples,
    float *target, long group_count);
TEMBLOR_REALTIME long temblor_forget(
    const temblor_follower *follower, temblor_following *following, float negligible, const float *samples,
    float *target, long group_count);
TEMBLOR_REALTIME void temblor_pursue(
    const temblor_follower *follower, temblor_pursuit *pursuit, float negligible, float forgotten, const float *samples,
    float *_Nullable target, float *_Nullable offsets, long group_count);
TEMBLOR_REALTIME void temblor_swap(float *samples, float *others, long count);
TEMBLOR_REALTIME temblor_sums temblor_moments(const float *samples, const float *weights, long count);
TEMBLOR_REALTIME long temblor_pass(temblor_guard *guard, float *samples, long step_count);
TEMBLOR_REALTIME float temblor_move(float *lanes, long length, long count, float sum, float tilt);

#pragma clang assume_nonnull end

#endif
#endif
