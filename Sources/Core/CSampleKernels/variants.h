/* Included once for each set of instructions, with SET and TARGET defined, LANES of its sines, and MASKED where single
   samples of a vector can be loaded and stored. */

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
    i32x8 sounds = (x > 0) | (x < 0);
    if (__builtin_reduce_and(sounds) == 0) {
      /* Zeros and not-a-numbers take nothing from the generator. */
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
    /* The number 1.5 * 2^23 has its units in the lowest bit. */
    i32x8 whole = (i32x8)(value + 12582912.f) - 0x4B400000;
    whole = __builtin_elementwise_min(__builtin_elementwise_max(whole, (i32x8)(-32768)), (i32x8)(32767));
    i16x8 short_ones = __builtin_convertvector(whole, i16x8);
    STORE(short_ones, (char *)numbers + 2 * i);
    state += 16 * golden;
  }
  for (; i < count; i++) put(numbers, i, dither_one(&state, samples[i]));
  return state;
}

TARGET static float NAME(peak)(const float *samples, long count) {
  i32x8 highest = {0};
  long i = 0;
  for (; i + 8 <= count; i += 8) {
    i32x8 x;
    LOAD(x, samples + i);
    highest = __builtin_elementwise_max(highest, x & 0x7fffffff);
  }
  int32_t most = __builtin_reduce_max(highest);
  for (; i < count; i++) most = greater(magnitude_bits(samples[i]), most);
  return finite_peak(most);
}

TARGET static float NAME(scale)(const float *samples, float factor, float *target, long count) {
  i32x8 highest = {0};
  long i = 0;
  for (; i + 8 <= count; i += 8) {
    f32x8 x;
    LOAD(x, samples + i);
    x *= factor;
    STORE(x, target + i);
    highest = __builtin_elementwise_max(highest, (i32x8)x & 0x7fffffff);
  }
  int32_t most = __builtin_reduce_max(highest);
  for (; i < count; i++) {
    target[i] = samples[i] * factor;
    most = greater(magnitude_bits(target[i]), most);
  }
  return finite_peak(most);
}

/* Sines take as many lanes as the set has. */
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

/* Adds fewer samples than there are lanes. */
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

/* Level and frequency at rest: nothing but the phase moves. */
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
  /* Steps up to a lane: of its number, and of all numbers below it. */
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

/* The offsets at a group's frames. */
static inline __attribute__((always_inline)) TARGET f32x8 NAME(offsets)(
    f32x8 x, f32x8 start, f32x8 kept, f32x8 first, f32x8 second, f32x8 third) {
  f32x8 a = __builtin_shufflevector(x, x, 0, 0, 0, 0, 4, 4, 4, 4);
  f32x8 b = __builtin_shufflevector(x, x, 1, 1, 1, 1, 5, 5, 5, 5);
  f32x8 c = __builtin_shufflevector(x, x, 2, 2, 2, 2, 6, 6, 6, 6);
  return start * kept + ((a * first + b * second) + c * third);
}

/* What a group adds to the offset behind it, in all its lanes. */
static inline __attribute__((always_inline)) TARGET f32x8 NAME(added)(f32x8 x, f32x8 factors) {
  f32x8 sums = x * factors;
  sums += __builtin_shufflevector(sums, sums, 1, 0, 3, 2, 5, 4, 7, 6);
  return sums + __builtin_shufflevector(sums, sums, 2, 3, 0, 1, 6, 7, 4, 5);
}

static inline __attribute__((always_inline)) TARGET f32x8 NAME(magnitude)(f32x8 x) {
  return (f32x8)((i32x8)x & 0x7fffffff);
}

/* What arrives is in the lower four lanes, what leaves in the upper. */
#define LANES_OF(row) __builtin_shufflevector(ahead->row, behind->row, 0, 1, 2, 3, 4, 5, 6, 7)
#define FOUR_OF(type, a, b) ((type){a, a, a, a, b, b, b, b})

