// The cards of a gallery, with search, order, hover, and playback from a figure.

const gallery = { now: -1, query: "", order: "name", kind: "all", isTouched: false };

const deck = new Deck(() => {
  followPlaying(deck, drawPlace);
  markCards();
});

/** Returns the number of events of a kind in a take. */
const countOf = (take, kind) => (take.events ?? []).filter((event) => event.kind === kind).length;
const sharpest = (take) => Math.max(0, ...(take.events ?? []).map((event) => event.points[2]));
const peakOf = (take) => take.figures.peakDecibels ?? -200;

const kinds = {
  all: () => true,
  one: (take) => countOf(take, "transient") === 1 && take.events.length === 1,
  transients: (take) => take.events.length > 1 && countOf(take, "transient") === take.events.length,
  continuous: (take) => countOf(take, "continuous") > 0,
};
const orders = {
  name: () => 0,
  length: (a, b) => lengths[a] - lengths[b],
  peak: (a, b) => peakOf(data.takes[b]) - peakOf(data.takes[a]),
  sharpness: (a, b) => sharpest(data.takes[b]) - sharpest(data.takes[a]),
  events: (a, b) => data.takes[b].events.length - data.takes[a].events.length,
};

/** Returns the indices of the visible takes in their order. */
function shownTakes() {
  const words = gallery.query.toLowerCase().split(/\s+/).filter(Boolean);
  return data.takes.map((_, index) => index).filter((index) => {
    const take = data.takes[index];
    const text = `${take.name} ${take.notes ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word)) && kinds[gallery.kind](take);
  }).sort((a, b) => orders[gallery.order](a, b)
    || data.takes[a].name.localeCompare(data.takes[b].name));
}

/** Returns the duration of a take's sound, in seconds. */
const durationText = (index) => `${secondsText(data.takes[index].length)} s`;

/** Draws all cards. */
function drawGrid() {
  measureRuler();
  gradientNumber = 0;
  const shown = shownTakes();
  const grid = find("#grid");
  grid.innerHTML = shown.map(card).join("");
  for (const element of findAll(".card", grid)) {
    const { span } = layoutOf(Number(element.dataset.take));
    element.style.setProperty("--span", span);
    element.classList.toggle("half", span === 1);
  }
  find("#nothing").hidden = shown.length > 0;
  find("#count").textContent = shown.length === data.takes.length
    ? counted(data.takes.length, "pattern") : `${shown.length} of ${counted(data.takes.length, "pattern")}`;
  markCards();
}

function card(index) {
  const take = data.takes[index];
  const name = escaped(take.name);
  const notes = escaped(take.notes ?? "");
  return `<article class="card" data-take="${index}"><header><h2><button data-open aria-haspopup="dialog">`
    + `${name}</button></h2><span class="len">${durationText(index)}</span></header>`
    + `<button class="thumb" data-play aria-label="Play ${name}, ${escaped(countsText(take))}">`
    + `${thumbnail(index)}<span class="go" aria-hidden="true"><svg viewBox="0 0 16 16">`
    + "<path class=\"p\" d=\"M4.5 2v12l9-6z\"/><path class=\"s\" d=\"M4 3h3v10H4zM9 3h3v10H9z\"/></svg>"
    + `</span><span class="cursor" hidden></span></button><p class="desc" title="${notes}">${notes}</p></article>`;
}

const cardOf = (index) => find(`.card[data-take="${index}"]`);
const takeOf = (element) => Number(element.closest(".card").dataset.take);

/** Marks the selected pattern and the playing pattern. */
function markCards() {
  for (const element of findAll(".card[data-take]")) {
    const isNow = gallery.isTouched && Number(element.dataset.take) === gallery.now;
    element.classList.toggle("now", isNow);
    element.classList.toggle("sounding", isNow && deck.isPlaying);
  }
}

/** Selects a pattern for the transport at the bottom of the page. */
async function chooseTake(index) {
  gallery.now = index;
  deck.pause();
  deck.alternates = false;
  deck.heard = 0;
  deck.pausedPosition = 0;
  deck.setLoop(0, Math.max(data.takes[index].duration, 0.02), isLooping());
  find("#now").innerHTML = `${escaped(data.takes[index].name)}<small>${escaped(countsText(data.takes[index]))}</small>`;
  const duration = data.takes[index].length;
  find("#duration").textContent = `/ ${clockText(duration, duration)} ${axisUnit(duration)}`;
  drawScrub();
  markCards();
  drawPlace();
  await deck.load([{ id: soundId(index, output) }]);
}

const isLooping = () => find("#loop").getAttribute("aria-pressed") === "true";

/** Plays a pattern from a time in seconds. */
async function playTake(index, time = 0) {
  gallery.isTouched = true;
  if (index !== gallery.now || deck.tracks.length !== 1) await chooseTake(index);
  await deck.play(time);
}

/** Starts or stops playback of a pattern. */
function toggleTake(index) {
  if (index === gallery.now && deck.isPlaying) deck.pause();
  else playTake(index);
}

/** Shows a cursor line over a thumbnail, optionally with text. */
function setCursor(element, index, time, words) {
  const position = thumbnailPosition(index, time);
  const cursor = find(".cursor", element);
  const width = find(".thumb", element).clientWidth;
  cursor.hidden = position.x > width;
  cursor.classList.toggle("flip", position.x > width - 60);
  Object.assign(cursor.style, {
    left: `${position.x - 0.75}px`, top: `${position.y}px`, height: `${position.height}px`,
  });
  cursor.innerHTML = words ? `<b>${words}</b>` : "";
}

/** Shows the play head on its card, in the transport and in the detail. */
function drawPlace() {
  if (gallery.now < 0) return;
  const position = deck.position;
  const element = cardOf(gallery.now);
  if (element && deck.isPlaying) setCursor(element, gallery.now, position);
  else if (element && !element.matches(":hover")) find(".cursor", element).hidden = true;
  showPosition(deck, deck.to);
  const mark = find("#scrub .place");
  if (mark) {
    mark.style.left = `${8 + position / Math.max(deck.to, 0.05) * (find("#scrub").clientWidth - 16)}px`;
  }
  drawDetailPosition(position);
}

/** Draws the events of the selected pattern in the transport. */
function drawScrub() {
  const width = Math.max(100, find("#scrub").clientWidth);
  const x = (time) => 8 + time / Math.max(deck.to, 0.05) * (width - 16);
  const shapes = drawEventsOf(data.takes[gallery.now], {
    x, y: (value) => 36 - value * 28, bottom: 36, from: 0, to: Infinity, radius: 3,
  });
  find("#scrub").innerHTML = `<svg viewBox="0 0 ${width} 36" preserveAspectRatio="none" aria-hidden="true">`
    + `${shapes}</svg><span class="place"></span>`;
}

/**
 * Returns the time under the pointer in a thumbnail in seconds, or the onset of a nearby transient.
 */
function hoveredTime(event, thumb) {
  const index = takeOf(thumb);
  const box = thumb.getBoundingClientRect();
  const { perLine, lines, height } = layoutOf(index);
  const names = laneNamesOf(data.takes[index]);
  const row = clamp(
    Math.floor((event.clientY - box.top) / (height + axisHeight)), 0, lines * names.length - 1);
  const take = partOf(data.takes[index], names, row % names.length);
  const time = Math.floor(row / names.length) * perLine + (event.clientX - box.left - 6) / ruler.pixelsPerSecond;
  const inside = clamp(time, 0, Math.max(lengths[index], 0.03));
  const near = transientNear(take, inside, 7 / ruler.pixelsPerSecond);
  return { index, time: near?.time ?? inside, value: near ?? continuousAt(take, inside) };
}

/** Connects the cards to their events. Hovering shows the time, intensity and frequency. */
function connectGrid() {
  const grid = find("#grid");
  grid.addEventListener("pointermove", (event) => {
    const thumb = event.target.closest(".thumb");
    if (!thumb || event.pointerType !== "mouse") return;
    const { index, time, value } = hoveredTime(event, thumb);
    thumb.dataset.time = time;
    if (index === gallery.now && deck.isPlaying) return;
    const hertz = value ? eventHertz(value.event, value.sharpness) : null;
    const words = [`${numberText(time)} s`];
    if (value) words.push(value.intensity.toFixed(2));
    if (hertz !== null) words.push(hertzText(hertz));
    setCursor(thumb.closest(".card"), index, time, words.join(" · "));
  });
  grid.addEventListener("pointerout", (event) => {
    const element = event.target.closest(".card[data-take]");
    if (!element || element.contains(event.relatedTarget)) return;
    if (Number(element.dataset.take) !== gallery.now || !deck.isPlaying) {
      find(".cursor", element).hidden = true;
    }
  });
  grid.addEventListener("click", (event) => {
    const element = event.target.closest(".card[data-take]");
    if (!element) return;
    const index = Number(element.dataset.take);
    const thumb = event.target.closest("[data-play]");
    if (!thumb) {
      openDetail(index);
      return;
    }
    const time = Number(thumb.dataset.time ?? 0);
    const isFromThere = event.detail > 0 && lengths[index] > 0.4 && time > 0.08;
    if (isFromThere && !(index === gallery.now && deck.isPlaying)) playTake(index, time);
    else toggleTake(index);
  });
}

/** Moves the focus from card to card with arrow keys. */
function moveFocus(across, down) {
  const cards = findAll(".card[data-take]");
  if (!cards.length) return;
  const current = document.activeElement.closest?.(".card[data-take]");
  if (!current) {
    find("[data-play]", cards[0]).focus();
    return;
  }
  const start = cards.indexOf(current);
  let target = start;
  if (across) {
    target = clamp(start + across, 0, cards.length - 1);
  } else {
    const box = current.getBoundingClientRect();
    const middle = (box.left + Math.min(box.right, box.left + ruler.column)) / 2;
    let best = Infinity;
    cards.forEach((each, index) => {
      const to = each.getBoundingClientRect();
      const distance = down > 0 ? to.top - box.top : box.top - to.top;
      if (distance < 4) return;
      const score = 4 * distance + Math.max(0, to.left - middle, middle - to.right);
      if (score < best) [best, target] = [score, index];
    });
  }
  find("[data-play]", cards[target]).focus();
  cards[target].scrollIntoView({ block: "nearest" });
}
