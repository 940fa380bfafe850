// Files: open, drop, save, session storage, clipboard, and URL.

/** The slot of the next opened file. */
let chosenSlot = null;

/** Shows a file picker. Browsers that can write to files return a handle. */
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

const isSound = (file) => /^audio\//.test(file.type)
  || /\.(wav|mp3|m4a|aac|ogg|flac|caf|aif+)$/i.test(file.name);

/** Returns true if the contents of a slot are saved or the user confirms their replacement. */
const mayReplace = (slotIndex) =>
  !isChanged(slotIndex)
    || window.confirm(`Replace ${slots[slotIndex].name}, which has unsaved changes?`);

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
    if (!mayReplace(target)) continue;
    openSlot(target, file.name, new Uint8Array(await file.arrayBuffer()),
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
    pattern: () => traceSound(sound, target), both: () => traceSound(sound, target, true), play: () => addSound(sound),
  });
}

/** Opens a dialog with the actions of its buttons. */
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
 * Opens the pattern traced from a sound for the current output, and optionally adds the sound to
 * it.
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

// Saving.
const fileName = (extension) => `${current().name}.${extension}`;

/** Makes the saved text the base of later comparisons. */
function wasSaved(words) {
  current().savedVersion = current().version;
  showHeader();
  keepSession();
  showNote(words);
}

/** Returns true if the text differs from the opened or last saved text. */
function isChanged(slotIndex) {
  const slot = slots[slotIndex];
  if (!slot) return false;
  return slot.savedVersion === undefined
    ? slot.history.changed
    : slot.version !== slot.savedVersion;
}

/** Returns the text in the format of its file, or null if the user must select a format. */
function bytesToSave(slot) {
  if (!slot.origin) return core.text(state.slot);
  const bytes = slot.save || slot.handle ? core.save(state.slot, slot.origin.format) : [];
  const lines = core.losses().map(({ message }) => `\n- ${message}`).join("");
  if (
    bytes.length
      && (!lines || window.confirm(`${slot.file} cannot hold:${lines}\nWrite it without?`))
  ) {
    return bytes;
  }
  if (!bytes.length) openSaveAs();
  return null;
}

/** Saves to the server, to the file, or as a download. */
async function save() {
  const slot = current();
  if (!slot) return;
  const bytes = bytesToSave(slot);
  if (!bytes) return;
  if (slot.save) { await saveToServer(slot, bytes); return; }
  if (slot.handle || window.showSaveFilePicker) {
    try {
      slot.handle ??= await window.showSaveFilePicker({
        suggestedName: fileName("ahap"), types: [
          { description: "AHAP", accept: { "application/json": [".ahap"] } }
        ],
      });
      const file = await slot.handle.createWritable();
      await file.write(bytes);
      await file.close();
      wasSaved(`Saved as ${slot.handle.name}.`);
    } catch (error) {
      if (error.name !== "AbortError") showNote(`The file cannot be written: ${error.message}`);
    }
    return;
  }
  saveFile(fileName("ahap"), "application/json", bytes);
  wasSaved(slot.history.changed ? "Saved: only the marked lines differ from what was opened."
    : "Saved as it was opened, byte for byte.");
}

/** Saves to the server that supplied the page. If the file has changed, the user decides. */
async function saveToServer(slot, bytes, etag = slot.save.etag) {
  let answer;
  try {
    answer = await fetch(
      slot.save.url, { method: "PUT", headers: { "If-Match": `"${etag}"` }, body: bytes }
    );
  } catch {
    showNote(
      "The server does not answer: the page was perhaps left open longer than it runs. Save as… keeps the work."
    );
    return;
  }
  const given = (answer.headers.get("ETag") ?? "").replaceAll("\"", "");
  if (answer.ok) {
    slot.save.etag = given;
    wasSaved(`Saved to ${slot.file}.`);
  } else if (answer.status === 412) {
    askAboutConflict(slot, bytes, new Uint8Array(await answer.arrayBuffer()), given);
  } else showNote((await answer.text()).split("\n")[0] || `The server refuses: ${answer.status}.`);
}

/** Offers both texts if the file has changed since it was opened. */
function askAboutConflict(slot, mine, theirs, etag) {
  const dialog = find("#conflict-dialog");
  const [own, other] = [mine, theirs].map((bytes) => utf8.text(bytes).split("\n").length);
  find("#conflict-words").textContent = `${slot.file} has changed on the disk since it was opened here. `
    + `It has ${counted(other, "line")} now, yours has ${own}.`;
  const slotIndex = slots.indexOf(slot);
  offer(dialog, {
    mine: () => saveToServer(slot, mine, etag),
    theirs: () => openSlot(slotIndex, slot.file, theirs, { save: { ...slot.save, etag } }),
    compare: () => openSlot(1 - slotIndex, slot.file.replace(/(\.\w+)?$/, " on disk$1"), theirs),
  });
}

/** Shows the formats that can be written, and the page's own export formats. */
function openSaveAs() {
  if (!score()) return;
  const select = find("#format");
  if (!select.options.length) {
    for (const { id, title, extensions } of formats.filter(({ writes }) => writes)) {
      select.add(new Option(`${title} (${fileEnding(extensions[0])})`, id));
    }
    if ("wav" in core.calls) select.add(new Option("Sound of the chosen output (.wav)", "wav"));
    select.add(new Option("Picture (.png)", "png"));
    select.add(new Option("This page with the patterns in it (.html)", "html"));
  }
  showLossesOfChoice();
  find("#save-dialog").showModal();
}

