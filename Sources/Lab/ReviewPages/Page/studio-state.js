// The state of the studio: the open patterns, the selection, and all changes.

/** @typedef {{path: string, type: string, time: number, end: number, event?: ScoreEvent, curve?: object,
 *   pointIndex?: number, id?: string, value?: number}} Item A selectable item. Times are in seconds. */

const rounded = (value, decimalPlaces = 4) => Number(value.toFixed(decimalPlaces));
/**
 * @typedef {{name: string, title: string, summary: string, kind: string, low: number, high: number,
 *   hasHardware: boolean}} Profile A profile with its played frequencies in hertz.
 * @typedef {{id: string, title: string, extensions: string[], reads: boolean,
 *   writes: boolean}} Format
 */

/** @type {Core} */
let core = null;
/** @type {Profile[]} */
let profiles = [];
/** @type {Format[]} */
let formats = [];
/** The open patterns A and B, each with its name, score, items, findings, history and sound. */
const slots = [null, null];

const state = {
  slot: 0, profile: 0, picture: "waveform", from: 0, to: 1, isLooping: true, loop: null, isPlaying: false, position: 0,
};

/**
 * The paths of the selection, in order. The fields show the last part. A set allows fast lookup.
 */
let selection = [];
let selectionSet = new Set();
function setSelection(paths) {
  selection = paths;
  selectionSet = new Set(paths);
}

const current = () => slots[state.slot];
const score = () => current()?.score ?? null;
const items = () => current()?.items ?? [];
const itemAt = (path) => current()?.byPath.get(path);
const selected = () => selection.map(itemAt).filter(Boolean);
const isSelected = (path) => selectionSet.has(path);
/** Returns the time at which all open patterns and the reference have ended. */
const wholeLength = () => Math.max(
  0.1, referenceEnd(), ...slots.map((slot) => slot?.score?.duration ?? 0)
);

/** Returns the start and end of playback in seconds: the loop, or the whole time. */
const playedRange = () => state.loop ?? [0, wholeLength()];

/** Returns the spacing of the grid in seconds, or 0 without a grid. */
function gridStep() {
  const value = find("#snap").value;
  if (!value.startsWith("1/")) return Number(value);
  return 240 / Number(value.slice(2)) / clamp(Number(find("#tempo").value) || 120, 20, 400);
}

/** Returns a time that is snapped to the grid, or to milliseconds with Shift. */
function snapped(time, event) {
  const step = event?.shiftKey ? 0.001 : gridStep();
  return Math.max(0, rounded(step ? Math.round(time / step) * step : time));
}

// Reading of the module's data.
const isIntensity = (id) => id === "HapticIntensityControl";
const isSharpness = (id) => id === "HapticSharpnessControl";
const isTransient = (event) => event.kind === "HapticTransient";
const isAudio = (event) => event.kind.startsWith("Audio");
/** Returns the sound file of an event, if it was added. */
const soundOf = (event) => [...current().sounds].find(({ title }) => title === event.file);
/** Returns the path of a point by its index in time. The text may have points in another order. */
const pointPath = (curve, index) => `${curve.path}.points[${curve.order?.[index] ?? index}]`;

/** Returns the item of an event. */
function itemOf(event) {
  const type = isAudio(event) ? "audio" : isTransient(event) ? "transient" : "continuous";
  return { path: event.path, type, event, time: event.time, end: event.time + (event.duration ?? 0) };
}

/** Returns the selectable items by ascending time. */
function itemsOf(score) {
  /** @type {Item[]} */
  const list = score.events.map(itemOf);
  for (const curve of score.curves) {
    for (let pointIndex = 0; 2 * pointIndex < curve.points.length; pointIndex++) {
      const time = curve.time + curve.points[2 * pointIndex];
      list.push({
        path: pointPath(curve, pointIndex), type: "point", curve, pointIndex, id: curve.id, time, end: time,
        value: curve.points[2 * pointIndex + 1],
      });
    }
  }
  list.push(...score.parameters.map((each) => ({ ...each, type: "parameter", end: each.time })));
  return list.sort((one, other) => one.time - other.time);
}

