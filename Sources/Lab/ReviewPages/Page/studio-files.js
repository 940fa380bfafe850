// The files of the studio: open, drop, clipboard, and URL.

/** The slot in which the next file is opened. */
let chosenSlot = null;

/** Shows a file picker. Browsers that can write to files return a handle of each file. */
async function chooseFile(slotIndex) {
  if (!window.showOpenFilePicker) {
    chosenSlot = slotIndex;
    find("#file").click();
    return;
  }
  try {
    const handles = await window.showOpenFilePicker({ multiple: slotIndex === null });
    await openFiles(
      await Promise.all(handles.map((handle) => handle.getFile())), slotIndex, handles
    );
  } catch (error) {
    if (error.name !== "AbortError") showNote(`The file cannot be opened: ${error.message}`);
  }
}

/** Returns the contents of a file or a response. */
const bytesOfFile = async (file) => new Uint8Array(await file.arrayBuffer());

/** Returns true for a sound, or a video with a sound. */
const isSound = (file) => /^(audio|video)\//.test(file.type)
  || /\.(wav|mp3|m4a|aac|ogg|flac|caf|aif+|mp4|m4v|mov|webm|mkv)$/i.test(file.name);

/** Returns whether the contents of a slot are saved, or the user confirms their replacement. */
const mayReplace = (slotIndex) =>
  !isChanged(slotIndex)
    || window.confirm(`Replace ${slots[slotIndex].name}, which has unsaved changes?`);

/**
 * Opens a file in a slot. Returns true if the file was opened.
 * A file that cannot be read, or that would replace unsaved changes without consent, replaces
 * nothing.
 */
function openFile(slotIndex, name, bytes, more = {}, contents = core.examine(name, bytes)) {
  if (contents.problem !== null) {
    showNote(`${name} was not opened: ${contents.problem}`);
    return false;
  }
  if (!mayReplace(slotIndex)) return false;
  openSlot(slotIndex, name, bytes, more, contents);
  return true;
}

/** Opens one or two patterns or sounds. */
async function openFiles(files, slotIndex = null, handles = []) {
  const sounds = files.filter(isSound);
  const patterns = files.filter((file) => !isSound(file)).slice(0, 2);
  for (const [index, file] of patterns.entries()) {
    if (file.size > 8e6) {
      showNote(`${file.name} is larger than the 8 MB that the studio opens.`);
      continue;
    }
    const target = slotIndex ?? (patterns.length > 1 ? index : state.slot);
    const open = patterns.length > 1 ? openFile : openChosen;
    open(target, file.name, await bytesOfFile(file),
      { handle: handles[files.indexOf(file)] ?? null });
  }
  for (const file of sounds) await openSound(file, slotIndex);
}

/** Returns the interleaved samples of a sound file, or null if the browser cannot decode it. */
async function decoded(file) {
  let sound;
  try {
    sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(await file.arrayBuffer());
  } catch {
    showNote(`${file.name} is not a sound that this browser decodes.`);
    return null;
  }
  const channels = sound.numberOfChannels;
  const samples = new Float32Array(sound.length * channels);
  for (let channel = 0; channel < channels; channel++) {
    sound.getChannelData(channel).forEach(
      (sample, index) => { samples[index * channels + channel] = sample; }
    );
  }
  return { file: file.name, channels, rate: sound.sampleRate, samples };
}

const eventOf = (sound) => score()?.events.find(
  (event) => event.file?.split("/").at(-1) === sound.file
);

/** Passes a sound to the pattern that names it. For other sounds, the user selects the purpose. */
async function openSound(file, slotIndex) {
  const sound = await decoded(file);
  if (!sound) return;
  if (eventOf(sound)) { addSound(sound); return; }
  const target = slotIndex ?? (score() ? 1 - state.slot : 0);
  const dialog = find("#sound-dialog");
  find("#sound-title").textContent = file.name;
  find("#sound-words").textContent = score()
    ? `Its pattern opens as ${"AB"[target]}. Or ${current().name} plays the sound.` : `Its pattern opens as ${"AB"[target]}.`;
  find("[data-choice=play]", dialog).hidden = !score();
  offer(dialog, {
    pattern: () => traceSound(sound, target), both: () => traceSound(sound, target, true),
    reference: () => showReference(sound), play: () => addSound(sound),
  });
}

/** Opens a dialog whose buttons have the given actions. */
function offer(dialog, choices) {
  for (const button of findAll("[data-choice]", dialog)) {
    button.onclick = () => {
      dialog.close();
      choices[button.dataset.choice]?.();
    };
  }
  dialog.showModal();
}

/**
 * Opens the pattern that is traced from a sound for the current output.
 * Optionally adds the sound to the pattern.
 */
async function traceSound(sound, slotIndex, isPlayed = false) {
  if (!mayReplace(slotIndex)) return;
  const file = sound.file.replace(/(\.\w+)?$/, ".ahap");
  announce(`${sound.file} becomes a pattern …`);
  const text = await new Promise((resolve) => {
    worker.addEventListener("message", function answer({ data: message }) {
      if (message.kind !== "trace") return;
      worker.removeEventListener("message", answer);
      resolve(message.text);
    });
    worker.postMessage(
      {
        kind: "trace", slot: 2, profile: state.profile, sound: { ...sound, name: utf8.bytes(file) }
      }
    );
  });
  if (!text) {
    showNote(`No pattern can be made of ${sound.file}: it lasts at most an hour.`);
    return;
  }
  openSlot(slotIndex, file, text);
  if (isPlayed) addSound(sound, 0);
  if (!score().events.length) showNote(`Nothing that can be felt was found in ${sound.file}.`);
}

