// Unsaved work. The database of the browser has one entry for each document with unsaved changes, so
// that neither a reload nor a crash nor another page loses it. Every opened file is a document.

/**
 * @typedef {{id: string, name: string, opened: Uint8Array, text: Uint8Array, etag?: string,
 *   when: number}} Draft Unsaved work: the file as it was opened, and the changed text.
 */

const databaseName = "temblor-studio";
const draftStore = "drafts";
/** The delay between a change and its entry, in milliseconds. */
const draftDelay = 300;

/** @type {Promise<IDBDatabase>} */
let database = null;
let draftTimer = 0;
/** A Boolean value that indicates whether the user knows that changes are not kept. */
let hasReportedDraftFailure = false;

/** Returns the result of a request to the database. */
const resultOf = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

/** Opens the database once. */
function openDatabase() {
  database ??= (async () => {
    const request = indexedDB.open(databaseName, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(draftStore, { keyPath: "id" });
    return resultOf(request);
  })();
  return database;
}

/** Runs an operation on the drafts, and returns its result after it is on the disk. */
async function withDrafts(mode, operation) {
  const transaction = (await openDatabase()).transaction(
    draftStore, mode, { durability: "strict" }
  );
  const request = resultOf(operation(transaction.objectStore(draftStore)));
  const completion = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  transaction.commit?.();
  const [result] = await Promise.all([request, completion]);
  return result;
}

const lockName = (id) => `${databaseName} ${id}`;

/**
 * Returns a new document ID, or claims a given one. Other pages see it as open until the slot has
 * another document or the page is gone.
 */
function claimDocument(id = newDocumentID()) {
  let release = () => {};
  navigator.locks?.request(lockName(id), () => new Promise((resolve) => { release = resolve; }))
    .catch(() => {});
  return { id, release: () => release() };
}

/** Returns 128 random bits as text. */
const newDocumentID = () => Array.from(
  crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(16).padStart(8, "0")
).join("");

/** Stores or removes the draft of every slot that has changed since the last call. */
async function storeDrafts() {
  clearTimeout(draftTimer);
  draftTimer = 0;
  const operations = [0, 1].map((slotIndex) => {
    const slot = slots[slotIndex];
    if (!slot) return null;
    const isUnsaved = isChanged(slotIndex);
    const key = isUnsaved ? slot.version : "none";
    if (slot.draftKey === key) return null;
    slot.draftKey = key;
    if (!isUnsaved) return (store) => store.delete(slot.document.id);
    const draft = {
      id: slot.document.id, name: slot.file, opened: slot.opened, text: core.text(slotIndex),
      etag: slot.save?.etag, when: Date.now(),
    };
    return (store) => store.put(draft);
  });
  try {
    // All transactions start at once, because a page that is being hidden does not wait.
    await Promise.all(operations.filter(Boolean).map(async (operation) => {
      await withDrafts("readwrite", operation);
      document.body.dataset.drafts = String(Number(document.body.dataset.drafts ?? 0) + 1);
    }));
  } catch (error) {
    for (const slot of slots) if (slot) slot.draftKey = null;
    if (hasReportedDraftFailure) return;
    hasReportedDraftFailure = true;
    showNote(`This browser cannot keep unsaved changes (${error?.name ?? "no database"}): save often.`);
  }
}

/** Stores the drafts after a short delay. */
function keepDrafts() {
  draftTimer ||= setTimeout(storeDrafts, draftDelay);
}

/** Removes the draft of a slot whose document is closed, and its claim. */
function dropDraft(slot) {
  withDrafts("readwrite", (store) => store.delete(slot.document.id)).catch(() => {});
  slot.document.release();
}

const isEqual = (one, other) => one.length === other.length
  && one.every((byte, index) => byte === other[index]);

/** Returns the drafts of closed pages, the latest first. */
async function abandonedDrafts() {
  /** @type {Draft[]} */
  const drafts = await withDrafts("readonly", (store) => store.getAll());
  const held = new Set(((await navigator.locks?.query())?.held ?? []).map(({ name }) => name));
  return drafts.filter(({ id }) => !held.has(lockName(id)))
    .sort((one, other) => other.when - one.when);
}

/** Offers the unsaved work of earlier visits, each under its name. */
async function offerDrafts() {
  let drafts;
  try { drafts = await abandonedDrafts(); } catch { return; }
  const list = find("#restore-list");
  list.textContent = "";
  for (const draft of drafts) {
    if (isInFile(draft)) {
      withDrafts("readwrite", (store) => store.delete(draft.id)).catch(() => {});
      continue;
    }
    list.append(rowOf(draft));
  }
  find("#restore").hidden = !list.childElementCount;
}

/** Returns true if an open file of the same name already has the text of a draft. */
const isInFile = (draft) => slots.some((slot, slotIndex) => slot?.file === draft.name
  && !isChanged(slotIndex) && isEqual(core.text(slotIndex), draft.text));

/** Returns the row that offers a draft. */
function rowOf(draft) {
  const row = document.createElement("li");
  const when = new Date(draft.when).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  row.innerHTML = "<span><b></b> <span class=\"dim\"></span></span>"
    + "<button class=\"btn\">Restore</button><button class=\"btn quiet\">Discard</button>";
  find("b", row).textContent = draft.name;
  find(".dim", row).textContent = when;
  const [restoreButton, discardButton] = findAll("button", row);
  restoreButton.setAttribute("aria-label", `Restore ${draft.name} of ${when}`);
  discardButton.setAttribute("aria-label", `Discard ${draft.name} of ${when}`);
  const close = () => {
    row.remove();
    find("#restore").hidden = !find("#restore-list").childElementCount;
  };
  restoreButton.addEventListener("click", () => { if (restore(draft)) close(); });
  discardButton.addEventListener("click", () => {
    withDrafts("readwrite", (store) => store.delete(draft.id)).catch(() => {});
    close();
  });
  return row;
}

/** Opens the file of a draft as it was, and its text as an undo step. Returns false if canceled. */
function restore(draft) {
  const { slotIndex, save } = slotFor(draft);
  if (!mayReplace(slotIndex)) return false;
  openSlot(slotIndex, draft.name, draft.opened,
    { save, document: claimDocument(draft.id), draftKey: null });
  core.begin(slotIndex, "Restore");
  core.replace(slotIndex, draft.text);
  refresh();
  afterChange();
  updateLists();
  announce(`${draft.name} restored`);
  return true;
}

/**
 * Returns the slot for a draft: the unchanged slot of its file, which keeps the address for saving,
 * or else an empty or unchanged slot, or the current slot.
 */
function slotFor(draft) {
  const order = [0, 1];
  const own = order.find((slotIndex) => slots[slotIndex]?.file === draft.name
    && slots[slotIndex].save && !isChanged(slotIndex));
  if (own !== undefined) {
    return { slotIndex: own, save: { ...slots[own].save, etag: draft.etag ?? slots[own].save.etag } };
  }
  const slotIndex = order.find((index) => !slots[index])
    ?? order.find((index) => !isChanged(index) && !slots[index].save)
    ?? order.find((index) => !isChanged(index)) ?? state.slot;
  return { slotIndex, save: null };
}

function connectSession() {
  const storeNow = () => {
    settle();
    storeDrafts();
  };
  addEventListener("pagehide", storeNow);
  document.addEventListener("visibilitychange", () => { if (document.hidden) storeNow(); });
  addEventListener("beforeunload", (event) => {
    storeNow();
    if (isChanged(0) || isChanged(1)) event.preventDefault();
  });
}
