// The page of a gallery: one pattern sounds at a time.

const data = JSON.parse(document.getElementById("data").textContent);
const find = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

const setCount = Math.min(...data.patterns.map((pattern) => pattern.sounds.length));
const cards = all(".card").map((element, index) => ({
  element, ...data.patterns[index], deck: null, button: element.querySelector("button"),
  head: element.querySelector(".head"), words: element.textContent.toLowerCase(),
}));

/** What is chosen in the page. */
const state = { card: null, set: 0, isLooping: false, strength: 1 };

/** The deck of a card, made when it is first heard. */
function deckOf(card) {
  card.deck ??= new SoundDeck(card.sounds, {
    rate: data.rate, duration: card.duration, changed: () => playingChanged(card),
  });
  return card.deck;
}

function choose(card) {
  if (state.card === card) return;
  state.card?.deck?.pause();
  state.card?.element.classList.remove("chosen");
  state.card = card;
  card.element.classList.add("chosen");
  find("#now").textContent = card.name;
}

/** Plays a card from its start, or stops it. */
function toggle(card) {
  if (!card) return;
  const isSounding = state.card === card && card.deck?.isPlaying;
  choose(card);
  const deck = deckOf(card);
  if (isSounding) {
    deck.pause();
    return;
  }
  deck.choose(state.set);
  deck.setStrength(state.strength);
  deck.setLoop(state.isLooping, null);
  deck.seek(0);
  deck.play();
}

function playingChanged(card) {
  const isPlaying = card.deck.isPlaying;
  card.element.classList.toggle("sounding", isPlaying);
  card.button.setAttribute("aria-label", `${isPlaying ? "Stop" : "Play"} ${card.name}`);
  if (card !== state.card) return;
  document.body.classList.toggle("playing", isPlaying);
  find("#play").setAttribute("aria-label", isPlaying ? "Stop" : "Play");
  say(isPlaying ? `Playing ${card.name}` : `${card.name} stopped`);
  if (isPlaying) requestAnimationFrame(follow);
}

function follow() {
  const card = state.card;
  if (!card?.deck) return;
  card.deck.planAhead();
  const place = card.deck.position;
  card.head.style.left = `${100 * (data.left + (place / card.duration) * (data.right - data.left))}%`;
  find("#clock").textContent = `${secondsText(place)} / ${secondsText(card.duration)} s`;
  if (card.deck.isPlaying) requestAnimationFrame(follow);
}
setInterval(() => state.card?.deck?.planAhead(), 500);

function setLooping(isLooping) {
  state.isLooping = isLooping;
  find("#loop").setAttribute("aria-pressed", String(isLooping));
  state.card?.deck?.setLoop(isLooping, null);
  say(isLooping ? "Loop" : "No loop");
}

function chooseSet(set) {
  if (setCount < 2) return;
  state.set = set;
  all("input[name=set]")[set].checked = true;
  state.card?.deck?.choose(set);
  say(set === 1 ? "Sound for small speakers" : "Sound for actuators");
}

// MARK: Finding

/** Shows the cards that have all words of the search. */
function search() {
  const words = find("#search").value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  let count = 0;
  for (const card of cards) {
    const isShown = words.every((word) => card.words.includes(word));
    card.element.hidden = !isShown;
    if (isShown) count++;
  }
  find("#count").textContent = count === cards.length ? `${count} patterns` : `${count} of ${cards.length} patterns`;
  find("#nothing").hidden = count > 0;
}

function order(by) {
  const sorted = [...cards];
  if (by === "length") sorted.sort((one, other) => one.duration - other.duration);
  if (by === "events") sorted.sort((one, other) => one.events - other.events);
  find(".cards").append(...sorted.map((card) => card.element));
}

/** Goes on or back among the cards that are shown. */
function step(count) {
  const shown = all(".card:not([hidden])");
  if (shown.length === 0) return;
  const focused = document.activeElement?.closest(".card") ?? state.card?.element;
  const place = shown.indexOf(focused);
  const next = place < 0 ? shown[0] : shown[Math.min(shown.length - 1, Math.max(0, place + count))];
  next.querySelector("button").focus();
  next.scrollIntoView({ block: "nearest" });
}

// MARK: Wiring

for (const card of cards) {
  card.button.addEventListener("click", () => toggle(card));
  card.element.querySelector(".picture").addEventListener("click", () => toggle(card));
}
find("#play").addEventListener("click", () => toggle(state.card ?? cards.find((card) => !card.element.hidden)));
find("#loop").addEventListener("click", () => setLooping(!state.isLooping));
find("#strength").addEventListener("input", (event) => {
  state.strength = Number(event.target.value) / 100;
  state.card?.deck?.setStrength(state.strength);
});
find("#search").addEventListener("input", search);
find("#search").addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "Enter") {
    event.preventDefault();
    all(".card:not([hidden]) button")[0]?.focus();
  }
});
find("#order").addEventListener("change", (event) => order(event.target.value));
all("input[name=set]").forEach((input, set) => input.addEventListener("change", () => chooseSet(set)));
find(".sets").hidden = setCount < 2;

const keyTable = [
  { keys: ["/"], shown: "/", words: "Search", act: () => find("#search").focus() },
  { keys: ["ArrowDown", "ArrowRight", "j"], shown: "↓ →", words: "Next pattern", repeats: true, act: () => step(1) },
  { keys: ["ArrowUp", "ArrowLeft", "k"], shown: "↑ ←", words: "Previous pattern", repeats: true, act: () => step(-1) },
  { keys: [" "], shown: "Space", words: "Play or stop", act: () => toggle(state.card ?? cards[0]) },
  { keys: ["Escape"], shown: "Esc", words: "Stop", act: () => state.card?.deck?.pause() },
  { keys: ["l"], shown: "l", words: "Toggle loop", act: () => setLooping(!state.isLooping) },
  { keys: ["s"], shown: "s", words: "Switch sound: for actuators, for small speakers", act: () => chooseSet(1 - state.set) },
  { keys: ["?"], shown: "?", words: "Show keyboard shortcuts", act: () => openKeys() },
].filter((key) => setCount > 1 || key.shown !== "s");
const openKeys = showKeys(keyTable);
listenToKeys(keyTable, () => !find("dialog[open]"));

search();
