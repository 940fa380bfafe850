// Alignment and scaling of the selection in time.

/** The limits of the scale of time, in percent. */
const timeScaleLimits = { minimum: 1, maximum: 1000 };

/**
 * Returns the parts that move as one: the selected events and parameters, whole curves, and single
 * points. A curve whose points are all selected moves with them.
 */
function movableParts() {
  const list = selected();
  const wholeCurves = wholeCurvesIn(list);
  return [
    ...list.filter((item) => !wholeCurves.has(item.curve)),
    ...[...wholeCurves].map(
      (curve) => ({ path: curve.path, type: "curve", curve, time: curve.time })
    ),
  ];
}

/** Returns the start of the selection, in seconds. */
const selectionStart = () => Math.min(...selected().map(({ time }) => time));

/** Returns the change that moves a part to a time. */
function movedTo(part, time) {
  const base = part.type === "point" ? part.curve.time : 0;
  return assign(part.path, "time", Math.max(0, time - base));
}

/** Moves the selection so that it starts at the play head. */
function alignToPlayHead() {
  const parts = movableParts();
  if (!parts.length) return;
  const shift = snapped(state.position) - selectionStart();
  if (!rounded(shift)) return;
  const label = labelFor("Align");
  if (change(label, parts.map((part) => movedTo(part, part.time + shift)))) announce(label);
}

/** Moves the start of each selected part to the nearest line of the grid. */
function alignToGrid() {
  if (!gridStep()) {
    showNote("Choose a grid under Snap first.");
    return;
  }
  const moved = movableParts().map((part) => ({ part, time: snapped(part.time) }))
    .filter(({ part, time }) => rounded(part.time) !== time);
  if (!moved.length) {
    announce("Everything is on the grid");
    return;
  }
  const label = labelFor("Align");
  if (change(label, moved.map(({ part, time }) => movedTo(part, time)))) announce(label);
}

/** Scales the times and durations of the selection by a factor, from its first start. */
function scaleTime(factor) {
  const parts = movableParts();
  if (!parts.length || factor === 1) return;
  const first = selectionStart();
  const scaled = (time) => first + (time - first) * factor;
  const changes = parts.map((part) => movedTo(part, scaled(part.time)));
  for (const { type, path, event, curve } of parts) {
    if (event?.duration) changes.push(assign(path, "duration", event.duration * factor));
    if (type !== "curve") continue;
    const count = curve.points.length / 2;
    // When time is stretched, the last point moves first, so that the points keep their order.
    const order = Array.from(
      { length: count }, (_, index) => (factor > 1 ? count - 1 - index : index)
    );
    changes.push(...order.map(
      (index) => assign(pointPath(curve, index), "time", curve.points[2 * index] * factor)
    ));
  }
  const label = labelFor("Scale");
  if (change(label, changes)) announce(`${label} to ${numberText(100 * factor, 0)} %`);
}

function connectArranging() {
  find("#align-head").addEventListener("click", alignToPlayHead);
  find("#align-grid").addEventListener("click", alignToGrid);
  const field = find("#time-scale");
  field.addEventListener("change", () => {
    const percent = Number(field.value);
    field.value = "100";
    if (percent >= timeScaleLimits.minimum && percent <= timeScaleLimits.maximum) {
      scaleTime(percent / 100);
    } else showNote(`Time is scaled by ${timeScaleLimits.minimum} to ${timeScaleLimits.maximum} %.`);
  });
}
