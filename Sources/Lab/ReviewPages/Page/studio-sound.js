// Sound: the worklet that plays, the worker that renders and compiles, and the play head.

/** Frames a second of everything that is played and drawn. */
const rate = 48000;
/** Bytes of text from which on the worker compiles, so that the audio thread never waits. */
const longText = 20000;
/** Addresses of the scripts of worklet and worker: a page on disk has no origin that a `blob:` could have. */
const scriptAddress = (id) => `data:text/javascript;base64,${base64(utf8.bytes(find(id).textContent))}`;

/** The module's bytes, for every instance. */
let moduleBytes = null;
/** A profile of the user's own as bytes, which every instance is given. */
let ownProfile = null;
let audio = null;
let worklet = null;
let volume = null;
let starting = null;
/** The last place that the worklet has told, and when that was. */
let told = { frame: 0, time: 0 };
const tell = (message) => worklet?.port.postMessage(message);

/** Makes the audio thread ready; the first touch of the page does it, so that Play waits for little. */
function startSound() {
  if (starting) return starting;
  audio = new AudioContext({ sampleRate: rate, latencyHint: "interactive" });
  starting = (async () => {
    await audio.audioWorklet.addModule(scriptAddress("#studio-worklet"));
    worklet = new AudioWorkletNode(audio, "temblor-studio", {
      numberOfInputs: 0, outputChannelCount: [2], processorOptions: { module: moduleBytes, profile: ownProfile },
    });
    const isReady = new Promise((resolve) => {
      worklet.port.onmessage = ({ data: message }) => (message.isReady ? resolve() : hear(message));
    });
    volume = audio.createGain();
    setVolume();
    worklet.connect(volume).connect(audio.destination);
    await isReady;
    for (const place of [0, 1]) {
      for (const sound of slots[place]?.sounds ?? []) tell({ do: "sound", ...sound });
      sendNow(place);
    }
    tell({ do: "hear", slot: state.slot });
    sendControls();
  })();
  return starting;
}

const setVolume = () => { if (volume) volume.gain.value = (Number(find("#volume").value) / 100) ** 2; };

/** Sends the live controls. */
function sendControls() {
  for (const [which, id] of ["#live-intensity", "#live-sharpness"].entries()) {
    const value = Number(find(id).value);
    find(`${id}-text`).textContent = (which && value > 0 ? "+" : "") + withMinus(value.toFixed(2));
    tell({ do: "control", which, value });
  }
}

/** What the worklet tells. */
function hear(message) {
  if (message.heardAt !== undefined) find(".dock").dataset.heard = message.heardAt.toFixed(3);
  if (message.frame === undefined) return;
  told = message;
  if (message.hasEnded && state.isPlaying) {
    setPlaying(false);
    state.place = 0;
    showPlace();
  }
}

function setPlaying(isPlaying) {
  state.isPlaying = isPlaying;
  document.body.classList.toggle("playing", isPlaying);
  find("#play").setAttribute("aria-label", isPlaying ? "Pause" : "Play");
}

/** Starts to play where the play head is, or at a place. */
async function play(place = null) {
  if (!score()) return;
  const ready = startSound();
  setPlaying(true);
  // Asked for within the gesture, so that the browser allows it; nothing starts, and nothing is lost, before it runs.
  await Promise.all([ready, audio.resume()]);
  if (!state.isPlaying) return;
  const [first, last] = state.loop ?? [0, wholeLength()];
  state.place = place ?? (state.place < first || state.place >= last - 0.005 ? first : state.place);
  sendLoop();
  told = { frame: Math.round(state.place * rate), time: audio.currentTime };
  tell({ do: "play", frame: told.frame });
  advance();
}

function pause() {
  setPlaying(false);
  tell({ do: "stop" });
}
const toggle = () => (state.isPlaying ? pause() : play());

/** Moves the play head, also while playing. */
function seek(time) {
  state.place = clamp(time, 0, wholeLength());
  if (state.isPlaying) play(state.place);
  showPlace();
  keepAddress();
}

let nextFrame = 0;

