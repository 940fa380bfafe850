// The detail of a pattern, with a figure with axes, downloads, facts, events, source, and a
// comparison.

const detail = { take: -1, other: -1, hear: "0", box: null };
const drawer = find("#drawer");

const isNarrow = () => innerWidth <= 720;
/** The lanes of intensity and sharpness in the detail. */
const detailLanes = { strength: [22, 190], tone: [226, 282], height: 304 };
/** The distance of the lanes of two body locations, in pixels. */
const detailLaneStep = 296;

/**
 * Returns the figure of a pattern with axes of intensity and sharpness, optionally overlaid with
 * another one.
 */
function detailPicture(take, other) {
  const names = laneNamesOf(take, ...other ? [other] : []);
  const height = detailLanes.height + (names.length - 1) * detailLaneStep;
  const width = Math.min(620, innerWidth) - (isNarrow() ? 28 : 46);
  const seconds = Math.max(lengths[detail.take], other ? lengths[detail.other] : 0, 0.12);
  const box = {
    left: 34, width: width - 80, from: 0, to: seconds, clip: "detail-lanes", ...detailLanes
  };
  detail.box = box;
  const contents = names.map((name, lane) => {
    const moved = ([top, bottom]) => [top + lane * detailLaneStep, bottom + lane * detailLaneStep];
    const laneBox = {
      ...box, strength: moved(box.strength), tone: moved(box.tone),
      hasTimeAxis: lane === names.length - 1,
    };
    const one = partOf(take, names, lane);
    const suffix = laneSuffix(name);
    return other
      ? drawOverlay(laneBox, { one, other: partOf(other, names, lane), shift: 0 }, suffix)
      : drawAlone(laneBox, one, suffix);
  }).join("");
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" `
    + `role="img" aria-label="${escaped(take.name)}: intensity and sharpness over ${spanText(seconds)}">`
    + `<defs><clipPath id="detail-lanes"><rect x="${box.left - 7}" y="0" width="${box.width + 14}" `
    + `height="${height}"/></clipPath></defs>${contents}</svg>`
    + "<span class=\"cursor\" hidden></span>";
}

/** Returns the figure of a single pattern in the colors of sharpness. */
function drawAlone(box, take, suffix) {
  const [top, bottom] = box.strength;
  const [sharpnessTop, sharpnessBottom] = box.tone;
  const right = box.left + box.width;
  const x = (time) => box.left + time / box.to * box.width;
  const y = (value) => bottom - value * (bottom - top - 8);
  const sharpnessY = (value) => sharpnessBottom - 4 - value * (sharpnessBottom - sharpnessTop - 8);
  const tone = patternQuantities.tone();
  const drawTimes = box.hasTimeAxis ? timeAxis : timeGrid;
  let drawing = drawTimes(box, [box.strength, box.tone]);
  for (const [value, text] of patternQuantities.strength.ticks) {
    drawing += line("grid", box.left, right, y(value), y(value))
      + label(box.left - 7, y(value) + 4, text, "end");
  }
  for (const [value, text] of tone.ticks) {
    drawing += label(box.left - 7, sharpnessY(value) + 4, text, "end");
  }
  for (const [value, text] of tone.marks) drawing += label(right + 7, sharpnessY(value) + 4, text);
  drawing += laneTitle(box.left, top - 8, `Intensity${suffix}`, "")
    + laneTitle(box.left, sharpnessTop - 8, tone.title + suffix, tone.unit);
  drawing += drawEventsOf(take, { x, y, bottom, from: 0, to: Infinity, radius: 5 });
  for (const event of lastingEvents(take)) drawing += sharpnessPath(event, x, sharpnessY);
  for (const each of transientsOf(take)) {
    drawing += `<circle class="head" cx="${px(x(each.time))}" cy="${px(sharpnessY(each.sharpness))}" r="4.5" `
      + `fill="${rampColor(each.sharpness)}"/>`;
  }
  return drawing
    + line("axis", box.left, right, bottom, bottom)
    + line("axis", box.left, right, sharpnessBottom, sharpnessBottom);
}

/** Returns the sharpness line of a continuous event in the colors of sharpness. */
function sharpnessPath(event, x, y) {
  const count = Math.max(2, Math.round((x(event.time + event.length) - x(event.time)) / 4));
  const points = [];
  for (let index = 0; index <= count; index++) {
    const time = event.time + event.length * index / count - (index === count ? 1e-6 : 0);
    const value = valueAt(event, time);
    if (value.intensity > 0.003) {
      points.push({ x: x(time), y: y(value.sharpness), sharpness: value.sharpness });
    }
  }
  if (points.length < 2) return "";
  const [first, last] = [points[0].x, points.at(-1).x];
  const name = `g${gradientNumber++}`;
  const stops = points.filter(
    (_, index) => index % 6 === 0 || index === points.length - 1
  ).map((point) =>
    `<stop offset="${px(100 * (point.x - first) / (last - first || 1))}%" stop-color="${rampColor(point.sharpness)}"/>`);
  return `<defs><linearGradient id="${name}" gradientUnits="userSpaceOnUse" x1="${px(first)}" x2="${px(last)}" `
    + `y1="0" y2="0">${stops.join("")}</linearGradient></defs><path class="tone" stroke="url(#${name})" `
    + `d="${linePath(points.map((point) => [point.x, point.y]))}"/>`;
}

