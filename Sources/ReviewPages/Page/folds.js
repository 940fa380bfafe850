// Measurements, source, events, and what the report was made of.

/** The least difference that counts, and that of a full bar, by unit; that of levels for all others. */
const measureScales = { s: [0.002, 0.5], Hz: [0.5, 60], "": [0.5, 4] };

/** The figures of both takes, the difference first. */
function drawMeasures() {
  let count = 0;
  const rows = data.measures.map(({ name, member, unit, places }) => {
    const [least, full] = measureScales[unit] ?? [0.05, 6];
    const [a, b] = [one(), other()].map((take) => take.figures[member]);
    const text = (value) => (value === null ? "–" : withMinus(value.toFixed(places)));
    const unitMark = (word) => (word ? `<span class="u">${word}</span>` : "");
    if (a === null || b === null) {
      return `<tr><th scope="row">${name}</th><td class="delta zero">–</td><td class="bar-cell"></td>`
        + `<td>${text(a)}</td><td>${text(b)}${unitMark(unit)}</td></tr>`;
    }
    const change = b - a;
    const isEqual = Math.abs(change) < least;
    if (!isEqual) count++;
    const isLevel = unit.startsWith("dB") || unit === "LUFS";
    const isFaint = isEqual || (isLevel && Math.abs(change) < 1)
      || (unit === "Hz" && Math.abs(change) < 0.03 * a);
    const signed = isEqual ? "=" : withMinus((change > 0 ? "+" : "") + change.toFixed(places));
    const width = clamp(Math.abs(change) / full * 50, 4, 50);
    const bar = isEqual ? "" : `<rect class="${isFaint ? "faint" : change > 0 ? "b" : "a"}" y="1" `
      + `x="${change > 0 ? 50 : px(50 - width)}" width="${px(width)}" height="6" rx="1"/>`;
    return `<tr><th scope="row">${name}</th><td class="delta${isFaint ? " zero" : ""}">${signed}`
      + `${isEqual ? "" : unitMark(isLevel ? "dB" : unit)}</td><td class="bar-cell">`
      + "<svg class=\"change\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      + `<rect class="middle" x="49.25" width="1.5" height="8"/>${bar}</svg></td>`
      + `<td>${text(a)}</td><td>${text(b)}${unitMark(unit)}</td></tr>`;
  });
  const head = "<thead><tr><th><span class=\"vh\">Measure</span></th>"
    + `<th>${other().letter} − ${one().letter}</th><th class="bar-h"><span class="vh">Direction</span></th>`
    + `<th>${tag(state.one)}</th><th>${tag(state.other)}</th></tr></thead>`;
  const half = Math.ceil(rows.length / 2);
  find("#measures").innerHTML = [rows.slice(0, half), rows.slice(half)]
    .map((part) => `<table class="m">${head}<tbody>${part.join("")}</tbody></table>`).join("");
  find("#measures-more").textContent = `${count} of ${rows.length} differ`;
}

/** The most lines of two texts that are held against each other line by line. */
const mostLinePairs = 4e6;

