// Two overlaid takes in two lanes with a common time axis.
// The lanes show intensity and sharpness of patterns, or level and frequency if a take is a
// recording.

/** The range of the level lane of recordings in dBFS, from bottom to top. */
const levelRange = [-60, 0];
/** The range of the frequency lane of recordings, in hertz. */
const hertzRange = [30, 600];
/**
 * The maximum difference of intensities or levels that count as equal, as a fraction of the lane.
 */
const intensityTolerance = 0.012;
/** The maximum difference of sharpnesses that count as equal, as a fraction of the lane. */
const sharpnessTolerance = 0.008;

/** The quantities of patterns: intensity and sharpness of their events. */
const patternQuantities = {
  strength: { title: "Intensity", unit: "", ticks: [[0, "0"], [0.5, "0.5"], [1, "1"]] },
  tone: () => ({
    title: "Sharpness", unit: "0 dull, 1 sharp", ticks: [[0, "0"], [1, "1"]],
    marks: [
      [0, hertzText(data.profile.continuous.low)], [1, hertzText(data.profile.continuous.high)]
    ],
  }),
  intensityAt: (take, time) => continuousAt(take, time)?.intensity ?? 0,
  sharpnessAt(take, time) {
    const values = continuousAt(take, time);
    return values && values.intensity > 0.003 ? values.sharpness : null;
  },
  transients: transientsOf,
  corners: (take) => lastingEvents(take).flatMap((event) => {
    const end = event.time + event.length;
    const times = [event.time - 1e-5, event.time, end - 1e-5, end];
    for (let index = 0; index < event.points.length; index += 3) times.push(event.points[index]);
    return times;
  }),
};

/** The quantities of recordings, and of patterns compared with recordings: level and frequency. */
const recordingQuantities = {
  strength: {
    title: "Level", unit: "dBFS, of a sine of equal strength",
    ticks: [[0, "\u221260"], [1 / 3, "\u221240"], [2 / 3, "\u221220"], [1, "0"]],
  },
  tone: () => ({
    title: "Frequency", unit: "if tonal", ticks: [],
    marks: [50, 100, 200, 400].map((hertz) => [normalizedHertz(hertz), hertzText(hertz)]),
  }),
  intensityAt(take, time) {
    const level = trackValue(take, "levels", time) ?? levelRange[0];
    return clamp((level - levelRange[0]) / (levelRange[1] - levelRange[0]), 0, 1);
  },
  sharpnessAt(take, time) {
    const hertz = trackValue(take, "frequencies", time);
    return hertz ? clamp(normalizedHertz(hertz), 0, 1) : null;
  },
  transients: () => [],
  corners: () => [],
};

const hertzText = (hertz) => `${numberText(hertz, 0)} Hz`;

/** Returns the position of a frequency in the lane of recordings, 0…1. */
function normalizedHertz(hertz) {
  return Math.log(hertz / hertzRange[0]) / Math.log(hertzRange[1] / hertzRange[0]);
}

/** Returns a value of a take's track at a time in seconds. */
function trackValue(take, name, time) {
  return take.track?.[name][Math.round(time / take.track.step)];
}

/** Returns the quantities by which two takes are compared. */
function quantitiesOf(one, other) {
  return one.events && other.events ? patternQuantities : recordingQuantities;
}

/**
 * Returns the transients of two takes in corresponding pairs. Times are on the axis of the first
 * take.
 */
function pairedTransients(reading, one, other, shift) {
  const remaining = reading.transients(other).map((each) => ({ ...each, time: each.time - shift }));
  const pairs = [];
  for (const first of reading.transients(one)) {
    let match = null;
    for (const second of remaining) {
      const distance = Math.abs(second.time - first.time);
      if (second.isUsed || distance >= 0.09) continue;
      if (!match || distance < Math.abs(match.time - first.time)) match = second;
    }
    if (match) match.isUsed = true;
    pairs.push([first, match]);
  }
  for (const second of remaining) if (!second.isUsed) pairs.push([null, second]);
  return pairs;
}