/** Shows the play head in the detail. */
function drawDetailPosition(position) {
  const cursor = find(".cursor", drawer);
  if (!cursor || !drawer.open || !detail.box) return;
  cursor.hidden = !deck.isPlaying;
  cursor.style.left = `${detail.box.left + position / detail.box.to * detail.box.width - 0.75}px`;
}

/** Opens the detail of a pattern, which has its own URL. */
async function openDetail(index) {
  Object.assign(detail, { take: index, other: -1, hear: "0" });
  gallery.isTouched = true;
  if (index !== gallery.now) chooseTake(index);
  drawDetail();
  history.replaceState(null, "", `#${encodeURIComponent(data.takes[index].name)}`);
  if (!drawer.open) drawer.showModal();
}

/** Returns the minimum and maximum frequency of a pattern as text. */
function frequencyText(take) {
  const frequencies = (take.events ?? []).flatMap((event) => {
    const all = [];
    for (let index = 0; index < event.points.length; index += 3) {
      const hertz = event.points[index + 1] > 0.003
        ? eventHertz(event, event.points[index + 2])
        : null;
      if (hertz !== null) all.push(Math.round(hertz));
    }
    return all;
  });
  if (!frequencies.length) return "–";
  const [low, high] = [Math.min(...frequencies), Math.max(...frequencies)];
  return low === high ? `${low} Hz` : `${low}–${high} Hz`;
}

const icon = (d) => `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${d}"/></svg>`;

/** Returns the command that compares two patterns. */
const compareCommand = () => `temblor compare ${[detail.take, detail.other]
  .map((index) => quotedArgument(data.takes[index].name)).join(" ")} -o report.html`;

