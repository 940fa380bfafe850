// The figure of a report, which consists of the lanes and a rail of numbered marks above them.

/** The state of the page. `one` and `other` are the indices of the selected takes. */
const state = {
  one: 0, other: 1, hear: "turns", isMatched: false,
  view: "pattern", from: 0, to: 1, loop: null, isLooping: false, chosen: -1, order: "felt",
  // The time of the last seek, and the time under the pointer.
  sought: null, pointed: null,
};
const firstTake = () => data.takes[state.one];
const secondTake = () => data.takes[state.other];
const pair = () => data.pairs[`${state.one}-${state.other}`];
const findings = () => pair().findings;
/** Returns the length of the time axis in seconds: the duration of the longer take. */
const length = () => Math.max(firstTake().duration, secondTake().duration - pair().shift, 0.02);

/** The current layout of the figure. */
let stage = null;

/** Returns whether a difference is short. A short difference has a mark without a bracket. */
const isMoment = (finding) => finding.end - finding.start <= 0.06;

/** Returns the names of the lanes of both takes. */
const laneNames = () => laneNamesOf(firstTake(), secondTake());

/**
 * Returns the top and bottom of each lane. The pattern has two lanes for each body location:
 * intensity and sharpness. A sound has one lane.
 */
function laneHeights(count, isNarrow) {
  const isPattern = state.view === "pattern";
  if (count === 1) {
    if (!isPattern) return [[22, isNarrow ? 246 : 320]];
    return [[22, isNarrow ? 152 : 210], [isNarrow ? 190 : 250, isNarrow ? 246 : 320]];
  }
  const heights = isPattern ? [isNarrow ? 90 : 120, isNarrow ? 40 : 50] : [isNarrow ? 110 : 150];
  const lanes = [];
  let top = 22;
  for (let index = 0; index < count; index++) {
    for (const height of heights) {
      lanes.push([top, top + height]);
      top += height + (isNarrow ? 38 : 40);
    }
  }
  return lanes;
}

/** Returns the layout of the figure for its current width. */
function measureStage() {
  const width = find("#stage").clientWidth;
  const isNarrow = innerWidth <= 720;
  const left = isNarrow ? 30 : 58;
  const right = isNarrow ? 54 : 58;
  const names = laneNames();
  const lanes = laneHeights(names.length, isNarrow);
  const bottom = lanes.at(-1)[1];
  const box = {
    left,
    width: width - left - right,
    from: state.from,
    to: state.to,
    whole: length(),
    clip: "lanes"
  };
  const x = (time) => left + (time - state.from) / (state.to - state.from) * box.width;
  const rows = bracketRows(x);
  return {
    box, names, lanes, bottom, isNarrow, width, x, rows: rows.rowByIndex, height: bottom + 28,
    timeAt: (pixel) => state.from + (pixel - left) / box.width * (state.to - state.from),
    rail: 33 + 5 * Math.max(1, rows.count),
  };
}

/** Assigns overlapping brackets to at most four rows. */
function bracketRows(x) {
  const ends = [];
  const rowByIndex = new Map();
  const lasting = findings().map((finding, index) => ({ finding, index }))
    .filter(({ finding }) => !isMoment(finding)
      && finding.end >= state.from && finding.start <= state.to)
    .sort((a, b) => a.finding.start - b.finding.start);
  for (const { finding, index } of lasting) {
    let row = ends.findIndex((end) => end < x(finding.start) - 3);
    if (row < 0) row = Math.min(3, ends.length);
    ends[row] = Math.max(ends[row] ?? 0, x(finding.end));
    rowByIndex.set(index, row);
  }
  return { rowByIndex, count: ends.length };
}

/** Returns whether transients are so dense that their heads and outlines would hide others. */
function isCrowded({ from, to, width }) {
  if (state.view !== "pattern") return false;
  const counts = [firstTake(), secondTake()].map((take) =>
    transientsOf(take).filter(({ time }) => time >= from && time <= to).length);
  return Math.max(...counts) * minimumStemSpacing > width;
}

