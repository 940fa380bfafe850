// What keys do: one table for what is done and for what the list of keys says.

/** @typedef {{keys: string[], shown: string, words: string, act: (event: KeyboardEvent) => void}} Key */

/** Whether a key press belongs to the control that has the focus. */
function belongsToControl(event) {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches("input[type=text], input[type=search], input[type=number], select, textarea")) return true;
  if (event.key === " " || event.key === "Enter") return target.matches("button, summary, a, input");
  if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") {
    return target.matches("input, [role=radio]");
  }
  return false;
}

/** Does what the table says for every key press that no control wants. */
function listenToKeys(table, isAwake) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!isAwake() || belongsToControl(event)) return;
    const name = event.shiftKey && event.key.length > 1 ? "Shift+" + event.key : event.key;
    const key = table.find((each) => each.keys.includes(name));
    if (!key || (event.repeat && !key.repeats)) return;
    event.preventDefault();
    key.act(event);
  });
}

/** Fills the list of keys and makes its button open it. */
function showKeys(table) {
  const dialog = document.getElementById("keys-dialog");
  const body = dialog.querySelector("tbody");
  for (const key of table) {
    const row = body.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    key.shown.split(" ").forEach((name, index) => {
      if (index > 0) head.append(" ");
      const cap = document.createElement("kbd");
      cap.textContent = name;
      head.append(cap);
    });
    row.append(head);
    row.insertCell().textContent = key.words;
  }
  document.getElementById("keys").addEventListener("click", () => dialog.showModal());
  for (const close of document.querySelectorAll("dialog .close")) {
    close.addEventListener("click", () => close.closest("dialog").close());
  }
  return () => dialog.showModal();
}

/** Tells people who do not see the page what happened. */
function say(text) {
  document.getElementById("status").textContent = text;
}

/** Seconds as they are shown. */
function secondsText(seconds) {
  return seconds.toFixed(3);
}
