// The pointer and keyboard interaction of the studio.

const pointIn = (event) => {
  const bounds = find("#stage").getBoundingClientRect();
  return [event.clientX - bounds.left, event.clientY - bounds.top];
};

/** Returns the height of an event's line at a time, in pixels. */
function valueOver(points, time, component) {
  const after = points.findIndex((point) => point[0] >= time);
  if (after <= 0) return (points[Math.max(0, after)] ?? points.at(-1))[component];
  const [one, other] = [points[after - 1], points[after]];
  return one[component]
    + (other[component] - one[component]) * (time - one[0]) / Math.max(1e-9, other[0] - one[0]);
}

/** Returns the part whose handle is nearest to a point. */
function nearest(list, x, y, reach) {
  let [hit, distance] = [null, reach];
  for (const item of list) {
    if (item.type === "continuous") continue;
    const [px, py] = handlePosition(item);
    const away = Math.hypot(px - x, py - y);
    if (away < distance) [hit, distance] = [item, away];
  }
  return hit
    && { item: hit, part: { transient: "head", audio: "body" }[hit.type] ?? "handle" };
}

/**
 * Returns the part at a point, and the component of the part.
 * The selection precedes other parts, and handles precede events.
 */
function partAt(x, y, isTouch = false) {
  const shown = items().filter((item) => isInView(item, timeAt(box.left + 24) - state.from));
  const chosen = shown.filter((item) => isSelected(item.path));
  const reach = isTouch ? 20 : 13;
  const lane = y > box.lanes.sharpness[0] - 12 ? "sharpness" : "intensity";
  return nearest(chosen, x, y, reach) ?? nearest(shown.filter((item) => !item.event), x, y, reach)
    ?? transientAt(shown, x, y, lane, isTouch ? 18 : 12)
    ?? continuousEventAt([...chosen, ...shown], x, y, lane, isTouch ? 14 : 7);
}

/** Returns the nearest transient at its stem or at its point in the sharpness lane. */
function transientAt(list, x, y, lane, reach) {
  let [best, distance] = [null, reach];
  for (const item of list) {
    const away = Math.abs(xOf(item.time) - x);
    if (item.type !== "transient" || away >= distance) continue;
    const [[, intensity, sharpness]] = pointsOf(item);
    const isStem = y > yIn("intensity", Math.max(intensity, item.event.intensity)) - 16;
    const isOver = lane === "intensity" ? isStem : Math.abs(yIn("sharpness", sharpness) - y) < 14;
    if (isOver) [best, distance] = [{ item, part: lane === "intensity" ? "head" : "sharp" }, away];
  }
  return best;
}

/** Returns a continuous event at a point, by its ends, level, area or sharpness line. */
function continuousEventAt(list, x, y, lane, reach) {
  for (const item of list) {
    if (item.type !== "continuous") continue;
    const [left, right] = [xOf(item.time), xOf(item.end)];
    if (x < left - 7 || x > right + 7) continue;
    const points = pointsOf(item);
    const valueAtX = (component) => valueOver(points, timeAt(x), component);
    if (lane === "sharpness") {
      if (Math.abs(yIn("sharpness", valueAtX(2)) - y) < 9) return { item, part: "sharp" };
      continue;
    }
    const grip = Math.min(reach, Math.max(3, (right - left) / 4));
    if (y > yIn("intensity", Math.max(0.2, item.event.intensity))) {
      if (Math.abs(x - right) < grip) return { item, part: "end" };
      if (Math.abs(x - left) < grip) return { item, part: "start" };
    }
    if (x < left || x > right) continue;
    if (Math.abs(yIn("intensity", item.event.intensity) - y) < 6) return { item, part: "top" };
    if (y > yIn("intensity", valueAtX(1)) - 2) return { item, part: "body" };
  }
  return null;
}

/** Returns the curve whose line is at a point. */
function curveAt(x, y) {
  return score().curves.find((curve) => {
    const points = curvePoints(curve).map((point) => [point.x, point.y]);
    return points.length > 1 && x > points[0][0] - 4 && x < points.at(-1)[0] + 4
      && Math.abs(valueOver(points, x, 1) - y) < 8;
  });
}

const cursors = { sharp: "ns-resize", top: "ns-resize", start: "ew-resize", end: "ew-resize" };

