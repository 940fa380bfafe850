// The sound of the studio: the worklet for playback, the worker for rendering and compilation, and
// the play head.

/** The sample rate of playback and figures, in hertz. */
const rate = 48000;
/**
 * The minimum length of a text that the worker compiles, in bytes, so that the audio thread never
 * waits.
 */
const minimumLongTextLength = 20000;
/**
 * Returns the URL of the script of the worklet or the worker.
 * A page on disk has no origin for `blob:` URLs.
 */
const scriptAddress = (id) => `data:text/javascript;base64,${base64(utf8.bytes(find(id).textContent))}`;

/** The compressed module. */
let packedModule = null;
/** The bytes of the module, which every instance needs. */
let moduleBytes = null;
/** The bytes of a custom profile, which every instance needs. */
let ownProfile = null;
let audio = null;
let worklet = null;
let volume = null;
let starting = null;
/** The last position that the worklet reported, and the time of the report. */
let lastReport = { frame: 0, time: 0 };
const tell = (message) => worklet?.port.postMessage(message);

/** Prepares the audio thread at the first touch of the page, so that Play starts quickly. */
function startSound() {
  if (starting) return starting;
  audio = new AudioContext({ sampleRate: rate, latencyHint: "interactive" });
  starting = (async () => {
    if (!audio.audioWorklet) {
      throw new Error("it gives sound to this computer and to https: pages only; turn on vibration");
    }
    await audio.audioWorklet.addModule(scriptAddress("#studio-worklet"));
    worklet = new AudioWorkletNode(audio, "temblor-studio", {
      numberOfInputs: 0, outputChannelCount: [2], processorOptions: {
        module: moduleBytes, profile: ownProfile
      },
    });
    const isReady = new Promise((resolve) => {
      worklet.port.onmessage = ({ data: message }) => (message.isReady ? resolve() : hear(message));
    });
    volume = audio.createGain();
    setVolume();
    worklet.connect(volume).connect(audio.destination);
    measure(worklet);
    await isReady;
    for (const slotIndex of [0, 1]) {
      for (const sound of slots[slotIndex]?.sounds ?? []) tell({ do: "sound", ...sound });
      sendNow(slotIndex);
    }
    tell({ do: "hear", slot: state.slot });
    sendControls();
    suspendSoon();
  })();
  starting.catch(() => {});
  return starting;
}

/** The time without playback after which the audio thread sleeps, in milliseconds. */
const suspendDelay = 3000;
let suspendTimer = 0;

/** Lets the audio thread sleep after a while without playback. */
function suspendSoon() {
  clearTimeout(suspendTimer);
  suspendTimer = setTimeout(() => { if (!state.isPlaying) audio?.suspend(); }, suspendDelay);
}

const setVolume = () => {
  if (volume) volume.gain.value = (Number(find("#volume").value) / 100) ** 2;
};

/** Sends the values of the live controls to the worklet. */
function sendControls() {
  for (const [which, id] of ["#live-intensity", "#live-sharpness"].entries()) {
    const value = Number(find(id).value);
    find(`${id}-text`).textContent = (which && value > 0 ? "+" : "") + withMinus(value.toFixed(2));
    tell({ do: "control", which, value });
  }
  controlFeeling();
}

/** Handles the messages of the worklet. */
function hear(message) {
  if (message.heardAt !== undefined) find(".dock").dataset.heard = message.heardAt.toFixed(3);
  if (message.frame === undefined) return;
  lastReport = message;
  silenceTimer.stop();
  followReport(message);
  if (message.hasEnded && state.isPlaying) {
    setPlaying(false);
    state.position = 0;
    showPosition();
  }
}

/** Reports a second without a frame after the start, until frames arrive or playback ends. */
const silenceTimer = {
  handle: 0,
  isReported: false,
  start() {
    this.stop();
    this.handle = setTimeout(() => {
      this.isReported = true;
      showNote(silenceWords);
    }, silenceTimeout);
  },
  stop() {
    clearTimeout(this.handle);
    if (this.isReported) find("#note").hidden = true;
    this.isReported = false;
  },
};

