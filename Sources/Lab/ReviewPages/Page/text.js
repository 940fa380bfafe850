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

/** A time of constant width, for clocks: `9.500`, or `9:30.000` of two minutes and more. */
function clockText(seconds, length) {
  if (length < 120) return withMinus(seconds.toFixed(3));
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(3).padStart(6, "0")}`;
}

/** A round step of a time axis with labels at least `room` pixels apart. */
function timeStep(pixelsPerSecond, room) {
  const steps = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600,
  ];
  return steps.find((step) => step * pixelsPerSecond >= room) ?? 1200;
}

/** Labels of a time axis at round times, in the unit of the page's `whole` length; the last has the unit. */
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

/** Bytes or a text through a stream that packs or unpacks them. */
const streamed = async (bytes, stream) => new Uint8Array(
  await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

/** The part of a studio's address that holds one or two patterns, so that nothing is sent anywhere: `open=name,bytes&b=…`. */
async function patternAddress(patterns) {
  const parts = await Promise.all(patterns.map(async ([name, text], index) => {
    const packed = base64(await streamed(text, new CompressionStream("deflate-raw")));
    const letters = packed.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return `${index ? "b" : "open"}=${encodeURIComponent(name)},${letters}`;
  }));
  return parts.join("&");
}

/** Opens texts in the studio, each with its name. */
async function openStudio(texts) {
  window.open(`${data.studio}#${await patternAddress(texts)}`, "_blank", "noopener");
}

/** Bytes as a text in base 64. */
function base64(bytes) {
  let text = "";
  for (let index = 0; index < bytes.length; index += 0x8000) text += String.fromCharCode(
    ...bytes.subarray(index, index + 0x8000));
  return btoa(text);
}

/** The bytes of a text in base 64. */
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let index = 0; index < raw.length; index++) bytes[index] = raw.charCodeAt(index);
  return bytes;
}

/** Puts a text on the clipboard. */
function copyText(text, message) {
  Promise.resolve().then(() => navigator.clipboard.writeText(text))
    .then(() => note(message), () => note("This browser does not let the page copy."));
}

/** The letter of a take in its colour. */
function tag(index) {
  return `<span class="tag k${index % 4}">${data.takes[index].letter}</span>`;
}
