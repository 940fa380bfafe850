// The behavior of the gallery's keys and buttons.

/** Starts or stops playback of the selected pattern. */
function togglePlay() {
  const index = gallery.now >= 0 ? gallery.now : shownTakes()[0];
  if (index === undefined) return;
  if (drawer.open) toggleDetail();
  else toggleTake(index);
}

/** Applies a change of the selected output. */
async function chooseOutput() {
  if (drawer.open && detail.other >= 0) {
    await deck.load([detail.take, detail.other].map((index) => ({ id: soundId(index, output) })));
  } else if (gallery.now >= 0) {
    await deck.load([{ id: soundId(gallery.now, output) }]);
  }
}

function toggleLoop() {
  press(find("#loop"), !isLooping());
  deck.setLoop(deck.from, deck.to, isLooping());
}

const keyTable = [
  { keys: ["/"], shown: "/", words: "Search", act: () => find("#query").focus() },
  {
    keys: ["ArrowLeft"],
    shown: "← → ↑ ↓",
    words: "Move between patterns",
    repeats: true,
    act: () => moveFocus(-1, 0)
  },
  { keys: ["ArrowRight"], shown: "", words: "", repeats: true, act: () => moveFocus(1, 0) },
  { keys: ["ArrowUp"], shown: "", words: "", repeats: true, act: () => moveFocus(0, -1) },
  { keys: ["ArrowDown"], shown: "", words: "", repeats: true, act: () => moveFocus(0, 1) },
  { keys: [" "], shown: "Space", words: "Play or stop", act: togglePlay },
  { keys: ["Enter"], shown: "Enter", words: "Details", act: () => {} },
  { keys: ["l"], shown: "l", words: "Loop", act: toggleLoop },
  { keys: ["s"], shown: hasOutputs ? "s" : "", words: "Small speakers or actuator",
    act: () => setOutput(1 - output, chooseOutput) },
  { keys: ["Escape"], shown: "", words: "", act: () => deck.pause() },
  { keys: ["?"], shown: "?", words: "Show this help", act: () => find("#keys-dialog").showModal() },
];
showKeys(keyTable);
// In a focused figure, Space plays and Enter opens.
document.addEventListener("keydown", (event) => {
  const thumb = event.target.closest?.(".thumb");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("#query") && event.key === "Escape") event.target.blur();
  if (drawer.open && event.key === " " && !event.target.matches("button, summary, select, a")) {
    event.preventDefault();
    toggleDetail();
  }
  if (!thumb || ![" ", "Enter"].includes(event.key) || find("dialog[open]")) return;
  event.preventDefault();
  if (event.key === " ") toggleTake(takeOf(thumb));
  else openDetail(takeOf(thumb));
});
listenToKeys(keyTable, () => !find("dialog[open]"));
document.addEventListener("keydown", (event) => {
  if (event.target.closest("#compare-hear") && stepRadio(event)) event.preventDefault();
});

connectTransport(deck, {
  toggle: togglePlay, chooseOutput,
  scrub(fraction) {
    if (gallery.now < 0) return;
    deck.seek(fraction * deck.to);
    drawPlace();
  },
});
const announceDeck = deck.changed;
deck.changed = () => {
  announceDeck();
  markDetail();
};
find("#scrub").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -0.01, ArrowRight: 0.01 }[event.key];
  if (!step || gallery.now < 0) return;
  event.preventDefault();
  deck.seek(clamp(deck.position + step, 0, deck.to));
  drawPlace();
});
find("#loop").addEventListener("click", toggleLoop);
find("#query").addEventListener("input", (event) => {
  gallery.query = event.target.value;
  drawGrid();
});
for (const name of ["order", "kind"]) {
  find(`#${name}`).addEventListener("change", (event) => {
    gallery[name] = event.target.value;
    drawGrid();
  });
}
find("#clear").addEventListener("click", () => {
  gallery.query = find("#query").value = "";
  gallery.kind = find("#kind").value = "all";
  drawGrid();
  find("#query").focus();
});
find("#ramp").style.background = `linear-gradient(90deg, ${ramp.map((parts) => `rgb(${parts.join(" ")})`).join(", ")})`;

let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    drawGrid();
    if (drawer.open) drawDetail();
  }, 60);
});
addEventListener("beforeprint", () => {
  ruler.isPrinted = true;
  find("#grid").style.width = "1060px";
  drawGrid();
});
addEventListener("afterprint", () => {
  ruler.isPrinted = false;
  find("#grid").style.width = "";
  drawGrid();
});

/** Opens the pattern that the URL names. */
function followAddress() {
  const name = decodeURIComponent(location.hash.slice(1));
  const index = data.takes.findIndex((take) => take.name === name);
  if (index >= 0) openDetail(index);
}

connectGrid();
press(find("#loop"), false);
document.body.classList.add("ready");
drawGrid();
chooseTake(shownTakes()[0]);
addEventListener("hashchange", followAddress);
followAddress();