/**
 * The smoothed duration of a text change in milliseconds. Beyond `longChange`, changes are deferred
 * until the pointer rests.
 */
let changeCost = 0;
const longChange = 12;

/** The number of items from which a pattern is long: it is checked in the background. */
const longPatternCount = 500;
/** The delay of lists after a change of a short and of a long pattern, in milliseconds. */
const listDelays = { short: 120, long: 350 };

const isLong = (slot) => slot.items.length > longPatternCount || changeCost > longChange;

/**
 * Updates a slot from the module. `eventPaths` are the paths of the changed events, if nothing else
 * has changed.
 */
function refresh(slotIndex = state.slot, eventPaths = null) {
  const slot = slots[slotIndex];
  if (!eventPaths || !refreshEvents(slotIndex, eventPaths)) {
    const read = core.score(slotIndex);
    if (read) {
      slot.score = read;
      slot.items = itemsOf(read);
      slot.byPath = new Map(slot.items.map((item) => [item.path, item]));
    }
  }
  slot.history = core.history(slotIndex);
  slot.isGood = slot.history.readable ?? slot.isGood;
  slot.version++;
  if (slotIndex === state.slot) setSelection(selection.filter((path) => slot.byPath.has(path)));
}

/**
 * Returns the text of a slot. A text is copied from the module once, because the copies of a long
 * text cost more than its change.
 */
function textOf(slotIndex) {
  const slot = slots[slotIndex];
  if (slot.copiedVersion !== slot.version) {
    slot.copiedVersion = slot.version;
    slot.text = core.text(slotIndex);
  }
  return slot.text;
}

/** The time before the end of a pattern in which an event may determine its duration, in seconds. */
const endingDuration = 2;

/**
 * Updates only the given events of a long pattern from the module: they are read in a pattern of
 * their own, with the controls of the slot. Returns false if this does not suffice.
 */
function refreshEvents(slotIndex, paths) {
  const slot = slots[slotIndex];
  const { score } = slot;
  if (slot.items.length <= longPatternCount || paths.length > slot.items.length / 4) return false;
  const last = score.duration - endingDuration;
  const old = paths.map((path) => slot.byPath.get(path));
  if (old.some((item) => !item?.event || item.type === "audio" || item.end >= last)) return false;
  const controls = [...score.curves, ...score.parameters].map(({ path }) => path);
  const entries = [...paths, ...controls].map((path) => core.part(slotIndex, path));
  core.open(trialSlot, "changed.ahap", utf8.bytes(`{"Version": 1.0, "Pattern": [${entries}]}`));
  const read = core.score(trialSlot);
  core.clearTrial();
  if (read?.events.length !== paths.length) return false;
  const events = read.events.map((event, index) => ({ ...event, path: paths[index] }));
  if (events.some(({ time, duration = 0 }) => time + duration >= last)) return false;
  for (const event of events) {
    const number = numberIn(event.path);
    score.events[number] = event;
    const item = itemOf(event);
    slot.items.splice(slot.items.indexOf(slot.byPath.get(event.path)), 1);
    let index = firstIndex(slot.items, event.time);
    while (slot.items[index]?.time === event.time && numberIn(slot.items[index].path) < number
      && slot.items[index].event) {
      index++;
    }
    slot.items.splice(index, 0, item);
    slot.byPath.set(event.path, item);
  }
  return true;
}

/** Returns the index of the first item at or after a time. */
function firstIndex(items, time) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].time < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Opens a file in a slot and shows it, also if it cannot be read. The previous document of the slot
 * is closed. `contents` is the result of `Core.examine`, or null for a file that was not examined.
 */
