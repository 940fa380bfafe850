// The folded sections of a report: measurements, source, events, and information about the report.

/**
 * The minimum difference that is shown and the difference of a full bar, by unit.
 * The entry "" is for all other units.
 */
const measureScales = { s: [0.002, 0.5], Hz: [0.5, 60], "": [0.5, 4] };

/** Shows the measurements of both takes, with the largest differences first. */
function drawMeasures() {
  let count = 0;
  const rows = data.measures.map(({ name, member, unit, places }) => {
    const [minimum, full] = measureScales[unit] ?? [0.05, 6];
    const [a, b] = [firstTake(), secondTake()].map((take) => take.figures[member]);
    const text = (value) => (value === null ? "–" : withMinus(value.toFixed(places)));
    const title = `<th scope="row">${name}${unit ? ` <span class="u">${unit}</span>` : ""}</th>`;
    if (a === null || b === null) {
      return `<tr>${title}<td class="delta zero">–</td><td class="bar-cell"></td>`
        + `<td>${text(a)}</td><td>${text(b)}</td></tr>`;
    }
    const change = b - a;
    const isEqual = Math.abs(change) < minimum;
    if (!isEqual) count++;
    const isLevel = unit.startsWith("dB") || unit === "LUFS";
    const isFaint = isEqual || (isLevel && Math.abs(change) < 1)
      || (unit === "Hz" && Math.abs(change) < 0.03 * a);
    const signed = isEqual ? "=" : withMinus((change > 0 ? "+" : "") + change.toFixed(places));
    const width = clamp(Math.abs(change) / full * 50, 4, 50);
    const bar = isEqual ? "" : `<rect class="${isFaint ? "faint" : change > 0 ? "b" : "a"}" y="1" `
      + `x="${change > 0 ? 50 : px(50 - width)}" width="${px(width)}" height="6" rx="1"/>`;
    return `<tr>${title}<td class="delta${isFaint ? " zero" : ""}">${signed}`
      + `${isLevel && !isEqual ? " dB" : ""}</td><td class="bar-cell">`
      + "<svg class=\"change\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      + `<rect class="middle" x="49.25" width="1.5" height="8"/>${bar}</svg></td>`
      + `<td>${text(a)}</td><td>${text(b)}</td></tr>`;
  });
  const head = "<thead><tr><th><span class=\"vh\">Measure</span></th>"
    + `<th>${secondTake().letter} − ${firstTake().letter}</th><th class="bar-h"><span class="vh">Direction</span></th>`
    + `<th>${tag(state.one)}</th><th>${tag(state.other)}</th></tr></thead>`;
  const half = Math.ceil(rows.length / 2);
  find("#measures").innerHTML = [rows.slice(0, half), rows.slice(half)]
    .map((part) => `<table class="m">${head}<tbody>${part.join("")}</tbody></table>`).join("");
  find("#measures-more").textContent = `${count} of ${rows.length} differ`;
}

/**
 * Returns JSON in a canonical layout, or null for invalid JSON.
 * Objects and arrays without nested lists are on one line.
 */
function canonicalText(text) {
  const written = (value, space) => {
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    const parts = Array.isArray(value) ? value.map((each) => written(each, `${space}  `))
      : Object.keys(value).sort().map(
        (name) => `${JSON.stringify(name)}: ${written(value[name], `${space}  `)}`
      );
    const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{ ", " }"];
    const line = `${open}${parts.join(", ")}${close}`;
    if (line.length < 100 && !line.includes("\n")) return line;
    return `${open.trim()}\n${parts.map((part) => `${space}  ${part}`).join(",\n")}\n${space}${close.trim()}`;
  };
  try {
    return written(JSON.parse(text), "");
  } catch {
    return null;
  }
}

/** Returns two texts aligned line by line, with the number of rows that differ. */
function pairedTexts(texts) {
  const lines = texts.map((text) => text.replace(/\n$/, "").split("\n"));
  const rows = pairedLines(...lines);
  return { lines, rows, changed: rows.filter((each) => !each[2]).length };
}

/**
 * The maximum edit distance of two aligned texts, in lines. Beyond it, lines are paired by number.
 */
