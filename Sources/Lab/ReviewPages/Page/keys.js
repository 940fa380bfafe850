// The keyboard shortcuts of a page. One table defines the actions and the list of keys.

/**
 * @typedef {{keys: string[], shown?: string, words?: string, repeats?: boolean,
 *   isAlwaysActive?: boolean, act?: (event: KeyboardEvent) => void}} Key Keys with an action, a row
 *   of the list of keys, or both.
 */

/** Checks a button of a radio group by its value. */
function check(group, chosen) {
  for (const button of findAll("[role=radio]", group)) {
    const isChosen = button === chosen;
    button.setAttribute("aria-checked", isChosen);
    button.tabIndex = isChosen ? 0 : -1;
  }
}

/** Moves to the next or previous button of a radio group with arrow keys. */
function stepRadio(event) {
  const group = event.target.closest("[role=radiogroup]");
  if (!group || !event.key.startsWith("Arrow")) return false;
  const buttons = findAll("[role=radio]", group);
  const step = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1;
  const index = (buttons.indexOf(event.target) + step + buttons.length) % buttons.length;
  buttons[index].click();
  // The click may have replaced the buttons.
  findAll("[role=radio]", group)[index]?.focus();
  return true;
}

/** Shows on a toggle button whether it is on. */
const press = (button, isOn) => button.setAttribute("aria-pressed", isOn);

/** Returns whether a key press belongs to the focused control. */
function belongsToControl(event) {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches("input:not([type=range]), select, textarea")) return true;
  if (event.key === " " || event.key === "Enter") {
    return target.matches("button, summary, a, input");
  }
  return target.matches("input") && (event.key.startsWith("Arrow") || event.key === "Home");
}

/** Runs the action of every key press that no control handles. */
function listenToKeys(table, isAwake) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isAwake() && stepRadio(event)) {
      event.preventDefault();
      return;
    }
    if (!isAwake() || belongsToControl(event)) return;
    const key = table.find((each) => each.keys.includes(event.key));
    if (!key || (event.repeat && !key.repeats)) return;
    event.preventDefault();
    key.act(event);
  });
}

/** Fills the list of keys and connects its button. */
function showKeys(table) {
  const dialog = find("#keys-dialog");
  find("tbody", dialog).innerHTML = table.filter((key) => key.shown).map((key) => {
    const caps = key.shown.split(" ").map((name) => `<kbd>${escaped(name)}</kbd>`).join(" ");
    return `<tr><th scope="row">${caps}</th><td>${escaped(key.words)}</td></tr>`;
  }).join("");
  find("#keys").addEventListener("click", () => dialog.showModal());
  for (const close of findAll("dialog .close")) {
    close.addEventListener("click", () => close.closest("dialog").close());
  }
}