/** Follows a drag of the pointer, with at most one move per frame. */
function follow(event, move, end = (last) => {}) {
  let last = null;
  let isDue = false;
  const go = () => {
    isDue = false;
    if (last && fingers.size < 2) move(last);
  };
  const moved = (next) => {
    if (next.pointerId !== event.pointerId) return;
    last = next;
    if (!isDue) requestAnimationFrame(go);
    isDue = true;
  };
  const ended = (next) => {
    if (next.pointerId !== event.pointerId) return;
    for (const name of names) removeEventListener(name, handlers[name]);
    if (isDue) go();
    last = null;
    showTip();
    end(next);
  };
  const handlers = { pointermove: moved, pointerup: ended, pointercancel: ended };
  const names = Object.keys(handlers);
  for (const name of names) addEventListener(name, handlers[name]);
}

/** The fingers on the stage, by pointer. Two fingers zoom and pan the view. */
const fingers = new Map();

function connectPinch(stage) {
  const span = () => [...fingers.values()].sort((one, other) => one - other);
  let start = null;
  stage.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    fingers.set(event.pointerId, pointIn(event)[0]);
    start = fingers.size === 2 ? span().map(timeAt) : null;
  }, { capture: true });
  addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, pointIn(event)[0]);
    const [left, right] = span();
    if (!start || fingers.size !== 2 || right - left < 20) return;
    const perPixel = (start[1] - start[0]) / (right - left);
    setView(
      start[0] - (left - box.left) * perPixel, start[0] + (plotWidth() + box.left - left) * perPixel
    );
  });
  const lifted = (event) => fingers.delete(event.pointerId);
  addEventListener("pointerup", lifted);
  addEventListener("pointercancel", lifted);
}