const maximumEditCount = 1500;

/**
 * Returns the common lines of two texts as pairs of indices (Myers 1986), or null beyond the
 * maximum edit distance.
 */
function commonLines(first, second) {
  const trace = [];
  let reached = new Map([[1, 0]]);
  for (let edits = 0; edits <= maximumEditCount; edits++) {
    trace.push(reached);
    const next = new Map();
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && reached.get(k - 1) < reached.get(k + 1));
      let x = isDown ? reached.get(k + 1) : reached.get(k - 1) + 1;
      while (x < first.length && x - k < second.length && first[x] === second[x - k]) x++;
      next.set(k, x);
      if (x >= first.length && x - k >= second.length) {
        return tracedLines(trace, first.length, second.length);
      }
    }
    reached = next;
  }
  return null;
}

/** Returns the path of the alignment back through the furthest points of each edit distance. */
function tracedLines(trace, x, y) {
  const common = [];
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const reached = trace[edits];
    const k = x - y;
    const isDown = k === -edits || (k !== edits && reached.get(k - 1) < reached.get(k + 1));
    const before = isDown ? k + 1 : k - 1;
    const startX = edits ? reached.get(before) : 0;
    const startY = edits ? startX - before : 0;
    while (x > startX && y > startY) common.push([--x, --y]);
    [x, y] = [startX, startY];
  }
  return common.reverse();
}

/**
 * Returns the aligned rows of two texts.
 * A row is `[index in the first or -1, index in the second or -1, isEqual]`.
 */
function pairedLines(first, second) {
  const common = commonLines(first, second);
  if (!common) {
    return Array.from({ length: Math.max(first.length, second.length) }, (_, k) => [
      k < first.length ? k : -1, k < second.length ? k : -1, first[k] === second[k],
    ]);
  }
  const rows = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...common, [first.length, second.length]]) {
    // Lines between two common lines are paired by order.
    while (i < x || j < y) rows.push([i < x ? i++ : -1, j < y ? j++ : -1, false]);
    if (x < first.length) rows.push([i++, j++, true]);
  }
  return rows;
}

/** Returns the markup of a line, with marks on the parts that the other line lacks. */
function markedWords(text, against) {
  let start = 0;
  while (start < text.length && text[start] === against[start]) start++;
  let end = 0;
  while (end < Math.min(text.length, against.length) - start
    && text.at(-1 - end) === against.at(-1 - end)) end++;
  // Marks extend to whole numbers and words.
  while (start > 0 && /[\w.]/.test(text[start - 1])) start--;
  while (end > 0 && /[\w.]/.test(text[text.length - end])) end--;
  const changed = text.slice(start, text.length - end);
  return escaped(text.slice(0, start)) + (changed ? `<mark>${escaped(changed)}</mark>` : "")
    + escaped(text.slice(text.length - end));
}

/** Returns the markup of one side of a row of the source. */
function sourceCells(index, text, isEqual, against, side) {
  if (index < 0) return "<td class=\"ln no\"></td><td class=\"sg no\"></td><td class=\"no\"></td>";
  const className = isEqual ? "" : ` c${side}`;
  const sign = isEqual ? "" : side === "a" ? "−" : "+";
  const words = isEqual || against === null ? escaped(text) : markedWords(text, against);
  return `<td class="ln${className}">${index + 1}</td><td class="sg${className}">${sign}</td>`
    + `<td class="code${className}">${words}</td>`;
}

