// The behavior of a report: the selected takes, the audible take, the keys and the buttons.

const deck = new Deck(() => followPlaying(deck, drawHead));

/** Starts or pauses playback of the selected takes. */
const togglePlay = () => (deck.isPlaying ? deck.pause() : deck.play());

/** Loads the sounds of both takes for the selected output. */
async function loadDeck() {
  const tracks = [{ take: state.one, delay: 0 }, { take: state.other, delay: pair().shift }];
  setGains();
  await deck.load(tracks.map(({ take, delay }) => ({ id: soundId(take, output), delay })));
}

/** Returns the gains that equalize both takes. The stronger take is attenuated. */
function matchedGains() {
  const gains = [firstTake(), secondTake()].map(
    (take) => take.gains[Math.min(output, take.gains.length - 1)] ?? 1
  );
  const maximum = Math.max(...gains) || 1;
  return gains.map((gain) => gain / maximum);
}

/** Applies the original or the equalized levels. */
function setGains() {
  deck.levels = state.isMatched ? matchedGains() : [1, 1];
  deck.applyGains();
}

/** Loops a range of seconds, or the whole takes for null. */
function setLoop(loop, isLooping = true) {
  Object.assign(state, { loop, isLooping });
  const isPart = loop && isLooping;
  deck.gap = isPart ? 0.18 : 0.4;
  deck.setLoop(isPart ? loop.from : 0, isPart ? loop.to : length(), isLooping);
  press(find("#loop"), isLooping);
  drawLoop();
}

/** Makes the first take, the second take, or both in alternation audible. */
function setHear(hear, { isQuiet = false } = {}) {
  state.hear = hear;
  deck.alternates = hear === "turns";
  deck.heard = hear === "1" ? 1 : 0;
  check(find("#hear"), find(`#hear [data-hear="${hear}"]`));
  if (hear === "turns" && !state.isLooping && !isQuiet) setLoop(state.loop, true);
  deck.applyGains();
  if (isQuiet) return;
  const take = hear === "1" ? secondTake() : firstTake();
  announce(
    hear === "turns"
      ? `${firstTake().letter} and ${secondTake().letter} in turn`
      : `${take.letter}, ${take.name}`
  );
}

/** Turns level matching on or off. */
function setMatched(isMatched) {
  state.isMatched = isMatched;
  press(find("#match"), isMatched);
  setGains();
}

/** Applies a change of the selected output. */
function chooseOutput() {
  loadDeck();
  if (state.view !== "pattern") draw();
}

/** Shows two takes and updates the whole page. */
async function setPair(first, second) {
  if (first === second) return;
  Object.assign(state, {
    one: first, other: second, chosen: -1, loop: null, isLooping: state.hear === "turns",
    from: 0, to: length(), sought: null,
  });
  state.to = length();
  deck.pause();
  deck.pausedPosition = 0;
  drawNames();
  setHear(state.hear, { isQuiet: true });
  drawVerdict();
  find("#legend").innerHTML = legend();
  drawList();
  drawScrub();
  drawMeasures();
  drawSource();
  drawEvents();
  drawAbout();
  await draw();
  setLoop(null, state.isLooping);
  keepAddress();
  loadDeck();
}

/** Shows the names of both takes. */
function drawNames() {
  for (const [id, chosen] of [["#first", state.one], ["#second", state.other]]) {
    find(id).innerHTML = data.takes.map((take, index) =>
      `<option value="${index}"${index === chosen ? " selected" : ""}>${escaped(take.name)}</option>`).join("");
    find(`${id}-tag`).innerHTML = tag(chosen);
  }
  const buttons = [state.one, state.other].map((index, side) =>
    `<button role="radio" data-hear="${side}" aria-label="${data.takes[index].letter}, `
    + `${escaped(data.takes[index].name)}">${tag(index)}<span class="nm">`
    + `${escaped(data.takes[index].name)}</span></button>`);
  find("#hear").innerHTML = `${buttons.join("")}<button role="radio" data-hear="turns">In turn</button>`;
  for (const button of findAll("#hear button")) {
    button.addEventListener("click", () => setHear(button.dataset.hear));
  }
  find("#views [data-view=pattern]").textContent =
    quantitiesOf(firstTake(), secondTake()) === patternQuantities ? "Pattern" : "Level";
}

