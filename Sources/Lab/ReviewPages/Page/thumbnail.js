// The figures of patterns in a gallery, which have a common scale. A column is `unit` seconds wide
// on every card.

const gap = 12;
/** The width of the borders and margins of a card, in pixels. */
const cardFrame = 30;
/** The height of the axis below each line of a thumbnail, in pixels. */
const axisHeight = 15;

/** The time scale of all thumbnails of the page. */
const ruler = { unit: 1, columns: 4, column: 0, pixelsPerSecond: 1, isPrinted: false };

/** Returns the duration from the first onset to the end of the last event, in seconds. */
function patternLength(take) {
  return (take.events ?? []).reduce((maximum, event) => Math.max(maximum, event.time + event.length), 0);
}

const lengths = data.takes.map(patternLength);

/** Computes the scale of the page: the round value that fits 85 % of the patterns. */
function measureRuler() {
  const width = find("#grid").clientWidth;
  const sorted = [...lengths].sort((a, b) => a - b);
  const usual = sorted[Math.floor(0.85 * (sorted.length - 1))] || 1;
  const units = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60];
  ruler.unit = units.find((unit) => unit >= usual) ?? 60;
  ruler.columns = ruler.isPrinted ? 6 : width > 1000 ? 4 : width > 700 ? 3 : width > 480 ? 2 : 1;
  ruler.column = (width - (ruler.columns - 1) * gap) / ruler.columns;
  ruler.pixelsPerSecond = (ruler.column - cardFrame - gap) / ruler.unit;
  document.documentElement.style.setProperty("--columns", 2 * ruler.columns);
  find("#ruler").style.width = `${ruler.pixelsPerSecond * ruler.unit / 4}px`;
  find("#ruler-text").textContent = `= ${secondsText(ruler.unit / 4)} s on every card`;
}

/**
 * Returns the columns and lines of a pattern. A long pattern is divided into lines.
 * An end in the first fifth of a column takes half a column, which `span` counts.
 */
function layoutOf(index) {
  const { unit, columns, column, pixelsPerSecond } = ruler;
  const length = lengths[index];
  if (length < unit / 5) {
    const width = (column - gap) / 2 - cardFrame;
    return {
      span: 1,
      width,
      perLine: (width - gap) / pixelsPerSecond,
      lines: 1,
      height: ruler.isPrinted ? 40 : 66
    };
  }
  const needed = Math.ceil(Math.max(length - 0.06 * unit, 0.01) / unit);
  const span = Math.min(columns, needed);
  const width = span * column + (span - 1) * gap - cardFrame;
  const isWhole = span >= needed;
  const perLine = isWhole ? Math.max(length, (width - gap) / pixelsPerSecond)
    : Math.floor((width - gap) / pixelsPerSecond / unit * 4) / 4 * unit;
  const lines = isWhole ? 1 : Math.min(maximumLineCount, Math.ceil(length / perLine - 1e-6));
  const height = ruler.isPrinted ? 40 : lines > 1 ? 46 : 66;
  return { span: 2 * span, width, perLine, lines, height };
}

/** The maximum number of lines in a thumbnail. The detail shows the whole pattern. */
const maximumLineCount = 40;

let gradientNumber = 0;

/**
 * Returns the events between two times: outlines filled with a gradient of sharpness, and stems
 * with heads.
 */