/** Shows the texts of both files side by side, with equal runs folded. */
function drawSource() {
  const texts = [sourceOf(state.one), sourceOf(state.other)];
  const fold = find("#source-fold");
  fold.hidden = texts.some((text) => text === null);
  if (fold.hidden) return;
  const plain = pairedTexts(texts);
  const written = texts.map(canonicalText);
  const canonical = written.includes(null) ? plain : pairedTexts(written);
  // A different layout of equal values is not a difference.
  const isCanonical = canonical.changed < plain.changed
    || plain.lines.some((lines) => lines.length < 3);
  const { lines: [first, second], rows, changed } = isCanonical ? canonical : plain;
  const isNear = rows.map((_, index) =>
    rows.slice(Math.max(0, index - 2), index + 3).some((each) => !each[2]));
  const markup = ([i, j, isEqual]) => "<tr>"
    + sourceCells(i, first[i], isEqual, j < 0 ? null : second[j], "a")
    + sourceCells(j, second[j], isEqual, i < 0 ? null : first[i], "b") + "</tr>";
  let body = "";
  for (let index = 0; index < rows.length;) {
    if (isNear[index]) {
      body += markup(rows[index++]);
      continue;
    }
    let end = index;
    while (end < rows.length && !isNear[end]) end++;
    body += `<tr class="more"><td colspan="6"><button data-from="${index}" data-to="${end}">`
      + `Show ${counted(end - index, "identical line")}</button></td></tr>`;
    index = end;
  }
  const name = (index) => `<th colspan="3">${tag(index)} ${escaped(data.takes[index].name)}</th>`;
  const table = find("#source");
  table.innerHTML = "<colgroup><col class=\"ln\"><col class=\"sg\"><col><col class=\"ln\">"
    + `<col class="sg"><col></colgroup><thead><tr>${name(state.one)}${name(state.other)}</tr></thead>`
    + `<tbody>${body}</tbody>`;
  find("#source-more").textContent = `${changed ? counted(changed, "changed line") : "identical values"}`
    + `${isCanonical ? ", in the same layout" : ""}`;
  for (const button of findAll("[data-from]", table)) {
    button.addEventListener("click", () => {
      const { from, to } = button.dataset;
      const folded = button.closest("tr");
      folded.insertAdjacentHTML("beforebegin", rows.slice(from, to).map(markup).join(""));
      folded.remove();
    });
  }
}

/** The maximum number of rows in the table of events. */
const maximumEventRowCount = 500;

/** Shows the events of both takes, with the values in the file and the played values. */
function drawEvents() {
  const rows = [state.one, state.other].flatMap((index) => (data.takes[index].events ?? [])
    .map((event) => ({ index, take: data.takes[index], event })));
  find("#events-fold").hidden = rows.length === 0;
  const heads = [
    "Take", "Event", "Time", "Duration", "Peak intensity", "Sharpness at onset", "Frequency"
  ];
  const more = rows.length - maximumEventRowCount;
  find("#events").innerHTML = `<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}`
    + `</tr></thead><tbody>${rows.slice(0, maximumEventRowCount).map(({ index, take, event }) =>
      `<tr><td>${tag(index)}</td><td>${eventName(take, event)}</td>`
      + `${eventCells(take, event).map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}`
    + `${more > 0 ? `<tr><td colspan="7">${counted(more, "more event")}</td></tr>` : ""}</tbody>`;
}

/** Shows the profile, the sound and the command of the report. */
function drawAbout() {
  const { profile, origin, command } = data;
  const { low, high } = profile.continuous;
  const rates = [...new Set(findAll("script[data-rate]").map((each) => each.dataset.rate / 1000))];
  const rows = [
    ...[firstTake(), secondTake()].filter((take) => take.origin).map(({ letter, origin }) =>
      [`Take ${letter}`, [origin.path, origin.modified, `SHA-256 ${origin.sha256.slice(0, 16)}`].filter(Boolean).join(" · ")]),
    ["Profile", `${profile.name}, ${numberText(low)}–${numberText(high)} Hz: ${profile.summary}`],
    [
      "Sound",
      `${rates.join(" and ")} kHz, 16 bit, lossless; rendering model ${origin.renderingModel}`
    ],
    ["Order", "By the ratio of each difference to published perceptual thresholds."],
    ["Created by", origin.program],
  ];
  find("#about").innerHTML = `<table class="m facts">${rows.map(([name, words]) =>
    `<tr><th scope="row">${name}</th><td>${escaped(words)}</td></tr>`).join("")}</table>`
    + (command ? "<p class=\"dim again\">Make this report again:</p><div class=\"command\">"
      + `<code tabindex="0">${escaped(command)}</code>`
      + "<button class=\"btn screen\" id=\"copy\">Copy</button></div>" : "");
  find("#copy")?.addEventListener("click", () => copyText(command, "Copied."));
}
