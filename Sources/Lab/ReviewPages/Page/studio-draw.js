// The figure of the studio consists of three stacked canvases, so that a drag redraws only the
// moved parts.
// The back canvas has the grid, the sound and the other slot; the middle canvas has the unselected
// parts; the top canvas has the selection.

/** The nine equally spaced colors of sharpness from 0 to 1. */
const sharpnessStops = [
  "6558E0", "8852D8", "A44EC8", "BC4CB3", "D04C9B", "DE507F", "E75862", "EA6440", "E57217"
]
  .map((stop) => [0, 2, 4].map((start) => parseInt(stop.slice(start, start + 2), 16)));

/** Returns the red, green and blue components of a sharpness. */
function hueParts(sharpness) {
  const position = clamp(sharpness, 0, 1) * 8;
  const index = Math.min(7, Math.floor(position));
  return sharpnessStops[index].map((part, channel) =>
    Math.round(part + (position - index) * (sharpnessStops[index + 1][channel] - part)));
}
const hues = Array.from({ length: 101 }, (_, index) => `rgb(${hueParts(index / 100)})`);
const hue = (sharpness) => hues[Math.round(clamp(sharpness, 0, 1) * 100)];
/** The colors of the theme, by their names in the style sheet. */
let colors = {};
function readColors() {
  const style = getComputedStyle(document.documentElement);
  colors = Object.fromEntries(["surface", "ink", "muted", "line", "edge", "equal", "equal-line", "grid", "a", "b"]
    .map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  colors.font = getComputedStyle(document.body).fontFamily;
}

// Coordinates: conversion between seconds or values and pixels.
/** The edges of the lanes, in pixels. */
const box = { width: 900, left: 48, right: 48, height: 500, lanes: {} };

function layOut() {
  box.width = Math.max(280, find("#stage").clientWidth);
  const isWide = box.width >= 560;
  box.left = isWide ? 48 : 30;
  box.right = isWide ? 54 : 34;
  box.lanes = {};
  let top = 58;
  const add = (name, height) => {
    box.lanes[name] = [top, top + height];
    top += height + 34;
  };
  add("intensity", isWide ? 204 : 164);
  add("sharpness", isWide ? 92 : 76);
  add("sound", isWide ? 76 : 60);
  if (profiles[state.profile]?.hasHardware) add("felt", isWide ? 60 : 48);
  if (reference) add("reference", isWide ? 60 : 48);
  box.bottom = top - 34;
  box.height = box.bottom + 26;
  find("#stage").style.height = `${box.height}px`;
}

const plotWidth = () => box.width - box.left - box.right;
const xOf = (time) => box.left + (time - state.from) / (state.to - state.from) * plotWidth();
const timeAt = (x) => state.from + (x - box.left) / plotWidth() * (state.to - state.from);
const yIn = (lane, fraction) => box.lanes[lane][1] - fraction * (box.lanes[lane][1] - box.lanes[lane][0]);
const fractionAt = (lane, y) => (box.lanes[lane][1] - y) / (box.lanes[lane][1] - box.lanes[lane][0]);

/**
 * Returns the y coordinate of a control value in pixels.
 * Intensity is in its lane, sharpness around the center of its lane, and other controls on the
 * rail.
 */
const yOfControl = (id, value) => (isIntensity(id) ? yIn("intensity", value)
  : isSharpness(id) ? yIn("sharpness", (value + 1) / 2) : box.lanes.intensity[0] - 22);
const valueAt = (id, y) => (isIntensity(id) ? clamp(fractionAt("intensity", y), 0, 1)
  : clamp(2 * fractionAt("sharpness", y) - 1, -1, 1));

/** Shows the whole time range of the patterns. */
function showAll() {
  state.from = 0;
  state.to = wholeLength() * 1.02 + 0.02;
}

/** Shows a time range in seconds, which is at least 5 ms. */
function setView(from, to) {
  const whole = wholeLength() * 1.05 + 0.05;
  const length = clamp(to - from, 0.005, whole);
  state.from = clamp(from, 0, whole - length);
  state.to = state.from + length;
  drawAll();
}
const zoom = (factor, center = (state.from + state.to) / 2) =>
  setView(center - (center - state.from) * factor, center + (state.to - center) * factor);
function bringIntoView(item) {
  if (item.time >= state.from && item.time <= state.to) return;
  const length = state.to - state.from;
  setView(item.time - length / 2, item.time + length / 2);
}

// Drawing.
/** The values of a drag before the text is updated, by path. */
const preview = new Map();
const contexts = {};
/** Clears a canvas and scales it to the resolution of the screen. */
function clearedCanvas(name) {
  const canvas = find(`#${name}`);
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
  const context = contexts[name] ??= canvas.getContext("2d");
  if (canvas.width !== width || canvas.height !== height) {
    Object.assign(canvas, { width, height });
    Object.assign(canvas.style, { width: `${box.width}px`, height: `${box.height}px` });
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  context.font = `11px ${colors.font}`;
  return context;
}

function strokeLine(context, color, width, points, dash = []) {
  context.strokeStyle = color;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
  context.setLineDash([]);
}

function disc(context, x, y, radius, fill, stroke, width = 1.5) {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  if (fill) { context.fillStyle = fill; context.fill(); }
  if (stroke) { context.strokeStyle = stroke; context.lineWidth = width; context.stroke(); }
}

function write(
  context, text, x, y, { align = "left", color = colors.muted, weight = 400, size = 11 } = {}
) {
  context.font = `${weight} ${size}px ${colors.font}`;
  context.textAlign = align;
  context.fillStyle = color;
  context.fillText(text, x, y);
  return context.measureText(text).width;
}

/** Draws with a closure that is clipped to the lanes. */
function clipped(context, draw) {
  context.save();
  context.beginPath();
  context.rect(box.left - 13, 0, plotWidth() + 26, box.height);
  context.clip();
  draw();
  context.restore();
}

function drawAll() {
  if (!core) return;
  layOut();
  drawBack();
  drawMiddle();
  drawTop();
  drawMarks();
  showPosition();
}

/** Draws the grid, the axes, the sound and the other slot. */
function drawBack() {
  const context = clearedCanvas("back");
  const [left, right] = [box.left, box.width - box.right];
  const axis = { from: state.from, to: state.to, width: plotWidth(), whole: wholeLength() };
  for (const { time, text } of timeTicks(axis, 56)) {
    const x = Math.round(xOf(time)) + 0.5;
    for (const [top, bottom] of Object.values(box.lanes)) {
      strokeLine(context, colors.grid, 1, [[x, top], [x, bottom]]);
    }
    write(context, text, x, box.bottom + 17, { align: "center" });
  }
  drawGrid(context);
  const level = (lane, fraction, text) => {
    const y = Math.round(yIn(lane, fraction)) + 0.5;
    strokeLine(context, fraction ? colors.grid : colors.edge, 1, [[left, y], [right, y]]);
    write(context, text, left - 8, y + 4, { align: "right" });
  };
  for (const fraction of [0, 0.5, 1]) level("intensity", fraction, String(fraction));
  for (const fraction of [0, 1]) {
    level("sharpness", fraction, String(fraction));
    const hertz = Math.round(core.hertz(state.profile, fraction));
    write(
      context, box.width >= 560 ? `${hertz} Hz` : hertz, right + 7, yIn("sharpness", fraction) + 4
    );
  }
  const title = (lane, name, unit) => {
    const y = box.lanes[lane][0] - 10;
    const width = write(context, name, left + 7, y, { weight: 600, size: 12, color: colors.ink });
    write(context, unit, left + 15 + width, y);
  };
  title("intensity", "Intensity", "");
  title("sharpness", "Sharpness", box.width >= 560 ? "0 dull, 1 sharp" : "");
  title("sound", state.picture === "waveform" ? "Waveform" : "Spectrogram", soundLaneText());
  if (box.lanes.felt) {
    title(
      "felt", "Felt", box.width >= 560 ? "vibration, 1 is the strongest steady tone" : "vibration"
    );
  }
  if (reference) title("reference", "Reference", reference.file);
  clipped(context, () => {
    if (reference) drawReference(context);
    const other = slots[1 - state.slot]?.score;
    if (other) drawShadow(context, other);
    if (state.picture === "waveform") drawWaveform(context); else drawSpectrogram(context);
  });
  if (box.lanes.felt) drawFelt(context);
  if (state.picture !== "waveform") requestSpectrum();
}

/** The minimum distance of two lines of the grid, in pixels. */
const minimumGridDistance = 6;

/** Draws the chosen grid in the lanes that are edited, unless its lines are too close. */
function drawGrid(context) {
  const step = gridStep();
  if (!step || step / (state.to - state.from) * plotWidth() < minimumGridDistance) return;
  context.globalAlpha = 0.6;
  for (let number = Math.ceil(state.from / step); number * step <= state.to; number++) {
    const x = Math.round(xOf(number * step)) + 0.5;
    for (const [top, bottom] of [box.lanes.intensity, box.lanes.sharpness]) {
      strokeLine(context, colors.grid, 1, [[x, top], [x, bottom]], [1, 3]);
    }
  }
  context.globalAlpha = 1;
}

/**
 * Returns time, intensity and sharpness of an event after controls and envelope, at its dragged
 * position.
 */
function pointsOf(item) {
  const { event } = item;
  const shown = preview.get(item.path);
  const points = [];
  for (let index = 0; index < event.felt.length; index += 3) {
    points.push([event.felt[index], event.felt[index + 1], event.felt[index + 2]]);
  }
  if (!points.length) points.push([event.time, event.intensity ?? 0, event.sharpness ?? 0]);
  if (!shown) return points;
  const shift = (shown.time ?? event.time) - event.time;
  const stretch = event.duration ? (shown.duration ?? event.duration) / event.duration : 1;
  const gain = event.intensity ? (shown.intensity ?? event.intensity) / event.intensity : 1;
  const lift = (shown.sharpness ?? event.sharpness) - event.sharpness;
  return points.map(([time, intensity, sharpness]) => [
    event.time
      + shift
      + (time - event.time) * stretch, intensity * gain, clamp(sharpness + lift, 0, 1),
  ]);
}

/** Returns the values of a part in the file, or the values of a drag. */
const shownOf = (item) => (
  { ...(item.event ?? { time: item.time, value: item.value }), ...preview.get(item.path) }
);
const isInView = (item, reach = 0) => item.end + reach >= state.from
  && item.time - reach <= state.to;

/** Draws the unselected parts. Continuous events are under transients. */
function drawMiddle() {
  const context = clearedCanvas("middle");
  if (!score()) return;
  const reach = 14 / plotWidth() * (state.to - state.from);
  clipped(context, () => {
    const shown = items().filter(
      (item) => item.event && isInView(item, reach) && !isSelected(item.path)
    );
    const eventsPerPixel = shown.length / plotWidth();
    // The opacity falls with the number of overlapping stems, so that their density is visible.
    const crowdedOpacity = eventsPerPixel > 0.4 ? Math.min(0.45, 0.35 / eventsPerPixel) : 0;
    for (const item of shown) if (item.type !== "transient") drawEvent(context, item);
    for (const item of shown) {
      if (item.type === "transient") drawEvent(context, item, { crowdedOpacity });
    }
    for (const curve of score().curves) drawCurve(context, curve);
    drawParameters(context);
  });
}

/** Draws the selection, which a drag moves. */
function drawTop() {
  const context = clearedCanvas("top");
  showCursor();
  if (!score()) return;
  clipped(context, () => {
    for (const item of selected()) if (item.event) drawEvent(context, item, { isOn: true });
    const curves = new Set(
      selected().filter((item) => item.curve && preview.has(item.path)).map((item) => item.curve)
    );
    for (const curve of curves) drawCurve(context, curve);
    for (const item of selected()) if (!item.event) drawHandle(context, item, true);
  });
}

/**
 * Draws an event. A transient among crowded events is a thin stem with the given opacity; without
 * crowding, the opacity is 0.
 */
function drawEvent(context, item, { isOn = false, crowdedOpacity = 0 } = {}) {
  const { type } = item;
  if (type === "audio") {
    drawSoundEvent(context, item, isOn);
    return;
  }
  const points = pointsOf(item);
  const written = shownOf(item);
  const ground = yIn("intensity", 0);
  if (type === "transient") {
    const [[time, intensity, sharpness]] = points;
    const [x, y, color] = [xOf(time), yIn("intensity", intensity), hue(sharpness)];
    const low = yIn("sharpness", sharpness);
    context.globalAlpha = crowdedOpacity || 1;
    strokeLine(context, color, crowdedOpacity ? 1 : 3, [[x, ground], [x, y]]);
    context.globalAlpha = 1;
    if (crowdedOpacity) {
      disc(context, x, y, 2.5, color);
      disc(context, x, low, 2, color);
      return;
    }
    if (Math.abs(intensity - written.intensity) > 0.005) {
      const writtenY = yIn("intensity", written.intensity);
      strokeLine(context, colors.muted, 1, [[x, y], [x, writtenY]], [2, 3]);
      disc(context, x, writtenY, 2.5, null, colors.muted, 1);
    }
    disc(context, x, y, 6.5, color, colors.surface);
    disc(context, x, low, 5, color, colors.surface);
    if (isOn) {
      disc(context, x, y, 10, null, colors.ink, 2);
      disc(context, x, low, 8.5, null, colors.ink, 2);
    }
    return;
  }
  const [left, right] = [xOf(points[0][0]), xOf(points.at(-1)[0])];
  const outline = points.map(([time, intensity]) => [xOf(time), yIn("intensity", intensity)]);
  const whole = [[left, ground], ...outline, [right, ground]];
  let color = hue(points[0][2]);
  if (right - left > 4 && points.some((point) => Math.abs(point[2] - points[0][2]) > 0.01)) {
    const gradient = context.createLinearGradient(left, 0, right, 0);
    const every = Math.ceil(points.length / 40);
    points.forEach(([time, , sharpness], index) => {
      if (index % every === 0) {
        gradient.addColorStop(clamp((xOf(time) - left) / (right - left), 0, 1), hue(sharpness));
      }
    });
    color = gradient;
  }
  context.globalAlpha = isOn ? 0.42 : 0.28;
  context.fillStyle = color;
  context.beginPath();
  whole.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.fill();
  context.globalAlpha = 1;
  context.lineJoin = "round";
  strokeLine(context, isOn ? colors.ink : color, 2, isOn ? [...whole, whole[0]] : whole);
  if (isOn || points.some(([, intensity]) => Math.abs(intensity - written.intensity) > 0.005)) {
    const y = yIn("intensity", written.intensity);
    strokeLine(context, colors.muted, 1, [[xOf(written.time), y], [xOf(written.time + (written.duration ?? 0)), y]],
      [2, 3]);
  }
  const sharpnessLine = points.map(
    ([time, , sharpness]) => [xOf(time), yIn("sharpness", sharpness)]
  );
  strokeLine(context, isOn ? colors.ink : color, isOn ? 4.5 : 2.5, sharpnessLine);
  if (!isOn) return;
  strokeLine(context, color, 2, sharpnessLine);
  context.fillStyle = colors.ink;
  const middle = yIn("intensity", written.intensity / 2);
  for (const x of [xOf(written.time), xOf(written.time + (written.duration ?? 0))]) {
    context.beginPath();
    context.roundRect(x - 3, middle - 10, 6, 20, 3);
    context.fill();
  }
}

/** Draws a sound file as a bar at the bottom of the lane, with its name. */
function drawSoundEvent(context, item, isOn) {
  const written = shownOf(item);
  const [x, ground] = [xOf(written.time), yIn("intensity", 0)];
  const sound = soundOf(item.event);
  const length = written.duration
    ?? (sound ? sound.samples.length / sound.channels / sound.rate : 0);
  const width = Math.max(10, xOf(written.time + length) - x);
  context.fillStyle = colors.equal;
  context.strokeStyle = isOn ? colors.ink : colors["equal-line"];
  context.lineWidth = isOn ? 2 : 1.5;
  context.beginPath();
  context.roundRect(x, ground - 22, width, 20, 4);
  context.globalAlpha = 0.7;
  context.fill();
  context.globalAlpha = 1;
  context.stroke();
  write(context, `♪ ${item.event.file ?? "sound"}`, x + 6, ground - 8, { color: colors.ink });
}

const curvePoints = (curve) => Array.from({ length: curve.points.length / 2 }, (_, index) => {
  const item = itemAt(pointPath(curve, index));
  const shown = preview.get(item.path);
  return { item, x: xOf(curve.time + (shown?.time ?? curve.points[2 * index])),
    y: yOfControl(curve.id, shown?.value ?? item.value) };
});

function drawCurve(context, curve) {
  const points = curvePoints(curve);
  const visible = points.some(({ x }) => x > 0 && x < box.width)
    || (points[0]?.x < 0 && points.at(-1)?.x > box.width);
  if (!visible) return;
  context.globalAlpha = 0.75;
  strokeLine(
    context,
    colors.ink,
    1.25,
    points.map(({ x, y }) => [x, y]),
    isIntensity(curve.id) ? [] : [5, 3]
  );
  context.globalAlpha = 1;
  for (const { item, x, y } of points) {
    if (!isSelected(item.path)) disc(context, x, y, 4.5, colors.surface, colors.ink);
  }
}

/** Draws dynamic parameters as diamonds, with lines as far as their values apply. */
function drawParameters(context) {
  const list = score().parameters;
  for (const { id, path, time } of list) {
    const item = itemAt(path);
    const starts = [...list, ...score().curves].filter((each) => each.id === id && each.time > time)
      .map((each) => each.time);
    const [x, y] = [xOf(preview.get(path)?.time ?? time), yOfControl(id, shownOf(item).value)];
    context.globalAlpha = 0.75;
    if (isIntensity(id) || isSharpness(id)) {
      strokeLine(
        context,
        colors.ink,
        1.25,
        [[x, y], [xOf(Math.min(score().duration, ...starts)), y]],
        [1, 3]
      );
    }
    context.globalAlpha = 1;
    if (!isSelected(path)) drawHandle(context, item, false);
  }
}

/** Draws a point of a curve or a dynamic parameter as a handle. */
function drawHandle(context, item, isOn) {
  const [x, y] = handlePosition(item);
  if (item.type === "point") {
    disc(context, x, y, 4.5, isOn ? colors.ink : colors.surface, colors.ink);
  } else {
    context.beginPath();
    for (const [dx, dy] of [[0, -6.5], [6.5, 0], [0, 6.5], [-6.5, 0]]) {
      context.lineTo(x + dx, y + dy);
    }
    context.closePath();
    context.fillStyle = isOn ? colors.ink : colors.surface;
    context.fill();
    context.strokeStyle = colors.ink;
    context.lineWidth = 1.5;
    context.stroke();
  }
  if (isOn) disc(context, x, y, 9.5, null, colors.ink, 1.5);
}

/** Returns the position of the handle of a part, in pixels. */
function handlePosition(item) {
  const shown = preview.get(item.path);
  if (!item.event) {
    const time = item.curve && shown?.time !== undefined
      ? item.curve.time + shown.time
      : shown?.time ?? item.time;
    return [xOf(time), yOfControl(item.id, shown?.value ?? item.value)];
  }
  if (item.type === "audio") return [xOf(shownOf(item).time) + 5, yIn("intensity", 0) - 12];
  const [[time, intensity]] = pointsOf(item);
  return [
    xOf(time), yIn("intensity", item.type === "transient" ? intensity : shownOf(item).intensity)
  ];
}

/** Draws the other slot in gray behind the edited one. */
function drawShadow(context, other) {
  const ground = yIn("intensity", 0);
  context.globalAlpha = 0.55;
  for (const event of other.events) {
    if (
      event.time > state.to || event.time + (event.duration ?? 0) < state.from || isAudio(event)
    ) {
      continue;
    }
    const points = [];
    for (let index = 0; index < event.felt.length; index += 3) {
      points.push([xOf(event.felt[index]), yIn("intensity", event.felt[index + 1])]);
    }
    if (!points.length) continue;
    if (isTransient(event)) {
      strokeLine(context, colors["equal-line"], 1.5, [[points[0][0], ground], points[0]]);
      disc(context, ...points[0], 4, colors.equal);
    } else {
      context.fillStyle = colors.equal;
      context.beginPath();
      [
        [points[0][0], ground], ...points, [points.at(-1)[0], ground]
      ].forEach(([x, y]) => context.lineTo(x, y));
      context.fill();
    }
  }
  context.globalAlpha = 1;
}

/** Draws the minimum and maximum of the samples in each pixel, mirrored and filled. */
function drawWaveform(context) {
  const slot = current();
  const middle = yIn("sound", 0.5);
  strokeLine(context, colors.grid, 1, [[box.left, middle], [box.width - box.right, middle]]);
  if (!slot?.samples?.length) return;
  const half = (box.lanes.sound[1] - box.lanes.sound[0]) / 2 / Math.max(slot.peak, 0.02);
  const [top, bottom] = [[], []];
  const perPixel = (state.to - state.from) * rate / plotWidth();
  // A pixel with at least four groups of `extremes` does not need the samples.
  const hasGroups = perPixel >= 4 * extremesLength;
  const values = hasGroups ? slot.extremes : slot.samples;
  const valueRate = hasGroups ? 2 * rate / extremesLength : rate;
  for (let x = box.left; x <= box.width - box.right; x++) {
    const first = Math.max(0, Math.floor(timeAt(x) * valueRate));
    const last = Math.min(values.length, Math.max(first + 2, Math.floor(timeAt(x + 1) * valueRate)));
    if (first >= values.length) break;
    let [low, high] = [0, 0];
    for (let index = first; index < last; index++) {
      if (values[index] > high) high = values[index];
      else if (values[index] < low) low = values[index];
    }
    top.push([x, middle - high * half - 0.5]);
    bottom.push([x, middle - low * half + 0.5]);
  }
  context.fillStyle = colors["equal-line"];
  context.beginPath();
  for (const [x, y] of [...top, ...bottom.reverse()]) context.lineTo(x, y);
  context.fill();
}

/** Returns the text next to the title of the sound lane. */
function soundLaneText() {
  const [slot, name] = [current(), profileTitle(profiles[state.profile])];
  if (!slot?.samples) return slot?.isGood ? `${name}, rendering …` : name;
  return `${name}, ${slot.peak > 1e-5 ? `peak ${numberText(20 * Math.log10(slot.peak), 1)} dBFS` : "silent"}`;
}

/** Draws the spectrogram of the visible time range in the colors of sharpness. */
function drawSpectrogram(context) {
  const picture = current()?.spectrum;
  if (!picture) return;
  const [top, bottom] = box.lanes.sound;
  const [from, to] = [xOf(picture.from), xOf(picture.to)];
  context.drawImage(picture.canvas, from, top, to - from, bottom - top);
}

/**
 * Returns a spectrogram as an image: the color is the sharpness of the frequency, and the opacity
 * is the level.
 */
function spectrumPicture(decibels, columns, rows, top) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: columns, height: rows });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  const [low, high] = [0, 1].map((sharpness) => core.hertz(state.profile, sharpness));
  for (let row = 0; row < rows; row++) {
    const hertz = (row + 0.5) / rows * top;
    const parts = hueParts(clamp(Math.log(hertz / low) / Math.log(high / low), 0, 1));
    for (let column = 0; column < columns; column++) {
      const strength = clamp((decibels[column * rows + row] + 60) / 60, 0, 1);
      image.data.set([...parts, 255 * strength], ((rows - 1 - row) * columns + column) * 4);
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Draws the acceleration of the hardware. */
function drawFelt(context) {
  const slot = current();
  const [top, bottom] = box.lanes.felt;
  strokeLine(context, colors.edge, 1, [[box.left, bottom], [box.width - box.right, bottom]]);
  if (!slot?.felt?.length) {
    if (slot?.felt) write(context, "no data for this actuator", box.left + 7, top + 14);
    return;
  }
  const count = slot.felt.length / 2;
  const maximum = slot.felt.reduce((one, other) => Math.max(one, Math.abs(other)), 1e-9);
  const length = slot.samples.length / rate;
  write(context, numberText(maximum, maximum < 10 ? 1 : 0), box.left - 8, top + 4, { align: "right" });
  write(context, "0", box.left - 8, bottom + 4, { align: "right" });
  context.fillStyle = colors.ink;
  context.globalAlpha = 0.22;
  context.beginPath();
  context.moveTo(xOf(0), bottom);
  for (let column = 0; column < count; column++) {
    const value = Math.max(-slot.felt[2 * column], slot.felt[2 * column + 1]);
    context.lineTo(xOf((column + 0.5) / count * length), bottom - value / maximum * (bottom - top));
  }
  context.lineTo(xOf(length), bottom);
  context.fill();
  context.globalAlpha = 1;
}

// Draws the elements above the canvases: findings, play head, loop and keyboard cursor.
function drawMarks() {
  const rail = find("#rail");
  rail.textContent = "";
  const slot = current();
  let last = -99;
  const placed = (slot?.findings ?? []).map(
    (finding, index) => ({ finding, index, item: itemOfFinding(finding) })
  )
    .filter(({ item }) => item && isInView(item)).sort(
      (one, other) => one.item.time - other.item.time
    );
  for (const { finding, index, item } of placed) {
    // A finding far from its part is shown only in the list.
    if (last + 22 - xOf(item.time) > 44) continue;
    last = Math.max(xOf(item.time), last + 22);
    if (last > box.width - 10) break;
    const button = document.createElement("button");
    button.className = `mark at-${finding.severity}`;
    button.textContent = index + 1;
    button.tabIndex = -1;
    button.title = finding.message;
    button.setAttribute("aria-label", `Finding ${index + 1}: ${finding.message}`);
    button.style.left = `${last}px`;
    button.addEventListener("click", () => showFinding(index));
    rail.append(button);
  }
}

/** Returns the part that a finding concerns; for a curve, its first point. */
function itemOfFinding({ path }) {
  if (!path) return null;
  return itemAt(path) ?? itemAt(path.replace(/^((?:events|parameters)\[\d+\]).*$/, "$1"))
    ?? itemAt(path.replace(/^(curves\[\d+\]).*$/, "$1.points[0]"));
}

/** Shows the positions of the play head, the loop and the clock. */
function showPosition() {
  const head = find("#head");
  const x = xOf(state.position);
  head.hidden = !score() || x < box.left - 1 || x > box.width - box.right + 1;
  head.style.transform = `translateX(${x}px)`;
  head.style.height = `${box.bottom - 34}px`;
  find("#clock").textContent = clockText(state.position, wholeLength());
  const band = find("#loop-band");
  band.hidden = !state.loop;
  if (!state.loop) return;
  const [left, right] = state.loop.map((time) => clamp(xOf(time), box.left, box.width - box.right));
  Object.assign(band.style, { left: `${left}px`, width: `${right - left}px`, top: "58px",
    height: `${box.bottom - 58}px` });
}

/** Places the element with the keyboard focus over the last selected part. */
function showCursor() {
  const cursor = find("#cursor");
  const item = selected().at(-1);
  const [x, y] = item ? handlePosition(item) : [box.left, yIn("intensity", 0.5)];
  cursor.style.transform = `translate(${clamp(x, 0, box.width) - 14}px, ${y - 14}px)`;
  cursor.setAttribute("aria-label", item ? descriptionOf(item)
    : `No part selected; ${counted(items().length, "part")}, N and P go through them`);
  cursor.setAttribute("aria-pressed", Boolean(item));
}