/** The minimum distance of transients with full heads, in CSS pixels. */
const minimumStemSpacing = 5;

let drawingNumber = 0;

/** Draws the whole figure of the report. */
async function draw() {
  const number = ++drawingNumber;
  stage = measureStage();
  for (const [name, take] of [["--ka", state.one], ["--kb", state.other]]) {
    document.body.style.setProperty(name, `var(--${"abcd"[take % 4]})`);
  }
  let contents = "";
  let canvases = [];
  if (state.view === "pattern") {
    contents = drawPatternLanes(stage);
  } else if (state.view === "waveform") {
    contents = await drawWaveforms(stage);
  } else {
    ({ contents, canvases } = await drawSpectrograms(stage));
  }
  // A later drawing was requested while sounds were decoded.
  if (number !== drawingNumber) return;
  const { box, width, height } = stage;
  find("#picture").innerHTML = `<svg class="plot${isCrowded(box) ? " crowded" : ""}" viewBox="0 0 ${width} ${height}" `
    + `height="${height}" role="img" aria-label="${escaped(firstTake().name)} and ${escaped(secondTake().name)} `
    + "on a common time axis. The list below contains every difference.\"><defs><clipPath id=\"lanes\">"
    + `<rect x="${box.left - 7}" y="0" width="${box.width + 14}" height="${height}"/></clipPath>`
    + `</defs>${contents}</svg>`;
  find("#picture").prepend(...canvases);
  drawMarks();
  drawHead();
  drawLoop();
  drawView();
  highlight(state.chosen);
}

/** Returns the lanes of intensity and sharpness of both takes at each body location. */
function drawPatternLanes({ box, names, lanes }) {
  return names.map((name, lane) => {
    const [strength, tone] = lanes.slice(2 * lane, 2 * lane + 2);
    const [one, other] = [firstTake(), secondTake()].map((take) => partOf(take, names, lane));
    const hasTimeAxis = lane === names.length - 1;
    return drawOverlay(
      { ...box, strength, tone, hasTimeAxis }, { one, other, shift: pair().shift },
      laneSuffix(name));
  }).join("");
}

/**
 * Returns the channel of a take's sound that a lane shows; null for all, and -1 for none. The sound
 * of more than two body locations is mixed.
 */
function channelOf(take, buffer, names, lane) {
  const index = placeIndex(take, names, lane);
  if (index === null || index < 0) return index;
  return buffer.numberOfChannels === take.places.length ? index : null;
}

/** Returns the end of the title of a sound's lane, with the channels that are mixed in it. */
function soundSuffix(names, lane) {
  const mixed = [firstTake(), secondTake()].filter(({ places }) => places.length > 2);
  const mixedText = mixed.length ? ` (mean of ${mixed[0].places.length})` : "";
  return laneSuffix(names[lane]) + mixedText;
}

/** Places an element over the lanes between two x coordinates. */
function coverLanes(element, left, right) {
  const top = stage.lanes[0][0];
  Object.assign(element.style, {
    left: `${left}px`, width: `${Math.max(0, right - left)}px`, top: `${stage.rail + top}px`,
    height: `${stage.bottom - top}px`,
  });
}

/** Returns the x coordinates of a time range, clipped to the lanes. */
function laneRange(from, to, margin = 0) {
  const { box, x } = stage;
  return [
    Math.max(box.left, x(from) - margin), Math.min(box.left + box.width, x(to) + margin),
  ];
}

/** Shows the loop in the figure and in the transport. */
function drawLoop() {
  const { loop, isLooping } = state;
  const band = find("#loop-band");
  band.hidden = !(loop && isLooping && loop.to > state.from && loop.from < state.to);
  if (!band.hidden) coverLanes(band, ...laneRange(loop.from, loop.to));
  const part = find("#scrub .loop-part");
  if (!part) return;
  part.hidden = !(loop && isLooping);
  if (loop) {
    part.style.left = `${100 * loop.from / length()}%`;
    part.style.width = `${100 * (loop.to - loop.from) / length()}%`;
  }
}

