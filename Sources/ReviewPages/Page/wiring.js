// What the controls and keys of a comparison's page do, and the blind test.

all(".switch button").forEach((button, index) => {
  button.addEventListener("click", () => chooseTake(index));
  button.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (index + step + takes.length) % takes.length;
    chooseTake(next);
    all(".switch button")[next].focus();
  });
});
all(".views button").forEach((button) => button.addEventListener("click", () => chooseView(button.dataset.view)));
all("[data-difference]").forEach((button, index) => button.addEventListener("click", () => goToDifference(index)));
all("input[name=set]").forEach((input, set) => input.addEventListener("change", () => chooseSet(set)));
find(".sets").hidden = setCount < 2;
find("#play").addEventListener("click", togglePlay);
find("#match").addEventListener("click", () => setMatched(!state.isMatched));
find("#loop").addEventListener("click", () => setLoop(!state.isLooping));
find("#strength").addEventListener("input", (event) => setStrength(Number(event.target.value)));
find("#time").addEventListener("input", (event) => seek(Number(event.target.value)));

const views = all(".views button").map((button) => button.dataset.view);
const openKeys = () => showKeysDialog();
const keyTable = [
  { keys: [" "], shown: "Space", words: "Play or pause", act: togglePlay },
  ...takes.slice(0, 9).map((take, index) => ({
    keys: [String(index + 1), take.letter.toLowerCase()], shown: `${index + 1} ${take.letter.toLowerCase()}`,
    words: `Hear ${take.letter}, ${take.name}`, act: () => chooseTake(index),
  })),
  { keys: ["x"], shown: "x", words: "Next take", act: () => chooseTake((state.take + 1) % takes.length) },
  { keys: ["ArrowLeft"], shown: "←", words: "Back 10 ms; with Shift 100 ms", repeats: true,
    act: () => seek(deck.position - 0.01) },
  { keys: ["ArrowRight"], shown: "→", words: "Forward 10 ms; with Shift 100 ms", repeats: true,
    act: () => seek(deck.position + 0.01) },
  { keys: ["Shift+ArrowLeft"], shown: "", words: "", repeats: true, act: () => seek(deck.position - 0.1) },
  { keys: ["Shift+ArrowRight"], shown: "", words: "", repeats: true, act: () => seek(deck.position + 0.1) },
  { keys: ["Home"], shown: "Home", words: "Back to the start", act: () => seek(state.stretch?.from ?? 0) },
  { keys: ["l"], shown: "l", words: "Toggle loop", act: () => setLoop(!state.isLooping) },
  { keys: ["["], shown: "[", words: "Set loop start", act: () => setEnd("from") },
  { keys: ["]"], shown: "]", words: "Set loop end", act: () => setEnd("to") },
  { keys: ["Escape"], shown: "Esc", words: "Clear loop range", act: clearStretch },
  { keys: ["g"], shown: "g", words: "Toggle level matching", act: () => setMatched(!state.isMatched) },
  { keys: ["+", "="], shown: "+", words: "Stronger", repeats: true, act: () => setStrength(Number(find("#strength").value) + 5) },
  { keys: ["-"], shown: "-", words: "Weaker", repeats: true, act: () => setStrength(Number(find("#strength").value) - 5) },
  { keys: ["s"], shown: "s", words: "Switch sound: for actuators, for small speakers", act: () => chooseSet(1 - state.set) },
  { keys: ["."], shown: ".", words: "Next event", act: () => stepEvent(1) },
  { keys: [","], shown: ",", words: "Previous event", act: () => stepEvent(-1) },
  { keys: ["n"], shown: "n", words: "Loop the next difference", act: () => goToDifference(difference + 1) },
  { keys: ["p"], shown: "p", words: "Loop the previous difference", act: () => goToDifference(difference < 0 ? -1 : difference - 1) },
  { keys: ["v"], shown: "v", words: "Next view", act: () => {
    chooseView(views[(views.indexOf(find(".figures").dataset.view) + 1) % views.length]);
  } },
  { keys: ["t"], shown: "t", words: "Blind test", act: () => find("#blind-form").requestSubmit() },
  { keys: ["?"], shown: "?", words: "Show keyboard shortcuts", act: () => openKeys() },
].filter((key) => setCount > 1 || key.shown !== "s");
const showKeysDialog = showKeys(keyTable.filter((key) => key.shown !== ""));
listenToKeys(keyTable, () => !find("dialog[open]"));

chooseAxes();
chooseView(views[0] ?? "all");
chooseTake(0);
setMatched(false);
setStrength(100);
say("");

// Paper shows everything that is folded away, unless it is very long.
const opened = [];
addEventListener("beforeprint", () => {
  for (const details of all("details:not([open])")) {
    if (Number(details.dataset.lines ?? 0) > 200) continue;
    details.open = true;
    opened.push(details);
  }
});
addEventListener("afterprint", () => { while (opened.length > 0) opened.pop().open = false; });

// MARK: Blind test

/** What the page was doing before the test. */
let before = null;

function endTest() {
  deck.pause();
  if (!before) return;
  const { isMatched, isLooping } = before;
  before = null;
  setLoop(isLooping);
  setMatched(isMatched);
  chooseTake(state.take);
}

const blindTest = takes.length < 2 ? null : new BlindTest({
  origin: data.origin,
  conditions: () => ({ profile: data.profile, match: data.levelMatch }),
  about: (pair) => pair.map((take) => ({
    ...takes[take].about, gain: takes[take].gains[state.set] ?? takes[take].gains[0],
    seconds: takes[take].duration,
  })),
  isPlaying: () => deck.isPlaying,
  togglePlay,
  hear: (take) => deck.chooseCovered(trackOf(take)),
  begin() {
    before ??= { isMatched: state.isMatched, isLooping: state.isLooping };
    deck.pause();
    deck.setLevels(levelsOf(true));
    deck.setLoop(true, state.stretch);
    deck.seek(state.stretch?.from ?? 0);
    deck.play();
  },
  end: endTest,
});