function openSlot(slotIndex, name, bytes, more = {}, contents = null) {
  settle();
  const start = performance.now();
  if (slots[slotIndex]) dropDraft(slots[slotIndex]);
  const isGood = core.open(slotIndex, name, bytes);
  slots[slotIndex] = {
    name: name.replace(/\.[^.]+$/, ""), file: name, isGood, score: null, items: [], byPath: new Map(), findings: [],
    save: null, handle: null, sounds: new Set(), samples: null, felt: null, version: 0, opened: bytes,
    document: more.document ?? claimDocument(), draftKey: "none", ...more,
  };
  setSelection([]);
  refresh(slotIndex);
  changeCost = performance.now() - start;
  const origin = core.origin(slotIndex);
  if (isGood && origin?.format !== "ahap") {
    slots[slotIndex].origin = origin;
    findParts(slotIndex, contents);
  }
  showAll();
  showSlot(slotIndex);
  if (isGood && origin?.losses.length) showLosses(`${name} (${origin.title})`, origin.losses);
  announce(`${name} opened as ${"AB"[slotIndex]}`);
}

/** Fills the list of patterns with those of a slot's file if it has several. */
function findParts(slotIndex, examined) {
  const slot = slots[slotIndex];
  const contents = examined
    ?? { problem: null, parts: core.parts(slotIndex), duration: slot.score.duration };
  if (contents.parts.length < 2) return;
  slot.partsText = partsText(contents.parts);
  const { handle, save } = slot;
  listParts(slot.file, slot.opened, contents, { handle, save: save && { ...save } });
}

/** Shows slot A or B for editing and playback. */
function showSlot(slotIndex) {
  if (!slots[slotIndex]) return;
  settle();
  state.slot = slotIndex;
  setSelection([]);
  tell({ do: "hear", slot: slotIndex });
  send(slotIndex);
  if (state.loop && state.loop[0] >= wholeLength()) state.loop = null;
  showHeader();
  drawAll();
  showSelection();
  updateLists();
}

// Changes.
/** Returns the label of an undo step, such as `Move 3 events`. */
const labelFor = (verb, list = selected()) => {
  const nouns = { point: "point", parameter: "parameter", audio: "sound" };
  const noun = nouns[list[0]?.type] ?? "event";
  if (list.length === 1) return `${verb} ${noun}`;
  return `${verb} ${list.length} ${list.some((each) => each.type !== list[0].type) ? "parts" : `${noun}s`}`;
};

/** Applies changes to the current text. Without a label, they belong to the previous undo step. */
function change(label, changes) {
  commitNudge();
  if (!changes.length || !current()) return false;
  if (!current().isGood) {
    reportUnchangeable();
    return false;
  }
  const start = performance.now();
  if (label !== null) core.begin(state.slot, label);
  const refusal = core.change(state.slot, changes);
  if (refusal) {
    showNote(refusal);
    return false;
  }
  refresh(state.slot, changedEvents(changes));
  // Smoothing ignores a single busy moment.
  changeCost += 0.3 * (performance.now() - start - changeCost);
  const onlyTop = changes.every(
    ({ set }) => set?.startsWith("events") && isSelected(set.slice(0, set.indexOf(".")))
  );
  afterChange(onlyTop);
  return true;
}

/** Returns the paths of the events of which changes only set values, or null for other changes. */
function changedEvents(changes) {
  const paths = changes.map(({ set }) => set?.match(/^events\[\d+\](?=\.)/)?.[0]);
  if (!paths.every(Boolean)) return null;
  return [...new Set(paths)].sort((one, other) => numberIn(one) - numberIn(other));
}

/** Returns the error of a slot's text, with its line. */
function textProblem(slot) {
  const finding = core.check(slots.indexOf(slot), state.profile).find(
    ({ severity }) => severity === "error"
  );
  if (!finding) return "it has an error.";
  return `${finding.line ? `line ${finding.line}: ` : ""}${finding.message}.`;
}

/** Reports the reason that the current text can only be changed by typing. */
function reportUnchangeable() {
  const slot = current();
  if (slot) showNote(`${slot.name} cannot be changed here: ${textProblem(slot)} Correct the source.`);
}

/** Passes pending changes to the module: the typed text, and a change by keys. */
function settle() {
  if (!current()) return;
  takeTyping();
  commitNudge();
}

let listTimer = 0;
let checkTimer = 0;
/** The delay of the check of a long pattern after its lists, in milliseconds. A check is long. */
const checkDelay = 1000;

