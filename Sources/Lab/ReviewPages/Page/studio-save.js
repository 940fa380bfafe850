// Saving to the server, to the file, or as a download, in the format of the file or another one.

/** Returns the name of an exported file with an extension. */
const exportName = (extension) => `${current().name}.${extension}`;
/** Returns the ID of the format of a slot's file. */
const formatOf = (slot) => slot.origin?.format ?? "ahap";
/** Returns the name under which the AHAP text of a slot is passed on. */
const textName = (slot) => (slot.origin ? `${slot.name}.ahap` : slot.file);

/** Makes a version of a slot the base of later comparisons. */
function wasSaved(slot, version, words) {
  slot.savedVersion = version;
  showHeader();
  keepDrafts();
  showNote(words);
}

/** Returns whether the text of a slot differs from the opened or last saved text. */
function isChanged(slotIndex) {
  const slot = slots[slotIndex];
  if (!slot) return false;
  return slot.savedVersion === undefined
    ? slot.history.changed
    : slot.version !== slot.savedVersion;
}

/** Returns whether the text of a slot can be read, or the user confirms once that it is saved. */
function maySaveText(slot) {
  const isConfirmed = slot.confirmedVersion === slot.version;
  if (slot.isGood || isConfirmed || !slot.history.changed) return true;
  if (slot.origin) {
    showNote(`${slot.file} is not saved: ${textProblem(slot)}`);
    return false;
  }
  if (!window.confirm(`The text cannot be read: ${textProblem(slot)}\nSave it with this error?`)) {
    return false;
  }
  slot.confirmedVersion = slot.version;
  return true;
}

/**
 * Returns the bytes of a slot's file in its own format, or null if they cannot be written or the
 * user cancels. An unchanged file keeps its bytes.
 */
function bytesToSave(slot) {
  if (!slot.history.changed) return slot.opened;
  if (!slot.origin) return textOf(state.slot);
  const bytes = core.save(state.slot, slot.origin.format);
  const lines = core.losses().map(({ message }) => `\n- ${message}`).join("");
  if (!bytes.length) {
    openSaveAs();
    return null;
  }
  const question = `${slot.file} cannot hold:${lines}\nWrite it without?`;
  return !lines || window.confirm(question) ? bytes : null;
}

/** Saves the current slot to the server, to its file, or as a download. */
async function save() {
  const slot = current();
  if (!slot) return;
  settle();
  if (!maySaveText(slot)) return;
  const { version } = slot;
  const hasChanged = slot.history.changed;
  const bytes = bytesToSave(slot);
  if (!bytes) return;
  if (slot.save) {
    await saveToServer(slot, version, bytes);
    return;
  }
  if (slot.handle || window.showSaveFilePicker) {
    try {
      slot.handle ??= await window.showSaveFilePicker({
        suggestedName: slot.file, types: [fileType(formatOf(slot))],
      });
      const file = await slot.handle.createWritable();
      await file.write(bytes);
      await file.close();
      wasSaved(slot, version, `Saved as ${slot.handle.name}.`);
    } catch (error) {
      if (error.name !== "AbortError") showNote(`The file cannot be written: ${error.message}`);
    }
    return;
  }
  saveFile(slot.file, "application/octet-stream", bytes);
  wasSaved(slot, version, !hasChanged ? "Saved as it was opened, byte for byte."
    : slot.origin ? `Saved as ${slot.file}.`
    : "Saved: only the marked lines differ from what was opened.");
}

/** Returns the type of a format that file pickers accept. */
function fileType(id) {
  const { title, extensions } = formats.find((format) => format.id === id);
  return { description: title, accept: { "application/octet-stream": extensions.map(fileEnding) } };
}

/** Saves a slot to the server that supplied the page. If the file has changed, the user decides. */
async function saveToServer(slot, version, bytes, etag = slot.save.etag) {
  let answer;
  try {
    answer = await fetch(
      slot.save.url, { method: "PUT", headers: { "If-Match": `"${etag}"` }, body: bytes }
    );
  } catch {
    showNote(`${slot.file} is not saved: the server has ended. Start it again with the same file; `
      + "this page keeps the changes for it. Save as… writes a copy.");
    return;
  }
  const given = (answer.headers.get("ETag") ?? "").replaceAll("\"", "");
  if (answer.ok) {
    slot.save.etag = given;
    wasSaved(slot, version, `Saved to ${slot.file}.`);
  } else if (answer.status === 412) {
    askAboutConflict(slot, version, bytes, new Uint8Array(await answer.arrayBuffer()), given);
  } else showNote((await answer.text()).split("\n")[0] || `The server refuses: ${answer.status}.`);
}