function setPlaying(isPlaying) {
  state.isPlaying = isPlaying;
  if (!isPlaying) {
    silenceTimer.stop();
    stopReference();
    stopFeeling();
    clearMeter();
    suspendSoon();
  }
  document.body.classList.toggle("playing", isPlaying);
  find("#play").setAttribute("aria-label", isPlaying ? "Pause" : "Play");
}

/** The time of the page's clock at which a play without sound was at position 0, in seconds. */
let silentOrigin = 0;

/** Plays on the motors without sound, on the clock of the page. */
function playSilently(position) {
  const [first, last] = playedRange();
  setPlaying(true);
  state.position = position ?? clamp(state.position, first, last);
  if (state.position >= last - 0.005) state.position = first;
  silentOrigin = performance.now() / 1000 - state.position;
  startFeeling();
  advance();
}

/** Returns the position of a play without sound. Ends the play after the pattern. */
function silentPosition(first, last) {
  const elapsed = performance.now() / 1000 - silentOrigin;
  if (elapsed < last) return elapsed;
  if (state.isLooping) return repeatedPosition(elapsed, [first, last]);
  setPlaying(false);
  return 0;
}

/** Returns the position that is audible now. */
function audiblePosition(first, last) {
  const passed = clamp(audio.currentTime - lastReport.time - outputLatency(audio), -0.2, 0.2);
  const position = lastReport.frame / rate + passed;
  if (position <= last) return position;
  return state.isLooping ? first + (position - last) : last;
}

/** The number of the last play. The reports of the audio thread have it. */
let playNumber = 0;

/** Starts playback at the play head or at a given position. */
async function play(position = null) {
  if (!score()) return;
  const ready = startSound();
  if (isFelt && !audio.audioWorklet) {
    playSilently(position);
    return;
  }
  if (!state.isPlaying) silenceTimer.start();
  setPlaying(true);
  // Browsers allow the start only during a user gesture. Playback begins when the context runs.
  try {
    await Promise.all([ready, audio.resume()]);
  } catch (error) {
    setPlaying(false);
    showNote(`This browser cannot play the pattern: ${error.message}.`);
    return;
  }
  if (!state.isPlaying) return;
  const [first, last] = playedRange();
  state.position = position
    ?? (state.position < first || state.position >= last - 0.005 ? first : state.position);
  sendLoop();
  lastReport = { frame: Math.round(state.position * rate), time: audio.currentTime };
  tell({ do: "play", frame: lastReport.frame, number: ++playNumber });
  restartReference();
  startFeeling();
  advance();
}

function pause() {
  setPlaying(false);
  tell({ do: "stop" });
}
const toggle = () => (state.isPlaying ? pause() : play());

/** Moves the play head to a time, also during playback. */
function seek(time) {
  state.position = clamp(time, 0, wholeLength());
  if (state.isPlaying) play(state.position);
  showPosition();
  keepAddress();
}

let nextFrame = 0;

/** Draws the play head at the position that is audible now. */
function advance() {
  if (!state.isPlaying) return;
  const [first, last] = playedRange();
  const position = audio.audioWorklet
    ? audiblePosition(first, last) : silentPosition(first, last);
  state.position = Math.max(0, position);
  showPosition();
  showMeter();
  cancelAnimationFrame(nextFrame);
  nextFrame = requestAnimationFrame(advance);
}

/** The loop that the audio thread has, as text. */
let sentLoop = "";

/**
 * Sends the loop to the worklet.
 * The loop is a range, or the whole time, so that A and B stay in sync until the longer pattern
 * ends.
 */
function sendLoop() {
  const hasCommonEnd = Boolean(reference) || slots.every((slot) => slot?.score);
  const [first, last] = state.loop ?? [0, hasCommonEnd ? wholeLength() : 0];
  const key = `${state.isLooping} ${state.loop ?? wholeLength()}`;
  if (key !== sentLoop) {
    sentLoop = key;
    restartReference();
    startFeeling();
  }
  tell(
    {
      do: "loop",
      isOn: state.isLooping,
      start: Math.round(first * rate),
      end: Math.round(last * rate)
    }
  );
}

function setLooping(isLooping) {
  state.isLooping = isLooping;
  if (!isLooping) state.loop = null;
  find("#loop").setAttribute("aria-pressed", isLooping);
  sendLoop();
  showPosition();
}