/** Returns whether two transients are simultaneous, and equal in intensity and sharpness. */
function agreement(first, second) {
  const isTogether = Boolean(first && second) && Math.abs(first.time - second.time) < 0.0005;
  return {
    isTogether,
    isAsStrong: isTogether && Math.abs(first.intensity - second.intensity) < intensityTolerance,
    isAsSharp: isTogether && Math.abs(first.sharpness - second.sharpness) < sharpnessTolerance,
  };
}

/**
 * Returns the two lanes of a pair of takes.
 *
 * @param {object} box `left`, `width`, the time range `from`…`to`, the lanes `strength` and
 *   `tone` as `[top, bottom]`, and `hasTimeAxis`, which is true for labels below the lanes.
 * @param {object} pair The takes `one` and `other`, and `shift`, the delay of `other` in seconds.
 * @param {string} suffix The end of the titles of the lanes.
 */
function drawOverlay(box, { one, other, shift }, suffix) {
  const reading = quantitiesOf(one, other);
  const x = (time) => box.left + (time - box.from) / (box.to - box.from) * box.width;
  const [top, bottom] = box.strength;
  const [sharpnessTop, sharpnessBottom] = box.tone;
  const y = (value) => bottom - value * (bottom - top - 6);
  const sharpnessY = (value) => sharpnessBottom - 3 - value * (sharpnessBottom - sharpnessTop - 8);
  const right = box.left + box.width;
  const tone = reading.tone();
  let drawing = "";
  for (const [value, text] of reading.strength.ticks) {
    if (value > 0) drawing += line("grid", box.left, right, y(value), y(value));
    drawing += label(box.left - 8, y(value) + (value ? 4 : 1), text, "end");
  }
  for (const [value, text] of tone.ticks) {
    drawing += label(box.left - 8, sharpnessY(value) + 4, text, "end");
  }
  for (const [value, text] of tone.marks) drawing += label(right + 8, sharpnessY(value) + 4, text);
  drawing += box.hasTimeAxis
    ? timeAxis(box, [box.strength, box.tone]) : timeGrid(box, [box.strength, box.tone]);
  drawing += laneTitle(
    box.left, top - 7, reading.strength.title + suffix, reading.strength.unit);
  drawing += laneTitle(box.left, sharpnessTop - 7, tone.title + suffix, tone.unit);
  const isEnvelope = reading === patternQuantities && isDense(one, other, box);
  const times = isEnvelope ? [] : overlayTimes(reading, box, one, other, shift);
  const xs = times.map(x);
  const read = (take, law, delay) => times.map((time) => law(take, time + delay));
  drawing += `<g clip-path="url(#${box.clip})">`;
  drawing += areasOfTwo(
    xs, read(one, reading.intensityAt, 0), read(other, reading.intensityAt, shift),
    { y, base: bottom, tolerance: intensityTolerance, mirrored: false });
  drawing += linesOfTwo(
    xs, read(one, reading.sharpnessAt, 0), read(other, reading.sharpnessAt, shift),
    { y: sharpnessY, tolerance: sharpnessTolerance });
  if (isEnvelope) drawing += drawEnvelopes(box, { one, other, shift }, { y, sharpnessY });
  else {
    for (const [first, second] of pairedTransients(reading, one, other, shift)) {
      drawing += drawTransients(first, second, { x, y, sharpnessY, bottom });
    }
  }
  drawing += "</g>";
  for (const edge of [bottom, sharpnessBottom]) {
    drawing += line("axis", box.left, right, edge, edge);
  }
  return drawing;
}

/**
 * Returns the times at which lanes are drawn, which are every 1.5 pixels and at the corners of
 * events.
 */