/** Draws the play head where the sound is that leaves the speaker now. */
function advance() {
  if (!state.isPlaying) return;
  const [first, last] = state.loop ?? [0, wholeLength()];
  const passed = clamp(audio.currentTime - told.time - (audio.outputLatency || 0), -0.2, 0.2);
  let place = told.frame / rate + passed;
  if (place > last) place = state.isLooping ? first + (place - last) : last;
  state.place = Math.max(0, place);
  showPlace();
  cancelAnimationFrame(nextFrame);
  nextFrame = requestAnimationFrame(advance);
}

/** A loop of a stretch, or of everything that is open: A and B stay in step until the longer one ends. */
function sendLoop() {
  const [first, last] = state.loop ?? [0, slots.every((slot) => slot?.score) ? wholeLength() : 0];
  tell({ do: "loop", isOn: state.isLooping, start: Math.round(first * rate), end: Math.round(last * rate) });
}

function setLooping(isLooping) {
  state.isLooping = isLooping;
  if (!isLooping) state.loop = null;
  find("#loop").setAttribute("aria-pressed", isLooping);
  sendLoop();
  showPlace();
}

// Patterns to the audio thread: at most one a frame.
const waiting = new Set();
function send(place) {
  if (!waiting.size) requestAnimationFrame(() => {
    for (const each of waiting) sendNow(each);
    waiting.clear();
    sendLoop();
  });
  waiting.add(place);
}

function sendNow(place) {
  const slot = slots[place];
  if (!worklet || !slot?.score) return;
  const text = slot.isGood ? core.text(place) : slot.lastGood;
  if (!text) return;
  if (text.length > longText && "plan" in core.calls) ask("plan", place, { text });
  else tell({ do: "load", slot: place, text, profile: state.profile });
}

// Work in the background.
let worker = null;
/** Numbers of jobs: what is late is not shown. */
let jobNumber = 0;
const lastJob = {};

function startWorker() {
  worker = new Worker(scriptAddress("#studio-worker"));
  return new Promise((resolve, reject) => {
    worker.onerror = reject;
    worker.onmessage = ({ data: message }) => (message.isReady ? resolve() : finished(message));
    worker.postMessage({ module: moduleBytes, profile: ownProfile });
  });
}

/** Asks the worker for something about a slot. */
function ask(kind, place, more = {}) {
  if (!worker) return;
  lastJob[`${kind} ${place}`] = ++jobNumber;
  worker.postMessage({ kind, slot: place, number: jobNumber, profile: state.profile, rate, name: slots[place].file,
    text: core.text(place), ...more });
}

/** The picture of a slot's sound, where it has changed since the last one. */
function askForPicture(place) {
  const slot = slots[place];
  if (!slot?.isGood || !slot.score) return;
  ask("picture", place, { columns: box.lanes.felt ? 600 : 0 });
}

/** The spectrogram of what is seen. */
function askForSpectrum() {
  const slot = current();
  if (!slot?.isGood || !slot.score) return;
  const { from, to, profile } = state;
  const key = `${from} ${to} ${profile} ${slot.version} ${plotWidth()}`;
  if (slot.spectrumKey === key) return;
  slot.spectrumKey = key;
  const [columns, rows] = [Math.min(500, Math.round(plotWidth())), Math.round(box.lanes.sound[1] - box.lanes.sound[0])];
  slot.spectrumWanted = { from, to, columns, rows };
  ask("spectrum", state.slot, slot.spectrumWanted);
}

function finished({ kind, slot: place, number, samples, felt, decibels, plan, findings }) {
  const slot = slots[place];
  if (!slot || lastJob[`${kind} ${place}`] !== number) return;
  if (kind === "check") {
    slot.findings = findings;
    if (place === state.slot) showFindings();
    return;
  }
  if (kind === "plan" && plan) tell({ do: "load", slot: place, plan, profile: state.profile });
  if (kind === "picture" && samples) {
    Object.assign(slot, { samples, felt, peak: samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0) });
  }
  if (kind === "spectrum" && decibels) {
    const { from, to, columns, rows } = slot.spectrumWanted;
    const canvas = spectrumPicture(decibels, columns, rows, spectrumTop());
    slot.spectrum = { from, to, canvas };
  }
  if (kind !== "plan" && place === state.slot) drawBack();
}

/** The highest frequency of a spectrogram. */
const spectrumTop = () => Math.max(500, 1.5 * (profiles[state.profile]?.high ?? 0));
