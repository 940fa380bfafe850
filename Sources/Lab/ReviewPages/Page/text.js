// Element lookup, number formatting, and helpers that all pages share.

/**
 * @param {any} selector
 * @param {ParentNode} root
 */
const find = (selector, root = document) => root.querySelector(selector);
/**
 * @param {any} selector
 * @param {ParentNode} root
 */
const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

/** The data of the page, with its takes, profile and findings. */
const data = JSON.parse(find("#data").textContent);

/** Returns a text escaped for markup. */
function escaped(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;" };
  return String(text).replace(/[&<>"]/g, (sign) => names[sign]);
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** Returns a number as text with the minus sign U+2212. */
const withMinus = (number) => String(number).replace(/-/g, "\u2212");

/** Returns a number as text, rounded to decimal places without trailing zeros. */
const numberText = (value, decimalPlaces = 2) => withMinus(Number(value.toFixed(decimalPlaces)));

/** Returns a time in seconds as text, rounded to milliseconds without trailing zeros. */
const secondsText = (seconds) => numberText(seconds, 3);

/** Returns a time on an axis as text, `9.5`, or `9:30` on an axis of at least two minutes. */
function axisText(seconds, length) {
  if (length < 120) return secondsText(seconds);
  const remainder = seconds % 60;
  return `${Math.floor(seconds / 60)}:${remainder < 10 ? "0" : ""}${secondsText(remainder)}`;
}

/** Returns the unit of the times that `axisText` returns. */
const axisUnit = (length) => (length < 120 ? "s" : "min");

/** Returns a time of constant width for clocks as text, `9.500`, or `9:30.000` from two minutes. */
function clockText(seconds, length) {
  if (length < 120) return withMinus(seconds.toFixed(3));
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(3).padStart(6, "0")}`;
}

/** Returns a round step of a time axis in seconds, with labels at least `room` pixels apart. */
function timeStep(pixelsPerSecond, room) {
  const steps = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600,
  ];
  return steps.find((step) => step * pixelsPerSecond >= room) ?? 1200;
}

/**
 * Returns the labels of a time axis at round times.
 * `whole`, the length of the page in seconds, determines the unit, which follows the last label.
 */
function timeTicks({ from, to, width, whole = to }, room) {
  const step = timeStep(width / (to - from), room);
  const ticks = [];
  for (let count = Math.ceil(from / step - 1e-9); count * step <= to + 1e-9; count++) {
    const isLast = (count + 1) * step > to + 1e-9;
    const text = axisText(count * step, whole);
    ticks.push({ time: count * step, text: isLast ? `${text} ${axisUnit(whole)}` : text });
  }
  return ticks;
}

/** Returns the current time as text, such as `2026-01-31T12:00:00Z`. */
const timestampText = () => new Date().toISOString().replace(/\.[0-9]+Z$/, "Z");

/** Returns a duration as text, such as `34 ms` or `2.2 s`. */
function spanText(seconds) {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${numberText(seconds)} s`;
}

/** Returns a count with a noun, such as `1 curve` or `2 curves`. */
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Announces a text to screen readers. */
function announce(text) {
  find("#status").textContent = text;
}

let noteTimer = 0;

/** The minimum duration of a message, and the reading time of a character, in milliseconds. */
const noteDuration = { minimum: 4500, perCharacter: 70 };

/** Shows a message for as long as it takes to read it. */
function showNote(text) {
  const line = find("#note");
  (find("dialog[open]") ?? document.body).append(line);
  line.textContent = text;
  line.hidden = false;
  clearTimeout(noteTimer);
  const duration = Math.max(noteDuration.minimum, text.length * noteDuration.perCharacter);
  noteTimer = setTimeout(() => { line.hidden = true; }, duration);
}

/** Downloads a file with a name. */
function saveFile(name, type, contents) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([contents], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Returns bytes or a text after a compression or decompression stream. */
const streamed = async (bytes, stream) => new Uint8Array(
  await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

/**
 * Returns the fragment of a studio URL that contains one or two patterns: `open=name,bytes&b=…`. A
 * fragment is not sent to a server.
 */
async function patternAddress(patterns) {
  const parts = await Promise.all(patterns.map(async ([name, text], index) => {
    const packed = base64(await streamed(text, new CompressionStream("deflate-raw")));
    const letters = packed.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return `${index ? "b" : "open"}=${encodeURIComponent(name)},${letters}`;
  }));
  return parts.join("&");
}

/** Opens texts with their names in the studio. */
async function openStudio(texts) {
  window.open(`${data.studio}#${await patternAddress(texts)}`, "_blank", "noopener");
}

/** Returns bytes as Base64. */
function base64(bytes) {
  let text = "";
  for (let index = 0; index < bytes.length; index += 0x8000) text += String.fromCharCode(
    ...bytes.subarray(index, index + 0x8000));
  return btoa(text);
}

/** Returns the bytes of a Base64 text. */
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let index = 0; index < raw.length; index++) bytes[index] = raw.charCodeAt(index);
  return bytes;
}

/** Copies a text to the clipboard. */
function copyText(text, message) {
  Promise.resolve().then(() => navigator.clipboard.writeText(text))
    .then(() => showNote(message), () => showNote("This browser does not allow the page to copy."));
}

/** Returns the letter of a take in its color. */
function tag(index) {
  return `<span class="tag k${index % 4}">${data.takes[index].letter}</span>`;
}