/** Adds a sound to the pattern, and an event that plays it if there is none. */
function addSound(sound, time = snapped(state.position)) {
  const named = eventOf(sound);
  const title = named?.file ?? sound.file;
  const given = { ...sound, title, name: utf8.bytes(title) };
  current().sounds.add(given);
  core.sound(given);
  worker?.postMessage({ kind: "sound", ...given });
  tell({ do: "sound", ...given });
  if (!named) {
    const event = { Time: time, EventType: "AudioCustom", EventWaveformPath: sound.file };
    addEntries("Add sound", [{ add: { Event: { ...event, EventParameters: [] } } }]);
  } else {
    refresh();
    afterChange();
  }
  announce(`${sound.file} added`);
}

/** Shows the losses of reading a file of another format, or a part of a file. */
function showLosses(file, losses) {
  find("#opened-words").textContent = `${file} was converted to AHAP. This could not be kept:`;
  find("#opened-losses").innerHTML = lossList(losses);
  find("#opened-dialog").showModal();
}

// The clipboard: the selected entries as AHAP.
/** Returns the selected entries of the pattern; for a point, its curve. */
function selectedEntries() {
  const paths = new Set(selected().map((item) => item.curve?.path ?? item.path));
  return [...paths].map((path) => core.part(state.slot, path));
}

const clipText = () => `{\n"Version": 1.0,\n"Pattern": [\n${selectedEntries().join(",\n")}\n]\n}\n`;

/** Adds the entries of an AHAP text to the current slot, with the first at the play head. */
function paste(text) {
  if (!core.open(2, "clipboard.ahap", utf8.bytes(text))) {
    showNote("The clipboard has no AHAP text.");
    return;
  }
  const clip = core.score(2);
  const entries = [...clip.events, ...clip.curves, ...clip.parameters];
  if (!entries.length) return;
  const first = Math.min(...entries.map(({ time }) => time));
  const shift = snapped(state.position) - first;
  const label = `Paste ${counted(entries.length, "part")}`;
  const added = addEntries(label, entries.map(({ path }) => ({ entry: core.part(2, path) })));
  if (!added) return;
  const placed = new Map();
  for (const path of added) {
    const item = itemAt(path);
    placed.set(item.curve?.path ?? path, item.curve?.time ?? item.time);
  }
  change(null, [...placed].map(([path, time]) => assign(path, "time", Math.max(0, time + shift))));
  announce(label);
}

const isInText = () => document.activeElement?.matches("textarea, input:not([type=range])")
  || find("dialog[open]");

function connectClipboard() {
  for (const name of /** @type {const} */ (["copy", "cut"])) {
    document.addEventListener(name, (event) => {
      if (isInText() || !selection.length) return;
      event.preventDefault();
      event.clipboardData.setData("text/plain", clipText());
      announce(`${counted(selection.length, "part")} copied`);
      if (name === "cut") removeSelected();
    });
  }
  document.addEventListener("paste", (event) => {
    if (isInText() || !score()) return;
    event.preventDefault();
    if (event.clipboardData.files.length) openFiles([...event.clipboardData.files]);
    else paste(event.clipboardData.getData("text/plain"));
  });
}

// The fragment of the URL: `#t=1.2` is a time; `#open=name,bytes&b=name,bytes` contains the
// patterns A and B, compressed with DEFLATE and encoded in URL-safe Base64.

let addressTimer = 0;
function keepAddress() {
  clearTimeout(addressTimer);
  const fragment = state.position > 0
    ? `#t=${rounded(state.position, 3)}`
    : location.pathname + location.search;
  addressTimer = setTimeout(() => history.replaceState(null, "", fragment), 250);
}

/** @returns {Map<string, string>} */
const addressParts = () => new Map(
  location.hash.slice(1).split("&").map((part) => /** @type {any} */ (part.split(/=(.*)/s)))
);

/** Moves the play head to the time in the URL. */
function followAddress() {
  const time = Number(addressParts().get("t") ?? NaN);
  if (!(time >= 0) || !score()) return;
  state.position = clamp(time, 0, wholeLength());
  showPosition();
}

/** Opens the patterns in the URL. */
async function openFromAddress() {
  const parts = addressParts();
  for (const [slotIndex, key] of ["open", "b"].entries()) {
    const [name, text] = (parts.get(key) ?? "").split(",");
    if (!text) continue;
    try {
      const packed = bytesOf(text.replaceAll("-", "+").replaceAll("_", "/"));
      openFile(
        slotIndex,
        decodeURIComponent(name),
        await streamed(packed, new DecompressionStream("deflate-raw"))
      );
    } catch {
      showNote("The pattern in the address is damaged.");
    }
  }
}

/** Copies the URL of the page with the current pattern. */
async function copyLink() {
  const pattern = await patternAddress([[textName(current()), textOf(state.slot)]]);
  const time = state.position ? `&t=${rounded(state.position, 3)}` : "";
  copyText(`${location.href.split("#")[0]}#${pattern}${time}`, "Link with the pattern copied.");
}

function connectFiles() {
  find("#file").addEventListener("change", async ({ target }) => {
    await openFiles([...target.files], chosenSlot);
    target.value = "";
  });
  const drop = find("#drop");
  addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.hidden = false;
    const isB = score() && event.clientX > innerWidth / 2;
    find("#drop-a").classList.toggle("on", !isB);
    find("#drop-b").classList.toggle("on", Boolean(isB));
  });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.hidden = true; });
  addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.hidden = true;
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.());
    if (entries.some((entry) => entry?.isDirectory)) {
      showFolder(await filesBelow(entries.filter(Boolean)));
      return;
    }
    const files = [...event.dataTransfer.files];
    openFiles(files, files.length > 1 ? null : score() && event.clientX > innerWidth / 2 ? 1 : 0);
  });
  addEventListener("hashchange", followAddress);
  connectClipboard();
}
