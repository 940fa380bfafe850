// Basic shapes of all figures: lines, areas and markers.

/** Returns a coordinate in pixels as text, rounded to a tenth. */
const px = (value) => Number(value.toFixed(1));

/** Returns the path data of a polyline through points. */
function linePath(points) {
  return points.map(([x, y], index) => `${index ? "L" : "M"}${px(x)} ${px(y)}`).join("");
}

/** Returns the runs of consecutive indices that match a condition. */
function runsWhere(count, holds) {
  const runs = [];
  let run = null;
  for (let index = 0; index < count; index++) {
    if (!holds(index, run)) {
      run = null;
      continue;
    }
    if (!run) runs.push(run = []);
    run.push(index);
  }
  return runs.filter((each) => each.length > 1);
}

const path = (className, d) => (d ? `<path class="${className}" d="${d}"/>` : "");
const line = (className, x1, x2, y1, y2) =>
  `<line class="${className}" x1="${px(x1)}" x2="${px(x2)}" y1="${px(y1)}" y2="${px(y2)}"/>`;
const label = (x, y, text, anchor = "start", className = "") =>
  `<text${className ? ` class="${className}"` : ""} x="${px(x)}" y="${px(y)}" `
  + `text-anchor="${anchor}">${escaped(text)}</text>`;

/** Returns the title of a lane, followed by its unit. */
function laneTitle(x, y, title, unit) {
  return `<text class="lane" x="${px(x)}" y="${y}">${escaped(title)}`
    + `<tspan class="unit" dx="6">${escaped(unit)}</tspan></text>`;
}

/** Returns the markup of the head of a transient of the first take. */
const circle = (x, y, className, radius = 5) =>
  `<circle class="head ${className}" cx="${px(x)}" cy="${px(y)}" r="${radius}"/>`;
/** Returns the markup of the head of a transient of the second take. */
const diamond = (x, y, className, radius = 6.5) =>
  `<path class="head ${className}" d="M${px(x)} ${px(y - radius)}l${radius} ${radius}-${radius} `
  + `${radius}-${radius}-${radius}z"/>`;
/** Returns a stem between two heights, with an outline that separates it from the background. */
const stem = (x, from, to, className) =>
  line("halo", x, x, from, to) + line(`stem ${className}`, x, x, from, to);

/**
 * Returns the areas of two overlaid curves: the common part is gray, and each excess has the color
 * of its take.
 *
 * @param {number[]} xs The x coordinates.
 * @param {number[]} first The values of the first take.
 * @param {number[]} second The values of the second take.
 * @param {object} scale The mapping `y(value)`, the baseline `base`, the minimum drawn difference
 *   `tolerance`, and whether the areas are `mirrored` at the baseline.
 */
function areasOfTwo(xs, first, second, { y, base, tolerance, mirrored }) {
  const both = first.map((value, index) => Math.min(value, second[index]));
  const flip = (height) => 2 * base - height;
  const area = (top, bottom, className) => {
    const holds = (index) => top[index] > (bottom ? bottom[index] + tolerance / 2 : 0.0005);
    return path(className, runsWhere(xs.length, holds).map((run) => {
      const upper = run.map((index) => [xs[index], y(top[index])]);
      const lower = run.map((index) => [xs[index], bottom ? y(bottom[index]) : base]).reverse();
      const shape = linePath([...upper, ...lower]) + "Z";
      if (!mirrored) return shape;
      return shape + linePath([...upper, ...lower].map(([x, height]) => [x, flip(height)])) + "Z";
    }).join(""));
  };
  const differs = (index) => Math.abs(first[index] - second[index]) > tolerance;
  const edge = (values, isEqual, className) => {
    const holds = (index) => values[index] > 0.0005
      && (isEqual ? !differs(index)
        : differs(index) || (index > 0 && differs(index - 1) && values[index - 1] > 0.0005));
    return path(className, runsWhere(xs.length, holds).map((run) => {
      const points = run.map((index) => [xs[index], y(values[index])]);
      return linePath(points)
        + (mirrored ? linePath(points.map(([x, height]) => [x, flip(height)])) : "");
    }).join(""));
  };
  return area(both, null, "both-area")
    + area(first, second, "a-area")
    + area(second, first, "b-area")
    + edge(first, true, "both-line") + edge(first, false, "a-line") + edge(second, false, "b-line");
}

/**
 * Returns the markup of two overlaid lines, which are interrupted where values are null.
 * The gap between the lines is tinted.
 */
function linesOfTwo(xs, first, second, { y, tolerance }) {
  const isEqual = (index) => first[index] !== null && second[index] !== null
    && Math.abs(first[index] - second[index]) < tolerance;
  const one = (values, wantsEqual, className) => path(
    className,
    runsWhere(xs.length, (index, run) => values[index] !== null && isEqual(index) === wantsEqual
      && !(run && xs[index] - xs[run.at(-1)] < 0.01 && values[index] !== values[run.at(-1)]))
      .map((run) => linePath(run.map((index) => [xs[index], y(values[index])]))).join(""));
  const gap = runsWhere(xs.length, (index) => first[index] !== null && second[index] !== null
    && !isEqual(index))
    .map((run) => linePath([
      ...run.map((index) => [xs[index], y(first[index])]),
      ...run.map((index) => [xs[index], y(second[index])]).reverse(),
    ]) + "Z").join("");
  return path("gap", gap) + one(first, true, "both-line") + one(first, false, "a-line")
    + one(second, false, "b-line");
}