function drawEventsOf(take, { x, y, bottom, from, to, radius }) {
  let gradients = "";
  let shapes = "";
  for (const event of lastingEvents(take)) {
    const [start, end] = [Math.max(event.time, from), Math.min(event.time + event.length, to)];
    if (start >= end) continue;
    const times = [start, end];
    for (let index = 0; index < event.points.length; index += 3) {
      if (event.points[index] > start && event.points[index] < end) times.push(event.points[index]);
    }
    const count = clamp(Math.round((x(end) - x(start)) / 3), 8, 160);
    for (let index = 1; index < count; index++) times.push(start + (end - start) * index / count);
    times.sort((a, b) => a - b);
    const values = times.map((time) => valueAt(event, Math.min(time, end - 1e-6)));
    const name = `g${gradientNumber++}`;
    gradients += gradient(name, times, values, start, end);
    const top = times.map((time, index) => [x(time), y(values[index].intensity)]);
    shapes += `<path class="sounding-area" d="M${px(x(start))} ${bottom}`
      + `${linePath(top).replace("M", "L")}L${px(x(end))} ${bottom}Z" fill="url(#${name})"/>`;
  }
  for (const each of transientsOf(take)) {
    if (each.time < from - 1e-9 || each.time >= to) continue;
    const [stemX, height] = [px(x(each.time)), px(y(each.intensity))];
    const color = rampColor(each.sharpness);
    shapes += line("halo", stemX, stemX, bottom, height)
      + `<line class="stem" x1="${stemX}" x2="${stemX}" y1="${bottom}" y2="${height}" stroke="${color}"/>`
      + `<circle class="head" cx="${stemX}" cy="${height}" r="${radius}" fill="${color}"/>`;
  }
  return `<defs>${gradients}</defs>${shapes}`;
}

/** Returns the markup of the gradient of an event's sharpness over time. */
function gradient(name, times, values, start, end) {
  const stops = [];
  let last = -1;
  times.forEach((time, index) => {
    const fraction = (time - start) / (end - start);
    if (fraction - last < 0.04 && index < times.length - 1) return;
    last = fraction;
    stops.push(
      `<stop offset="${px(fraction * 100)}%" stop-color="${rampColor(values[index].sharpness)}"/>`
    );
  });
  return `<linearGradient id="${name}">${stops.join("")}</linearGradient>`;
}

/** Returns the figure of a card. Each of its lines has a time axis. */
function thumbnail(index) {
  const take = data.takes[index];
  const layout = layoutOf(index);
  const { width, perLine, lines, height } = layout;
  const { unit, pixelsPerSecond } = ruler;
  const names = laneNamesOf(take);
  let drawing = "";
  // Each line has a row for each body location.
  for (let row = 0; row < lines * names.length; row++) {
    const lineIndex = Math.floor(row / names.length);
    const lane = row % names.length;
    const bottom = row * (height + axisHeight) + height;
    const from = lineIndex * perLine;
    const to = (lineIndex + 1) * perLine + (lineIndex === lines - 1 ? 1 : 0);
    const x = (time) => 6 + (time - from) * pixelsPerSecond;
    const y = (value) => bottom - value * (height - 9);
    const step = unit / 4;
    for (let count = 0; count * step * pixelsPerSecond <= width - 11; count++) {
      const tickX = 6 + count * step * pixelsPerSecond;
      const isWhole = count % 4 === 0;
      drawing += line("tick", tickX, tickX, bottom, bottom + (isWhole ? 5 : 3));
      if (isWhole || (count % 4 === 2 && layout.span === 2) || layout.span === 1) {
        const text = axisText(from + count * step, lengths[index])
          + ((isWhole || layout.span === 1) && count ? ` ${axisUnit(lengths[index])}` : "");
        drawing += label(count ? tickX : tickX - 3, bottom + 14, text, count ? "middle" : "start");
      }
    }
    drawing += line("base", 2, width - 2, bottom, bottom)
      + drawEventsOf(partOf(take, names, lane), { x, y, bottom, from, to, radius: 4 });
    if (names[lane] !== null) drawing += label(width - 4, bottom - height + 10, names[lane], "end");
  }
  const whole = lines * names.length * (height + axisHeight);
  return `<svg viewBox="0 0 ${px(width)} ${whole}" height="${whole}" aria-hidden="true">${drawing}</svg>`;
}

/** Returns the position of a time in a thumbnail, in pixels. */
function thumbnailPosition(index, time) {
  const { perLine, lines, height } = layoutOf(index);
  const row = clamp(Math.floor(time / perLine), 0, lines - 1);
  const laneCount = laneNamesOf(data.takes[index]).length;
  return {
    x: 6 + (time - row * perLine) * ruler.pixelsPerSecond,
    y: row * laneCount * (height + axisHeight),
    height: height + (laneCount - 1) * (height + axisHeight),
  };
}
