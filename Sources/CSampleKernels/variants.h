/* Included once for each set of instructions, with SET and TARGET defined, LANES of its sines, and MASKED where single
   samples of a vector can be loaded and stored. */

#define PASTED(a, b) a##_##b
#define PASTE(a, b) PASTED(a, b)
#define NAME(name) PASTE(name, SET)

TARGET static uint64_t NAME(dither)(uint64_t state, const float *samples, int16_t *numbers, long count) {
  const uint64_t golden = 0x9e3779b97f4a7c15ull;
  const u64x8 steps = {1 * golden, 3 * golden, 5 * golden, 7 * golden, 9 * golden, 11 * golden, 13 * golden, 15 * golden};
  long i = 0;
  for (; i + 8 <= count; i += 8) {
    f32x8 x;
    memcpy(&x, samples + i, sizeof x);
    i32x8 sounds = (x > 0) | (x < 0);
    if (__builtin_reduce_and(sounds) == 0) {
      /* Zeros and not-a-numbers take nothing from the generator. */
      for (int lane = 0; lane < 8; lane++) numbers[i + lane] = dither_one(&state, samples[i + lane]);
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
    memcpy(numbers + i, &short_ones, sizeof short_ones);
    state += 16 * golden;
  }
  for (; i < count; i++) numbers[i] = dither_one(&state, samples[i]);
  return state;
}

TARGET static float NAME(peak)(const float *samples, long count) {
  i32x8 highest = {0};
  long i = 0;
  for (; i + 8 <= count; i += 8) {
    i32x8 x;
    memcpy(&x, samples + i, sizeof x);
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
    memcpy(&x, samples + i, sizeof x);
    x *= factor;
    memcpy(target + i, &x, sizeof x);
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
    memcpy(&sum, bus + i, sizeof sum);
    sum += NAME(wave)(p) * level;
    memcpy(bus + i, &sum, sizeof sum);
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
    memcpy(&sum, bus + i, sizeof sum);
    sum += NAME(wave)(p) * (index * slope + start);
    memcpy(bus + i, &sum, sizeof sum);
    p += d;
    d += growth;
    index += (float)LANES;
  }
  if (i < count) NAME(add_some)(NAME(wave)(p) * (index * slope + start), bus + i, (int)(count - i));
}

/* Four numbers of a group, for two groups. */
static inline __attribute__((always_inline)) TARGET f32x8 NAME(twice)(const float *numbers) {
  f32x4 half;
  memcpy(&half, numbers, sizeof half);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3, 0, 1, 2, 3);
}

/* Offsets at the frames of two groups. */
static inline __attribute__((always_inline)) TARGET f32x8 NAME(offsets)(
    f32x8 x, float start, float middle, f32x8 kept, f32x8 first, f32x8 second, f32x8 third) {
  f32x8 starts = (f32x8){start, start, start, start, middle, middle, middle, middle};
  f32x8 a = __builtin_shufflevector(x, x, 0, 0, 0, 0, 4, 4, 4, 4);
  f32x8 b = __builtin_shufflevector(x, x, 1, 1, 1, 1, 5, 5, 5, 5);
  f32x8 c = __builtin_shufflevector(x, x, 2, 2, 2, 2, 6, 6, 6, 6);
  return starts * kept + ((a * first + b * second) + c * third);
}

/* What each of two groups adds to the offset behind it, in its lanes. */
static inline __attribute__((always_inline)) TARGET f32x8 NAME(added)(f32x8 x, f32x8 factors) {
  f32x8 sums = x * factors;
  sums += __builtin_shufflevector(sums, sums, 1, 0, 3, 2, 5, 4, 7, 6);
  return sums + __builtin_shufflevector(sums, sums, 2, 3, 0, 1, 6, 7, 4, 5);
}