/** Shows a text next to the pointer. */
function showTip(x = 0, y = 0, text = "") {
  const tip = find("#tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = `${clamp(x + 14, 4, box.width - tip.offsetWidth - 4)}px`;
  tip.style.top = `${Math.max(2, y - 40)}px`;
}

let lastPress = { time: 0, x: 0, y: 0 };

function pressed(event) {
  if (event.button || !score()) return;
  commitNudge();
  const [x, y] = pointIn(event);
  const isSecond = event.timeStamp - lastPress.time < 400
    && Math.hypot(x - lastPress.x, y - lastPress.y) < 8;
  lastPress = { time: isSecond ? 0 : event.timeStamp, x, y };
  find("#cursor").focus({ preventScroll: true });
  event.preventDefault();
  if (y > box.lanes.sound[0] - 12) { seekOrLoop(event, x); return; }
  const hit = partAt(x, y, event.pointerType === "touch");
  if (isSecond && (!hit || hit.part === "body" || hit.part === "top")) {
    if (addAt(event, x, y, hit)) return;
  }
  if (!hit) { bandSelect(event, x, y); return; }
  const { item } = hit;
  if (event.shiftKey || event.ctrlKey || event.metaKey) { toggleSelected(item.path); return; }
  select(
    isSelected(item.path)
      ? [...selection.filter((path) => path !== item.path), item.path]
      : [item.path]
  );
  dragSelected(event, x, y, hit);
}

/** Adds a point to a curve, or a transient in the intensity lane, at a double press. */
function addAt(event, x, y, hit) {
  const curve = curveAt(x, y);
  const time = snapped(timeAt(x), event);
  if (curve) {
    addPoint(curve, rounded(time - curve.time), rounded(valueAt(curve.id, y), 2));
    return true;
  }
  if (hit || y > box.lanes.intensity[1]) return false;
  addTransient(time, rounded(clamp(fractionAt("intensity", y), 0, 1), 2));
  return true;
}

/** Adds a point to a curve and selects it. The time is relative to the curve. */
function addPoint(curve, time, value) {
  if (!change("Add point", [{ addPoint: { time, value }, to: curve.path }])) return;
  const grown = score().curves.find(({ path }) => path === curve.path);
  const index = grown.points.findLastIndex(
    (number, index) => index % 2 === 0 && number <= time
  ) / 2;
  select([pointPath(grown, index)]);
}

/** Adds a point at the play head to the curve whose point is selected. */
function insertPoint() {
  const curve = selected().at(-1)?.curve;
  if (!curve) return;
  const points = Array.from({ length: curve.points.length / 2 },
    (_, index) => curve.points.slice(2 * index, 2 * index + 2));
  const time = rounded(Math.max(0, snapped(state.position) - curve.time));
  addPoint(
    curve, time, rounded(time > points.at(-1)[0] ? points.at(-1)[1] : valueOver(points, time, 1), 3)
  );
}

/** Loops the time range of the selection. */
function loopSelected() {
  const list = selected();
  if (!list.length) return;
  const first = Math.min(...list.map((item) => item.time));
  state.loop = [first, Math.max(first + 0.1, ...list.map((item) => item.end))];
  setLooping(true);
  seek(first);
}

/** Handles a press below the lanes: moves the play head, or loops the dragged range. */
function seekOrLoop(event, x) {
  const first = timeAt(x);
  let isLoop = false;
  follow(event, (next) => {
    const last = timeAt(pointIn(next)[0]);
    if (!isLoop && Math.abs(xOf(last) - x) < 5) return;
    isLoop = true;
    state.loop = [first, last].sort((one, other) => one - other).map(
      (time) => clamp(time, 0, wholeLength())
    );
    showPosition();
  }, () => {
    if (!isLoop) state.loop = null;
    else setLooping(true);
    sendLoop();
    seek(isLoop ? state.loop[0] : first);
  });
}

/** Selects the parts in a dragged rectangle. Without a move, the selection is cleared. */
function bandSelect(event, x, y) {
  const initialSelection = event.shiftKey ? selection : [];
  const band = find("#band");
  if (initialSelection.length !== selection.length) select(initialSelection);
  follow(event, (next) => {
    const [nx, ny] = pointIn(next);
    const [left, right] = [Math.min(x, nx), Math.max(x, nx)];
    const [top, bottom] = [Math.min(y, ny), Math.max(y, ny)];
    band.hidden = right - left < 4 && bottom - top < 4;
    Object.assign(band.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`,
      height: `${bottom - top}px` });
    if (band.hidden) return;
    const inBand = items().filter((item) => {
      if (!isInView(item)) return false;
      const [px, py] = handlePosition(item);
      const isOverHead = px >= left && px <= right && py >= top && py <= bottom;
      return isOverHead
        || (item.type === "continuous" && xOf(item.time) <= right && xOf(item.end) >= left
        && bottom >= py && top <= yIn("intensity", 0) && xOf(item.time) >= left - 2);
    }).map((item) => item.path);
    const wanted = [...new Set([...initialSelection, ...inBand])];
    if (wanted.length !== selection.length || wanted.some((path) => !isSelected(path))) {
      select(wanted);
    }
  }, () => {
    band.hidden = true;
    if (selection.length) announce(counted(selection.length, "part") + " selected");
  });
}

/**
 * Returns the range of times by which the selection can move without an onset before 0 or a point
 * beyond its neighbors.
 */
function timeRange(list) {
  let [low, high] = [-Infinity, Infinity];
  for (const item of list) {
    if (item.type !== "point") { low = Math.max(low, -item.time); continue; }
    const { points } = item.curve;
    const own = points[2 * item.pointIndex];
    const isFree = (index) => index >= 0
      && 2 * index < points.length
      && !isSelected(pointPath(item.curve, index));
    if (isFree(item.pointIndex - 1)) low = Math.max(low, points[2 * item.pointIndex - 2] - own);
    if (isFree(item.pointIndex + 1)) high = Math.min(high, points[2 * item.pointIndex + 2] - own);
    low = Math.max(low, -own);
  }
  return [low, high];
}

/** Returns the values of a part in the file, at the start of a drag. */
const valuesOf = (item) => (item.event ? { ...item.event }
  : { time: item.type === "point" ? item.curve.points[2 * item.pointIndex] : item.time, value: item.value });

/** Returns the values of each selected part during a drag. */
function movedValues(list, { item, part }, start, event, dx, dy) {
  const wanted = new Map();
  const own = start.get(item.path);
  const base = item.type === "point" ? item.curve.time : 0;
  const dt = timeAt(box.left + dx) - timeAt(box.left);
  const lane = part === "sharp" || isSharpness(item.id) ? "sharpness" : "intensity";
  const up = -dy / (box.lanes[lane][1] - box.lanes[lane][0]);
  const isGrip = part === "start" || part === "end";
  if (isGrip) {
    const end = own.time + (own.duration ?? 0);
    const time = part === "start" ? clamp(snapped(own.time + dt, event), 0, end - 0.01) : own.time;
    const duration = part === "start"
      ? end - time
      : Math.max(0.01, snapped(end + dt, event) - time);
    return wanted.set(item.path, part === "start" ? { time, duration } : { duration });
  }
  const [low, high] = timeRange(list);
  const shift = dx ? clamp(snapped(base + own.time + dt, event) - base - own.time, low, high) : 0;
  const [[, first = 1]] = item.event && item.type !== "audio" ? pointsOfStart(item) : [[0, 1]];
  const factor = part === "head" && own.intensity > 0.01
    ? Math.max(0.05, first / own.intensity)
    : 1;
  for (const each of list) {
    const from = start.get(each.path);
    const to = {};
    if (shift && part !== "top" && (part !== "sharp" || each.type === "transient")) {
      to.time = from.time + shift;
    }
    if (dy && part !== "body" && each.type !== "audio") {
      const [minimum, span] = isSharpness(each.id) ? [-1, 2] : [0, 1];
      if (!each.event) to.value = clamp(rounded(from.value + up * span, 2), minimum, 1);
      else if (part === "sharp") to.sharpness = clamp(rounded(from.sharpness + up, 2), 0, 1);
      else to.intensity = clamp(rounded(from.intensity + up / factor, 2), 0, 1);
    }
    if (Object.keys(to).length) wanted.set(each.path, to);
  }
  return wanted;
}

/** Returns the points of an event before a drag. */
const pointsOfStart = ({ event }) => [[event.time, event.felt[1] ?? event.intensity]];

/**
 * Drags the selection. The text is updated in every frame, or if that is slow, when the pointer
 * rests.
 */
function dragSelected(event, x, y, hit) {
  const list = hit.part === "start" || hit.part === "end" ? [hit.item] : selected();
  const start = new Map(list.map((item) => [item.path, valuesOf(item)]));
  const verbs = {
    start: "Resize", end: "Resize", sharp: "Change sharpness of", top: "Change intensity of"
  };
  let label = labelFor(verbs[hit.part] ?? "Move", list);
  let [isAcross, isDown] = [false, false];
  let restTimer = 0;
  let last = null;
  const commit = () => {
    clearTimeout(restTimer);
    if (!last) return;
    const changes = [];
    for (const [path, values] of last) {
      const now = valuesOf(itemAt(path));
      const fields = Object.keys(values).filter((field) => rounded(values[field]) !== now[field]);
      changes.push(...fields.map((field) => assign(path, field, values[field])));
    }
    last = null;
    preview.clear();
    if (!changes.length) { drawTop(); return; }
    if (change(label, changes)) label = null;
  };
  document.body.classList.add("dragging");
  follow(event, (next) => {
    const [nx, ny] = pointIn(next);
    isAcross ||= Math.abs(nx - x) > 3;
    isDown ||= Math.abs(ny - y) > 3;
    const [dx, dy] = [isAcross ? nx - x : 0, isDown ? ny - y : 0];
    if (!dx && !dy) return;
    last = movedValues(list, hit, start, next, dx, dy);
    if (changeCost > longChange) {
      for (const [path, values] of last) preview.set(path, values);
      drawTop();
      clearTimeout(restTimer);
      restTimer = setTimeout(commit, 150 + 4 * changeCost);
    } else commit();
    showTip(nx, ny, dragText(hit));
  }, () => {
    document.body.classList.remove("dragging");
    commit();
    announce(descriptionOf(itemAt(hit.item.path)));
  });
}

/** Returns the values that a drag changes, as text. */
function dragText({ item, part }) {
  const now = itemAt(item.path);
  const values = shownOf(now);
  if (!now.event) {
    return `${secondsText((item.curve?.time ?? 0) + values.time)} s · ${numberText(values.value)}`;
  }
  const hertz = part === "sharp" ? Math.round(core.hertz(state.profile, pointsOf(now)[0][2])) : 0;
  if (hertz) return `sharpness ${numberText(values.sharpness)} · ${hertz} Hz`;
  const parts = [`${secondsText(values.time)} s`];
  if (values.duration) parts.push(`${secondsText(values.duration)} s long`);
  if (now.type !== "audio") parts.push(`intensity ${numberText(values.intensity)}`);
  return parts.join(" · ");
}

// Keys.
/**
 * A change by keys that is shown, but not yet in the text: its label, whether it continues the last
 * undo step, and its values by path. A change of a long text would not keep up with repeated keys.
 */
let pendingNudge = null;
let nudgeTimer = 0;

/** Writes the change by keys to the text. Every other action does this first. */
function commitNudge() {
  clearTimeout(nudgeTimer);
  if (!pendingNudge) return;
  const { label, isContinued, values } = pendingNudge;
  pendingNudge = null;
  for (const path of values.keys()) preview.delete(path);
  change(isContinued ? null : label, [...values].flatMap(([path, fields]) =>
    Object.entries(fields).map(([field, value]) => assign(path, field, value))));
}

/** Moves or changes the selection by a step. Successive key presses form one undo step. */
function nudge(event) {
  const list = selected();
  if (!list.length) return;
  if (!current().isGood) {
    reportUnchangeable();
    return;
  }
  const values = nudgedValues(list, event);
  if (!values.size) return;
  const [name] = Object.keys(values.values().next().value);
  const label = labelFor(name === "time" ? "Move" : `Change ${name} of`, list);
  if (pendingNudge && pendingNudge.label !== label) {
    commitNudge();
    nudge(event);
    return;
  }
  const isContinued = event.repeat && current().history.undo === label;
  pendingNudge ??= { label, isContinued, values };
  pendingNudge.values = values;
  if (changeCost <= longChange) {
    commitNudge();
  } else {
    for (const [path, fields] of values) preview.set(path, fields);
    drawTop();
    clearTimeout(nudgeTimer);
    nudgeTimer = setTimeout(commitNudge, 150 + 4 * changeCost);
  }
  announce(descriptionOf(selected().at(-1)));
}

/** Returns the values of each selected part after a step by a key, in the units of the file. */
function nudgedValues(list, event) {
  const factor = event.shiftKey ? 0.2 : 1;
  const sign = ["ArrowLeft", "ArrowDown", "["].includes(event.key) ? -1 : 1;
  const step = sign * (event.shiftKey ? 0.001 : gridStep() || 0.01);
  const shown = (item) => ({ ...valuesOf(item), ...preview.get(item.path) });
  const values = new Map();
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const [low, high] = timeRange(list);
    const earlier = shown(list[0]).time - valuesOf(list[0]).time;
    const shift = clamp(earlier + step, low, high);
    for (const item of list) values.set(item.path, { time: valuesOf(item).time + shift });
    return values;
  }
  if (event.key === "[" || event.key === "]") {
    for (const item of list.filter((each) => each.event?.duration)) {
      values.set(item.path, { duration: Math.max(0.01, shown(item).duration + step) });
    }
    return values;
  }
  const field = event.altKey ? "sharpness" : "intensity";
  for (const item of list.filter((each) => each.type !== "audio")) {
    const name = item.event ? field : "value";
    const minimum = isSharpness(item.id) ? -1 : 0;
    values.set(
      item.path, { [name]: clamp(shown(item)[name] + sign * 0.05 * factor, minimum, 1) }
    );
  }
  return values;
}

/** @type {Key[]} */
const keyTable = [
  { keys: [" "], shown: "Space", words: "Play, pause", act: () => toggle() },
  { keys: ["1"], shown: "1 2", words: "Show and hear A, B", act: () => showSlot(0) },
  { keys: ["2"], act: () => (slots[1] ? showSlot(1) : find("#slot-1").click()) },
  { keys: ["n"], shown: "N P", words: "Next, last part; with Shift select it too", repeats: true,
    act: () => stepSelection(1) },
  { keys: ["p"], repeats: true, act: () => stepSelection(-1) },
  { keys: ["N"], repeats: true, act: () => stepSelection(1, true) },
  { keys: ["P"], repeats: true, act: () => stepSelection(-1, true) },
  { keys: [], shown: "Ctrl A", words: "Select everything; Escape selects nothing" },
  { keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], shown: "← →",
    words: "Move by the grid; with Shift by 1 ms", repeats: true, act: nudge },
  { keys: [], shown: "↑ ↓", words: "Intensity or value; with Alt sharpness; with Shift finer" },
  { keys: ["[", "]"], shown: "[ ]", words: "Shorter, longer", repeats: true, act: nudge },
  { keys: ["t"], shown: "T C", words: "Add a transient, a continuous event at the play head",
    act: () => addTransient(snapped(state.position)) },
  { keys: ["c"], act: () => addContinuous(snapped(state.position)) },
  {
    keys: ["v"],
    shown: "V B",
    words: "Add a curve; a dynamic parameter at the play head",
    act: () => addCurve()
  },
  {
    keys: ["i"],
    shown: "I",
    words: "Insert a point of the curve at the play head",
    act: () => insertPoint()
  },
  { keys: ["b"], act: () => addParameter(snapped(state.position)) },
  {
    keys: ["d"],
    shown: "D Delete",
    words: "Duplicate, delete what is selected",
    act: () => duplicateSelected()
  },
  { keys: ["Delete", "Backspace"], act: () => removeSelected() },
  {
    keys: [],
    shown: "Ctrl C X V",
    words: "Copy, cut, paste as AHAP at the play head, in either slot"
  },
  { keys: [], shown: "Ctrl Z", words: "Undo; with Shift redo" },
  { keys: [], shown: "Ctrl O S", words: "Open, save" },
  {
    keys: ["l"],
    shown: "L",
    words: "Loop; with Shift loop what is selected",
    act: () => setLooping(!state.isLooping)
  },
  { keys: ["L"], act: () => loopSelected() },
  { keys: [",", "."], shown: ", .", words: "Move the play head by the grid", repeats: true,
    act: (event) => seek(state.position + (event.key === "," ? -1 : 1) * (gridStep() || 0.01)) },
  {
    keys: ["Home"], shown: "Home End", words: "Play head to the start, the end", act: () => seek(0)
  },
  { keys: ["End"], act: () => seek(wholeLength()) },
  { keys: ["w"], shown: "W", words: "Waveform or spectrogram",
    act: () => choosePicture(state.picture === "waveform" ? "spectrogram" : "waveform") },
  {
    keys: ["+", "="], shown: "+ − 0", words: "Zoom in, out, show everything", act: () => zoom(0.7)
  },
  { keys: ["-"], act: () => zoom(1.4) },
  { keys: ["0"], act: () => { showAll(); drawAll(); } },
  { keys: ["f"], shown: "F", words: "Vibrate this phone or gamepad with the sound",
    act: () => setFelt(!isFelt) },
  { keys: ["Escape"], act: () => select([]) },
  { keys: ["?"], shown: "?", words: "Show this help", isAlwaysActive: true, act: () => find("#keys-dialog").showModal() },
];

/** The actions of keys with Ctrl or Command, outside text fields. */
const commands = {
  z: (event) => step(!event.shiftKey),
  y: () => step(false),
  s: (event) => (event.shiftKey ? openSaveAs() : save()),
  o: () => chooseFile(null),
  a: () => select(items().map((item) => item.path)),
};

function keyPressed(event) {
  const isTyping = event.target.matches?.(
    "input:not([type=range], [type=radio], [type=checkbox]), textarea, select"
  );
  const isOpen = find("dialog[open]") !== null;
  if ((event.ctrlKey || event.metaKey) && !event.altKey) {
    const name = event.key.toLowerCase();
    const isText = isTyping && name === "a";
    if (!commands[name] || isText || isOpen) return;
    event.preventDefault();
    commands[name](event);
    return;
  }
  if (isOpen || event.ctrlKey || event.metaKey || event.defaultPrevented || isTyping) return;
  if (stepRadio(event)) { event.preventDefault(); return; }
  if (belongsToControl(event) && event.target.id !== "cursor") return;
  const key = keyTable.find((each) => each.keys.includes(event.key));
  if (!key || (event.altKey && key.act !== nudge) || (event.repeat && !key.repeats)) return;
  event.preventDefault();
  if (score() || key.isAlwaysActive) key.act(event);
  else reportUnchangeable();
}

function connectEditing() {
  const stage = find("#stage");
  stage.addEventListener(
    "pointerdown", (event) => { if (!event.target.closest(".mark")) pressed(event); }
  );
  // A finger on an event drags the event instead of scrolling the page.
  stage.addEventListener("touchstart", (event) => {
    const [x, y] = pointIn(event.touches[0]);
    if (
      score() && (event.touches.length > 1 || partAt(x, y, true) || y > box.lanes.sound[0] - 12)
    ) {
      event.preventDefault();
    }
  }, { passive: false });
  connectPinch(stage);
  let isDue = false;
  stage.addEventListener("pointermove", (event) => {
    if (event.buttons || isDue || !score()) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      const [x, y] = pointIn(event);
      const hit = y > box.lanes.sound[0] - 12 ? null : partAt(x, y);
      stage.style.cursor = hit
        ? cursors[hit.part] ?? "grab"
        : y > box.lanes.sound[0] - 12
        ? "text"
        : "crosshair";
      showTip(x, y, hit ? dragText(hit) : "");
    });
  });
  stage.addEventListener("pointerleave", () => showTip());
  stage.addEventListener("wheel", (event) => {
    const isAcross = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !event.metaKey && !isAcross) return;
    event.preventDefault();
    if (isAcross) {
      const shift = (event.deltaX || event.deltaY) / plotWidth() * (state.to - state.from);
      setView(state.from + shift, state.to + shift);
    } else zoom(Math.exp(event.deltaY / 300), timeAt(pointIn(event)[0]));
  }, { passive: false });
  document.addEventListener("keydown", keyPressed);
  showKeys(keyTable);
}
