// The findings and the source text of the studio.

/** The height of a line of the source text, in pixels. */
const lineHeight = 18;
/** The minimum length of a source that is initially folded, in bytes. Long fields are slow. */
const minimumFoldedTextLength = 300000;

/** Returns the counts of errors and warnings as text. */
function findingCountText(findings) {
  if (!findings.length) return "nothing found";
  return ["error", "warning"].flatMap((noun) => {
    const count = findings.filter(({ severity }) => severity === noun).length;
    return count ? [counted(count, noun)] : [];
  }).join(", ");
}

/** Shows the findings of the current slot. During a check, these are those of the last check. */
function showFindings() {
  const { findings, isBeingChecked } = current();
  find("#findings-more").textContent = isBeingChecked ? "checking …" : findingCountText(findings);
  const list = find("#findings");
  list.textContent = "";
  for (const [index, finding] of findings.slice(0, 200).entries()) {
    const row = document.createElement("li");
    row.innerHTML = `<button class="finding"><span class="n at-${finding.severity}">${index + 1}</span>`
      + "<span><b></b> <span class=\"dim\"></span></span><span class=\"where dim\"></span></button>";
    find("b", row).textContent = finding.message[0].toUpperCase() + finding.message.slice(1);
    find(".dim", row).textContent = finding.hint ?? "";
    find(".where", row).textContent = finding.rule
      + (finding.line ? ` · line ${finding.line}` : "");
    find("button", row).addEventListener("click", () => showFinding(index));
    if (finding.fix && current().isGood) {
      const fix = document.createElement("button");
      fix.className = "btn fix";
      fix.textContent = "Fix";
      fix.setAttribute("aria-label", `Fix: ${finding.message}`);
      fix.addEventListener(
        "click", () => { if (change(`Fix ${finding.rule}`, finding.fix)) announce("Fixed"); }
      );
      row.append(fix);
    }
    list.append(row);
  }
  if (!findings.length && !isBeingChecked) {
    list.innerHTML = "<li class=\"alone dim\">The pattern follows every rule.</li>";
  }
  if (findings.length > 200) list.insertAdjacentHTML("beforeend",
    `<li class="alone dim">and ${findings.length - 200} more</li>`);
  drawMarks();
}

/** Selects the part that a finding concerns, and shows its line. */
function showFinding(index) {
  const finding = current().findings[index];
  const item = itemOfFinding(finding);
  if (item) {
    select([item.path]);
    bringIntoView(item);
  }
  if (finding.line && find("#source-fold").open) {
    const field = find("#source");
    field.scrollTop = (finding.line - 1) * lineHeight - field.clientHeight / 2;
  }
  announce(finding.message);
}

/** Updates the text field if it is open and differs from the text, and marks its lines. */
function showSource() {
  const slot = current();
  const field = find("#source");
  slot.lines = core.lines(state.slot);
  find("#source-more").textContent = slot.isGood
    ? slot.lines.length
    ? `${counted(slot.lines.length, "line")} changed`
    : slot.history.changed
    ? "lines removed"
      : "as opened"
    : "not usable: the last good text sounds";
  find("#source-more").classList.toggle("bad", !slot.isGood);
  if (!find("#source-fold").open) return;
  const text = fieldText(textOf(state.slot));
  if (field.value !== text) {
    const [top, start] = [field.scrollTop, field.selectionStart];
    field.value = text;
    if (document.activeElement === field) field.setSelectionRange(start, start);
    field.scrollTop = top;
  }
  showLines();
}

/**
 * Shows the numbers and marks of the visible lines behind the field, and an error message below its
 * line.
 */
function showLines() {
  const field = find("#source");
  const lines = find("#lines");
  const slot = current();
  if (!slot) return;
  const first = Math.floor(field.scrollTop / lineHeight);
  const last = first + Math.ceil(field.clientHeight / lineHeight) + 1;
  const changed = new Set(slot.lines);
  const errors = new Map(slot.findings.filter((each) => each.severity === "error" && each.line)
    .map((each) => [each.line, each]));
  const count = Math.round((field.scrollHeight - 16) / lineHeight);
  lines.textContent = "";
  for (let number = first + 1; number <= Math.min(last, count); number++) {
    const row = document.createElement("div");
    row.textContent = String(number);
    row.className = errors.has(number) ? "error" : changed.has(number) ? "changed" : "";
    row.style.top = `${8 + (number - 1) * lineHeight - field.scrollTop}px`;
    lines.append(row);
    if (!errors.has(number)) continue;
    const words = document.createElement("p");
    words.textContent = errors.get(number).message;
    words.style.top = `${8 + number * lineHeight - field.scrollTop}px`;
    lines.append(words);
  }
}

/**
 * Returns a text as a text field has it, without a byte order mark and with LF at the ends of
 * lines.
 */
const fieldText = (bytes) => utf8.text(bytes).replaceAll("\r\n", "\n");

/** Returns the typed text as bytes, with the byte order mark and line ends of the current text. */
function typedBytes(typed) {
  const bytes = textOf(state.slot);
  const hasMark = bytes[0] === 0xEF && bytes[1] === 0xBB && bytes[2] === 0xBF;
  const hasReturns = bytes[bytes.indexOf(0x0A) - 1] === 0x0D;
  return utf8.bytes((hasMark ? "\uFEFF" : "") + (hasReturns ? typed.replaceAll("\n", "\r\n") : typed));
}

let typingTimer = 0;

/** Passes the typed text to the module. An invalid text does not change the sound. */
function takeTyping() {
  if (!typingTimer) return;
  clearTimeout(typingTimer);
  typingTimer = 0;
  const slot = current();
  if (slot.isGood) slot.lastGood = textOf(state.slot);
  core.begin(state.slot, "Edit text");
  slot.isGood = core.replace(state.slot, typedBytes(find("#source").value));
  refresh();
  if (slot.isGood) afterChange();
  else showHeader();
  updateLists();
}

function connectText() {
  const field = find("#source");
  field.addEventListener("input", () => {
    clearTimeout(typingTimer);
    typingTimer = setTimeout(takeTyping, 250);
    showLines();
  });
  field.addEventListener("scroll", showLines);
  field.addEventListener("blur", takeTyping);
  find("#source-fold").addEventListener("toggle", () => { if (current()) showSource(); });
}