/** Returns an argument quoted for a shell. */
const quotedArgument = (word) => (
  /^[\w.\/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
);

function comparePart() {
  const others = [
    ...new Set([...shownTakes(), ...data.takes.keys()])
  ].filter((index) => index !== detail.take);
  const options = others.map((index) =>
    `<option value="${index}"${index === detail.other ? " selected" : ""}>${escaped(data.takes[index].name)}</option>`);
  const choices = [["0", "A"], ["1", "B"], ["turns", "In turn"]].map(([hear, name]) =>
    `<button role="radio" data-hear="${hear}" aria-checked="${detail.hear === hear}" `
    + `tabindex="${detail.hear === hear ? 0 : -1}">`
    + `${hear === "turns" ? name : `<span class="tag k${hear}">${name}</span>`}</button>`).join("");
  return "<div class=\"cmp\"><div class=\"rowx\"><label for=\"compare\">Compare with</label>"
    + `<select class="sel" id="compare"><option value="-1">Choose a pattern…</option>${options.join("")}</select>`
    + (detail.other < 0 ? "</div></div>"
      : `<div class="seg" role="radiogroup" aria-label="Pattern that is heard" id="compare-hear">${choices}</div></div>`
        + `<div class="rowx"><code tabindex="0">${escaped(compareCommand())}</code>`
        + "<button class=\"btn\" id=\"copy-command\">Copy</button></div></div>");
}

/** Draws the detail of the open pattern. */
function drawDetail() {
  const take = data.takes[detail.take];
  const other = detail.other >= 0 ? data.takes[detail.other] : null;
  const source = sources[detail.take];
  const facts = [
    ["Length", durationText(detail.take)],
    [
      "Peak",
      take.figures.peakDecibels === null
        ? "–"
        : `${withMinus(take.figures.peakDecibels.toFixed(1))} dBFS`
    ],
    ["Frequency", frequencyText(take)], ["Events", take.events?.length ?? 0],
  ];
  if (take.places.length) {
    const heard = ["", " (heard left and right)"][take.places.length - 1] ?? " (heard mixed)";
    facts.push(["Body locations", escaped(take.places.join(", ") + heard)]);
  }
  const heads = [
    "Event", ...take.places.length ? ["Location"] : [], "Time", "Duration", "Peak intensity",
    "Sharpness", "Frequency",
  ];
  const events = (take.events ?? []).slice(0, 500).map((event) =>
    `<tr><td><svg class="dot" viewBox="0 0 9 9" aria-hidden="true"><circle cx="4.5" cy="4.5" r="4.5" `
    + `fill="${rampColor(event.points[2])}"/></svg>${event.kind}</td>`
    + `${eventCells(take, event).map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
  drawer.setAttribute("aria-label", take.name);
  drawer.innerHTML = `<div class="d-head"><h2 id="d-name">${escaped(take.name)}</h2><span class="sp"></span>`
    + `<button class="btn icon" id="previous" aria-label="Previous pattern">${icon("M10 3L5 8l5 5")}</button>`
    + `<button class="btn icon" id="next" aria-label="Next pattern">${icon("M6 3l5 5-5 5")}</button>`
    + `<button class="btn icon" id="close-detail" aria-label="Close">${icon("M3.5 3.5l9 9M12.5 3.5l-9 9")}</button></div>`
    + `<p class="notes">${escaped(take.notes ?? "")}</p><div class="big" id="big">${detailPicture(take, other)}</div>`
    + `<div class="acts"><button class="btn main" id="play-detail" autofocus>${deck.isPlaying ? "Stop" : "Play"}</button>`
    + "<button class=\"btn\" id=\"save-wav\">Download WAV</button>"
    + (
      source === undefined ? "" : "<button class=\"btn\" id=\"save-source\">Download AHAP</button>"
    )
    + (
      source === undefined || !data.studio
        ? ""
        : "<button class=\"btn\" id=\"edit\">Edit in the studio</button>"
    )
    + `<button class="btn" id="copy-link">Copy link</button></div>${comparePart()}`
    + `<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join("")}</dl>`
    + `<details${events.length < 9 ? " open" : ""}><summary>Events</summary><div class="scroll" tabindex="0" role="group" `
    + `aria-label="Events of ${escaped(take.name)}"><table class="e"><thead><tr>`
    + `${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead><tbody>${events.join("")}</tbody></table></div></details>`
    + (source === undefined ? "" : "<details><summary>Source</summary><pre tabindex=\"0\" aria-label=\"Source of "
      + `${escaped(take.name)}">${escaped(source)}</pre></details>`);
  connectDetail();
}

/** The source texts of all patterns. The cards replace the static markup that contains them. */
const sources = data.takes.map((_, index) => sourceOf(index) ?? undefined);

function connectDetail() {
  const shown = shownTakes();
  const index = shown.indexOf(detail.take);
  const on = (selector, name, act) => find(selector, drawer)?.addEventListener(name, act);
  const name = data.takes[detail.take].name;
  on("#close-detail", "click", () => drawer.close());
  on("#previous", "click", () => openDetail(shown.at((index - 1 + shown.length) % shown.length)));
  on("#next", "click", () => openDetail(shown[(index + 1) % shown.length]));
  on("#play-detail", "click", toggleDetail);
  on("#save-wav", "click", async () => {
    saveFile(`${name}.wav`, "audio/wav", waveFile(await soundOf(soundId(detail.take, 0))));
  });
  on(
    "#save-source",
    "click",
    () => saveFile(`${name}.ahap`, "application/json", sources[detail.take])
  );
  on("#edit", "click", () => openStudio([[`${name}.ahap`, sources[detail.take]]]));
  on("#copy-link", "click", () => copyText(location.href, "Link copied."));
  on("#copy-command", "click", () => copyText(compareCommand(), "Copied."));
  on("#compare", "change", async (event) => {
    detail.other = Number(event.target.value);
    await loadPair();
    drawDetail();
    find("#compare").focus();
  });
  for (const button of findAll("#compare-hear [data-hear]")) {
    button.addEventListener("click", () => hearPair(button.dataset.hear));
  }
  on("#big", "pointerdown", (event) => {
    const box = find("#big").getBoundingClientRect();
    const fraction = clamp((event.clientX - box.left - detail.box.left) / detail.box.width, 0, 1);
    deck.play(Math.min(fraction * detail.box.to, deck.to - 0.02));
  });
}

/** Loads a pattern and the pattern to compare, for playback in alternation. */
async function loadPair() {
  deck.pause();
  deck.pausedPosition = 0;
  const both = detail.other >= 0 ? [detail.take, detail.other] : [detail.take];
  detail.hear = detail.other >= 0 ? "turns" : "0";
  deck.alternates = detail.other >= 0;
  deck.heard = 0;
  deck.setLoop(
    0,
    Math.max(...both.map((index) => data.takes[index].duration)),
    detail.other >= 0 || isLooping()
  );
  await deck.load(both.map((index) => ({ id: soundId(index, output) })));
}

function hearPair(hear) {
  detail.hear = hear;
  deck.alternates = hear === "turns";
  deck.heard = hear === "1" ? 1 : 0;
  deck.isLooping = deck.alternates || isLooping();
  deck.applyGains();
  drawDetail();
  deck.play(0);
}

function toggleDetail() {
  if (deck.isPlaying) deck.pause();
  else deck.play(0);
}

/** Updates the play button of the detail. */
function markDetail() {
  const button = find("#play-detail");
  if (button) button.textContent = deck.isPlaying ? "Stop" : "Play";
}

drawer.addEventListener("close", () => {
  history.replaceState(null, "", location.pathname + location.search);
  deck.pause();
  detail.other = -1;
  chooseTake(detail.take);
  find("[data-open]", cardOf(detail.take) ?? document)?.focus();
});
drawer.addEventListener("click", (event) => {
  if (event.target === drawer && event.clientX < drawer.getBoundingClientRect().left) {
    drawer.close();
  }
});
