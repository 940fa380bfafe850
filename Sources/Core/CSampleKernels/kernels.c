#include "sample_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The variants compute the same bits only without fused multiply-add. */
#pragma STDC FP_CONTRACT OFF
/* Vectors are passed only between functions of a variant, which are inlined. */
#pragma clang diagnostic ignored "-Wpsabi"

#define LOAD(vector, from) __builtin_memcpy(&(vector), from, sizeof(vector))
#define STORE(vector, to) __builtin_memcpy(to, &(vector), sizeof(vector))

typedef temblor_group f32x4;
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef int32_t i32x8 __attribute__((ext_vector_type(8)));
typedef uint32_t u32x8 __attribute__((ext_vector_type(8)));
typedef uint64_t u64x8 __attribute__((ext_vector_type(8)));
typedef int16_t i16x8 __attribute__((ext_vector_type(8)));

/* Returns the upper half of the next value of SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint32_t draw(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (uint32_t)((z ^ (z >> 31)) >> 32);
}

static inline int16_t dither_one(uint64_t *state, float sample) {
  if (sample == 0 || sample != sample) return 0;
  float noise = (float)(draw(state) & 0xFFFF);
  noise += (float)(draw(state) & 0xFFFF);
  float value = sample * 32767.f + (noise * (1.f / 65536.f) - 1.f);
  /* Adding and subtracting 1.5 * 2^23 rounds to the nearest integer. */
  float whole = (value + 12582912.f) - 12582912.f;
  whole = whole < -32768.f ? -32768.f : whole > 32767.f ? 32767.f : whole;
  return (int16_t)whole;
}

static inline void put(void *numbers, long index, int16_t number) { STORE(number, (char *)numbers + 2 * index); }

/* The order of magnitudes is the order of their bits as integers. */
static inline int32_t magnitude_bits(float sample) {
  int32_t bits;
  LOAD(bits, &sample);
  return bits & 0x7fffffff;
}

static inline int32_t maximum(int32_t a, int32_t b) { return a > b ? a : b; }

static inline float finite_peak(int32_t bits) {
  if (bits >= 0x7f800000) return -1;
  float peak;
  LOAD(peak, &bits);
  return peak;
}

#define SET base
#define TARGET
#define MASKED 0
#define LANES 8
#include "variants.h"
#undef SET
#undef TARGET
#undef MASKED
#undef LANES

#if defined(__x86_64__)

#define SET avx2
#define TARGET __attribute__((target("avx2,bmi2")))
#define MASKED 1
#define LANES 8
#include "variants.h"
#undef SET
#undef TARGET
#undef MASKED
#undef LANES

#define SET avx512
#define TARGET __attribute__((target("avx2,bmi2,avx512f,avx512vl,avx512dq,avx512bw")))
#define MASKED 1
#define LANES 16
#include "variants.h"
#undef SET
#undef TARGET
#undef MASKED
#undef LANES

#endif

static const temblor_kernels *kernels = &kernels_base;

const temblor_kernels *temblor_kernels_of(int level) {
  if (level == 0) return &kernels_base;
#if defined(__x86_64__)
  __builtin_cpu_init();
  int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (level == 1 && has_avx2) return &kernels_avx2;
  int has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  if (level == 2 && has_avx512) return &kernels_avx512;
#endif
  return 0;
}

#if defined(__x86_64__)
/* Runs before main, so that the render thread needs no initialization. */
__attribute__((constructor)) static void choose_kernels(void) {
  for (int level = 1; temblor_kernels_of(level); level++) kernels = temblor_kernels_of(level);
}
#endif

uint64_t temblor_dither(uint64_t state, const float *samples, void *numbers, long count) {
  return kernels->dither(state, samples, numbers, count);
}

float temblor_peak(const float *samples, long count) { return kernels->peak(samples, count); }

float temblor_scale(const float *samples, float factor, float *target, long count) {
  return kernels->scale(samples, factor, target, count);
}

void temblor_sine(
    uint32_t phase, uint32_t step, uint32_t glide, float start, float slope, float first, float *bus, long count) {
  kernels->sine(phase, step, glide, start, slope, first, bus, count);
}

long temblor_pass_groups(
    temblor_dc_blocker *predictor, temblor_dc_blocker *blocker, temblor_limiter_block_state *state, float *samples,
    float *delayed, long group_count) {
  return kernels->pass_groups(predictor, blocker, state, samples, delayed, group_count);
}

temblor_moment_sums temblor_step_moments(const float *samples, const float *weights, long count) {
  return kernels->step_moments(samples, weights, count);
}

float temblor_advance_models(float *lanes, long length, long count, float sum, float first_moment) {
  return kernels->advance_models(lanes, length, count, sum, first_moment);
}