/* But two steps a group wait for each other. */
TARGET static void NAME(follow_some)(
    const temblor_follower *follower, temblor_following *following, const float *samples, float *target, long count) {
  const f32x8 factors = NAME(twice)(follower->sums), kept = NAME(twice)(follower->kept);
  const f32x8 first = NAME(twice)(follower->first), second = NAME(twice)(follower->second);
  const f32x8 third = NAME(twice)(follower->third);
  const float kept_behind = follower->keptBehind;
  i32x8 highest = {0};
  f32x8 offsets = {0};
  float start = following->start;
  long group = 0;
  for (; group + 2 <= count; group += 2) {
    f32x8 x;
    memcpy(&x, samples + 4 * group, sizeof x);
    f32x8 added = NAME(added)(x, factors);
    float middle = start * kept_behind + added[0];
    offsets = NAME(offsets)(x, start, middle, kept, first, second, third);
    start = middle * kept_behind + added[4];
    x -= offsets;
    memcpy(target + 4 * group, &x, sizeof x);
    highest = __builtin_elementwise_max(highest, (i32x8)x & 0x7fffffff);
  }
  if (group > 0) following->offset = offsets[7];
  int32_t most = __builtin_reduce_max(highest);
  if (group < count) {
    const float *x = samples + 4 * group;
    float a = x[0], b = x[1], c = x[2], d = x[3];
    for (int l = 0; l < 4; l++) {
      float offset = start * kept[l] + ((a * first[l] + b * second[l]) + c * third[l]);
      float left = (l == 0 ? a : l == 1 ? b : l == 2 ? c : d) - offset;
      target[4 * group + l] = left;
      most = greater(magnitude_bits(left), most);
      following->offset = offset;
    }
    start = start * kept_behind + ((a * factors[0] + b * factors[1]) + (c * factors[2] + d * factors[3]));
  }
  following->start = start;
  following->peak = raised(following->peak, most);
}

TARGET static long NAME(follow)(
    const temblor_follower *follower, temblor_following *following, float negligible, const float *samples,
    float *target, long group_count) {
  long done = 0;
  following->is_silent = 0;
  while (done < group_count && !following->is_silent) {
    long count = group_count - done;
    /* A zero is rare; only where there is one are groups looked at. */
    i32x8 zeros = {0};
    long i = 0;
    for (; i + 8 <= 4 * count; i += 8) {
      f32x8 x;
      memcpy(&x, samples + 4 * done + i, sizeof x);
      zeros |= x == 0;
    }
    if (__builtin_reduce_or(zeros) != 0 || i < 4 * count) {
      for (long group = 0; group < count; group++) {
        if (is_silent(samples + 4 * (done + group))) {
          count = group + 1;
          following->is_silent = 1;
        }
      }
    }
    NAME(follow_some)(follower, following, samples + 4 * done, target + 4 * done, count);
    done += count;
  }
  if (following->is_silent && __builtin_fabsf(following->start) < negligible) following->start = 0;
  return done;
}

TARGET static long NAME(forget)(
    const temblor_follower *follower, temblor_following *following, float negligible, const float *samples,
    float *target, long group_count) {
  float start = following->start;
  int32_t most = 0;
  long done = 0;
  int silent = 1;
  while (done < group_count && silent) {
    /* Silence behind silence. */
    for (; start == 0 && done + 2 <= group_count; done += 2) {
      f32x8 x;
      memcpy(&x, samples + 4 * done, sizeof x);
      if (__builtin_reduce_and(x == 0) == 0) break;
      memcpy(target + 4 * done, &x, sizeof x);
      following->offset = 0;
    }
    if (done == group_count) break;
    const float *x = samples + 4 * done;
    silent = is_silent(x);
    float left[4];
    for (int l = 0; l < 4; l++) {
      float offset = start * follower->kept[l];
      left[l] = x[l] - offset;
      most = greater(magnitude_bits(left[l]), most);
      following->offset = offset;
    }
    memcpy(target + 4 * done, left, sizeof left);
    start = start * follower->keptBehind + 0.f;
    if (silent && __builtin_fabsf(start) < negligible) start = 0;
    done++;
  }
  following->start = start;
  following->peak = raised(following->peak, most);
  following->is_silent = silent;
  return done;
}

