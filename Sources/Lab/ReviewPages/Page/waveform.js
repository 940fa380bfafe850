// The waveforms of two takes, with the peaks within a few milliseconds or the samples of a short
// range.

/**
 * The radius of the window of a peak, in seconds.
 * The window removes the ripple of a wave from the outline.
 */
const outlineRadius = 0.006;
/** The minimum length of a range that is drawn with peaks instead of samples, in seconds. */
const sampleRangeLimit = 0.16;

const outlines = new Map();

/**
 * Returns the outline of a take in a lane: for every sample, the maximum magnitude around it.
 */
async function outlineOf(take, names, lane) {
  const id = soundId(take, output);
  const buffer = await soundOf(id);
  const only = channelOf(data.takes[take], buffer, names, lane);
  const key = `${id} ${only}`;
  if (outlines.has(key)) return outlines.get(key);
  const channels = channelsOf(buffer, only);
  const reach = Math.round(outlineRadius * buffer.sampleRate);
  const magnitude = (index) => channels.reduce(
    (maximum, each) => Math.max(maximum, Math.abs(each[index])), 0
  );
  const values = new Float32Array(buffer.length);
  // The monotonic queue of a sliding maximum: candidates by descending magnitude.
  const queue = [];
  let first = 0;
  for (let index = 0; index < buffer.length + reach; index++) {
    if (index < buffer.length) {
      const value = magnitude(index);
      while (queue.length > first && queue.at(-1).value <= value) queue.pop();
      queue.push({ index, value });
    }
    const center = index - reach;
    if (center < 0) continue;
    while (queue.length > first && queue[first].index < center - reach) first++;
    values[center] = queue[first]?.value ?? 0;
  }
  const outline = { values, rate: buffer.sampleRate, samples: channels[0] };
  outlines.set(key, outline);
  return outline;
}

/** Returns the samples of a channel of a sound; of all for null, and silence for -1. */
function channelsOf(buffer, only) {
  if (only === -1) return [new Float32Array(buffer.length)];
  const all = Array.from(
    { length: buffer.numberOfChannels }, (_, index) => buffer.getChannelData(index));
  return only === null ? all : [all[only]];
}

/** Returns the waveforms of both takes: a lane for each body location, with a common scale. */
async function drawWaveforms({ box, names, lanes }) {
  const pairs = await Promise.all(names.map((_, lane) => Promise.all(
    [state.one, state.other].map((take) => outlineOf(take, names, lane)))));
  const peak = Math.max(0.05, ...pairs.flat().map(
    ({ values }) => values.reduce((maximum, value) => Math.max(maximum, value), 0)));
  const scale = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8].find((each) => each >= peak) ?? 1;
  return timeAxis(box, lanes) + pairs.map(
    (both, lane) => drawWaveformLane(box, lanes[lane], both, scale, soundSuffix(names, lane))
  ).join("");
}

function drawWaveformLane(box, [top, bottom], [first, second], scale, suffix) {
  const middle = (top + bottom) / 2;
  const y = (value) => middle - value / scale * ((bottom - top) / 2 - 2);
  const right = box.left + box.width;
  const isClose = state.to - state.from < sampleRangeLimit;
  let drawing = "";
  for (const value of [scale, scale / 2, 0, -scale / 2, -scale]) {
    drawing += line("grid", box.left, right, y(value), y(value))
      + label(box.left - 8, y(value) + 4, numberText(value, 3), "end");
  }
  for (const decibels of [0, -6, -12, -20]) {
    const value = 10 ** (decibels / 20);
    if (value > scale) continue;
    drawing += label(right + 8, y(value) + 4, `${withMinus(decibels)} dB${decibels ? "" : "FS"}`);
  }
  drawing += laneTitle(
    box.left, top - 7, `Waveform: ${outputs[output].name}${suffix}`, isClose ? "samples" : "peak within 6 ms");
  drawing += `<g clip-path="url(#${box.clip})">`;
  drawing += isClose ? drawSamples(box, first, second, y, scale)
    : drawOutlines(box, first, second, { y, base: middle, tolerance: 0.012 * scale, mirrored: true });
  return `${drawing}</g>${line("axis", box.left, right, bottom, bottom)}`
    + line("zero", box.left, right, middle, middle);
}

function drawOutlines(box, first, second, scale) {
  const { shift } = pair();
  const offsets = Array.from({ length: Math.floor(box.width * 2) + 1 }, (_, index) => index / 2);
  const timeAt = (offset) => state.from + offset / box.width * (state.to - state.from);
  const at = ({ values, rate }, time) => values[Math.round(time * rate)] ?? 0;
  return areasOfTwo(
    offsets.map((offset) => box.left + offset),
    offsets.map((offset) => at(first, timeAt(offset))),
    offsets.map((offset) => at(second, timeAt(offset) + shift)), scale);
}

/** Returns the markup of the samples of both takes. Equal samples are gray. */
function drawSamples(box, first, second, y, scale) {
  const { shift } = pair();
  const x = (time) => box.left + (time - state.from) / (state.to - state.from) * box.width;
  const rate = first.rate;
  const start = Math.max(0, Math.floor(state.from * rate));
  const count = Math.max(0, Math.ceil(state.to * rate) - start + 1);
  const one = (index) => first.samples[start + index] ?? 0;
  const two = (index) =>
    second.samples[Math.round(((start + index) / rate + shift) * second.rate)] ?? 0;
  const isEqual = (index) => [index - 1, index, index + 1]
    .every((each) => Math.abs(one(each) - two(each)) < 0.012 * scale);
  const draw = (value, wantsEqual, className) => path(
    className, runsWhere(count, (index) => isEqual(index) === wantsEqual)
      .map((run) => [run[0] - 1, ...run, run.at(-1) + 1])
      .map((run) => linePath(run.map((index) => [x((start + index) / rate), y(value(index))])))
      .join(""));
  return draw(one, true, "both-line") + draw(one, false, "a-line") + draw(two, false, "b-line");
}