function overlayTimes(reading, box, one, other, shift) {
  const times = [];
  for (let offset = 0; offset <= box.width; offset += 1.5) {
    times.push(box.from + offset / box.width * (box.to - box.from));
  }
  times.push(...reading.corners(one), ...reading.corners(other).map((time) => time - shift));
  return times.filter((time) => time >= box.from - 1e-9 && time <= box.to).sort((a, b) => a - b);
}

/** Returns the ticks of the time axis with their x coordinates. */
function placedTimeTicks(box) {
  const room = box.width < 500 ? 44 : 64;
  return timeTicks(box, room).map(({ time, text }) => (
    { x: box.left + (time - box.from) / (box.to - box.from) * box.width, text }
  ));
}

/** Returns the grid lines of the time axis in lanes. */
function timeGrid(box, lanes) {
  return placedTimeTicks(box).map(({ x }) => (
    lanes.map(([top, end]) => line("grid", x, x, top, end)).join("")
  )).join("");
}

/** Returns the labels of the time axis below the last lane. */
function timeLabels(box, lanes) {
  const bottom = lanes.at(-1)[1];
  return placedTimeTicks(box).map(({ x, text }) => label(x, bottom + 18, text, "middle")).join("");
}

/** Returns the grid lines of the time axis, and its labels below the last lane. */
const timeAxis = (box, lanes) => timeGrid(box, lanes) + timeLabels(box, lanes);

/** The minimum distance of the heads of two transients, in CSS pixels. */
const minimumHeadDistance = 12;

/** Returns the markup of two corresponding transients, or of a single transient. */
function drawTransients(first, second, { x, y, sharpnessY, bottom }) {
  const { isTogether, isAsStrong, isAsSharp } = agreement(first, second);
  if (isTogether) {
    const stemX = x(first.time);
    const low = Math.min(first.intensity, second.intensity);
    const high = Math.max(first.intensity, second.intensity);
    let drawing = stem(stemX, bottom, y(low), "both");
    if (!isAsStrong) {
      drawing += stem(stemX, y(low), y(high), first.intensity > second.intensity ? "a" : "b");
    }
    drawing += isAsStrong ? circle(stemX, y(low), "both")
      : circle(stemX, y(first.intensity), "a") + diamond(stemX, y(second.intensity), "b");
    return drawing + (isAsSharp ? circle(stemX, sharpnessY(first.sharpness), "both")
      : circle(stemX, sharpnessY(first.sharpness), "a") + diamond(stemX, sharpnessY(second.sharpness), "b"));
  }
  let drawing = "";
  // Heads that would overlap are moved apart.
  const direction = first && second && second.time < first.time ? -1 : 1;
  const aside = first && second
    ? direction * Math.max(0, minimumHeadDistance - Math.abs(x(second.time) - x(first.time))) / 2
    : 0;
  if (first) {
    const stemX = x(first.time);
    drawing += stem(stemX, bottom, y(first.intensity), "a")
      + circle(stemX - aside, y(first.intensity), "a")
      + circle(stemX - aside, sharpnessY(first.sharpness), "a");
  }
  if (second) {
    const stemX = x(second.time);
    drawing += stem(stemX, bottom, y(second.intensity), "b")
      + diamond(stemX + aside, y(second.intensity), "b")
      + diamond(stemX + aside, sharpnessY(second.sharpness), "b");
  }
  if (first && second) drawing += shiftArrow(first, second, { x, y });
  return drawing;
}

/** Returns the markup of an arrow from one stem to the other. */
function shiftArrow(first, second, { x, y }) {
  const height = y(Math.min(first.intensity, second.intensity) / 2);
  const direction = second.time > first.time ? 1 : -1;
  const [start, end] = [x(first.time) + direction * 5, x(second.time) - direction * 4];
  if ((end - start) * direction <= 6) return "";
  return path(
    "arrow", `M${px(start)} ${px(height)}H${px(end)}m${-5 * direction} -4l${5 * direction} 4l${-5 * direction} 4`
  );
}