/** Shows and plays a change of the text. The lists are updated after a pause. */
function afterChange(onlyTop = false) {
  document.body.dataset.state = "changing";
  if (onlyTop) drawTop(); else drawAll();
  showSelection();
  showHeader();
  send(state.slot);
  clearTimeout(listTimer);
  const delay = isLong(current()) ? listDelays.long + 8 * changeCost : listDelays.short;
  listTimer = setTimeout(updateLists, delay);
}

/** Updates findings, source, sound figure and stored session of the current slot. */
function updateLists() {
  clearTimeout(listTimer);
  const slot = current();
  if (!slot) return;
  clearTimeout(checkTimer);
  // The worker has only the AHAP text of a converted file, and would check the conversion.
  const isConverted = slot.origin && !slot.history.changed;
  if (worker && isLong(slot) && slot.isGood && !isConverted) {
    checkTimer = setTimeout(() => { if (current() === slot) ask("check", state.slot); }, checkDelay);
    slot.isBeingChecked = true;
  } else {
    slot.findings = core.check(state.slot, state.profile);
    slot.isBeingChecked = false;
  }
  showFindings();
  showSource();
  for (const slotIndex of [0, 1]) requestPicture(slotIndex);
  keepDrafts();
  if (worker) document.body.dataset.state = "ready";
}

const assign = (path, field, value) => ({ set: `${path}.${field}`, to: rounded(value) });

/** Undoes or redoes a step of the current slot. */
function step(isBack) {
  settle();
  const slot = current();
  if (!slot) return;
  const label = isBack ? slot.history.undo : slot.history.redo;
  if (!(isBack ? core.undo(state.slot) : core.redo(state.slot))) return;
  slot.isGood = true;
  refresh();
  afterChange();
  updateLists();
  announce(`${isBack ? "Undone" : "Redone"}: ${label ?? "change"}`);
}

/** Returns a new event of a kind at a time. */
function newEvent(kind, time, values, duration) {
  const parameters = Object.entries(values)
    .map(([id, value]) => ({ ParameterID: id, ParameterValue: rounded(value, 3) }));
  const event = { Time: rounded(time), EventType: kind };
  if (duration) event.EventDuration = rounded(duration);
  return { add: { Event: { ...event, EventParameters: parameters } } };
}

/** Appends entries, `{ add }` or `{ entry }`, to the pattern, and selects them. */
function addEntries(label, entries) {
  const counts = [score().events.length, score().curves.length, score().parameters.length];
  if (!change(label, entries)) return false;
  const added = [
    ...score().events.slice(counts[0]).map(({ path }) => path),
    ...items().filter(
      ({ curve }) => curve && score().curves.indexOf(curve) >= counts[1]
    ).map(({ path }) => path),
    ...score().parameters.slice(counts[2]).map(({ path }) => path),
  ];
  select(added);
  return added;
}

const addTransient = (time, intensity = 0.8) => addEntries("Add transient", [
  newEvent("HapticTransient", time, { HapticIntensity: intensity, HapticSharpness: 0.5 }),
]);
const addContinuous = (time, duration = 0.2) => addEntries("Add continuous event", [
  newEvent("HapticContinuous", time, { HapticIntensity: 0.6, HapticSharpness: 0.4 }, duration),
]);

/**
 * Adds a constant curve over the pattern: intensity, or sharpness if there is an intensity curve.
 */
function addCurve() {
  const id = score().curves.some((curve) => isIntensity(curve.id)) ? "HapticSharpnessControl"
    : "HapticIntensityControl";
  const value = isIntensity(id) ? 1 : 0;
  const points = [0, rounded(Math.max(0.1, score().duration))].map(
    (Time) => ({ Time, ParameterValue: value })
  );
  addEntries("Add curve",
    [{ add: { ParameterCurve: { ParameterID: id, Time: 0, ParameterCurveControlPoints: points } } }]);
}

/** Adds a dynamic parameter of intensity at a time. */
function addParameter(time) {
  addEntries("Add parameter", [
    {
      add: { Parameter: { ParameterID: "HapticIntensityControl", Time: time, ParameterValue: 0.5 } }
    },
  ]);
}

