// Finding elements, writing numbers, and what both pages say.

const find = (selector, root = document) => root.querySelector(selector);
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

/** What the page holds: takes, the profile, findings. */
const data = JSON.parse(find("#data").textContent);

/** A text as markup. */
function escaped(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;" };
  return String(text).replace(/[&<>"]/g, (sign) => names[sign]);
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** A number with a true minus sign. */
const withMinus = (number) => String(number).replace(/-/g, "\u2212");

/** A number with at most some decimal places. */
const short = (value, places = 2) => withMinus(Number(value.toFixed(places)));

/** Seconds without trailing zeros. */
const secondsText = (seconds) => short(seconds, 3);

/** A place on an axis of some seconds: `9.5`, or `9:30` on one of two minutes and more. */
function axisText(seconds, length) {
  if (length < 120) return secondsText(seconds);
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)}:${rest < 10 ? "0" : ""}${secondsText(rest)}`;
}

/** The unit of `axisText`. */
const axisUnit = (length) => (length < 120 ? "s" : "min");

/** Seconds of constant width, for clocks. */
const clockText = (seconds) => withMinus(seconds.toFixed(3));

/** `34 ms`, `2.2 s`. */
function spanText(seconds) {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${short(seconds)} s`;
}

/** `1 curve`, `2 curves`. */
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Tells people who do not see the page what happened. */
function say(text) {
  find("#status").textContent = text;
}

let noteTimer = 0;

/** Shows a line for a few seconds. */
function note(text) {
  const line = find("#note");
  (find("dialog[open]") ?? document.body).append(line);
  line.textContent = text;
  line.hidden = false;
  clearTimeout(noteTimer);
  noteTimer = setTimeout(() => { line.hidden = true; }, 4500);
}

/** Hands a file to the reader. */
function saveFile(name, type, contents) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([contents], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Puts a text on the clipboard. */
function copyText(text, message) {
  navigator.clipboard?.writeText(text).then(() => note(message));
}

/** The letter of a take in its colour. */
function tag(index) {
  return `<span class="tag k${index % 4}">${data.takes[index].letter}</span>`;
}