TARGET static void NAME(pursue)(
    const temblor_follower *follower, temblor_pursuit *pursuit, float negligible, float forgotten, const float *samples,
    float *target, float *offsets, long group_count) {
  const f32x8 factors = NAME(twice)(follower->sums), kept = NAME(twice)(follower->kept);
  const f32x8 first = NAME(twice)(follower->first), second = NAME(twice)(follower->second);
  const f32x8 third = NAME(twice)(follower->third);
  const float kept_behind = follower->keptBehind;
  float start = pursuit->first, later = pursuit->second;
  i32x8 highest = {0};
  f32x8 last = {0};
  long group = 0;
  while (group < group_count) {
    /* Of a group alone the upper half is not used. */
    int is_pair = group + 2 <= group_count;
    f32x8 x = NAME(twice)(samples + 4 * group);
    if (is_pair) memcpy(&x, samples + 4 * group, sizeof x);
    f32x8 added = NAME(added)(x, factors);
    float middle = start * kept_behind + added[0];
    float end = middle * kept_behind + added[4];
    f32x8 taken = NAME(offsets)(x, start, middle, kept, first, second, third);
    f32x8 once = x - taken;
    f32x8 added_then = NAME(added)(once, factors);
    float later_middle = later * kept_behind + added_then[0];
    float later_end = later_middle * kept_behind + added_then[4];
    f32x8 then = NAME(offsets)(once, later, later_middle, kept, first, second, third);
    f32x8 left = once - then, both = taken + then;
    float size = __builtin_fabsf(later_middle), size_behind = __builtin_fabsf(later_end);
    float sum = __builtin_fabsf(middle) + size, sum_behind = __builtin_fabsf(end) + size_behind;
    float least = size < size_behind ? size : size_behind;
    float least_sum = sum < sum_behind ? sum : sum_behind;
    if (__builtin_expect(is_pair && least >= forgotten && least_sum >= negligible, 1)) {
      start = end;
      later = later_end;
      last = both;
      if (target) memcpy(target + 4 * group, &left, sizeof left);
      if (offsets) memcpy(offsets + 4 * group, &both, sizeof both);
      highest = __builtin_elementwise_max(highest, (i32x8)left & 0x7fffffff);
      group += 2;
      continue;
    }
    int is_forgotten = sum < negligible && is_silent(samples + 4 * group);
    start = is_forgotten ? 0 : middle;
    later = is_forgotten || size < forgotten ? 0 : later_middle;
    last = __builtin_shufflevector(both, both, 0, 1, 2, 3, 0, 1, 2, 3);
    left = __builtin_shufflevector(left, left, 0, 1, 2, 3, 0, 1, 2, 3);
    if (target) memcpy(target + 4 * group, &left, 16);
    if (offsets) memcpy(offsets + 4 * group, &last, 16);
    highest = __builtin_elementwise_max(highest, (i32x8)left & 0x7fffffff);
    group++;
  }
  if (group_count > 0) pursuit->offset = last[7];
  pursuit->first = start;
  pursuit->second = later;
  pursuit->peak = raised(pursuit->peak, __builtin_reduce_max(highest));
}

TARGET static void NAME(swap)(float *samples, float *others, long count) {
  long i = 0;
  for (; i + 8 <= count; i += 8) {
    f32x8 a, b;
    memcpy(&a, samples + i, sizeof a);
    memcpy(&b, others + i, sizeof b);
    memcpy(samples + i, &b, sizeof b);
    memcpy(others + i, &a, sizeof a);
  }
  for (; i < count; i++) {
    float sample = samples[i];
    samples[i] = others[i];
    others[i] = sample;
  }
}

