// The pointer interaction with the figure: values under the pointer, seek, loop by drag, and zoom
// by wheel.

const stageElement = find("#stage");

/** Returns the position of the pointer in the figure, in pixels. */
function pointAt(event) {
  const box = stageElement.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const time = clamp(stage.timeAt(x), 0, length());
  const lanes = stage.box;
  const isInside = y >= stage.rail && y <= stage.rail + stage.bottom
    && x >= lanes.left - 4 && x <= lanes.left + lanes.width + 4;
  // The lanes of a body location are adjacent.
  const perName = stage.lanes.length / stage.names.length;
  const below = stage.lanes.findIndex(([, bottom]) => y <= stage.rail + bottom + 20);
  const lane = Math.floor((below < 0 ? stage.lanes.length - 1 : below) / perName);
  return { x, y, time, lane, isInside };
}

/** Returns a time as text with the unit of the axis. */
const momentText = (seconds) => `${clockText(seconds, length())} ${axisUnit(length())}`;

/**
 * Returns the values of a take at a time in a lane: a nearby transient, or the strongest continuous
 * event.
 */
function valuesAt(index, time, lane) {
  const take = partOf(data.takes[index], stage.names, lane);
  const shift = index === state.other ? pair().shift : 0;
  const ownTime = time + shift;
  if (!take.events || quantitiesOf(firstTake(), secondTake()) !== patternQuantities) {
    const level = trackValue(take, "levels", ownTime);
    const hertz = trackValue(take, "frequencies", ownTime);
    return { index, take, ownTime, shift, level, hertz };
  }
  const near = 6 / stage.box.width * (state.to - state.from);
  const values = transientNear(take, ownTime, near) ?? continuousAt(take, ownTime);
  if (!values) return { index, take, ownTime, shift };
  return {
    index,
    take,
    ownTime: values.time ?? ownTime,
    shift,
    event: values.event,
    sharpness: values.sharpness
  };
}

/** Returns a row of the card under the pointer. */
function valueRow({ index, take, ownTime, shift, event, sharpness, level, hertz }, isNamed) {
  const when = Math.abs(shift) >= 0.0005 ? `<td class="dim">${momentText(ownTime)}</td>` : "";
  const row = (cells) => `<tr><td>${tag(index)}</td>${cells}${when}</tr>`;
  if (level !== undefined) {
    const isSilent = level <= levelRange[0];
    return row(isSilent ? "<td class=\"dim\" colspan=\"2\">silence</td>"
      : `<td><b>${withMinus(level.toFixed(1))} dBFS</b></td><td>${hertz ? hertzText(hertz) : "–"}</td>`);
  }
  if (!event) return row("<td class=\"dim\" colspan=\"4\">silence</td>");
  const frequency = eventHertz(event, sharpness);
  return row(`<td><b>${intensityText(take, event, ownTime)}</b></td>`
    + `<td>${sharpnessText(take, event, ownTime)}</td>`
    + `<td>${frequency === null ? "" : hertzText(frequency)}</td>`
    + (isNamed ? `<td class="dim">${eventName(take, event)}</td>` : ""));
}

/** Shows the card of values under the pointer. */
function showValues(event) {
  if (event.target.closest(".mark")) return;
  const { x, y, time, lane, isInside } = pointAt(event);
  if (!isInside) {
    find("#tip").hidden = true;
    return;
  }
  const both = [valuesAt(state.one, time, lane), valuesAt(state.other, time, lane)];
  const names = both.map(({ take, event: found }) => (found ? eventName(take, found) : ""));
  const isShared = names[0] === names[1];
  const isSound = both[0].level !== undefined;
  const heads = isSound ? ["level", "frequency"] : ["intensity", "sharpness", ""];
  showTip(
    `<b>${momentText(time)}${escaped(laneSuffix(stage.names[lane]))}</b>${isShared ? ` <span class="dim">${names[0]}</span>` : ""}`
    + `<table><tr class="dim"><td></td>${heads.map((head) => `<td>${head}</td>`).join("")}</tr>`
    + `${both.map((each) => valueRow(each, !isShared)).join("")}</table>`,
    x, clamp(y + 18, 40, stage.rail + stage.height - 10));
}

let drag = null;

stageElement.addEventListener("pointermove", (event) => {
  const { time: pointed, isInside } = pointAt(event);
  state.pointed = isInside ? pointed : null;
  if (!drag) {
    if (event.pointerType === "mouse") showValues(event);
    return;
  }
  const { x, time } = pointAt(event);
  if (Math.abs(x - drag.x) > 5) drag.isMoved = true;
  if (!drag.isMoved) return;
  Object.assign(state, {
    loop: { from: Math.min(time, drag.time), to: Math.max(time, drag.time) }, isLooping: true,
  });
  drawLoop();
});
stageElement.addEventListener("pointerleave", () => {
  state.pointed = null;
  find("#tip").hidden = true;
});
stageElement.addEventListener("pointerdown", (event) => {
  if (event.button || event.target.closest(".mark")) return;
  const { x, time, isInside } = pointAt(event);
  if (!isInside) return;
  drag = { x, time, isMoved: false };
  stageElement.setPointerCapture(event.pointerId);
  find("#tip").hidden = true;
});
stageElement.addEventListener("pointerup", () => {
  if (!drag) return;
  const { isMoved, time } = drag;
  drag = null;
  if (isMoved && state.loop.to - state.loop.from > 0.02) {
    setLoop(state.loop);
    return;
  }
  state.chosen = -1;
  highlight(-1);
  seekTo(time);
});
stageElement.addEventListener("pointercancel", () => { drag = null; });
stageElement.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoom(Math.exp(event.deltaY * 0.004), pointAt(event).time);
}, { passive: false });

/** Moves the play head to a time. A position outside the loop ends the loop. */
function seekTo(time) {
  const { loop, isLooping } = state;
  if (isLooping && loop && (time < loop.from || time > loop.to)) setLoop(null, false);
  deck.seek(clamp(time, 0, length()));
  drawHead();
  state.sought = clamp(time, 0, length());
  keepAddress();
}
