/* Included once for each variant, with macros: SET is its name, TARGET its instructions, LANES the width of its
   sines, and MASKED is 1 if single lanes of a vector can be loaded and stored. */

#define PASTED(a, b) a##_##b
#define PASTE(a, b) PASTED(a, b)
#define NAME(name) PASTE(name, SET)

TARGET static uint64_t NAME(dither)(uint64_t state, const float *samples, void *numbers, long count) {
  const uint64_t golden = 0x9e3779b97f4a7c15ull;
  const u64x8 steps = {1 * golden, 3 * golden, 5 * golden, 7 * golden, 9 * golden, 11 * golden, 13 * golden, 15 * golden};
  long i = 0;
  for (; i + 8 <= count; i += 8) {
    f32x8 x;
    LOAD(x, samples + i);
    i32x8 is_audible = (x > 0) | (x < 0);
    if (__builtin_reduce_and(is_audible) == 0) {
      /* Zeros and NaN don't advance the generator. */
      for (int lane = 0; lane < 8; lane++) put(numbers, i + lane, dither_one(&state, samples[i + lane]));
      continue;
    }
    u64x8 u = steps + state, v = u + golden;
    u = (u ^ (u >> 30)) * 0xbf58476d1ce4e5b9ull;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
    u = (u ^ (u >> 27)) * 0x94d049bb133111ebull;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
    u = ((u ^ (u >> 31)) >> 32) & 0xFFFF;
    v = ((v ^ (v >> 31)) >> 32) & 0xFFFF;
    f32x8 noise = __builtin_convertvector(__builtin_convertvector(u + v, i32x8), f32x8);
    f32x8 value = x * 32767.f + (noise * (1.f / 65536.f) - 1.f);
    value = __builtin_elementwise_min(__builtin_elementwise_max(value, (f32x8)(-65536.f)), (f32x8)(65536.f));
    /* The lowest bit of 1.5 * 2^23 has the value 1. */
    i32x8 whole = (i32x8)(value + 12582912.f) - 0x4B400000;
    whole = __builtin_elementwise_min(__builtin_elementwise_max(whole, (i32x8)(-32768)), (i32x8)(32767));
    i16x8 shorts = __builtin_convertvector(whole, i16x8);
    STORE(shorts, (char *)numbers + 2 * i);
    state += 16 * golden;
  }
  for (; i < count; i++) put(numbers, i, dither_one(&state, samples[i]));
  return state;
}

TARGET static float NAME(peak)(const float *samples, long count) {
  i32x8 peaks = {0};
  long i = 0;
  for (; i + 8 <= count; i += 8) {
    i32x8 x;
    LOAD(x, samples + i);
    peaks = __builtin_elementwise_max(peaks, x & 0x7fffffff);
  }
  int32_t peak_bits = __builtin_reduce_max(peaks);
  for (; i < count; i++) peak_bits = maximum(magnitude_bits(samples[i]), peak_bits);
  return finite_peak(peak_bits);
}

TARGET static float NAME(scale)(const float *samples, float factor, float *target, long count) {
  i32x8 peaks = {0};
  long i = 0;
  for (; i + 8 <= count; i += 8) {
    f32x8 x;
    LOAD(x, samples + i);
    x *= factor;
    STORE(x, target + i);
    peaks = __builtin_elementwise_max(peaks, (i32x8)x & 0x7fffffff);
  }
  int32_t peak_bits = __builtin_reduce_max(peaks);
  for (; i < count; i++) {
    target[i] = samples[i] * factor;
    peak_bits = maximum(magnitude_bits(target[i]), peak_bits);
  }
  return finite_peak(peak_bits);
}

/* Sines use vectors of the full width of the variant. */
typedef float NAME(floats) __attribute__((ext_vector_type(LANES)));
typedef int32_t NAME(ints) __attribute__((ext_vector_type(LANES)));
typedef uint32_t NAME(words) __attribute__((ext_vector_type(LANES)));
#define FLOATS NAME(floats)
#define INTS NAME(ints)
#define WORDS NAME(words)

#if LANES == 16
static const WORDS NAME(lane) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#else
static const WORDS NAME(lane) = {0, 1, 2, 3, 4, 5, 6, 7};
#endif

static inline __attribute__((always_inline)) TARGET FLOATS NAME(wave)(WORDS phases) {
  FLOATS x = __builtin_convertvector((INTS)phases, FLOATS);
  FLOATS size = (FLOATS)((INTS)x & 0x7fffffff);
  FLOATS t = x * (8.f / 4294967296.f - size * (16.f / 4294967296.f / 4294967296.f));
  FLOATS a = (FLOATS)((INTS)t & 0x7fffffff);
  FLOATS y = a * 0.0008567049289643813f + 0.017381177416773756f;
  y = y * a + 0.19636555741596204f;
  y = y * a + 0.7853965076349303f;
  return t * y;
}