TARGET static temblor_sums NAME(moments)(const float *samples, const float *weights, long count) {
  f32x4 sums = {0}, tilts = {0}, bends = {0}, squares = {0};
  for (long i = 0; i < count; i += 4) {
    f32x4 x, weight, place;
    memcpy(&x, samples + i, sizeof x);
    memcpy(&weight, weights + i, sizeof weight);
    memcpy(&place, weights + count + i, sizeof place);
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
  memcpy(&totals, &all, sizeof totals);
  return totals;
}

TARGET static float NAME(move)(float *lanes, long length, long count, float sum, float tilt) {
  INTS highest = {0};
  for (long group = 0; group < count; group++) {
    for (int lane = 0; lane < 16; lane += LANES) {
      float *row = lanes + group * length + lane;
      FLOATS xx, xy, yx, yy, sum_x, sum_y, tilt_x, tilt_y, x, y;
      memcpy(&xx, row, sizeof xx), memcpy(&xy, row + 16, sizeof xy);
      memcpy(&yx, row + 32, sizeof yx), memcpy(&yy, row + 48, sizeof yy);
      memcpy(&sum_x, row + 64, sizeof sum_x), memcpy(&sum_y, row + 80, sizeof sum_y);
      memcpy(&tilt_x, row + 96, sizeof tilt_x), memcpy(&tilt_y, row + 112, sizeof tilt_y);
      memcpy(&x, row + 128, sizeof x), memcpy(&y, row + 144, sizeof y);
      FLOATS new_x = (xx * x + xy * y) + (sum_x * sum + tilt_x * tilt);
      FLOATS new_y = (yx * x + yy * y) + (sum_y * sum + tilt_y * tilt);
      memcpy(row + 128, &new_x, sizeof new_x);
      memcpy(row + 144, &new_y, sizeof new_y);
      /* Norms are not negative, so their bits are in the same order. */
      highest = __builtin_elementwise_max(highest, (INTS)(new_x * new_x + new_y * new_y));
    }
  }
  int32_t most = __builtin_reduce_max(highest);
  float norm;
  memcpy(&norm, &most, sizeof norm);
  return norm;
}

TARGET static long NAME(pass)(temblor_guard *guard, float *samples, long step_count) {
  const long length = guard->step_length;
  const float scale = 1 / (float)length, middle = 0.5f + 0.5f * scale;
  guard->outcome = temblor_guard_free;
  for (long step = 0; step < step_count; step++, samples += length) {
    float *ring = guard->frames + guard->start;
    /* What has just been written in parts is slow to read as a whole. */
    int is_ahead = (step_count - step) * length >= guard->read_count;
    temblor_sums sums;
    if (is_ahead) sums = NAME(moments)(samples, guard->weights, guard->read_count);
    NAME(swap)(samples, ring, length);
    if (!is_ahead) sums = NAME(moments)(ring, guard->weights, guard->read_count);
    guard->leaving = guard->latest;
    guard->latest = (temblor_step){
        sums.sum, sums.tilt, sums.tilt + middle * sums.sum, sums.bend + middle * sums.tilt, sums.square * scale};
    guard->start = guard->start == 0 ? length : 0;
    float greatest =
        NAME(move)(guard->lanes, guard->lane_length, guard->lane_count, guard->leaving.sum, guard->leaving.tilt);
    if (greatest > guard->quiet) {
      guard->greatest = greatest;
      guard->outcome = temblor_guard_loud;
      return step;
    }
    if (greatest < guard->negligible) {
      for (long group = 0; group < guard->lane_count; group++)
        memset(guard->lanes + group * guard->lane_length + 128, 0, 32 * sizeof(float));
    }
    if (guard->bucket_place == 0) {
      guard->older = guard->newer;
      guard->newer = guard->newest;
      guard->newest = 0;
    }
    guard->bucket_place = guard->bucket_place + 1 == guard->bucket_length ? 0 : guard->bucket_place + 1;
    if (greatest > guard->newest) guard->newest = greatest;
    if (guard->lane_count > 0) {
      const float *x = guard->lanes + 128;
      float moved =
          __builtin_fabsf((x[0] * guard->shares[0] + x[1] * guard->shares[1]) + x[2] * guard->shares[2]);
      if (moved > guard->excursion) guard->excursion = moved;
    }
    double spent = (double)guard->leaving.square * guard->power;
    guard->coil += (guard->coil_fraction * spent - guard->coil) * guard->coil_step;
    guard->magnet += ((1 - guard->coil_fraction) * spent - guard->magnet) * guard->magnet_step;
    guard->asked += (spent - guard->asked) * guard->averaging_step;
    double rise = guard->coil + guard->magnet;
    if (rise > guard->rise) guard->rise = rise;
    if (guard->asked > guard->aim + guard->headroom * (guard->aim - rise)) {
      guard->outcome = temblor_guard_warm;
      return step + 1;
    }
  }
  return step_count;
}

static const temblor_kernels NAME(kernels) = {
    NAME(dither), NAME(peak), NAME(scale), NAME(sine), NAME(follow), NAME(forget), NAME(pursue), NAME(swap),
    NAME(moments), NAME(move), NAME(pass)};

#undef FLOATS
#undef INTS
#undef WORDS
#undef NAME
#undef PASTE
#undef PASTED