/* Where the second low-passes hold no offset and add none, `twice` is 0: nothing is done by them. */
static inline __attribute__((always_inline)) TARGET long NAME(pass)(
    temblor_offset_remover *ahead, temblor_offset_remover *behind, temblor_passing *passing, float *samples,
    float *delayed, long group_count, int twice) {
  const f32x8 kept = LANES_OF(first.kept), kept_then = LANES_OF(second.kept);
  const f32x8 first = LANES_OF(first.first), first_then = LANES_OF(second.first);
  const f32x8 second = LANES_OF(first.second), second_then = LANES_OF(second.second);
  const f32x8 third = LANES_OF(first.third), third_then = LANES_OF(second.third);
  const f32x8 all = LANES_OF(first.all), all_then = LANES_OF(second.all);
  const f32x8 kept_behind = FOUR_OF(f32x8, ahead->first.kept_behind, behind->first.kept_behind);
  const f32x8 kept_behind_then = FOUR_OF(f32x8, ahead->second.kept_behind, behind->second.kept_behind);
  const f32x8 greatest = FOUR_OF(f32x8, passing->limit, passing->ceiling);
  /* Whether a group is to be silent, and whether that matters. */
  const i32x8 silence = FOUR_OF(i32x8, -(ahead->mode == temblor_decaying), -(behind->mode == temblor_decaying));
  const i32x8 counted = FOUR_OF(i32x8, -(ahead->mode != temblor_fast), -(behind->mode != temblor_fast));
  const int may_drop = twice || __builtin_reduce_or(silence);
  f32x8 start = FOUR_OF(f32x8, ahead->first_start, behind->first_start);
  f32x8 start_then = FOUR_OF(f32x8, ahead->second_start, behind->second_start);
  f32x8 x = {0}, taken = {0}, once = {0}, then = {0}, highest = {0};
  f32x4 arriving = {0};
  long group = 0;
  for (; group < group_count; group++) {
    f32x4 leaving;
    LOAD(arriving, samples + 4 * group);
    LOAD(leaving, delayed + 4 * group);
    f32x8 next = __builtin_shufflevector(arriving, leaving, 0, 1, 2, 3, 4, 5, 6, 7);
    f32x8 next_taken = NAME(offsets)(next, start, kept, first, second, third);
    f32x8 next_once = next - next_taken, next_then = {0}, left = next_once;
    if (twice) {
      next_then = NAME(offsets)(next_once, start_then, kept_then, first_then, second_then, third_then);
      left = __builtin_shufflevector(
          next - (next_taken + next_then), next_once - next_then, 0, 1, 2, 3, 12, 13, 14, 15);
    }
    f32x8 size = NAME(magnitude)(left);
    /* A sample of 0 is rare where a group is not silent; only then are all four looked at. */
    i32x8 zeros = next == 0;
    if (__builtin_reduce_or((size > greatest) | (zeros ^ silence))) {
      zeros &= __builtin_shufflevector(zeros, zeros, 1, 0, 3, 2, 5, 4, 7, 6);
      zeros &= __builtin_shufflevector(zeros, zeros, 2, 3, 0, 1, 6, 7, 4, 5);
      if (__builtin_reduce_or((size > greatest) | ((zeros ^ silence) & counted))) break;
    }
    x = next, taken = next_taken, once = next_once, then = next_then;
    start = start * kept_behind + NAME(added)(x, all);
    if (twice) start_then = start_then * kept_behind_then + NAME(added)(once, all_then);
    if (may_drop) {
      f32x8 size_then = NAME(magnitude)(start_then);
      i32x8 dropped = zeros & (NAME(magnitude)(start) + size_then < passing->negligible);
      start = (f32x8)((i32x8)start & ~dropped);
      start_then = (f32x8)((i32x8)start_then & ~(dropped | (size_then < passing->forgotten)));
    }
    highest = __builtin_elementwise_max(highest, size);
    STORE(arriving, delayed + 4 * group);
    leaving = __builtin_shufflevector(left, left, 4, 5, 6, 7);
    STORE(leaving, samples + 4 * group);
  }
  if (group == 0) return 0;
  ahead->first_start = start[0];
  ahead->second_start = start_then[0];
  behind->first_start = start[4];
  behind->second_start = start_then[4];
  f32x8 offsets = taken + then;
  passing->latest = x[3];
  passing->latest_offset = offsets[3];
  passing->earlier = x[2] - offsets[2];
  for (int lane = 0; lane < 4; lane++) {
    if (highest[lane] > passing->peak) passing->peak = highest[lane];
  }
  return group;
}