/** Returns the markup of the legend of colors and heads. */
function legend() {
  const sample = (area, edge, head) => `<svg viewBox="0 0 30 12" aria-hidden="true">`
    + `<path class="${area}" d="M0 12V6h30v6z"/><path class="${edge}" d="M0 6h30"/>${head}</svg>`;
  return `<span>${sample("both-area", "both-line", "")}in both</span>`
    + `<span>${sample("a-area", "a-line", circle(15, 6, "a", 4.5))}only in ${firstTake().letter}</span>`
    + `<span>${sample("b-area", "b-line", diamond(15, 6, "b", 5.5))}only in ${secondTake().letter}</span>`;
}

/** Moves the play head by a number of seconds. */
const nudge = (seconds) => seekTo(clamp(deck.position + seconds, 0, length()));
/** Sets the start or the end of the loop at the play head. */
function setLoopEnd(end) {
  const position = deck.position;
  const loop = { from: 0, to: length(), ...state.loop, [end]: position };
  if (loop.to - loop.from > 0.02) setLoop(loop);
}
const views = ["pattern", "waveform", "spectrogram"];
const nextOf = (list, value) => list[(list.indexOf(value) + 1) % list.length];

const keyTable = [
  { keys: [" "], shown: "Space", words: "Play or pause", act: togglePlay },
  { keys: ["a", "1"], shown: "a", words: "Hear the first take", act: () => setHear("0") },
  { keys: ["b", "2"], shown: "b", words: "Hear the second take", act: () => setHear("1") },
  { keys: ["x"], shown: "x", words: "First, second, in turn",
    act: () => setHear(nextOf(["0", "1", "turns"], state.hear)) },
  { keys: ["n"], shown: "n p", words: "Next, previous difference", act: () => stepDifference(1) },
  { keys: ["p"], shown: "", words: "", act: () => stepDifference(-1) },
  { keys: ["l"], shown: "l", words: "Loop", act: () => setLoop(state.loop, !state.isLooping) },
  { keys: ["["], shown: "[ ]", words: "Start and end of the loop", act: () => setLoopEnd("from") },
  { keys: ["]"], shown: "", words: "", act: () => setLoopEnd("to") },
  { keys: ["Escape"], shown: "Esc", words: "Clear the loop", act: () => {
    Object.assign(state, { chosen: -1, sought: null });
    setLoop(null, false);
    highlight(-1);
    keepAddress();
  } },
  { keys: ["ArrowLeft"], shown: "← →", words: "Back, forward 10 ms; with Shift 100 ms", repeats: true,
    act: (event) => nudge(event.shiftKey ? -0.1 : -0.01) },
  { keys: ["ArrowRight"], shown: "", words: "", repeats: true,
    act: (event) => nudge(event.shiftKey ? 0.1 : 0.01) },
  { keys: ["Home"], shown: "Home", words: "To the start", act: () => seekTo(deck.from) },
  {
    keys: ["v"], shown: "v", words: "Next picture", act: () => setPicture(nextOf(views, state.view))
  },
  {
    keys: ["+", "="],
    shown: "+ − 0",
    words: "Zoom in, out, fit",
    repeats: true,
    act: () => zoom(0.6)
  },
  { keys: ["-"], shown: "", words: "", repeats: true, act: () => zoom(1.6) },
  { keys: ["0"], shown: "", words: "", act: () => setView(0, length()) },
  { keys: ["g"], shown: "g", words: "Match level", act: () => setMatched(!state.isMatched) },
  { keys: ["s"], shown: hasOutputs ? "s" : "", words: "Small speakers or actuator",
    act: () => setOutput(1 - output, chooseOutput) },
  {
    keys: ["e"],
    shown: "e",
    words: "Share: link, list, picture",
    act: () => find("#share-dialog").showModal()
  },
  { keys: ["t"], shown: "t", words: "Blind test", act: () => blindTest.open() },
  { keys: ["?"], shown: "?", words: "Show this help", act: () => find("#keys-dialog").showModal() },
];
showKeys(keyTable);
listenToKeys(keyTable, () => !find("dialog[open]"));

