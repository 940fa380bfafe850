// The list of differences, and the action of selecting a difference.

/**
 * Returns the length of the significance bar as a percentage.
 * The length is 25 % at the threshold, and 15 % more for each doubling.
 */
const meterLength = (significance) => clamp(25 + 15 * Math.log2(significance), 3, 100);

/** Returns a factor as text, such as `2.1×`. */
const factorText = (factor) => `${factor >= 10 ? Math.round(factor) : factor.toFixed(1)}×`;

/**
 * Fills the list of differences in the selected order. The numbers of the differences do not
 * change.
 */
function drawList() {
  const rows = findings().map((finding, index) => ({ finding, index }));
  if (state.order === "time") rows.sort((a, b) => a.finding.start - b.finding.start);
  find("#list").innerHTML = rows.map(({ finding, index }) => row(finding, index)).join("")
    || `<li class="row low alone">${escaped(pair().verdict ?? "The two takes are equal.")}</li>`;
  for (const button of findAll("#list button.row")) {
    const index = Number(button.dataset.finding);
    for (const name of ["mouseenter", "focus"]) {
      button.addEventListener(name, () => highlight(index));
    }
    for (const name of ["mouseleave", "blur"]) {
      button.addEventListener(name, () => highlight(state.chosen));
    }
    button.addEventListener("click", () => choose(index));
  }
}

function row(finding, index) {
  const isLow = finding.significance < 1;
  const times = `${finding.significance.toFixed(1)} times the perceptual threshold. `
    + "The tick marks the threshold. Each doubling makes the bar 15 points longer.";
  const bar = px(meterLength(finding.significance));
  return `<li><button class="row${isLow ? " low" : ""}" data-finding="${index}">`
    + `<span class="n">${index + 1}</span><span class="what"><b>${escaped(finding.title)}</b>`
    + `<span>${escaped(finding.detail)}</span></span><span class="jnd" title="${times}">`
    + "<svg class=\"meter\" viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
    + "<rect class=\"track\" y=\"3\" width=\"100\" height=\"6\" rx=\"3\"/>"
    + `<rect class="level" y="3" width="${bar}" height="6" rx="3"/>`
    + "<rect class=\"threshold\" x=\"25\" width=\"1.5\" height=\"12\"/></svg>"
    + `<span>${factorText(finding.significance)}</span></span>`
    + `<span class="amount">${escaped(finding.amount)}</span>`
    + `<span class="when">${escaped(finding.when)}</span><span class="go" aria-hidden="true">`
    + "<svg viewBox=\"0 0 16 16\"><path class=\"p\" d=\"M4 2.5v11l9-5.5z\"/>"
    + "<path class=\"s\" d=\"M4 3h3v10H4zM9 3h3v10H9z\"/></svg></span></button></li>";
}

/** Shows the result of the comparison above the figure. */
function drawVerdict() {
  const all = findings();
  const clear = all.filter((finding) => finding.significance >= 1).length;
  const hiddenCount = all.length - clear;
  find("#verdict").textContent = all.length
    ? counted(clear, "perceptible difference")
    : "No difference";
  find("#summary").textContent = pair().summary;
  drawTolerance();
  drawSpelling();
  const parts = [];
  if (hiddenCount) parts.push(`${hiddenCount} more below the perceptual threshold`);
  const { shift } = pair();
  if (Math.abs(shift) >= 0.0005) {
    parts.push(`${secondTake().letter} starts ${secondsText(Math.abs(shift))} s `
      + `${shift > 0 ? "later" : "earlier"} as a whole, and is shown aligned`);
  }
  const percentage = equalPercentage();
  if (percentage !== null) parts.push(`identical for ${percentage} % of ${numberText(length())} s`);
  find("#verdict-more").textContent = parts.join(" · ");
  document.title = `${firstTake().name} and ${secondTake().name} · Temblor`;
}

/** Returns the tolerance as text, such as `Within 0.5 dB, 5 ms and 2 %`. */
const toleranceText = () => `${pair().excesses.length ? "Exceeds" : "Within"} ${data.tolerance}`;

/** Shows whether the takes are within the tolerance, with the lines about the excesses. */
function drawTolerance() {
  const { excesses } = pair();
  const badge = find("#badge");
  badge.hidden = find("#tolerance-fold").hidden = !excesses;
  if (!excesses) return;
  badge.textContent = `${excesses.length ? "✗" : "✓"} ${toleranceText()}`;
  badge.classList.toggle("fails", excesses.length > 0);
  find("#tolerance-more").textContent = excesses.length
    ? `${counted(excesses.length, "limit")} exceeded`
    : "no limit exceeded";
  find("#excesses").innerHTML = excesses.map((line) => `<li>${escaped(line)}</li>`).join("")
    || `<li>Everything is within ${escaped(data.tolerance)}.</li>`;
}

