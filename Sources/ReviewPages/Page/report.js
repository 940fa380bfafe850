// The page of a comparison: one deck, one play head, and the pictures that follow it.

const data = JSON.parse(document.getElementById("data").textContent);
const takes = data.takes;
const find = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

/** What is chosen in the page. */
const state = { take: 0, set: 0, isMatched: false, stretch: null, isLooping: false };

const setCount = takes.every((take) => take.sounds.length > 1) ? 2 : 1;
const deck = new SoundDeck(
  Array.from({ length: setCount }, (_, set) => takes.map((take) => take.sounds[set])).flat(),
  { rate: data.rate, duration: data.duration, changed: playingChanged });

/** The track of a take in the chosen set. */
function trackOf(take) {
  return state.set * takes.length + take;
}

// MARK: Sound

function chooseTake(index) {
  if (index < 0 || index >= takes.length) return;
  state.take = index;
  deck.choose(trackOf(index));
  for (const button of all(".switch button")) {
    const isChosen = Number(button.dataset.take) === index;
    button.setAttribute("aria-checked", String(isChosen));
    button.tabIndex = isChosen ? 0 : -1;
  }
  for (const figure of all(".plot")) {
    figure.classList.toggle("heard", figure.dataset.take === String(index));
  }
  say(`${takes[index].letter}, ${takes[index].name}`);
}

function chooseSet(set) {
  if (setCount < 2) return;
  state.set = set;
  deck.choose(trackOf(state.take));
  all("input[name=set]")[set].checked = true;
  find("#speaker-note").classList.toggle("quiet", set === 1);
  say(set === 1 ? "Sound for small speakers" : "Sound for actuators");
}

/** The factors of all tracks, matched or not. */
function levelsOf(isMatched) {
  return Array.from({ length: setCount }, (_, set) =>
    takes.map((take) => (isMatched ? take.gains[Math.min(set, take.gains.length - 1)] : 1))).flat();
}

function setMatched(isMatched) {
  state.isMatched = isMatched;
  deck.setLevels(levelsOf(isMatched));
  find("#match").setAttribute("aria-pressed", String(isMatched));
  say(isMatched ? "Levels matched" : "Levels not matched");
}

function setStrength(percent) {
  const value = Math.min(100, Math.max(0, percent));
  find("#strength").value = value;
  find("#strength-value").textContent = `${value} %`;
  deck.setStrength(value / 100);
}

function togglePlay() {
  if (deck.isPlaying) deck.pause();
  else deck.play();
}

function playingChanged() {
  const button = find("#play");
  button.setAttribute("aria-label", deck.isPlaying ? "Pause" : "Play");
  document.body.classList.toggle("playing", deck.isPlaying);
  say(deck.isPlaying ? `Playing ${takes[state.take].letter}` : `Stopped at ${secondsText(deck.position)} seconds`);
  if (deck.isPlaying) requestAnimationFrame(follow);
  drawHead();
  blindTest?.playingChanged();
}

// MARK: Play head and range

function follow() {
  deck.planAhead();
  drawHead();
  if (deck.isPlaying) requestAnimationFrame(follow);
}
// A page in the background draws nothing, and loops on.
setInterval(() => deck.planAhead(), 500);

function seek(seconds) {
  deck.seek(seconds);
  drawHead();
}

/** The place of a time in a picture, as a share of the picture's width. */
function shareOf(plot, seconds) {
  const { start, end, left, right } = plot.axis;
  return left + ((seconds - start) / (end - start)) * (right - left);
}

function drawHead() {
  const place = deck.position;
  for (const plot of plots) {
    plot.head.style.left = `${100 * shareOf(plot, place)}%`;
    const { from, to } = state.stretch ?? { from: 0, to: 0 };
    plot.stretch.hidden = !state.stretch;
    plot.stretch.style.left = `${100 * shareOf(plot, from)}%`;
    plot.stretch.style.width = `${100 * (shareOf(plot, to) - shareOf(plot, from))}%`;
  }
  const time = find("#time");
  if (document.activeElement !== time || deck.isPlaying || Number(time.value) !== place) time.value = place;
  time.setAttribute("aria-valuetext", `${secondsText(place)} seconds`);
  find("#clock").firstChild.data = `${secondsText(place)} `;
  const bar = find(".timeline .stretch");
  bar.hidden = !state.stretch;
  if (state.stretch) {
    // The middle of a slider's thumb stays half its width away from both ends.
    const ends = [state.stretch.from, state.stretch.to].map((end) => end / data.duration);
    bar.style.left = `calc(${8 - 16 * ends[0]}px + ${100 * ends[0]}%)`;
    bar.style.width = `calc((100% - 16px) * ${ends[1] - ends[0]})`;
  }
}