/** Shows the losses of the selected format before saving. */
function showLossesOfChoice() {
  const { value } = find("#format");
  const isFormat = formats.some(({ id }) => id === value);
  if (isFormat) saveChoice = core.save(state.slot, value);
  const losses = isFormat ? core.losses() : [];
  find("#losses").innerHTML = lossList(losses);
  find("#save-now").disabled = isFormat && !saveChoice.length;
  const words = !isFormat
    ? ""
    : saveChoice.length
    ? "Everything is kept."
    : "This format cannot hold the pattern.";
  find("#losses-words").textContent = losses.length ? "Not kept in this format:" : words;
}
let saveChoice = null;
const lossList = (losses) => losses.map(({ message, line }) =>
  `<li>${escaped(message)}${line ? ` <span class="dim">line ${line}</span>` : ""}</li>`).join("");
/** Returns a file extension with its dot, such as `.ahap`. */
const fileEnding = (ending) => (ending.startsWith(".") ? ending : `.${ending}`);

/** Returns the figure as a PNG image: its canvases on a background. */
function pictureFile() {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: find("#back").width, height: find("#back").height });
  const context = canvas.getContext("2d");
  context.fillStyle = colours.surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const name of ["back", "middle", "top"]) context.drawImage(find(`#${name}`), 0, 0);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

/** The loaded page, for copies with other patterns. */
const pristine = document.documentElement.outerHTML;

/** Returns the page with the current patterns. */
function pageFile() {
  const list = slots.flatMap((slot, slotIndex) =>
    (slot ? [{ name: slot.file, text: base64(core.text(slotIndex)), save: null }] : []));
  const json = JSON.stringify({ ...data, profile: profiles[state.profile].name, slots: list });
  const start = pristine.indexOf(">", pristine.indexOf("id=\"data\"")) + 1;
  const rest = pristine.slice(pristine.indexOf("<", start));
  return `<!doctype html>\n${pristine.slice(0, start)}${json.replaceAll("<", "\\u003c")}${rest}`;
}

async function saveAs() {
  const { value } = find("#format");
  find("#save-dialog").close();
  if (value === "wav") {
    saveFile(fileName("wav"), "audio/wav", core.wav(state.slot, state.profile, rate));
  }
  else if (value === "png") saveFile(fileName("png"), "image/png", await pictureFile());
  else if (value === "html") saveFile(fileName("html"), "text/html", pageFile());
  else {
    const [ending] = formats.find(({ id }) => id === value).extensions;
    saveFile(fileName(fileEnding(ending).slice(1)), "application/octet-stream", saveChoice);
    if (value === "ahap") wasSaved("Saved as AHAP.");
  }
}

/** Shows the losses of reading a file of another format. */
function showLosses({ title, losses }) {
  find("#opened-words").textContent = `The file is ${title}; it was converted to AHAP. This could not be kept:`;
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
    showNote("The clipboard holds no AHAP.");
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
  for (const name of ["copy", "cut"]) {
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

// Session storage.
const storageName = "temblor-studio";
let sessionTimer = 0;

/** Stores unsaved texts in the browser, with a short delay. */
function keepSession() {
  clearTimeout(sessionTimer);
  sessionTimer = setTimeout(() => {
    try {
      const list = [0, 1].map((slotIndex) => (isChanged(slotIndex)
        ? { name: slots[slotIndex].file, text: utf8.text(core.text(slotIndex)) } : null));
      if (list.some(Boolean)) {
        localStorage.setItem(storageName, JSON.stringify({ when: Date.now(), slots: list }));
      }
      else if (!isOffering) localStorage.removeItem(storageName);
    } catch {
      // Without storage, or if it is full, nothing is stored.
    }
  }, 600);
}

let isOffering = false;

/** Offers the unsaved texts of the last visit. */
function offerSession() {
  let stored = null;
  try { stored = JSON.parse(localStorage.getItem(storageName)); } catch { return; }
  const list = stored?.slots?.map((each, slotIndex) =>
    (each && (!slots[slotIndex] || each.text !== utf8.text(core.text(slotIndex))) ? each : null))
      ?? [];
  if (!list.some(Boolean)) return;
  isOffering = true;
  const names = list.filter(Boolean).map((each) => each.name).join(" and ");
  const when = new Date(stored.when).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  find("#restore-words").textContent = `Unsaved changes of ${names} are left from ${when}.`;
  find("#restore").hidden = false;
  const close = () => {
    isOffering = false;
    find("#restore").hidden = true;
  };
  find("#restore-yes").addEventListener("click", () => {
    close();
    list.forEach((each, slotIndex) => {
      if (!each) return;
      if (!slots[slotIndex]) openSlot(slotIndex, each.name, utf8.bytes(each.text));
      else {
        showSlot(slotIndex);
        core.begin(slotIndex, "Restore");
        if (core.replace(slotIndex, each.text)) { refresh(); afterChange(); }
      }
    });
  });
  find("#restore-no").addEventListener("click", () => {
    close();
    keepSession();
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

const addressParts = () => new Map(
  location.hash.slice(1).split("&").map((part) => part.split(/=(.*)/s))
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
      openSlot(
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
  const pattern = await patternAddress([[current().file, core.text(state.slot)]]);
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
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop.hidden = true;
    const files = [...event.dataTransfer.files];
    openFiles(files, files.length > 1 ? null : score() && event.clientX > innerWidth / 2 ? 1 : 0);
  });
  addEventListener(
    "beforeunload", (event) => { if (isChanged(0) || isChanged(1)) event.preventDefault(); }
  );
  addEventListener("hashchange", followAddress);
  find("#format").addEventListener("change", showLossesOfChoice);
  find("#save-now").addEventListener("click", saveAs);
  connectClipboard();
}
