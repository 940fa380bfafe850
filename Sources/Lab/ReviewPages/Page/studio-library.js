// The list of patterns with pictures: the shipped patterns, and those of a folder or a file.

/**
 * @typedef {{name: string, folder: string, read: () => Promise<Uint8Array>,
 *   opensDirectly?: boolean, duration?: number, losses?: object[], more?: object,
 *   contents?: FileContents}} LibraryEntry A pattern in the list. The folder is the path before the
 *   name, or the kind of a part. A part, and the whole file above its parts, open directly, without
 *   a list of parts. The duration is the time range of the picture, if not that of the pattern. The
 *   losses are those of a part, and `more` has further properties of the slot.
 */

/** The maximum number of patterns of a folder. */
const maximumLibraryCount = 2000;
/** The size of the pictures in pixels of the page. */
const thumbnailSize = { width: 168, height: 48 };

/** @type {LibraryEntry[]} */
let libraryEntries = [];
let libraryTitle = "Patterns";
/** The slot in which the list opens patterns, or null for the current slot. */
let librarySlot = null;
/** Draws the picture of a row when the row becomes visible. */
let thumbnailObserver = null;

/** Returns the shipped patterns. */
function shippedPatterns() {
  const packed = bytesOfDense(find("#studio-patterns").textContent);
  /** @type {{name: string, text: string}[]} */
  const list = JSON.parse(utf8.text(unpackedLZMA(packed)));
  return list.map(({ name, text }) => ({ name, folder: "", read: async () => utf8.bytes(text) }));
}

/** Returns true if a file has the extension of a format that can be read. */
function hasPatternName(name) {
  const lowercase = name.toLowerCase();
  return formats.some(({ reads, extensions }) => reads
    && extensions.some((extension) => lowercase.endsWith(fileEnding(extension))));
}

/** Returns the patterns among files by their paths. */
function libraryOf(files) {
  const patterns = files.filter(({ path }) => hasPatternName(path));
  patterns.sort((one, other) => one.path.localeCompare(other.path, undefined, { numeric: true }));
  return patterns.slice(0, maximumLibraryCount).map(({ path, file }) => ({
    name: path.split("/").at(-1), folder: path.split("/").slice(0, -1).join("/"),
    read: () => bytesOfFile(file),
  }));
}

/** Returns all files below entries of the file system, with their paths. */
async function filesBelow(entries) {
  const found = [];
  const pending = entries.map((entry) => ({ entry, path: entry.name }));
  while (pending.length && found.length < maximumLibraryCount) {
    const { entry, path } = pending.shift();
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => { entry.file(resolve, reject); });
      found.push({ path, file });
      continue;
    }
    const reader = entry.createReader();
    // A reader returns its entries in portions, and nothing after the last.
    for (;;) {
      const portion = await new Promise((resolve, reject) => {
        reader.readEntries(resolve, reject);
      });
      if (!portion.length) break;
      pending.push(...portion.map((each) => ({ entry: each, path: `${path}/${each.name}` })));
    }
  }
  return found;
}

/** Fills the list. */
function setLibrary(entries, title = "Patterns") {
  libraryEntries = entries;
  libraryTitle = title;
}

/** Shows the patterns of a folder. They open in a slot, or in the current slot. */
function showFolder(files, slotIndex = null) {
  const entries = libraryOf(files);
  if (!entries.length) {
    showNote("The folder has no patterns.");
    return;
  }
  setLibrary(entries);
  showLibrary(slotIndex);
}

/** Returns the number of parts of a file, and how they play in the whole file. */
function partsText(parts) {
  return parts[0].kind === "clip" ? `${parts.length} clips, in sequence`
    : `${parts.length} body locations, mixed`;
}

/**
 * Fills the list with the parts of a file, after the whole file. The pictures of body locations
 * have the same time range. `more` has further properties of the slot of the whole file.
 */
