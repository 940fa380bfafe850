// Unsaved work. The database of the browser has one entry for each document with unsaved changes, so
// that neither a reload nor a crash nor another page loses it. Every opened file is a document.
//
// The database answers later. A page that closes does not wait for it, so the changes that it does
// not have yet are also written to the local storage, which answers at once.

/**
 * @typedef {{id: string, name: string, opened: Uint8Array, text: Uint8Array, etag?: string,
 *   when: number}} Draft Unsaved work: the file as it was opened, and the changed text.
 */

const databaseName = "temblor-studio";
const draftStore = "drafts";
/** The delay between a change and its entry in the database, in milliseconds. */
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
 * Returns a new document ID, or claims a given ID.
 * Other pages see the document as open until the slot has another document or the page is gone.
 */
function claimDocument(id = newDocumentID()) {
  let release = null;
  navigator.locks?.request(lockName(id), () => new Promise((resolve) => { release = resolve; }))
    .catch(() => {});
  return { id, release: () => release?.() };
}

/** Claims the document of a draft. Returns null if another page has it open. */
function claimDraft(id) {
  if (!navigator.locks) return Promise.resolve(claimDocument(id));
  return new Promise((resolve) => {
    navigator.locks.request(lockName(id), { ifAvailable: true }, (lock) => {
      if (!lock) {
        resolve(null);
        return null;
      }
      return new Promise((release) => { resolve({ id, release }); });
    }).catch(() => resolve({ id, release() {} }));
  });
}

/** Returns 128 random bits as hexadecimal text. */
const newDocumentID = () => Array.from(
  crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(16).padStart(8, "0")
).join("");

/** Returns the draft of a slot. */
const draftOf = (slotIndex) => {
  const slot = slots[slotIndex];
  return {
    id: slot.document.id, name: slot.file, opened: slot.opened, text: textOf(slotIndex),
    etag: slot.save?.etag, when: Date.now(),
  };
};

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
    if (!isUnsaved) return { slot, key, run: (store) => store.delete(slot.document.id) };
    const draft = draftOf(slotIndex);
    return { slot, key, run: (store) => store.put(draft) };
  });
  try {
    // All transactions start at once, because a page that is being hidden does not wait.
    await Promise.all(operations.filter(Boolean).map(async ({ slot, key, run }) => {
      const { id } = slot.document;
      await withDrafts("readwrite", run);
      slot.storedVersion = key;
      if (slot.draftKey === key) removeUrgentDraft(id);
      document.body.dataset.drafts = String(Number(document.body.dataset.drafts ?? 0) + 1);
    }));
  } catch (error) {
    for (const slot of slots) if (slot) slot.draftKey = null;
    if (hasReportedDraftFailure) return;
    hasReportedDraftFailure = true;
    showNote(`This browser cannot keep unsaved changes (${error?.name ?? "no database"}): save often.`);
  }
}

/** Stores the drafts of changed slots after a short delay. */
function keepDrafts() {
  draftTimer ||= setTimeout(storeDrafts, draftDelay);
}

/** Removes a draft. */
function removeDraft(id) {
  removeUrgentDraft(id);
  withDrafts("readwrite", (store) => store.delete(id)).catch(() => {});
}

/** Removes the draft of a slot whose document is closed, and the claim of its ID. */
function dropDraft(slot) {
  removeDraft(slot.document.id);
  slot.document.release();
}

// The drafts of a page that is closing.

/** The start of their keys in the local storage. */
const urgentPrefix = `${databaseName} draft `;

/** Writes the changes that the database does not have yet to the local storage. */
function storeUrgentDrafts() {
  for (const slotIndex of [0, 1]) {
    const slot = slots[slotIndex];
    if (!slot || !isChanged(slotIndex) || slot.storedVersion === slot.version) continue;
    const draft = draftOf(slotIndex);
    const text = JSON.stringify(
      { ...draft, opened: base64(draft.opened), text: base64(draft.text) }
    );
    // A text beyond the quota is only in the database.
    try { localStorage.setItem(urgentPrefix + draft.id, text); } catch { continue; }
  }
}

function removeUrgentDraft(id) {
  try { localStorage.removeItem(urgentPrefix + id); } catch { /* There is no local storage. */ }
}