/** Loops a stretch, or everything, or not at all. */
function setLoop(isLooping, stretch = state.stretch) {
  state.isLooping = isLooping;
  state.stretch = stretch;
  deck.setLoop(isLooping, stretch);
  find("#loop").setAttribute("aria-pressed", String(isLooping));
  drawHead();
}

/** The shortest stretch, in seconds. */
const shortest = 0.05;

/** Loops a stretch with what is around it, so that the ear can place it. */
function loopAround(from, to) {
  const spare = Math.max(0, 0.4 - (to - from));
  loopStretch(from - Math.max(0.1, spare / 3), to + Math.max(0.1, spare * 2 / 3));
}

function loopStretch(from, to) {
  const begin = Math.max(0, Math.min(from, data.duration - shortest));
  const stretch = { from: begin, to: Math.min(data.duration, Math.max(to, begin + shortest)) };
  setLoop(true, stretch);
  seek(stretch.from);
  say(`Looping ${secondsText(stretch.from)} to ${secondsText(stretch.to)} seconds`);
}

/** Sets one end of the stretch where the play head is. */
function setEnd(name) {
  const place = deck.position;
  const stretch = { from: 0, to: data.duration, ...state.stretch, [name]: place };
  if (stretch.to - stretch.from < shortest) {
    say(`A loop range must be at least ${shortest} seconds long`);
    return;
  }
  setLoop(true, stretch);
  say(`Looping ${secondsText(stretch.from)} to ${secondsText(stretch.to)} seconds`);
}

function clearStretch() {
  setLoop(false, null);
  say("No loop");
}

// MARK: Pictures

const narrow = matchMedia("(max-width: 640px)");
const plots = all(".plot").map((figure) => {
  const plot = {
    figure, picture: figure.querySelector(".picture"), head: figure.querySelector(".head"),
    stretch: figure.querySelector(".stretch"), values: figure.querySelector(".values"), axis: null,
  };
  plot.picture.addEventListener("pointerdown", (event) => grab(plot, event));
  plot.picture.addEventListener("pointermove", (event) => hover(plot, event));
  plot.picture.addEventListener("pointerleave", () => { if (plot.values) plot.values.hidden = true; });
  return plot;
});

function chooseAxes() {
  for (const plot of plots) {
    const [start, end, left, right] =
      plot.figure.dataset[narrow.matches ? "narrow" : "wide"].split(" ").map(Number);
    plot.axis = { start, end, left, right };
  }
  drawHead();
}
narrow.addEventListener("change", chooseAxes);

/** The time under a pointer. */
function timeAt(plot, event) {
  const box = plot.picture.getBoundingClientRect();
  const { start, end, left, right } = plot.axis;
  const share = (event.clientX - box.left) / box.width;
  const seconds = start + ((share - left) / (right - left)) * (end - start);
  return Math.min(data.duration, Math.max(0, seconds));
}

/** A press moves the play head; a drag from the play head moves it on, a drag from elsewhere is a stretch. */
function grab(plot, event) {
  if (event.button !== 0) return;
  event.preventDefault();
  const first = event.clientX;
  const begin = timeAt(plot, event);
  const head = plot.head.getBoundingClientRect();
  const movesHead = Math.abs(head.left + head.width / 2 - first) < 9;
  let isDrag = false;
  plot.picture.setPointerCapture(event.pointerId);
  const move = (event) => {
    isDrag ||= Math.abs(event.clientX - first) > 5;
    if (!isDrag) return;
    const time = timeAt(plot, event);
    if (movesHead) seek(time);
    else {
      state.stretch = { from: Math.min(begin, time), to: Math.max(begin, time) };
      drawHead();
    }
  };
  const done = (event) => {
    plot.picture.removeEventListener("pointermove", move);
    plot.picture.removeEventListener("pointerup", done);
    plot.picture.removeEventListener("pointercancel", done);
    if (!isDrag) seek(begin);
    else if (!movesHead) loopStretch(state.stretch.from, state.stretch.to);
  };
  plot.picture.addEventListener("pointermove", move);
  plot.picture.addEventListener("pointerup", done);
  plot.picture.addEventListener("pointercancel", done);
}