/* Adds fewer samples than a vector has. */
static inline __attribute__((always_inline)) TARGET void NAME(add_some)(FLOATS samples, float *bus, int count) {
#if LANES == 16
  __mmask16 mask = (__mmask16)((1u << count) - 1);
  __m512 sum = _mm512_maskz_loadu_ps(mask, bus);
  _mm512_mask_storeu_ps(bus, mask, (__m512)((FLOATS)sum + samples));
#elif MASKED
  const i32x8 lane = {0, 1, 2, 3, 4, 5, 6, 7};
  i32x8 mask = lane < count;
  f32x8 sum = __builtin_ia32_maskloadps256((const f32x8 *)bus, mask) + samples;
  __builtin_ia32_maskstoreps256((f32x8 *)bus, mask, sum);
#else
  for (int l = 0; l < count; l++) bus[l] += samples[l];
#endif
}

/* A sine of constant level and frequency. */
TARGET static void NAME(steady)(uint32_t phase, uint32_t step, float level, float *bus, long count) {
  WORDS p = NAME(lane) * step + phase;
  const WORDS d = (WORDS)(step * LANES);
  long i = 0;
  for (; i + LANES <= count; i += LANES) {
    FLOATS sum;
    LOAD(sum, bus + i);
    sum += NAME(wave)(p) * level;
    STORE(sum, bus + i);
    p += d;
  }
  if (i < count) NAME(add_some)(NAME(wave)(p) * level, bus + i, (int)(count - i));
}

TARGET static void NAME(sine)(
    uint32_t phase, uint32_t step, uint32_t glide, float start, float slope, float first, float *bus, long count) {
  if (glide == 0 && slope == 0) {
    NAME(steady)(phase, step, start, bus, count);
    return;
  }
  /* The glide accumulates over the frames before a lane: 0 + 1 + ... + (lane - 1). */
  WORDS pairs = NAME(lane) * (NAME(lane) - 1) / 2;
  WORDS p = NAME(lane) * step + pairs * glide + phase;
  WORDS d = NAME(lane) * (glide * LANES) + (step * LANES + glide * (LANES * (LANES - 1) / 2));
  const WORDS growth = (WORDS)(glide * LANES * LANES);
  FLOATS index = __builtin_convertvector(NAME(lane), FLOATS) + first;
  long i = 0;
  for (; i + LANES <= count; i += LANES) {
    FLOATS sum;
    LOAD(sum, bus + i);
    sum += NAME(wave)(p) * (index * slope + start);
    STORE(sum, bus + i);
    p += d;
    d += growth;
    index += (float)LANES;
  }
  if (i < count) NAME(add_some)(NAME(wave)(p) * (index * slope + start), bus + i, (int)(count - i));
}

/* Returns the offsets at the frames of two groups. */
static inline __attribute__((always_inline)) TARGET f32x8 NAME(offsets)(
    f32x8 x, f32x8 start, f32x8 kept, f32x8 first, f32x8 second, f32x8 third) {
  f32x8 a = __builtin_shufflevector(x, x, 0, 0, 0, 0, 4, 4, 4, 4);
  f32x8 b = __builtin_shufflevector(x, x, 1, 1, 1, 1, 5, 5, 5, 5);
  f32x8 c = __builtin_shufflevector(x, x, 2, 2, 2, 2, 6, 6, 6, 6);
  return start * kept + ((a * first + b * second) + c * third);
}

/* Returns the weighted sums of two groups, each in all of its lanes. */
static inline __attribute__((always_inline)) TARGET f32x8 NAME(weighted_sum)(f32x8 x, f32x8 factors) {
  f32x8 sums = x * factors;
  sums += __builtin_shufflevector(sums, sums, 1, 0, 3, 2, 5, 4, 7, 6);
  return sums + __builtin_shufflevector(sums, sums, 2, 3, 0, 1, 6, 7, 4, 5);
}

static inline __attribute__((always_inline)) TARGET f32x8 NAME(magnitude)(f32x8 x) {
  return (f32x8)((i32x8)x & 0x7fffffff);
}

/* The input is in the lower four lanes, the delayed output in the upper four. */
#define LANES_OF(row) __builtin_shufflevector(predictor->row, blocker->row, 0, 1, 2, 3, 4, 5, 6, 7)
#define FOUR_OF(type, a, b) ((type){a, a, a, a, b, b, b, b})

/* Processes groups. If the second low-passes have no offset and don't follow the input, `uses_second` is 0 and
   they are skipped. */
