// The envelopes of long patterns, which are the ranges of intensity and sharpness in columns of
// time.

/** The maximum number of visible events that are drawn as separate shapes. */
const maximumSeparateCount = 300;

/** Returns whether two patterns have too many events between two times to draw each event. */
function isDense(one, other, { from, to }) {
  return [one, other].some((take) =>
    (take.events ?? []).filter(({ time, length }) => time + length >= from && time <= to).length > maximumSeparateCount);
}

/**
 * Returns the ranges of a pattern in columns of time, in one pass over its events.
 *
 * @param {number} shift The delay of the pattern relative to the axis, in seconds.
 * @returns The maximum intensities, and the minimum and maximum sharpnesses; `low` exceeds `high`
 *   in silent columns.
 */
function columnsOf(take, { from, to, count, shift = 0 }) {
  const strength = new Float32Array(count);
  const low = new Float32Array(count).fill(2);
  const high = new Float32Array(count).fill(-1);
  const columnAt = (time) => Math.floor((time - shift - from) / (to - from) * count + 1e-9);
  const add = (column, { intensity, sharpness }) => {
    if (!(column >= 0 && column < count)) return;
    strength[column] = Math.max(strength[column], intensity);
    if (intensity <= 0.003) return;
    low[column] = Math.min(low[column], sharpness);
    high[column] = Math.max(high[column], sharpness);
  };
  for (const each of transientsOf(take)) add(columnAt(each.time), each);
  for (const event of lastingEvents(take)) {
    const { points } = event;
    for (let index = 0; index < points.length; index += 3) {
      add(columnAt(points[index]), { intensity: points[index + 1], sharpness: points[index + 2] });
    }
    const last = Math.min(count - 1, columnAt(event.time + event.length - 1e-6));
    for (let column = Math.max(0, columnAt(event.time) + 1); column <= last; column++) {
      add(column, valueAt(event, from + shift + column / count * (to - from)));
    }
  }
  return { strength, low, high };
}

/**
 * Returns the envelopes of two patterns: gray for the common part, and the color of a take for its
 * excess.
 */
function drawEnvelopes(box, { one, other, shift }, { y, sharpnessY }) {
  const count = Math.max(1, Math.floor(box.width));
  const { from, to } = box;
  const a = columnsOf(one, { from, to, count });
  const b = columnsOf(other, { from, to, count, shift });
  const bars = { both: "", a: "", b: "" };
  const add = (name, column, start, end, toY) => {
    bars[name] += `M${px(box.left + column + 0.5)} ${px(toY(start))}V${px(toY(end))}`;
  };
  for (let column = 0; column < count; column++) {
    const [first, second] = [a.strength[column], b.strength[column]];
    const shared = Math.min(first, second);
    if (shared > 0) add("both", column, 0, shared, y);
    if (Math.abs(first - second) > intensityTolerance) {
      add(first > second ? "a" : "b", column, shared, Math.max(first, second), y);
    }
    const [low, high] = [
      Math.max(a.low[column], b.low[column]), Math.min(a.high[column], b.high[column])
    ];
    // A constant sharpness is a line of one pixel.
    if (low <= high) add("both", column, low - 0.01, high + 0.01, sharpnessY);
    for (const [name, each] of [["a", a], ["b", b]]) {
      if (each.high[column] < each.low[column]) continue;
      if (low > high) {
        add(name, column, each.low[column] - 0.01, each.high[column] + 0.01, sharpnessY);
      }
      else {
        if (each.low[column] < low - sharpnessTolerance) {
          add(name, column, each.low[column], low, sharpnessY);
        }
        if (each.high[column] > high + sharpnessTolerance) {
          add(name, column, high, each.high[column], sharpnessY);
        }
      }
    }
  }
  return path("bars both", bars.both) + path("bars a", bars.a) + path("bars b", bars.b);
}
