// The numbered marks above the lanes: a circle for each difference, and a bracket for its time
// range.

/**
 * Places the circles. The circles of moments are fixed, and the circles of brackets move to free
 * positions.
 */
function markPositions(marks) {
  const gap = stage.isNarrow ? 25 : 27;
  const inside = (x) => clamp(x, 12, stage.width - 12);
  const taken = [];
  const moments = marks.filter((mark) => isMoment(mark.finding)).sort((a, b) => a.x - b.x);
  for (const mark of moments) mark.center = mark.x;
  // Overlapping circles push each other apart.
  for (let round = 0; round < 60; round++) {
    for (let index = 1; index < moments.length; index++) {
      const overlap = gap - (moments[index].center - moments[index - 1].center);
      if (overlap <= 0) continue;
      moments[index].center += overlap / 2;
      moments[index - 1].center -= overlap / 2;
    }
  }
  for (const mark of moments) {
    mark.center = inside(mark.center);
    taken.push(mark.center);
  }
  const isFree = (x) => taken.every((position) => Math.abs(position - x) >= gap);
  const lasting = marks.filter((mark) => !isMoment(mark.finding))
    .sort((a, b) => (a.right - a.left) - (b.right - b.left));
  for (const mark of lasting) {
    mark.center = freePosition(mark, isFree) ?? inside(mark.x);
    taken.push(mark.center);
  }
}

/**
 * Returns the free position that is closest to the center of a bracket, within the bracket if
 * possible.
 */
function freePosition({ x, left, right }, isFree) {
  for (let distance = 0; distance < stage.width; distance += 3) {
    for (const position of [x - distance, x + distance]) {
      const isWithin = position >= left - 14 && position <= right + 14;
      if (position < 12 || position > stage.width - 12 || !isFree(position)) continue;
      if (distance < 40 || isWithin || distance > right - left) return position;
    }
  }
  return null;
}

/** Draws the marks in the visible time range. */
function drawMarks() {
  const { x, box, rail } = stage;
  const marks = findings().map((finding, index) => {
    const [left, right] = [x(finding.start), x(finding.end)];
    const middle = (clamp(finding.start, state.from, state.to)
      + clamp(finding.end, state.from, state.to)) / 2;
    return { index, finding, left, right, x: isMoment(finding) ? left : x(middle) };
  }).filter(({ finding }) => finding.end >= state.from && finding.start <= state.to);
  markPositions(marks);
  const element = find("#rail");
  element.style.height = `${rail}px`;
  const ticks = marks.filter((mark) => isMoment(mark.finding)).map((mark) =>
    path("tick", `M${px(mark.center)} 26L${px(mark.x)} ${rail - 2}v8`)).join("");
  element.innerHTML = `<svg width="100%" height="${rail + 8}" aria-hidden="true">${ticks}</svg>`;
  for (const mark of marks) {
    if (!isMoment(mark.finding)) {
      const bracket = document.createElement("span");
      bracket.className = "bracket";
      bracket.dataset.finding = mark.index;
      const start = Math.max(box.left, mark.left);
      const end = Math.min(box.left + box.width, mark.right);
      Object.assign(bracket.style, {
        left: `${start + 1}px`, width: `${Math.max(4, end - start - 2)}px`,
        top: `${30 + 5 * stage.rows.get(mark.index)}px`,
      });
      element.append(bracket);
    }
    element.append(markButton(mark));
  }
}

function markButton(mark) {
  const button = document.createElement("button");
  button.className = `mark${mark.finding.significance < 1 ? " low" : ""}`;
  button.dataset.finding = mark.index;
  button.textContent = mark.index + 1;
  button.style.left = `${mark.center}px`;
  button.setAttribute("aria-label", `Difference ${mark.index + 1}: ${mark.finding.title}`);
  button.addEventListener("click", () => choose(mark.index));
  const enter = () => {
    highlight(mark.index);
    showTip(`<b>${escaped(mark.finding.title)}</b><br><span class="dim">`
      + `${escaped(mark.finding.detail)}</span>`, mark.center, stage.rail + stage.lanes[0][0] + 4);
  };
  const leave = () => {
    highlight(state.chosen);
    find("#tip").hidden = true;
  };
  for (const name of ["mouseenter", "focus"]) button.addEventListener(name, enter);
  for (const name of ["mouseleave", "blur"]) button.addEventListener(name, leave);
  return button;
}

/** Highlights a difference in the list and in the figure, and shades its time range. */
function highlight(index) {
  for (const element of findAll("[data-finding]")) {
    const finding = Number(element.dataset.finding);
    element.classList.toggle("hot", finding === index);
    element.classList.toggle("on", finding === state.chosen);
  }
  const band = find("#hot-band");
  const finding = findings()[index];
  band.hidden = !finding || !stage;
  if (band.hidden) return;
  coverLanes(band, ...laneRange(finding.start, finding.end, isMoment(finding) ? 9 : 0));
}

/** Shows a card next to a point of the figure, within the figure. */
function showTip(markup, x, y) {
  const tip = find("#tip");
  tip.innerHTML = markup;
  tip.hidden = false;
  const width = tip.offsetWidth;
  const left = x + 14 + width > stage.width ? x - 14 - width : x + 14;
  tip.style.left = `${clamp(left, 4, Math.max(4, stage.width - width - 4))}px`;
  tip.style.top = `${y}px`;
}