/** Returns the curves whose points are all in a list of parts. */
function wholeCurvesIn(list) {
  const counts = new Map();
  for (const { curve } of list) {
    if (curve) counts.set(curve, (counts.get(curve) ?? 0) + 1);
  }
  const whole = [...counts].filter(([curve, count]) => 2 * count === curve.points.length);
  return new Set(whole.map(([curve]) => curve));
}

function removeSelected() {
  const list = selected();
  if (!list.length) return;
  // If all points of a curve are deleted, the curve is deleted.
  const wholeCurves = wholeCurvesIn(list);
  const paths = [...list.filter(({ curve }) => !wholeCurves.has(curve)), ...wholeCurves]
    .map(({ path }) => path);
  const label = labelFor("Delete", list);
  setSelection([]);
  if (change(label, paths.map((remove) => ({ remove })))) announce(label);
}

function duplicateSelected() {
  const list = selected().filter((item) => item.type !== "point")
    .sort((one, other) => numberIn(one.path) - numberIn(other.path));
  if (!list.length) return;
  const first = Math.min(...list.map((item) => item.time));
  const length = Math.max(...list.map((item) => item.end)) - first;
  const shift = Math.max(length, gridStep(), 0.05);
  if (!change(labelFor("Duplicate", list), list.map((item) => ({ duplicate: item.path })))) return;
  const seen = {};
  const copies = list.map(({ path, time }) => {
    const family = path.split("[")[0];
    seen[family] = (seen[family] ?? 0) + 1;
    return { path: `${family}[${numberIn(path) + seen[family]}]`, time: time + shift };
  });
  change(null, copies.map(({ path, time }) => assign(path, "time", time)));
  select(copies.map(({ path }) => path));
}

const numberIn = (path) => Number(path.match(/\d+/)[0]);

// Selection.
/** Selects parts. The last part is shown and has the keyboard focus. */
function select(paths) {
  commitNudge();
  setSelection([...new Set(paths)].filter((path) => itemAt(path)));
  drawAll();
  showSelection();
}

/** Adds a part to the selection or removes it. */
const toggleSelected = (path) => select(
  isSelected(path) ? selection.filter((each) => each !== path) : [...selection, path]);

/** Selects the next or the previous part in time. */
function stepSelection(by, isAdding) {
  const list = items();
  if (!list.length) return;
  const last = list.findIndex((item) => item.path === selection.at(-1));
  const index = last < 0 ? (by > 0 ? 0 : list.length - 1) : clamp(last + by, 0, list.length - 1);
  select(
    isAdding
      ? [...selection.filter((path) => path !== list[index].path), list[index].path]
      : [list[index].path]
  );
  bringIntoView(list[index]);
  announce(descriptionOf(list[index]));
}

/** Returns a description of a part for screen readers. */
function descriptionOf(item) {
  const at = `at ${secondsText(item.time)} seconds`;
  if (item.type === "point") {
    const count = item.curve.points.length / 2;
    return `${controlName(item.id)} curve, point ${item.pointIndex + 1} of ${count}: ${numberText(item.value)} ${at}`;
  }
  if (item.type === "parameter") {
    return `${controlName(item.id)} parameter: ${numberText(item.value)} ${at}`;
  }
  const { event } = item;
  const number = `${numberIn(item.path) + 1} of ${score().events.length}`;
  if (item.type === "audio") return `Sound ${event.file ?? ""} ${at}, event ${number}`;
  const length = event.duration ? `, ${secondsText(event.duration)} long` : "";
  return `${item.type === "transient" ? "Transient" : "Continuous event"} ${at}${length}, `
    + `intensity ${numberText(event.intensity)}, sharpness ${numberText(event.sharpness)}, event ${number}`;
}

/**
 * Returns the name of a control: Intensity for `HapticIntensityControl`, Audio volume for
 * `AudioVolumeControl`.
 */
function controlName(id) {
  const words = id.replace(/^Haptic|Control$/g, "")
    .replace(/([a-z])([A-Z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`);
  return words[0].toUpperCase() + words.slice(1);
}
