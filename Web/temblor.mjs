// Temblor for web pages and node: reads, checks, renders, plays, converts, and compares haptic
// patterns. `Tools/web` puts two files of the studio before this text: `studio-core.js`, the
// interface of a WebAssembly module, and `actuators.js`, vibration without samples.
//
// There are two modules: a small one, which renders AHAP for the profiles `phone` and `speaker`, and
// one with all formats and profiles, which also checks and converts. Both render AHAP equally. The
// larger module is loaded when it is first needed.

/** The sample rate of playback and the default of rendering, in hertz. */
const defaultRate = 48000;
/** The profile of functions that are called without a profile. */
const defaultProfile = "phone";
/** The document of the module that the functions use. It has the last used pattern. */
const slot = 0;
/** The time without playback after which the audio thread sleeps, in milliseconds. */
const suspendDelay = 1000;

/** A file that cannot be read, or an argument that is not valid. */
export class TemblorError extends Error {
  constructor({ message, hint, line, column, rule }) {
    super((line ? `line ${line}: ` : "") + message + (hint ? `; ${hint}` : ""));
    this.name = "TemblorError";
    Object.assign(this, { line, column, rule });
  }
}

/** Returns the bytes of a file next to this one. */
async function bytesBeside(name) {
  const address = new URL(name, import.meta.url);
  if (address.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return new Uint8Array(await readFile(address));
  }
  const answer = await fetch(address);
  if (!answer.ok) throw new TemblorError({ message: `${name} cannot be loaded: ${answer.status}` });
  return new Uint8Array(await answer.arrayBuffer());
}

/** A WebAssembly module of the package, which is loaded when it is first needed. */
class Engine {
  #file;
  #starting = null;
  /** The indices of profiles in JSON by their text. */
  #ownProfiles = new Map();
  /** The pattern in the document of the module. */
  #openPattern = null;
  /** The nodes of plays that have ended. Each has an instance of the module. */
  idleNodes = [];

  constructor(file) { this.#file = file; }

  /** Loads the module once, and returns this object. */
  start() {
    this.#starting ??= (async () => {
      this.bytes = await bytesBeside(this.#file);
      /** @type {Core} */
      this.core = await Core.make(this.bytes);
      this.profiles = this.core.profiles();
      return this;
    })();
    // A failed load can be tried again.
    this.#starting.catch(() => { this.#starting = null; });
    return this.#starting;
  }
  failure() {
    return this.core.parsed(this.core.readOutput(this.core.calls.outputLength()))
      ?? { message: "the file is empty" };
  }
  /** Opens a pattern in the document of the module. Returns false if it cannot be read. */
  open(pattern, bytes) {
    if (this.#openPattern === pattern) return true;
    this.#openPattern = null;
    if (!this.core.open(slot, pattern.name, bytes)) return false;
    this.#openPattern = pattern;
    return true;
  }
  /** Returns whether the module has a profile with a name. */
  hasProfile(profile) { return this.profiles.some(({ name }) => name === profile); }
  /** Returns the index of a profile: a name, or its JSON as object or text. */
  profileIndex(profile) {
    const isName = typeof profile === "string" && !profile.trimStart().startsWith("{");
    if (isName) {
      const index = this.profiles.findIndex(({ name }) => name === profile);
      if (index >= 0) return index;
      const names = this.profiles.map(({ name }) => name).join(", ");
      throw new TemblorError({ message: `unknown profile "${profile}"`, hint: `the profiles are ${names}` });
    }
    const text = typeof profile === "string" ? profile : JSON.stringify(profile);
    if (!this.#ownProfiles.has(text)) {
      const index = this.core.addProfile(utf8.bytes(text));
      if (index < 0) throw new TemblorError(this.failure());
      this.#ownProfiles.set(text, index);
    }
    return this.#ownProfiles.get(text);
  }
}

/** The module that renders AHAP. */
const ahapEngine = new Engine("./temblor-ahap.wasm");
/** The module with all formats and profiles. */
const fullEngine = new Engine("./temblor.wasm");

/** A pattern that was read. */
class Pattern {
  #bytes;
  #engine = null;
  #score = null;