static inline __attribute__((always_inline)) TARGET long NAME(pass)(
    temblor_dc_blocker *predictor, temblor_dc_blocker *blocker, temblor_limiter_block_state *state, float *samples,
    float *delayed, long group_count, int uses_second) {
  const f32x8 start_weights = LANES_OF(first.start_weights), second_start_weights = LANES_OF(second.start_weights);
  const f32x8 first_weights = LANES_OF(first.first_weights), second_first_weights = LANES_OF(second.first_weights);
  const f32x8 second_weights = LANES_OF(first.second_weights), second_second_weights = LANES_OF(second.second_weights);
  const f32x8 third_weights = LANES_OF(first.third_weights), second_third_weights = LANES_OF(second.third_weights);
  const f32x8 final_weights = LANES_OF(first.final_weights), second_final_weights = LANES_OF(second.final_weights);
  const f32x8 final_decay = FOUR_OF(f32x8, predictor->first.final_decay, blocker->first.final_decay);
  const f32x8 second_final_decay = FOUR_OF(f32x8, predictor->second.final_decay, blocker->second.final_decay);
  const f32x8 limits = FOUR_OF(f32x8, state->input_limit, state->output_limit);
  /* A decaying blocker expects silent groups. A fast blocker accepts both. */
  const i32x8 expects_silence =
      FOUR_OF(i32x8, -(predictor->mode == temblor_dc_decaying), -(blocker->mode == temblor_dc_decaying));
  const i32x8 checks_silence =
      FOUR_OF(i32x8, -(predictor->mode != temblor_dc_fast), -(blocker->mode != temblor_dc_fast));
  const int may_reset_offset = uses_second || __builtin_reduce_or(expects_silence);
  f32x8 first_offset = FOUR_OF(f32x8, predictor->first_offset, blocker->first_offset);
  f32x8 second_offset = FOUR_OF(f32x8, predictor->second_offset, blocker->second_offset);
  f32x8 last = {0}, last_first_offsets = {0}, last_second_offsets = {0}, peaks = {0};
  f32x4 input = {0};
  long group = 0;
  for (; group < group_count; group++) {
    f32x4 output;
    LOAD(input, samples + 4 * group);
    LOAD(output, delayed + 4 * group);
    f32x8 frames = __builtin_shufflevector(input, output, 0, 1, 2, 3, 4, 5, 6, 7);
    f32x8 first_offsets =
        NAME(offsets)(frames, first_offset, start_weights, first_weights, second_weights, third_weights);
    f32x8 filtered = frames - first_offsets, second_offsets = {0}, blocked = filtered;
    if (uses_second) {
      second_offsets = NAME(offsets)(
          filtered, second_offset, second_start_weights, second_first_weights, second_second_weights,
          second_third_weights);
      blocked = __builtin_shufflevector(
          frames - (first_offsets + second_offsets), filtered - second_offsets, 0, 1, 2, 3, 12, 13, 14, 15);
    }
    f32x8 magnitudes = NAME(magnitude)(blocked);
    /* A zero is rare in a group that isn't silent. Only then are all four lanes compared. */
    i32x8 zeros = frames == 0;
    if (__builtin_reduce_or((magnitudes > limits) | (zeros ^ expects_silence))) {
      zeros &= __builtin_shufflevector(zeros, zeros, 1, 0, 3, 2, 5, 4, 7, 6);
      zeros &= __builtin_shufflevector(zeros, zeros, 2, 3, 0, 1, 6, 7, 4, 5);
      if (__builtin_reduce_or((magnitudes > limits) | ((zeros ^ expects_silence) & checks_silence))) break;
    }
    last = frames, last_first_offsets = first_offsets, last_second_offsets = second_offsets;
    first_offset = first_offset * final_decay + NAME(weighted_sum)(frames, final_weights);
    if (uses_second)
      second_offset = second_offset * second_final_decay + NAME(weighted_sum)(filtered, second_final_weights);
    if (may_reset_offset) {
      f32x8 second_magnitude = NAME(magnitude)(second_offset);
      i32x8 reset = zeros & (NAME(magnitude)(first_offset) + second_magnitude < state->silence_threshold);
      first_offset = (f32x8)((i32x8)first_offset & ~reset);
      second_offset = (f32x8)((i32x8)second_offset & ~(reset | (second_magnitude < state->denormal_threshold)));
    }
    peaks = __builtin_elementwise_max(peaks, magnitudes);
    STORE(input, delayed + 4 * group);
    output = __builtin_shufflevector(blocked, blocked, 4, 5, 6, 7);
    STORE(output, samples + 4 * group);
  }
  if (group == 0) return 0;
  predictor->first_offset = first_offset[0];
  predictor->second_offset = second_offset[0];
  blocker->first_offset = first_offset[4];
  blocker->second_offset = second_offset[4];
  f32x8 offsets = last_first_offsets + last_second_offsets;
  state->latest = last[3];
  state->latest_offset = offsets[3];
  state->previous = last[2] - offsets[2];
  for (int lane = 0; lane < 4; lane++) {
    if (peaks[lane] > state->peak) state->peak = peaks[lane];
  }
  return group;
}

