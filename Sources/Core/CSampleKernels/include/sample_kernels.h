/* The inner loops of rendering, written with clang's portable vectors. On x86-64, variants for AVX2 and AVX-512
   are chosen at load time. All variants compute the same bits. No function allocates, locks, or fails. */

#ifndef TEMBLOR_SAMPLE_KERNELS_H
#define TEMBLOR_SAMPLE_KERNELS_H

#include <stdint.h>

#pragma clang assume_nonnull begin

#define TEMBLOR_REALTIME __attribute__((swift_attr("@_noLocks")))

/* Four consecutive frames. */
typedef float temblor_group __attribute__((ext_vector_type(4)));

/* A one-pole low-pass, unrolled over a group of four frames. The offset at each frame is a weighted sum of the
   offset at the start of the group and the group's first three samples. The offset after the group is the initial
   offset times `final_decay` plus a weighted sum of all four samples. */
typedef struct {
  temblor_group start_weights, first_weights, second_weights, third_weights, final_weights;
  float final_decay;
} temblor_low_pass;

/* The mode of a DC blocker's two low-passes: in `slow`, the first follows the input and the second decays, while
   no group is silent; in `decaying`, both decay, while all groups are silent; in `fast`, both follow the input. */
typedef enum { temblor_dc_slow, temblor_dc_decaying, temblor_dc_fast } temblor_dc_mode;

/* The state of a DC blocker: two low-passes in series, and their offsets at the start of a group. */
typedef struct {
  temblor_low_pass first, second;
  float first_offset, second_offset;
  temblor_dc_mode mode;
} temblor_dc_blocker;

/* The limits and the history of a settled limiter. */
typedef struct {
  /* The maximum magnitudes of the input after DC removal, and of the output. */
  float input_limit, output_limit;
  /* The threshold below which the offsets become 0 after a silent group. */
  float silence_threshold;
  /* The threshold below which the second offset becomes 0 after any group. */
  float denormal_threshold;
  /* The peak magnitude of the input after DC removal. */
  float peak;
  /* The last input frame, its offset, and the frame before it after DC removal. */
  float latest, latest_offset, previous;
} temblor_limiter_block_state;

/* Sums over the frames of a step: of the samples, of the samples times their position and its square, and of the
   squares. */
typedef struct {
  float sum, first_moment, second_moment, energy;
} temblor_moment_sums;

/* A variant of the loops. */
typedef struct {
  /* Quantizes samples to 16 bits with the dither of SplitMix64, into memory of any alignment. Returns the new
     state of the generator. */
  uint64_t (*dither)(uint64_t state, const float *samples, void *numbers, long count);
  /* Returns the peak magnitude, or a negative number if a sample isn't finite. */
  float (*peak)(const float *samples, long count);
  /* Multiplies samples by a factor, possibly in place. Returns the peak of the result, as above. */
  float (*scale)(const float *samples, float factor, float *target, long count);
  /* Adds a sine. The phase, its increment `step`, and the increase of the increment `glide` are in units of 2^-32
     cycles. The level is `start` plus `slope` times the frame, counted from `first`. */
  void (*sine)(
      uint32_t phase, uint32_t step, uint32_t glide, float start, float slope, float first, float *bus, long count);
  /* Replaces input groups by delayed groups without their DC offset, until a sample exceeds a limit or a DC
     blocker would change its mode. Returns the number of groups processed. */
  long (*pass_groups)(
      temblor_dc_blocker *predictor, temblor_dc_blocker *blocker, temblor_limiter_block_state *state, float *samples,
      float *delayed, long group_count);
  /* Sums over a multiple of four frames, with a row of weights of 1 or 0 and a row of positions. */
  temblor_moment_sums (*step_moments)(const float *samples, const float *weights, long count);
  /* Advances groups of sixteen models by a step. A group has the rows xx, xy, yx, yy, the x and y factors of the
     sum and of the first moment, x, and y; `length` is the distance between groups. Returns the maximum of x * x +
     y * y. */
  float (*advance_models)(float *lanes, long length, long count, float sum, float first_moment);
} temblor_kernels;

/* Returns the variant of a level: 0 for every processor, 1 for AVX2, 2 for AVX-512. Returns null if this machine
   doesn't support it. */
const temblor_kernels *_Nullable temblor_kernels_of(int level);

/* The same functions in the fastest variant that this machine supports. */
TEMBLOR_REALTIME uint64_t temblor_dither(uint64_t state, const float *samples, void *numbers, long count);
TEMBLOR_REALTIME float temblor_peak(const float *samples, long count);
TEMBLOR_REALTIME float temblor_scale(const float *samples, float factor, float *target, long count);
TEMBLOR_REALTIME void temblor_sine(
    uint32_t phase, uint32_t step, uint32_t glide, float start, float slope, float first, float *bus, long count);
TEMBLOR_REALTIME long temblor_pass_groups(
    temblor_dc_blocker *predictor, temblor_dc_blocker *blocker, temblor_limiter_block_state *state, float *samples,
    float *delayed, long group_count);
TEMBLOR_REALTIME temblor_moment_sums temblor_step_moments(const float *samples, const float *weights, long count);
TEMBLOR_REALTIME float temblor_advance_models(
    float *lanes, long length, long count, float sum, float first_moment);

#pragma clang assume_nonnull end

#endif