  constructor(name, bytes) {
    this.name = name;
    this.#bytes = bytes;
  }
  /** Reads the pattern with the smallest module that can read it. */
  async read() {
    if (/\.ahap$/i.test(this.name)) {
      this.#engine = await ahapEngine.start();
      if (this.#engine.open(this, this.#bytes)) return;
    }
    // The module with all formats also explains why a file cannot be read.
    this.#engine = await fullEngine.start();
    this.open();
  }
  /** Opens the pattern in the document of a module, which the function returns. */
  open(engine = this.#engine) {
    if (!engine.open(this, this.#bytes)) throw new TemblorError(engine.failure());
    return engine;
  }
  /** Returns the smallest module with a profile that can read the pattern. */
  async engineFor(profile) {
    return this.#engine.hasProfile(profile) ? this.#engine : fullEngine.start();
  }
  #readScore() {
    this.#score ??= this.open().core.score(slot);
    return this.#score;
  }
  get duration() { return this.#readScore().duration; }
  get format() { return this.#readScore().format; }
  /** Returns the intensity and sharpness for devices without samples. */
  levels() { return levelsOf(this.#readScore()); }
  get events() {
    return this.#readScore().events.map(
      ({ kind, time, duration, intensity, sharpness, file, felt = [] }) => ({
        kind, time, duration: kind === "HapticTransient" ? 0 : duration ?? Math.max(0, felt.at(-3) - time || 0),
        intensity, sharpness, file, corners: felt,
      })
    );
  }
}

function checkRate(rate) {
  if (rate >= 8000 && rate <= 192000) return;
  throw new TemblorError({ message: `invalid sample rate ${rate}`, hint: "use 8,000 to 192,000 Hz" });
}

export async function load(source, { name = "pattern.ahap" } = {}) {
  if (globalThis.Response && source instanceof Response && !source.ok) {
    throw new TemblorError({ message: `${name} cannot be loaded: status ${source.status}` });
  }
  let bytes;
  if (source instanceof Uint8Array) bytes = source;
  else if (source instanceof ArrayBuffer) bytes = new Uint8Array(source);
  else if (typeof source?.arrayBuffer === "function") bytes = new Uint8Array(await source.arrayBuffer());
  else bytes = utf8.bytes(typeof source === "string" ? source : JSON.stringify(source));
  const pattern = new Pattern(source?.name ?? name, bytes.slice());
  await pattern.read();
  return pattern;
}

export async function check(pattern, { profile = defaultProfile } = {}) {
  const engine = pattern.open(await fullEngine.start());
  const findings = engine.core.check(slot, engine.profileIndex(profile));
  return findings.map(({ severity, rule, message, hint, line, column, place }) => (
    { severity, rule, message, hint, line, column, place }
  ));
}

export async function render(pattern, { profile = defaultProfile, rate = defaultRate } = {}) {
  checkRate(rate);
  const engine = pattern.open(await pattern.engineFor(profile));
  const samples = engine.core.render(slot, engine.profileIndex(profile), rate);
  if (!samples.length && engine.core.calls.outputLength()) throw new TemblorError(engine.failure());
  return samples;
}

export async function convert(pattern, format) {
  const { core } = pattern.open(await fullEngine.start());
  const formats = core.formats();
  const known = formats.find(({ id }) => id === format);
  if (!known?.writes) {
    const names = formats.filter(({ writes }) => writes).map(({ id }) => id).join(", ");
    throw new TemblorError({ message: `"${format}" cannot be written`, hint: `the formats are ${names}` });
  }
  const bytes = format === "ahap" ? core.text(slot) : core.save(slot, format);
  if (!bytes.length) {
    throw new TemblorError({ message: `${pattern.name} cannot be written as ${known.title}` });
  }
  const losses = format === "ahap" ? core.origin(slot).losses : core.losses();
  return { bytes, losses: losses.map(({ message, line }) => ({ message, line })) };
}

export async function compare(first, second, options = {}) {
  const { rate = defaultRate } = options;
  const one = await render(first, options);
  const other = await render(second, options);
  const length = Math.max(one.length, other.length);
  let [peak, energy, reference, firstFrame] = [0, 0, 0, null];
  for (let frame = 0; frame < length; frame++) {
    const difference = (other[frame] ?? 0) - (one[frame] ?? 0);
    if (difference !== 0) firstFrame ??= frame;
    peak = Math.max(peak, Math.abs(difference));
    energy += difference ** 2;
    reference += (one[frame] ?? 0) ** 2;
  }
  return {
    isIdentical: firstFrame === null, peak,
    level: energy === 0 ? -Infinity : 10 * Math.log10(energy / reference),
    time: firstFrame === null ? null : firstFrame / rate,
  };
}

// Playback.

let audio = null;
let workletLoad = null;
/** The number of plays on the audio output. */
let soundCount = 0;
let suspendTimer = 0;

/** Lets the audio thread sleep after a while without playback. */
function suspendSoon() {
  clearTimeout(suspendTimer);
  suspendTimer = setTimeout(() => { if (soundCount === 0) audio?.suspend(); }, suspendDelay);
}

/** Starts the audio output. A browser allows this only during a gesture of the user. */
function wake() {
  audio ??= new AudioContext({ sampleRate: defaultRate, latencyHint: "interactive" });
  suspendSoon();
  return audio.resume();
}

/**
 * Returns a node of the audio thread with an instance of a module, which is ready to load the AHAP
 * text of a pattern.
 */
async function node(engine) {
  const running = wake();
  workletLoad ??= audio.audioWorklet.addModule(new URL("./temblor-worklet.js", import.meta.url));
  workletLoad.catch(() => { workletLoad = null; });
  await Promise.all([workletLoad, running]);
  const idle = engine.idleNodes.pop();
  if (idle) return idle;
  const made = new AudioWorkletNode(audio, "temblor-studio", {
    numberOfInputs: 0, outputChannelCount: [2], processorOptions: { module: engine.bytes },
  });
  await new Promise((resolve) => {
    made.port.onmessage = ({ data }) => { if (data.isReady) resolve(); };
  });
  made.connect(audio.destination);
  return made;
}

/** A play on the audio output. */
class SoundPlay extends Play {
  async start(engine, text, profile, { at = 0, loop = false, duration }) {
    soundCount++;
    this.engine = engine;
    try {
      this.node = await node(engine);
    } catch (error) {
      this.finish();
      throw error;
    }
    const send = (message) => this.node.port.postMessage(message);
    this.send = send;
    this.node.port.onmessage = ({ data }) => { if (data.hasEnded) this.finish(); };
    // A shipped profile has the same index in every instance.
    send({ do: "load", slot: 0, text, profile });
    send({ do: "hear", slot: 0 });
    send({ do: "loop", isOn: loop, start: 0, end: loop ? Math.round(duration * defaultRate) : 0 });
    this.apply();
    send({ do: "play", frame: Math.round(at * defaultRate) });
  }
  apply() {
    this.send?.({ do: "control", which: 0, value: this.controls.intensity });
    this.send?.({ do: "control", which: 1, value: this.controls.sharpness });
  }
  silence() {
    soundCount--;
    suspendSoon();
    if (!this.node) return;
    this.send?.({ do: "stop" });
    this.node.port.onmessage = null;
    this.engine.idleNodes.push(this.node);
  }
}

export async function play(
  pattern, {
    profile = defaultProfile, at = 0, loop = false, output = "sound", intensity = 1, sharpness = 0,
  } = {}
) {
  // Loading a module may take longer than the gesture of the user.
  if (output === "sound") wake();
  const engine = pattern.open(await pattern.engineFor(profile));
  const index = engine.profileIndex(profile);
  if (!(at >= 0)) throw new TemblorError({ message: `invalid start ${at}`, hint: "use 0 or more seconds" });
  if (output === "sound") {
    if (index >= engine.profiles.length) {
      throw new TemblorError({ message: "a profile in JSON is not played", hint: "render it, or name a shipped one" });
    }
    const text = engine.core.text(slot);
    const { duration } = pattern;
    const made = new SoundPlay();
    set(made, { intensity, sharpness });
    await made.start(engine, text, index, { at, loop, duration });
    return made;
  }
  const made = actuatorPlay(output);
  set(made, { intensity, sharpness });
  if (!made.begin(pattern.levels(), { at, range: loop ? [0, pattern.duration] : null })) {
    throw new TemblorError({ message: "the browser refuses to vibrate", hint: "play at a touch of the user" });
  }
  return made;
}

/** Returns a play on a device without samples. */
function actuatorPlay(output) {
  if (output === "vibration") {
    if (globalThis.navigator?.vibrate) return new VibrationPlay();
    throw new TemblorError({ message: "this browser cannot vibrate", hint: "Chromium on Android can" });
  }
  const actuator = output?.vibrationActuator ?? output;
  if (typeof actuator?.playEffect === "function") return new GamepadPlay(actuator);
  throw new TemblorError({ message: "this output has no actuator", hint: 'use "sound", "vibration", or a Gamepad' });
}

export function stop(play) { play.finish(); }

export function set(play, { intensity, sharpness }) {
  const check = (name, value, minimum) => {
    if (value === undefined) return;
    if (!(value >= minimum && value <= 1)) {
      throw new TemblorError({ message: `${name} ${value}`, hint: `it is ${minimum} to 1` });
    }
    play.controls[name] = value;
  };
  check("intensity", intensity, 0);
  check("sharpness", sharpness, -1);
  play.apply();
}