function listParts(name, bytes, contents, more) {
  const { parts, duration } = contents;
  const stem = name.replace(/\.[^.]+$/, "");
  const { handle } = more;
  // A file with a handle may have been saved since, so it is read again.
  const whole = {
    name, folder: partsText(parts), opensDirectly: true, more,
    read: async () => (handle ? bytesOfFile(await handle.getFile()) : bytes),
    contents: handle ? undefined : contents,
  };
  const entries = parts.map(({ kind, name: partName, text, losses }) => ({
    name: `${stem} ${partName}.ahap`.replace(/[/\\:*?"<>|]/g, "_"),
    folder: kind === "clip" ? "clip" : "body location",
    read: async () => utf8.bytes(text), opensDirectly: true, losses,
    duration: kind === "clip" ? undefined : duration,
  }));
  setLibrary([whole, ...entries], name);
}

/**
 * Opens a file that the user chose. If it has several patterns, the user chooses one of them.
 */
function openChosen(slotIndex, name, bytes, more = {}) {
  const contents = core.examine(name, bytes);
  if (contents.parts.length < 2) {
    openFile(slotIndex, name, bytes, more, contents);
    return;
  }
  listParts(name, bytes, contents, more);
  showLibrary(slotIndex);
}

/** Shows the list, whose patterns open in a slot, or in the current slot. */
function showLibrary(slotIndex = null) {
  librarySlot = slotIndex;
  find("#library-title").textContent = libraryTitle;
  find("#library-filter").value = "";
  fillLibrary();
  const dialog = find("#library-dialog");
  if (!dialog.open) dialog.showModal();
}

/** Fills the list with the patterns whose path contains the filter. */
function fillLibrary() {
  const list = find("#library");
  const wanted = find("#library-filter").value.trim().toLowerCase();
  const shown = libraryEntries.filter(
    ({ name, folder }) => `${folder}/${name}`.toLowerCase().includes(wanted)
  );
  /** @type {Map<Element, LibraryEntry>} */
  const rows = new Map();
  thumbnailObserver?.disconnect();
  thumbnailObserver = new IntersectionObserver((changes) => {
    for (const { isIntersecting, target } of changes) {
      if (!isIntersecting) continue;
      thumbnailObserver.unobserve(target);
      drawThumbnail(rows.get(target), target);
    }
  }, { root: list });
  list.textContent = "";
  find("#library-words").textContent = counted(shown.length, "pattern");
  for (const entry of shown) {
    const row = libraryRow(entry);
    rows.set(row, entry);
    list.append(row);
    thumbnailObserver.observe(row);
  }
}

/** Returns the row of a pattern. */
function libraryRow(entry) {
  const row = document.createElement("li");
  row.innerHTML = "<button class=\"pattern\"><canvas aria-hidden=\"true\"></canvas>"
    + "<span><b></b> <span class=\"dim folder\"></span><br>"
    + "<span class=\"dim facts\"></span></span></button>"
    + "<button class=\"btn as-b\"><span class=\"tag k1\">B</span></button>";
  find("b", row).textContent = entry.name;
  find(".folder", row).textContent = entry.folder;
  Object.assign(find("canvas", row).style,
    { width: `${thumbnailSize.width}px`, height: `${thumbnailSize.height}px` });
  const [open, openAsB] = findAll("button", row);
  openAsB.setAttribute("aria-label", `Open ${entry.name} as B`);
  openAsB.title = "Open as B";
  open.addEventListener("click", () => openEntry(entry, librarySlot ?? state.slot));
  openAsB.addEventListener("click", () => openEntry(entry, 1));
  return row;
}

/** Opens a pattern of the list in a slot. */
async function openEntry(entry, slotIndex) {
  try {
    const bytes = await entry.read();
    // The dialog is closed first, because opening may show another one.
    find("#library-dialog").close();
    if (!entry.opensDirectly) {
      openChosen(slotIndex, entry.name, bytes);
      return;
    }
    const isOpen = openFile(slotIndex, entry.name, bytes, entry.more, entry.contents);
    if (isOpen && entry.losses?.length) showLosses(`A part of ${libraryTitle}`, entry.losses);
  } catch (error) {
    showNote(`${entry.name} cannot be read: ${error.message}`);
  }
}

/** Draws the picture of a pattern in its row, and its facts. */
async function drawThumbnail(entry, row) {
  const facts = find(".facts", row);
  let bytes;
  try {
    bytes = await entry.read();
  } catch (error) {
    facts.textContent = `cannot be read: ${error.message}`;
    return;
  }
  const isRead = core.open(trialSlot, entry.name, bytes);
  const read = isRead ? core.score(trialSlot) : null;
  facts.textContent = isRead ? factsOf(read) : core.failure();
  core.clearTrial();
  if (read) drawSmallScore(find("canvas", row), read, entry.duration);
}

/** Draws the events of a score over its whole duration or a longer one. */
function drawSmallScore(canvas, { events, duration: ownDuration }, duration = ownDuration) {
  const ratio = devicePixelRatio || 1;
  const { width, height } = thumbnailSize;
  Object.assign(canvas, { width: width * ratio, height: height * ratio });
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const ground = height - 1;
  const xAt = (time) => 4 + time / Math.max(0.1, duration) * (width - 8);
  const yAt = (intensity) => ground - intensity * (height - 8);
  strokeLine(context, colors.line, 1, [[0, ground], [width, ground]]);
  for (const event of events.filter((each) => !isTransient(each) && each.felt?.length)) {
    const points = pointsOf({ event });
    context.fillStyle = hue(points[0][2]);
    context.globalAlpha = 0.6;
    context.beginPath();
    context.moveTo(xAt(points[0][0]), ground);
    for (const [time, intensity] of points) context.lineTo(xAt(time), yAt(intensity));
    context.lineTo(xAt(points.at(-1)[0]), ground);
    context.fill();
  }
  context.globalAlpha = 1;
  for (const event of events.filter(isTransient)) {
    const [[time, intensity, sharpness]] = pointsOf({ event });
    strokeLine(context, hue(sharpness), 1.5, [[xAt(time), ground], [xAt(time), yAt(intensity)]]);
    disc(context, xAt(time), yAt(intensity), 2.5, hue(sharpness));
  }
}

function connectLibrary() {
  find("#patterns").addEventListener("click", () => {
    if (!libraryEntries.length) setLibrary(shippedPatterns());
    showLibrary();
  });
  find("#library-shipped").addEventListener("click", () => {
    setLibrary(shippedPatterns());
    showLibrary(librarySlot);
  });
  find("#library-folder").addEventListener("click", () => find("#library-files").click());
  find("#library-files").addEventListener("change", ({ target }) => {
    showFolder([...target.files].map(
      (file) => ({ path: file.webkitRelativePath || file.name, file })
    ), librarySlot);
    target.value = "";
  });
  find("#library-filter").addEventListener("input", fillLibrary);
}