function chooseView(name) {
  const figures = find(".figures");
  figures.dataset.view = name;
  for (const button of all(".views button")) {
    button.setAttribute("aria-pressed", String(button.dataset.view === name));
  }
  for (const figure of all(".plot")) figure.classList.toggle("away", name !== "all" && figure.dataset.kind !== name);
}

// MARK: Values of events

/** The event of a take that is nearest to a time: one that lasts over it, else the one that begins nearest. */
function eventAt(take, seconds) {
  let best = null;
  let least = Infinity;
  for (const event of takes[take].events) {
    const end = event.time + event.duration;
    const distance = seconds < event.time ? event.time - seconds : Math.max(0, seconds - end);
    // Of two that sound, the one that began later.
    if (distance < least || (distance === least && best && event.time > best.time)) {
      best = event;
      least = distance;
    }
  }
  return best;
}

/** Strength and tone of an event at a time; it keeps its first and last values outside. */
function valuesAt(event, seconds) {
  const points = event.points;
  let index = 0;
  while (index + 3 < points.length - 3 && points[index + 3] <= seconds) index += 3;
  const [time, strength, tone] = points.slice(index, index + 3);
  if (index + 3 >= points.length || seconds <= time) return { strength, tone };
  const [next, nextStrength, nextTone] = points.slice(index + 3, index + 6);
  const share = Math.min(1, (seconds - time) / (next - time));
  return { strength: strength + share * (nextStrength - strength), tone: tone + share * (nextTone - tone) };
}

/** The frequency that a law gives to a sharpness. */
function hertzOf({ low, high, scale }, sharpness) {
  return scale === "linear" ? low + (high - low) * sharpness : low * (high / low) ** sharpness;
}

/** What is said of an event at a time. */
function eventWords(event, seconds) {
  const parts = [`${secondsText(Math.max(event.time, Math.min(seconds, event.time + event.duration)))} s`];
  parts.push(event.duration > 0 ? `${event.kind}, ${secondsText(event.duration)} s long` : event.kind);
  if (event.points.length > 0) {
    const { strength, tone } = valuesAt(event, seconds);
    parts.push(`${event.strength} ${strength.toFixed(2)}`, `${event.tone} ${tone.toFixed(2)}`);
    if (event.frequency) parts.push(`${hertzOf(event.frequency, tone).toFixed(0)} Hz`);
  }
  return parts.join(" · ");
}

/** The takes whose values a picture tells. */
function takesOf(plot) {
  return plot.figure.dataset.take === undefined ? [0, 1] : [Number(plot.figure.dataset.take)];
}

function hover(plot, event) {
  if (plot.values) showValues(plot, timeAt(plot, event));
}

/** Shows what the takes of a picture do at a time. */
function showValues(plot, seconds) {
  plot.values.replaceChildren(...takesOf(plot).map((take) => {
    const line = document.createElement("div");
    const found = eventAt(take, seconds);
    line.textContent = `${takes[take].letter}  ${found ? eventWords(found, seconds) : "no event"}`;
    return line;
  }));
  plot.values.hidden = false;
  const box = plot.picture.clientWidth;
  const width = plot.values.offsetWidth;
  const middle = shareOf(plot, seconds) * box;
  // Beside the place, so that it can be seen.
  const left = middle + 12 + width < box ? middle + 12 : middle - 12 - width;
  plot.values.style.left = `${Math.max(0, Math.min(box - width, left))}px`;
}

/** Goes to the next or last event of the take that is heard. */
function stepEvent(direction) {
  const place = deck.position;
  const events = takes[state.take].events;
  const found = direction > 0
    ? events.find((event) => event.time > place + 0.0005)
    : events.findLast((event) => event.time < place - 0.0005);
  if (!found) {
    say(direction > 0 ? "No later event" : "No earlier event");
    return;
  }
  seek(found.time);
  for (const plot of plots) {
    if (plot.values) plot.values.hidden = true;
    if (plot.values && takesOf(plot).includes(state.take)) showValues(plot, found.time);
  }
  say(eventWords(found, found.time));
}

// MARK: Differences

let difference = -1;

function goToDifference(index) {
  const buttons = all("[data-difference]");
  if (buttons.length === 0) return;
  difference = (index + buttons.length) % buttons.length;
  const button = buttons[difference];
  buttons.forEach((each) => each.classList.toggle("chosen", each === button));
  loopAround(Number(button.dataset.from), Number(button.dataset.to));
  say(button.textContent.trim());
}