/** Lines of two texts side by side: `[place in the first or -1, place in the second or -1, equal]`. */
function pairedLines(first, second) {
  if (first.length * second.length > mostLinePairs) {
    return Array.from({ length: Math.max(first.length, second.length) }, (_, k) => [
      k < first.length ? k : -1, k < second.length ? k : -1, first[k] === second[k],
    ]);
  }
  const width = second.length + 1;
  // The longest common sequence of lines from each pair of places on.
  const lengths = new Uint16Array((first.length + 1) * width);
  for (let i = first.length - 1; i >= 0; i--) {
    for (let j = second.length - 1; j >= 0; j--) {
      lengths[i * width + j] = first[i] === second[j] ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const rows = [];
  let [i, j] = [0, 0];
  let [only, others] = [[], []];
  const flush = () => {
    for (let k = 0; k < Math.max(only.length, others.length); k++) {
      rows.push([only[k] ?? -1, others[k] ?? -1, false]);
    }
    [only, others] = [[], []];
  };
  while (i < first.length || j < second.length) {
    if (i < first.length && j < second.length && first[i] === second[j]) {
      flush();
      rows.push([i++, j++, true]);
    } else if (j < second.length
      && (i === first.length || lengths[i * width + j + 1] > lengths[(i + 1) * width + j])) {
      others.push(j++);
    } else {
      only.push(i++);
    }
  }
  flush();
  return rows;
}

/** A line with the words that the other line has not. */
function markedWords(text, against) {
  let start = 0;
  while (start < text.length && text[start] === against[start]) start++;
  let end = 0;
  while (end < Math.min(text.length, against.length) - start
    && text.at(-1 - end) === against.at(-1 - end)) end++;
  // Numbers and words are marked whole.
  while (start > 0 && /[\w.]/.test(text[start - 1])) start--;
  while (end > 0 && /[\w.]/.test(text[text.length - end])) end--;
  const changed = text.slice(start, text.length - end);
  return escaped(text.slice(0, start)) + (changed ? `<mark>${escaped(changed)}</mark>` : "")
    + escaped(text.slice(text.length - end));
}

/** One side of a row of the source. */
function sourceCells(place, text, isEqual, against, side) {
  if (place < 0) return "<td class=\"ln no\"></td><td class=\"sg no\"></td><td class=\"no\"></td>";
  const className = isEqual ? "" : ` c${side}`;
  const sign = isEqual ? "" : side === "a" ? "−" : "+";
  const words = isEqual || against === null ? escaped(text) : markedWords(text, against);
  return `<td class="ln${className}">${place + 1}</td><td class="sg${className}">${sign}</td>`
    + `<td class="code${className}">${words}</td>`;
}

/** The texts of both files side by side, equal runs folded. */
function drawSource() {
  const texts = [sourceOf(state.one), sourceOf(state.other)];
  const fold = find("#source-fold");
  fold.hidden = texts.some((text) => text === null);
  if (fold.hidden) return;
  const [first, second] = texts.map((text) => text.replace(/\n$/, "").split("\n"));
  const rows = pairedLines(first, second);
  const isNear = rows.map((_, place) =>
    rows.slice(Math.max(0, place - 2), place + 3).some((each) => !each[2]));
  const markup = ([i, j, isEqual]) => "<tr>"
    + sourceCells(i, first[i], isEqual, j < 0 ? null : second[j], "a")
    + sourceCells(j, second[j], isEqual, i < 0 ? null : first[i], "b") + "</tr>";
  let body = "";
  for (let place = 0; place < rows.length;) {
    if (isNear[place]) {
      body += markup(rows[place++]);
      continue;
    }
    let end = place;
    while (end < rows.length && !isNear[end]) end++;
    body += `<tr class="more"><td colspan="6"><button data-from="${place}" data-to="${end}">`
      + `Show ${counted(end - place, "equal line")}</button></td></tr>`;
    place = end;
  }
  const name = (index) => `<th colspan="3">${tag(index)} ${escaped(data.takes[index].name)}</th>`;
  const table = find("#source");
  table.innerHTML = "<colgroup><col class=\"ln\"><col class=\"sg\"><col><col class=\"ln\">"
    + `<col class="sg"><col></colgroup><thead><tr>${name(state.one)}${name(state.other)}</tr></thead>`
    + `<tbody>${body}</tbody>`;
  const changed = rows.filter((each) => !each[2]).length;
  find("#source-more").textContent = changed ? counted(changed, "changed line") : "identical";
  for (const button of findAll("[data-from]", table)) {
    button.addEventListener("click", () => {
      const { from, to } = button.dataset;
      const folded = button.closest("tr");
      folded.insertAdjacentHTML("beforebegin", rows.slice(from, to).map(markup).join(""));
      folded.remove();
    });
  }
}

/** The most rows of the table of events. */
const mostEventRows = 500;

/** The events of both takes, as written and as played. */
function drawEvents() {
  const rows = [state.one, state.other].flatMap((index) => (data.takes[index].events ?? [])
    .map((event) => ({ index, take: data.takes[index], event })));
  find("#events-fold").hidden = rows.length === 0;
  const heads = ["Take", "Event", "Time", "Duration", "Peak intensity", "Sharpness at onset", "Frequency"];
  const more = rows.length - mostEventRows;
  find("#events").innerHTML = `<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}`
    + `</tr></thead><tbody>${rows.slice(0, mostEventRows).map(({ index, take, event }) =>
      `<tr><td>${tag(index)}</td><td>${eventName(take, event)}</td>`
      + `${eventCells(take, event).map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}`
    + `${more > 0 ? `<tr><td colspan="7">${counted(more, "more event")}</td></tr>` : ""}</tbody>`;
}

/** The profile, the sound and the command. */
function drawAbout() {
  const { profile, origin, command } = data;
  const { low, high } = profile.continuous;
  const rates = [...new Set(findAll("script[data-rate]").map((each) => each.dataset.rate / 1000))];
  const rows = [
    ["Profile", `${profile.name}, ${short(low)}–${short(high)} Hz: ${profile.summary}`],
    ["Sound", `${rates.join(" and ")} kHz, 16 bit, lossless; rendering model ${origin.renderingModel}`],
    ["Order", "By how far differences are above published thresholds of perception."],
    ["Made by", origin.program],
  ];
  find("#about").innerHTML = `<table class="m facts">${rows.map(([name, words]) =>
    `<tr><th scope="row">${name}</th><td>${escaped(words)}</td></tr>`).join("")}</table>`
    + (command ? "<p class=\"dim again\">Make this report again:</p><div class=\"command\">"
      + `<code tabindex="0">${escaped(command)}</code>`
      + "<button class=\"btn screen\" id=\"copy\">Copy</button></div>" : "");
  find("#copy")?.addEventListener("click", () => copyText(command, "Copied."));
}