TARGET static long NAME(pass_groups)(
    temblor_dc_blocker *predictor, temblor_dc_blocker *blocker, temblor_limiter_block_state *state, float *samples,
    float *delayed, long group_count) {
  int is_fast = predictor->mode == temblor_dc_fast || blocker->mode == temblor_dc_fast;
  if (is_fast || predictor->second_offset != 0 || blocker->second_offset != 0)
    return NAME(pass)(predictor, blocker, state, samples, delayed, group_count, 1);
  long group = 0;
  if (predictor->mode == blocker->mode && predictor->mode == temblor_dc_decaying && predictor->first_offset == 0 &&
      blocker->first_offset == 0) {
    /* Silence follows silence. */
    for (; group < group_count; group++) {
      f32x4 input, output;
      LOAD(input, samples + 4 * group);
      LOAD(output, delayed + 4 * group);
      if (__builtin_reduce_or((input != 0) | (output != 0))) break;
      STORE(input, delayed + 4 * group);
      STORE(output, samples + 4 * group);
    }
    if (group > 0) state->latest = state->latest_offset = state->previous = 0;
    if (group > 0) return group;
  }
  return NAME(pass)(predictor, blocker, state, samples, delayed, group_count, 0);
}

TARGET static temblor_moment_sums NAME(step_moments)(const float *samples, const float *weights, long count) {
  f32x4 sums = {0}, first_moments = {0}, second_moments = {0}, energies = {0};
  for (long i = 0; i < count; i += 4) {
    f32x4 x, weight, position;
    LOAD(x, samples + i);
    LOAD(weight, weights + i);
    LOAD(position, weights + count + i);
    f32x4 weighted = x * weight, moment = x * position;
    sums += weighted;
    first_moments += moment;
    second_moments += moment * position;
    energies += weighted * x;
  }
  /* Four sums of four lanes at once: first of neighbors, then of both halves. */
  f32x4 first = __builtin_shufflevector(sums, first_moments, 0, 4, 2, 6) +
      __builtin_shufflevector(sums, first_moments, 1, 5, 3, 7);
  f32x4 second =
      __builtin_shufflevector(second_moments, energies, 0, 4, 2, 6) +
      __builtin_shufflevector(second_moments, energies, 1, 5, 3, 7);
  f32x4 all = __builtin_shufflevector(first, second, 0, 1, 4, 5) + __builtin_shufflevector(first, second, 2, 3, 6, 7);
  temblor_moment_sums totals;
  LOAD(totals, &all);
  return totals;
}

TARGET static float NAME(advance_models)(float *lanes, long length, long count, float sum, float first_moment) {
  INTS peaks = {0};
  for (long group = 0; group < count; group++) {
    for (int lane = 0; lane < 16; lane += LANES) {
      float *row = lanes + group * length + lane;
      FLOATS xx, xy, yx, yy, sum_x, sum_y, moment_x, moment_y, x, y;
      LOAD(xx, row), LOAD(xy, row + 16);
      LOAD(yx, row + 32), LOAD(yy, row + 48);
      LOAD(sum_x, row + 64), LOAD(sum_y, row + 80);
      LOAD(moment_x, row + 96), LOAD(moment_y, row + 112);
      LOAD(x, row + 128), LOAD(y, row + 144);
      FLOATS new_x = (xx * x + xy * y) + (sum_x * sum + moment_x * first_moment);
      FLOATS new_y = (yx * x + yy * y) + (sum_y * sum + moment_y * first_moment);
      STORE(new_x, row + 128);
      STORE(new_y, row + 144);
      /* Norms aren't negative, so that their bits have the same order. */
      peaks = __builtin_elementwise_max(peaks, (INTS)(new_x * new_x + new_y * new_y));
    }
  }
  int32_t peak_bits = __builtin_reduce_max(peaks);
  float norm;
  LOAD(norm, &peak_bits);
  return norm;
}

static const temblor_kernels NAME(kernels) = {
    NAME(dither), NAME(peak), NAME(scale), NAME(sine), NAME(pass_groups), NAME(step_moments), NAME(advance_models)};

#undef FLOATS
#undef LANES_OF
#undef FOUR_OF
#undef INTS
#undef WORDS
#undef NAME
#undef PASTE
#undef PASTED