/** Shows differences in notation, which cannot be felt. */
function drawSpelling() {
  const { spelling } = pair();
  find("#spelling-fold").hidden = !spelling.length;
  find("#spelling-more").textContent = "not felt";
  find("#spelling").innerHTML = spelling.map((line) => `<li>${escaped(line)}</li>`).join("");
}

/** Returns the times of the transients that differ between two patterns. */
function unevenTimes([one, other]) {
  return pairedTransients(patternQuantities, one, other, pair().shift)
    .filter(([first, second]) => !agreement(first, second).isAsStrong)
    .flatMap((both) => both.filter(Boolean).map((each) => each.time));
}

/** Returns whether the continuous events of two patterns are equal at a time. */
function areEqualAt([one, other], time) {
  const first = continuousAt(one, time);
  const second = continuousAt(other, time + pair().shift);
  const strengths = [first?.intensity ?? 0, second?.intensity ?? 0];
  if (Math.abs(strengths[0] - strengths[1]) >= intensityTolerance) return false;
  return strengths[0] < 0.01 || !first || !second
    || Math.abs(first.sharpness - second.sharpness) < sharpnessTolerance;
}

/** Returns the percentage of the time in which two patterns are equal at all body locations. */
function equalPercentage() {
  if (quantitiesOf(firstTake(), secondTake()) !== patternQuantities) return null;
  const names = laneNames();
  const both = names.map(
    (_, lane) => [firstTake(), secondTake()].map((take) => partOf(take, names, lane)));
  const step = Math.max(0.005, length() / 2000);
  const uneven = both.flatMap(unevenTimes);
  let [all, equal] = [0, 0];
  for (let time = step / 2; time < length(); time += step) {
    all++;
    const isUneven = uneven.some((each) => Math.abs(each - time) < 0.02);
    if (!isUneven && both.every((parts) => areEqualAt(parts, time))) equal++;
  }
  if (!all) return null;
  // A difference too short to change the percentage must still show.
  const percentage = Math.round(100 * equal / all);
  return equal < all || uneven.length ? Math.min(99, percentage) : percentage;
}

/**
 * Selects a difference, loops it, and plays both takes in alternation. Another call with it pauses.
 */
function choose(index) {
  const finding = findings()[index];
  if (!finding) return;
  if (state.chosen === index && deck.isPlaying) {
    deck.pause();
    return;
  }
  showDifference(index);
  deck.play(state.loop.from);
  announce(`${finding.title}. Looping, ${firstTake().letter} and ${secondTake().letter} in turn.`);
}

/** The minimum fraction of the figure that the loop of a difference covers without zooming in. */
const minimumLoopFraction = 1 / 12;

/** Loops the time range of a difference, and makes the range visible. */
function showDifference(index) {
  const finding = findings()[index];
  find("#tip").hidden = true;
  state.chosen = index;
  const margin = Math.max(0.12, (0.4 - (finding.end - finding.start)) / 2);
  const loop = {
    from: Math.max(0, finding.start - margin), to: Math.min(length(), finding.end + margin),
  };
  setLoop(loop.to > loop.from ? loop : { from: 0, to: length() });
  const [span, shown] = [state.loop.to - state.loop.from, state.to - state.from];
  const isSmall = span < shown * minimumLoopFraction;
  if (isSmall || state.loop.from < state.from || state.loop.to > state.to) {
    const middle = (state.loop.from + state.loop.to) / 2;
    const width = isSmall ? 3 * span : Math.max(shown, 1.3 * span);
    setView(middle - width / 2, middle + width / 2);
  }
  setHear("turns", { isQuiet: true });
  highlight(index);
  const box = find("#stage").getBoundingClientRect();
  if (box.top < 0 || box.bottom > innerHeight - 60) {
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    find("#stage").scrollIntoView({ block: "start", behavior: isCalm ? "auto" : "smooth" });
  }
  deck.seek(state.loop.from);
  drawHead();
  keepAddress();
}

/** Selects the next or previous difference. */
function stepDifference(direction) {
  const count = findings().length;
  if (!count) return;
  const start = state.chosen < 0 ? (direction > 0 ? -1 : 0) : state.chosen;
  choose((start + direction + count) % count);
}