// The patterns for the audio thread, sent at most once per frame.
const waiting = new Set();
function send(slotIndex) {
  if (!waiting.size) requestAnimationFrame(() => {
    for (const each of waiting) sendNow(each);
    waiting.clear();
    startFeeling();
    sendLoop();
  });
  waiting.add(slotIndex);
}

function sendNow(slotIndex) {
  const slot = slots[slotIndex];
  if (!worklet || !slot?.score) return;
  const text = slot.isGood ? textOf(slotIndex) : slot.lastGood;
  if (!text) return;
  const isLong = slot.isGood && text.length > minimumLongTextLength && "plan" in core.calls;
  if (isLong) ask("plan", slotIndex);
  else tell({ do: "load", slot: slotIndex, text, profile: state.profile });
}

// Background work.
let worker = null;
/** The number of the last job of the worker. */
let jobNumber = 0;
/**
 * The number of the last job of each kind and slot. Results of earlier jobs and documents are
 * ignored.
 */
const lastJobs = new Map();

function startWorker() {
  worker = new Worker(scriptAddress("#studio-worker"));
  return new Promise((resolve, reject) => {
    worker.onerror = reject;
    worker.onmessage = ({ data: message }) => (message.isReady ? resolve() : finished(message));
    worker.postMessage({ module: moduleBytes, profile: ownProfile });
  });
}

/** Sends a job about a slot to the worker, and its text if it has changed. */
function ask(kind, slotIndex, more = {}) {
  if (!worker) return;
  const slot = slots[slotIndex];
  if (slot.sentVersion !== slot.version) {
    slot.sentVersion = slot.version;
    // A copy that is transferred costs less than one that the message makes.
    const bytes = textOf(slotIndex).slice();
    worker.postMessage({ kind: "text", slot: slotIndex, name: slot.file, bytes }, [bytes.buffer]);
  }
  const job = { kind, slot: slotIndex, number: ++jobNumber, profile: state.profile, rate, ...more };
  lastJobs.set(`${kind} ${slotIndex}`, { job, document: slot.document });
  worker.postMessage(job);
}

/** Requests the figure of a slot's sound if it has changed. */
function requestPicture(slotIndex) {
  const slot = slots[slotIndex];
  if (!worker || !slot?.isGood || !slot.score) return;
  const columns = box.lanes.felt ? 600 : 0;
  const key = `${state.profile} ${slot.version} ${columns}`;
  if (slot.pictureKey === key) return;
  slot.pictureKey = key;
  ask("picture", slotIndex, { columns });
}

/** Requests the spectrogram of the visible time range from the worker. */
function requestSpectrum() {
  const slot = current();
  if (!slot?.isGood || !slot.score) return;
  const { from, to, profile } = state;
  const key = `${from} ${to} ${profile} ${slot.version} ${plotWidth()}`;
  if (slot.spectrumKey === key) return;
  slot.spectrumKey = key;
  const [columns, rows] = [
    Math.min(500, Math.round(plotWidth())), Math.round(box.lanes.sound[1] - box.lanes.sound[0])
  ];
  ask("spectrum", state.slot, { from, to, columns, rows });
}

function finished(answer) {
  const { kind, slot: slotIndex, number, samples, decibels, plan, findings } = answer;
  const slot = slots[slotIndex];
  const last = lastJobs.get(`${kind} ${slotIndex}`);
  if (!slot || last?.job.number !== number || last.document !== slot.document) return;
  if (kind === "check") {
    slot.findings = findings;
    slot.isBeingChecked = false;
    if (slotIndex === state.slot) showFindings();
    return;
  }
  if (kind === "plan" && plan) tell({ do: "load", slot: slotIndex, plan, profile: state.profile });
  if (kind === "picture" && samples) {
    const { felt, extremes, peak } = answer;
    Object.assign(slot, { samples, felt, extremes, peak });
  }
  if (kind === "spectrum" && decibels) {
    const { from, to, columns, rows } = last.job;
    const canvas = spectrumPicture(decibels, columns, rows, maximumSpectrumHertz());
    slot.spectrum = { from, to, canvas };
  }
  if (kind !== "plan" && slotIndex === state.slot) drawBack();
}

/** Returns the maximum frequency of a spectrogram, in hertz. */
const maximumSpectrumHertz = () => Math.max(500, 1.5 * (profiles[state.profile]?.high ?? 0));