/** Returns the drafts in the local storage. */
function urgentDrafts() {
  try {
    return Object.entries(localStorage).filter(([key]) => key.startsWith(urgentPrefix))
      .map(([, text]) => JSON.parse(text))
      .map((draft) => ({ ...draft, opened: bytesOf(draft.opened), text: bytesOf(draft.text) }));
  } catch {
    return [];
  }
}

const isEqual = (one, other) => one.length === other.length
  && one.every((byte, index) => byte === other[index]);

/** Returns all drafts. The local storage may have a newer text than the database. */
async function storedDrafts() {
  /** @type {Draft[]} */
  const drafts = await withDrafts("readonly", (store) => store.getAll()).catch(() => []);
  const byID = new Map(drafts.map((draft) => [draft.id, draft]));
  for (const draft of urgentDrafts()) {
    if (!(byID.get(draft.id)?.when >= draft.when)) byID.set(draft.id, draft);
  }
  return [...byID.values()];
}

/**
 * The time in which a page may close after another page starts, in milliseconds. A page that is
 * loaded again starts before its predecessor has released its documents.
 */
const closingDuration = 10000;

/**
 * Waits until no page has a document open. Returns false if another page has it open for longer
 * than `closingDuration`.
 */
async function isReleased(id) {
  const signal = /** @type {any} */ (AbortSignal).timeout?.(closingDuration);
  /** @type {LockOptions} */
  const options = { mode: "shared", signal };
  try {
    await navigator.locks.request(lockName(id), options, () => {});
    return true;
  } catch {
    return false;
  }
}

/** Offers the unsaved work of earlier visits, each under its name. */
async function offerDrafts() {
  const drafts = await storedDrafts();
  const held = new Set(((await navigator.locks?.query())?.held ?? []).map(({ name }) => name));
  for (const draft of drafts) {
    if (!held.has(lockName(draft.id))) {
      offerDraft(draft);
      continue;
    }
    isReleased(draft.id).then(async (isFree) => {
      if (!isFree) return;
      const latest = (await storedDrafts()).find(({ id }) => id === draft.id);
      if (latest) offerDraft(latest);
    });
  }
  document.body.dataset.offers = "shown";
}

/** Offers a draft, the latest first. A draft whose text is already in an open file is removed. */
function offerDraft(draft) {
  if (isInFile(draft)) {
    removeDraft(draft.id);
    return;
  }
  const list = find("#restore-list");
  const row = rowOf(draft);
  row.dataset.when = String(draft.when);
  const older = findAll("li", list).find((each) => Number(each.dataset.when) < draft.when);
  list.insertBefore(row, older ?? null);
  find("#restore").hidden = false;
}

/** Returns whether an open file of the same name already has the text of a draft. */
const isInFile = (draft) => slots.some((slot, slotIndex) => slot?.file === draft.name
  && !isChanged(slotIndex) && isEqual(textOf(slotIndex), draft.text));

/** Returns the row of the list that offers a draft. */
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
  restoreButton.addEventListener("click", async () => { if (await restore(draft)) close(); });
  discardButton.addEventListener("click", () => {
    removeDraft(draft.id);
    close();
  });
  return row;
}

/**
 * Opens the file of a draft as it was, and its text as an undo step. Returns true if the draft need
 * not be offered any longer.
 */
async function restore({ id, name }) {
  const claim = await claimDraft(id);
  if (!claim) {
    showNote(`${name} is open in another page of this browser.`);
    return true;
  }
  const draft = (await storedDrafts()).find((each) => each.id === id);
  if (!draft) {
    claim.release();
    showNote(`The changes of ${name} are no longer kept: another page saved or discarded them.`);
    return true;
  }
  const { slotIndex, save } = slotFor(draft);
  if (!mayReplace(slotIndex)) {
    claim.release();
    return false;
  }
  openSlot(slotIndex, name, draft.opened, { save, document: claim, draftKey: null });
  core.begin(slotIndex, "Restore");
  core.replace(slotIndex, draft.text);
  refresh();
  afterChange();
  updateLists();
  announce(`${name} restored`);
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
    storeUrgentDrafts();
    storeDrafts();
  };
  addEventListener("pagehide", storeNow);
  document.addEventListener("visibilitychange", () => { if (document.hidden) storeNow(); });
  addEventListener("beforeunload", (event) => {
    storeNow();
    if (isChanged(0) || isChanged(1)) event.preventDefault();
  });
}