TARGET static long NAME(pass_groups)(
    temblor_offset_remover *ahead, temblor_offset_remover *behind, temblor_passing *passing, float *samples,
    float *delayed, long group_count) {
  int is_fast = ahead->mode == temblor_fast || behind->mode == temblor_fast;
  if (is_fast || ahead->second_start != 0 || behind->second_start != 0)
    return NAME(pass)(ahead, behind, passing, samples, delayed, group_count, 1);
  long group = 0;
  if (ahead->mode == behind->mode && ahead->mode == temblor_decaying && ahead->first_start == 0 &&
      behind->first_start == 0) {
    /* Silence behind silence. */
    for (; group < group_count; group++) {
      f32x4 arriving, leaving;
      LOAD(arriving, samples + 4 * group);
      LOAD(leaving, delayed + 4 * group);
      if (__builtin_reduce_or((arriving != 0) | (leaving != 0))) break;
      STORE(arriving, delayed + 4 * group);
      STORE(leaving, samples + 4 * group);
    }
    if (group > 0) passing->latest = passing->latest_offset = passing->earlier = 0;
    if (group > 0) return group;
  }
  return NAME(pass)(ahead, behind, passing, samples, delayed, group_count, 0);
}

TARGET static temblor_sums NAME(moments)(const float *samples, const float *weights, long count) {
  f32x4 sums = {0}, tilts = {0}, bends = {0}, squares = {0};
  for (long i = 0; i < count; i += 4) {
    f32x4 x, weight, place;
    LOAD(x, samples + i);
    LOAD(weight, weights + i);
    LOAD(place, weights + count + i);
    f32x4 counted = x * weight, tilted = x * place;
    sums += counted;
    tilts += tilted;
    bends += tilted * place;
    squares += counted * x;
  }
  /* Four sums of four lanes at once: of neighbours, then of both halves. */
  f32x4 first = __builtin_shufflevector(sums, tilts, 0, 4, 2, 6) + __builtin_shufflevector(sums, tilts, 1, 5, 3, 7);
  f32x4 second =
      __builtin_shufflevector(bends, squares, 0, 4, 2, 6) + __builtin_shufflevector(bends, squares, 1, 5, 3, 7);
  f32x4 all = __builtin_shufflevector(first, second, 0, 1, 4, 5) + __builtin_shufflevector(first, second, 2, 3, 6, 7);
  temblor_sums totals;
  LOAD(totals, &all);
  return totals;
}

TARGET static float NAME(move)(float *lanes, long length, long count, float sum, float tilt) {
  INTS highest = {0};
  for (long group = 0; group < count; group++) {
    for (int lane = 0; lane < 16; lane += LANES) {
      float *row = lanes + group * length + lane;
      FLOATS xx, xy, yx, yy, sum_x, sum_y, tilt_x, tilt_y, x, y;
      LOAD(xx, row), LOAD(xy, row + 16);
      LOAD(yx, row + 32), LOAD(yy, row + 48);
      LOAD(sum_x, row + 64), LOAD(sum_y, row + 80);
      LOAD(tilt_x, row + 96), LOAD(tilt_y, row + 112);
      LOAD(x, row + 128), LOAD(y, row + 144);
      FLOATS new_x = (xx * x + xy * y) + (sum_x * sum + tilt_x * tilt);
      FLOATS new_y = (yx * x + yy * y) + (sum_y * sum + tilt_y * tilt);
      STORE(new_x, row + 128);
      STORE(new_y, row + 144);
      /* Norms are not negative, so their bits are in the same order. */
      highest = __builtin_elementwise_max(highest, (INTS)(new_x * new_x + new_y * new_y));
    }
  }
  int32_t most = __builtin_reduce_max(highest);
  float norm;
  LOAD(norm, &most);
  return norm;
}

static const temblor_kernels NAME(kernels) = {
    NAME(dither), NAME(peak), NAME(scale), NAME(sine), NAME(pass_groups), NAME(moments), NAME(move)};

#undef FLOATS
#undef LANES_OF
#undef FOUR_OF
#undef INTS
#undef WORDS
#undef NAME
#undef PASTE
#undef PASTED