connectTransport(deck, {
  toggle: togglePlay, chooseOutput, scrub: (fraction) => seekTo(fraction * length()),
});
find("#loop").addEventListener("click", () => setLoop(state.loop, !state.isLooping));
find("#match").addEventListener("click", () => setMatched(!state.isMatched));
for (const button of findAll("#views [data-view]")) {
  button.addEventListener("click", () => setPicture(button.dataset.view));
}
for (const button of findAll("[data-zoom]")) {
  button.addEventListener("click", () => {
    if (button.dataset.zoom === "fit") setView(0, length());
    else zoom(button.dataset.zoom === "in" ? 0.6 : 1.6);
  });
}
for (const button of findAll("[data-order]")) {
  button.addEventListener("click", () => {
    state.order = button.dataset.order;
    for (const each of findAll("[data-order]")) press(each, each === button);
    drawList();
    highlight(state.chosen);
  });
}
// The two takes are always different: selecting the other take swaps them.
find("#first").addEventListener("change", (event) => {
  const chosen = Number(event.target.value);
  setPair(chosen, chosen === state.other ? state.one : state.other);
});
find("#second").addEventListener("change", (event) => {
  const chosen = Number(event.target.value);
  setPair(chosen === state.one ? state.other : state.one, chosen);
});
find("#swap").addEventListener("click", () => setPair(state.other, state.one));

let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(draw, 60);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
addEventListener("beforeprint", () => {
  find("#stage").style.width = "700px";
  draw();
});
addEventListener("afterprint", () => {
  find("#stage").style.width = "";
  draw();
});

/** The state of the page before the blind test. */
let before = null;

const blindTest = new BlindTest({
  measure: data.levelMatch,
  conditions: () => ({
    profile: data.profile.name, strength: deck.volume, match: state.isMatched
      ? data.levelMatch
      : "none",
  }),
  about: () => [state.one, state.other].map((index, side) => {
    const { name, sha256, duration } = data.takes[index];
    return { name, ...(sha256 ? { sha256 } : {}), gain: deck.levels[side], seconds: duration };
  }),
  areIdentical: () => deck.tracks.length === 2 && areIdentical(deck.tracks, [1, 1], false),
  async differOnlyInLevel() {
    if (deck.tracks.length !== 2) await loadDeck();
    const gains = matchedGains();
    return gains[0] !== gains[1] && areIdentical(deck.tracks, gains, true);
  },
  isPlaying: () => deck.isPlaying,
  togglePlay,
  hear: (side) => deck.selectMasked(side),
  begin(isMatched) {
    before ??= { hear: state.hear, isMatched: state.isMatched, isLooping: state.isLooping };
    deck.pause();
    setMatched(isMatched);
    setHear("0", { isQuiet: true });
    setLoop(state.loop, true);
    deck.play(deck.from);
  },
  end() {
    deck.pause();
    if (!before) return;
    const { hear, isMatched, isLooping } = before;
    before = null;
    setMatched(isMatched);
    setLoop(state.loop, isLooping);
    setHear(hear, { isQuiet: true });
  },
});
connectBlindTest(blindTest);
connectShares();

check(find("#views"), find("#views [data-view=pattern]"));
press(find("#match"), false);
document.body.classList.add("ready");
const address = location.hash;
setPair(0, 1).then(() => {
  if (address) history.replaceState(null, "", address);
  addEventListener("hashchange", followAddress);
  return followAddress();
});
