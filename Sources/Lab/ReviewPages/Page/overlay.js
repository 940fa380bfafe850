// Two overlaid takes in two lanes with a common time axis: intensity and sharpness of patterns, or
// level and frequency if a take is a recording.

/** The range of the level lane of recordings, in dBFS. */
const levelRange = [-60, 0];
/** The range of the frequency lane of recordings, in hertz. */
const hertzRange = [30, 600];
/**
 * The maximum difference of intensities and levels that count as equal, as a fraction of the lane.
 */
const leastStrength = 0.012;
/** The maximum difference of sharpnesses that count as equal. */
const leastTone = 0.008;

/** The quantities of patterns: intensity and sharpness of their events. */
const patternReading = {
  strength: { title: "Intensity", unit: "", ticks: [[0, "0"], [0.5, "0.5"], [1, "1"]] },
  tone: () => ({
    title: "Sharpness", unit: "0 dull, 1 sharp", ticks: [[0, "0"], [1, "1"]],
    marks: [[0, hertzText(data.profile.continuous.low)], [1, hertzText(data.profile.continuous.high)]],
  }),
  strengthAt: (take, time) => continuousAt(take, time)?.intensity ?? 0,
  toneAt(take, time) {
    const found = continuousAt(take, time);
    return found && found.intensity > 0.003 ? found.sharpness : null;
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
const soundReading = {
  strength: {
    title: "Level", unit: "dBFS, of the sine that is as strong",
    ticks: [[0, "\u221260"], [1 / 3, "\u221240"], [2 / 3, "\u221220"], [1, "0"]],
  },
  tone: () => ({
    title: "Frequency", unit: "where there is a tone", ticks: [],
    marks: [50, 100, 200, 400].map((hertz) => [hertzPlace(hertz), hertzText(hertz)]),
  }),
  strengthAt(take, time) {
    const level = trackValue(take, "levels", time) ?? levelRange[0];
    return clamp((level - levelRange[0]) / (levelRange[1] - levelRange[0]), 0, 1);
  },
  toneAt(take, time) {
    const hertz = trackValue(take, "frequencies", time);
    return hertz ? clamp(hertzPlace(hertz), 0, 1) : null;
  },
  transients: () => [],
  corners: () => [],
};

const hertzText = (hertz) => `${short(hertz, 0)} Hz`;

/** Returns the position of a frequency in the lane of recordings, 0…1. */
function hertzPlace(hertz) {
  return Math.log(hertz / hertzRange[0]) / Math.log(hertzRange[1] / hertzRange[0]);
}

/** Returns a value of a take's track at a time. */
function trackValue(take, name, time) {
  return take.track?.[name][Math.round(time / take.track.step)];
}

/** Returns the quantities by which two takes are compared. */
function readingOf(one, other) {
  return one.events && other.events ? patternReading : soundReading;
}

/**
 * Returns the transients of two takes in corresponding pairs. Times are those of the first take.
 */
function pairedTransients(reading, one, other, shift) {
  const rest = reading.transients(other).map((each) => ({ ...each, time: each.time - shift }));
  const pairs = [];
  for (const first of reading.transients(one)) {
    let match = null;
    for (const second of rest) {
      const distance = Math.abs(second.time - first.time);
      if (second.isUsed || distance >= 0.09) continue;
      if (!match || distance < Math.abs(match.time - first.time)) match = second;
    }
    if (match) match.isUsed = true;
    pairs.push([first, match]);
  }
  for (const second of rest) if (!second.isUsed) pairs.push([null, second]);
  return pairs;
}

/** Returns whether two transients are simultaneous, and equal in intensity and sharpness. */
function agreement(first, second) {
  const isTogether = Boolean(first && second) && Math.abs(first.time - second.time) < 0.0005;
  return {
    isTogether,
    isAsStrong: isTogether && Math.abs(first.intensity - second.intensity) < leastStrength,
    isAsSharp: isTogether && Math.abs(first.sharpness - second.sharpness) < leastTone,
  };
}

/**
 * Returns the two lanes of a pair of takes.
 *
 * @param {object} box `left`, `width`, the time range `from`…`to`, and the lanes `strength` and
 *   `tone` as `[top, bottom]`.
 * @param {object} pair The takes `one` and `other`, and `shift`, the delay of `other` in seconds.
 */
function drawOverlay(box, { one, other, shift }) {
  const reading = readingOf(one, other);
  const x = (time) => box.left + (time - box.from) / (box.to - box.from) * box.width;
  const [top, bottom] = box.strength;
  const [toneTop, toneBottom] = box.tone;
  const y = (value) => bottom - value * (bottom - top - 6);
  const toneY = (value) => toneBottom - 3 - value * (toneBottom - toneTop - 8);
  const right = box.left + box.width;
  const tone = reading.tone();
  let drawing = "";
  for (const [value, text] of reading.strength.ticks) {
    if (value > 0) drawing += line("grid", box.left, right, y(value), y(value));
    drawing += label(box.left - 8, y(value) + (value ? 4 : 1), text, "end");
  }
  for (const [value, text] of tone.ticks) {
    drawing += label(box.left - 8, toneY(value) + 4, text, "end");
  }
  for (const [value, text] of tone.marks) drawing += label(right + 8, toneY(value) + 4, text);
  drawing += timeAxis(box, [box.strength, box.tone]);
  drawing += laneTitle(box.left, top - 7, reading.strength.title, reading.strength.unit);
  drawing += laneTitle(box.left, toneTop - 7, tone.title, tone.unit);
  const isEnvelope = reading === patternReading && isDense(one, other, box);
  const times = isEnvelope ? [] : overlayTimes(reading, box, one, other, shift);
  const xs = times.map(x);
  const read = (take, law, delay) => times.map((time) => law(take, time + delay));
  drawing += `<g clip-path="url(#${box.clip})">`;
  drawing += areasOfTwo(
    xs, read(one, reading.strengthAt, 0), read(other, reading.strengthAt, shift),
    { y, base: bottom, least: leastStrength, mirrored: false });
  drawing += linesOfTwo(
    xs, read(one, reading.toneAt, 0), read(other, reading.toneAt, shift),
    { y: toneY, least: leastTone });
  if (isEnvelope) drawing += drawEnvelopes(box, { one, other, shift }, { y, toneY });
  else {
    for (const [first, second] of pairedTransients(reading, one, other, shift)) {
      drawing += drawTransients(first, second, { x, y, toneY, bottom });
    }
  }
  drawing += "</g>";
  for (const edge of [bottom, toneBottom]) drawing += line("axis", box.left, right, edge, edge);
  return drawing;
}

/** Returns the times at which lanes are drawn: every 1.5 pixels, and at the corners of events. */
function overlayTimes(reading, box, one, other, shift) {
  const times = [];
  for (let place = 0; place <= box.width; place += 1.5) {
    times.push(box.from + place / box.width * (box.to - box.from));
  }
  times.push(...reading.corners(one), ...reading.corners(other).map((time) => time - shift));
  return times.filter((time) => time >= box.from - 1e-9 && time <= box.to).sort((a, b) => a - b);
}

/** Returns the grid lines and labels of the time axis below the last lane. */
function timeAxis(box, lanes) {
  const bottom = lanes.at(-1)[1];
  const room = box.width < 500 ? 44 : 64;
  return timeTicks(box, room).map(({ time, text }) => {
    const x = box.left + (time - box.from) / (box.to - box.from) * box.width;
    return lanes.map(([top, end]) => line("grid", x, x, top, end)).join("")
      + label(x, bottom + 18, text, "middle");
  }).join("");
}

/** The minimum distance of two heads, in CSS pixels. */
const headRoom = 12;

/** Returns two corresponding transients, or a single transient. */
function drawTransients(first, second, { x, y, toneY, bottom }) {
  const { isTogether, isAsStrong, isAsSharp } = agreement(first, second);
  if (isTogether) {
    const place = x(first.time);
    const low = Math.min(first.intensity, second.intensity);
    const high = Math.max(first.intensity, second.intensity);
    let drawing = stem(place, bottom, y(low), "both");
    if (!isAsStrong) {
      drawing += stem(place, y(low), y(high), first.intensity > second.intensity ? "a" : "b");
    }
    drawing += isAsStrong ? circle(place, y(low), "both")
      : circle(place, y(first.intensity), "a") + diamond(place, y(second.intensity), "b");
    return drawing + (isAsSharp ? circle(place, toneY(first.sharpness), "both")
      : circle(place, toneY(first.sharpness), "a") + diamond(place, toneY(second.sharpness), "b"));
  }
  let drawing = "";
  // Heads that would overlap are moved apart.
  const way = first && second && second.time < first.time ? -1 : 1;
  const aside = first && second ? way * Math.max(0, headRoom - Math.abs(x(second.time) - x(first.time))) / 2 : 0;
  if (first) {
    const place = x(first.time);
    drawing += stem(place, bottom, y(first.intensity), "a") + circle(place - aside, y(first.intensity), "a")
      + circle(place - aside, toneY(first.sharpness), "a");
  }
  if (second) {
    const place = x(second.time);
    drawing += stem(place, bottom, y(second.intensity), "b")
      + diamond(place + aside, y(second.intensity), "b") + diamond(place + aside, toneY(second.sharpness), "b");
  }
  if (first && second) drawing += shiftArrow(first, second, { x, y });
  return drawing;
}

/** Returns an arrow from one stem to the other. */
function shiftArrow(first, second, { x, y }) {
  const height = y(Math.min(first.intensity, second.intensity) / 2);
  const way = second.time > first.time ? 1 : -1;
  const [start, end] = [x(first.time) + way * 5, x(second.time) - way * 4];
  if ((end - start) * way <= 6) return "";
  return path("arrow", `M${px(start)} ${px(height)}H${px(end)}m${-5 * way} -4l${5 * way} 4l${-5 * way} 4`);
}