/** Shows the visible time range in the overview. */
function drawView() {
  const part = find("#scrub .view");
  if (!part) return;
  part.hidden = state.to - state.from > 0.999 * length();
  part.style.left = `${100 * state.from / length()}%`;
  part.style.width = `${100 * (state.to - state.from) / length()}%`;
}

/** Shows the play head in the lanes and in the transport. */
function drawHead() {
  const position = deck.position;
  const head = find("#head");
  const { box, lanes, x } = stage;
  const at = x(position);
  head.hidden = at < box.left - 1 || at > box.left + box.width + 1;
  coverLanes(head, at - 0.75, at + 0.75);
  // The line is visible only in the lanes.
  head.replaceChildren(...lanes.map(([top, bottom]) => {
    const part = document.createElement("i");
    part.style.top = `${top - lanes[0][0]}px`;
    part.style.height = `${bottom - top}px`;
    return part;
  }));
  showPosition(deck, length());
  const mark = find("#scrub .place");
  if (mark) mark.style.left = `${100 * position / length()}%`;
  const isTurning = deck.isPlaying && state.hear === "turns";
  for (const button of findAll("#hear [data-hear]")) {
    button.classList.toggle("sounds", isTurning && button.dataset.hear === String(deck.sounding));
  }
}

/** Draws the overview in the transport: the outline of both takes, and their differences. */
function drawScrub() {
  const { shift } = pair();
  const reading = quantitiesOf(firstTake(), secondTake());
  const count = 250;
  const heights = [
    [firstTake(), 0], [secondTake(), shift]
  ].map(([take, delay]) => (reading === patternQuantities
    ? columnsOf(take, { from: 0, to: length(), count, shift: delay }).strength
    : Array.from({ length: count }, (_, index) => reading.intensityAt(take, (index + 0.5) / count * length() + delay))));
  const steps = Array.from({ length: count }, (_, index) =>
    `V${px(36 - 27 * Math.max(heights[0][index], heights[1][index]))}H${(index + 1) * 1000 / count}`);
  const spots = [true, false].map((isLow) => path(`spot${isLow ? " low" : ""}`, findings()
    .filter((finding) => !finding.throughout && finding.significance < 1 === isLow)
    .map(({ start, end }) => `M${px(1000 * start / length())} 4H${px(1000 * end / length() + 0.1)}`).join("")));
  find("#scrub").innerHTML = "<svg viewBox=\"0 0 1000 36\" preserveAspectRatio=\"none\" "
    + `aria-hidden="true">${path("outline", `M0 36${steps.join("")}V36Z`)}${spots.join("")}`
    + "</svg><span class=\"view\" hidden></span><span class=\"loop-part\" hidden></span><span class=\"place\"></span>";
  find("#duration").textContent = `/ ${momentText(length())}`;
}

/** Shows a time range of the figure, in seconds. */
function setView(from, to) {
  const whole = length();
  const width = clamp(to - from, Math.min(0.02, whole), whole);
  state.from = clamp(from, 0, whole - width);
  state.to = state.from + width;
  return draw();
}

/**
 * Returns the time around which keys zoom.
 * It is the time under the pointer, or the center of the loop, or the center of the figure.
 */
function zoomCenter() {
  const { pointed, loop, isLooping, from, to } = state;
  const middle = loop && isLooping ? (loop.from + loop.to) / 2 : from;
  return pointed ?? (middle > from && middle < to ? middle : (from + to) / 2);
}

/** Zooms the time axis around a time. */
function zoom(factor, time = zoomCenter()) {
  setView(time - (time - state.from) * factor, time + (state.to - time) * factor);
}

/** Shows the view of the pattern, the waveform or the spectrogram. */
function setPicture(view) {
  state.view = view;
  check(find("#views"), find(`#views [data-view="${view}"]`));
  return draw();
}