/** Offers both texts if the file has changed since it was opened. */
function askAboutConflict(slot, version, mine, theirs, etag) {
  const dialog = find("#conflict-dialog");
  const [own, other] = [mine, theirs].map((bytes) => utf8.text(bytes).split("\n").length);
  find("#conflict-words").textContent = `${slot.file} has changed on the disk since it was opened here. `
    + `It has ${counted(other, "line")} now, yours has ${own}.`;
  const slotIndex = slots.indexOf(slot);
  offer(dialog, {
    mine: () => saveToServer(slot, version, mine, etag),
    theirs: () => openSlot(slotIndex, slot.file, theirs, { save: { ...slot.save, etag } }),
    compare: () => openFile(1 - slotIndex, slot.file.replace(/(\.\w+)?$/, " on disk$1"), theirs),
  });
}

/** Shows the formats that can be written, and the page's own export formats. */
function openSaveAs() {
  if (!score()) return;
  settle();
  const select = find("#format");
  if (!select.options.length) {
    for (const { id, title, extensions } of formats.filter(({ writes }) => writes)) {
      select.add(new Option(`${title} (${fileEnding(extensions[0])})`, id));
    }
    if ("wav" in core.calls) select.add(new Option("Sound of the chosen output (.wav)", "wav"));
    select.add(new Option("Picture (.png)", "png"));
    select.add(new Option("This page with the patterns in it (.html)", "html"));
  }
  select.value = formatOf(current());
  if (select.selectedIndex < 0) select.value = "ahap";
  showLossesOfChoice();
  find("#save-dialog").showModal();
}

let saveChoice = null;

/** Shows the losses of the selected format before saving. */
function showLossesOfChoice() {
  const { value } = find("#format");
  const slot = current();
  const isFormat = formats.some(({ id }) => id === value);
  const isUnchanged = value === formatOf(slot) && !slot.history.changed;
  if (isFormat) saveChoice = isUnchanged ? slot.opened : core.save(state.slot, value);
  const losses = isFormat && !isUnchanged ? core.losses() : [];
  find("#losses").innerHTML = lossList(losses);
  find("#save-now").disabled = isFormat && !saveChoice.length;
  const words = !isFormat
    ? ""
    : isUnchanged
    ? "The file as it was opened, byte for byte."
    : saveChoice.length
    ? "Everything is kept."
    : slot.isGood
    ? "This format cannot hold the pattern."
    : `The text cannot be read: ${textProblem(slot)}`;
  find("#losses-words").textContent = losses.length ? "Not kept in this format:" : words;
}
const lossList = (losses) => losses.map(({ message, line }) =>
  `<li>${escaped(message)}${line ? ` <span class="dim">line ${line}</span>` : ""}</li>`).join("");
/** Returns the file extension of a format with its dot, such as `.ahap`. */
const fileEnding = (ending) => (ending.startsWith(".") ? ending : `.${ending}`);

/** Returns the figure as a PNG image, which shows its canvases on a background. */
function pictureFile() {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: find("#back").width, height: find("#back").height });
  const context = canvas.getContext("2d");
  context.fillStyle = colors.surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const name of ["back", "middle", "top"]) context.drawImage(find(`#${name}`), 0, 0);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

/** The text of the loaded page, for copies with other patterns. */
const pristine = document.documentElement.outerHTML;

/** Returns a page in which the first element with an ID has other contents. */
function pageWith(page, id, contents) {
  const start = page.indexOf(">", page.indexOf(`id="${id}"`)) + 1;
  return page.slice(0, start) + contents + page.slice(page.indexOf("<", start));
}

/** Returns the page as a file that contains the current patterns and the module. */
function pageFile() {
  const list = slots.flatMap((slot, slotIndex) => (slot
    ? [{ name: textName(slot), text: base64(textOf(slotIndex)), save: null }] : []));
  const json = JSON.stringify({
    ...data, profile: profiles[state.profile].name, slots: list, module: null
  });
  const page = pageWith(pristine, "data", json.replaceAll("<", "\\u003c"));
  const whole = data.module ? pageWith(page, "studio-module", denseOfBytes(packedModule)) : page;
  return `<!doctype html>\n${whole}`;
}

/** Downloads a file of the selected kind. */
async function saveAs() {
  const { value } = find("#format");
  const slot = current();
  const { version } = slot;
  find("#save-dialog").close();
  const format = formats.find(({ id }) => id === value);
  if (!format) {
    const name = exportName(value);
    if (value === "wav") {
      saveFile(name, "audio/wav", core.wav(state.slot, state.profile, rate));
    } else if (value === "png") saveFile(name, "image/png", await pictureFile());
    else saveFile(name, "text/html", pageFile());
    showNote(`Saved as ${name}.`);
    return;
  }
  const name = value === formatOf(slot) ? slot.file
    : exportName(fileEnding(format.extensions[0]).slice(1));
  const hasLosses = value !== formatOf(slot) && core.losses().length > 0;
  saveFile(name, "application/octet-stream", saveChoice);
  if (hasLosses) {
    showNote(`Saved as ${name}. It does not have everything, so the pattern stays marked as changed.`);
  } else wasSaved(slot, version, `Saved as ${name}.`);
}

function connectSaving() {
  find("#format").addEventListener("change", showLossesOfChoice);
  find("#save-now").addEventListener("click", saveAs);
}
