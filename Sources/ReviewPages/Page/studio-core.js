// The module's interface: the only script that touches its memory. Page, worker and worklet each have an instance.

/** Texts in and out, in environments that have no `TextEncoder` too (a worklet). */
const utf8 = typeof TextEncoder === "undefined" ? null
  : { bytes: (text) => new TextEncoder().encode(text), text: (bytes) => new TextDecoder().decode(bytes) };

/**
 * @typedef {{kind: string, path: string, time: number, duration?: number, intensity: number, sharpness: number,
 *   attack?: number, decay?: number, release?: number, sustained?: number, file?: string, felt: number[]}} ScoreEvent
 */

/** An instance; slots are 0 (A), 1 (B) and 2 (the clipboard), profiles and formats their places in lists. */
class Core {
  constructor(instance) {
    this.calls = instance.exports;
    this.calls._initialize?.();
  }
  /** Compiles without stopping the page. */
  static async make(bytes) {
    return new Core((await WebAssembly.instantiate(bytes, {})).instance);
  }
  /** Puts bytes, one array after the other, where the next call reads them. */
  put(...parts) {
    const count = parts.reduce((sum, part) => sum + part.byteLength, 0);
    let place = this.calls.input(count);
    for (const part of parts) {
      const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      new Uint8Array(this.calls.memory.buffer, place, bytes.length).set(bytes);
      place += bytes.length;
    }
    return count;
  }
  /** A copy of so many bytes that a call has made. */
  taken(count) {
    return new Uint8Array(this.calls.memory.buffer, this.calls.output(), count).slice();
  }
  json(count) { return count > 0 ? JSON.parse(utf8.text(this.taken(count))) : null; }
  floats(count) { return new Float32Array(this.taken(count).buffer); }
  putText(text) { return this.put(utf8.bytes(text)); }

  // Texts.
  /** Reads a file; false where it cannot be used, and `check` says why. */
  open(slot, name, bytes) {
    const title = utf8.bytes(name);
    this.put(title, bytes);
    return this.calls.open(slot, title.length, bytes.length) === 1;
  }
  /** Makes a text typed by hand the slot's; false where it does not read: the last good one stays what sounds. */
  replace(slot, text) { return this.calls.replace(slot, this.putText(text)) === 1; }
  /** Makes changes, all or none; a sentence where they cannot be made. An `entry` is added byte for byte. */
  change(slot, changes) {
    const texts = changes.map((each) => (each.entry ? `{"add":${each.entry}}` : JSON.stringify(each)));
    if (this.calls.change(slot, this.putText(`[${texts}]`)) === 1) return null;
    return utf8.text(this.taken(this.calls.outputLength?.() ?? 0)) || "The change cannot be made.";
  }
  begin(slot, label) { this.calls.begin(slot, this.putText(label)); }
  undo(slot) { return this.calls.undo(slot) === 1; }
  redo(slot) { return this.calls.redo(slot) === 1; }
  history(slot) { return this.json(this.calls.history(slot)) ?? { undo: null, redo: null, changed: false }; }
  text(slot) { return this.taken(this.calls.text(slot)); }
  part(slot, path) { return utf8.text(this.taken(this.calls.part(slot, this.putText(path)))); }
  /** Numbers of the lines that differ from the opened ones. */
  lines(slot) { return this.json(this.calls.lines(slot)) ?? []; }
  score(slot) { return this.json(this.calls.score(slot)); }
  check(slot, profile) { return this.json(this.calls.check(slot, profile)) ?? []; }

  // Profiles and formats.
  profiles() { return this.json(this.calls.profiles()) ?? []; }
  /** The number of a profile given as JSON text. */
  addProfile(bytes) { return this.calls.addProfile(this.put(bytes)); }
  hertz(profile, sharpness) { return this.calls.hertz(profile, sharpness); }
  formats() { return this.json(this.calls.formats()) ?? []; }
  origin(slot) { return this.json(this.calls.origin(slot)); }
  /** The text in the format of an id. */
  save(slot, format) { return this.taken(this.calls.save(slot, this.putText(format))); }
  losses() { return this.json(this.calls.losses()) ?? []; }

  // Pictures and sound in one piece.
  render(slot, profile, rate) {
    const count = this.calls.render(slot, profile, rate);
    return new Float32Array(this.calls.memory.buffer, this.calls.samples(), count).slice();
  }
  wav(slot, profile, rate) { return this.taken(this.calls.wav(slot, profile, rate)); }
  /** Decibels of the last rendering, column by column, from low to high. */
  spectrogram(columns, rows, from, to) { return this.floats(this.calls.spectrogram(columns, rows, from, to)); }
  /** The least and the most acceleration of the profile's hardware, column by column; empty where it is not known. */
  felt(slot, profile, columns) { return this.floats(this.calls.felt(slot, profile, columns)); }
  /** Gives the samples, channels interleaved, of a sound file by its name as bytes. */
  sound({ name, channels, rate, samples }) {
    this.put(name, samples);
    this.calls.sound(name.length, channels, rate, samples.byteLength);
  }
  /** A compiled pattern as bytes for another instance. */
  plan(slot, profile, rate) { return this.taken(this.calls.plan(slot, profile, rate)); }

  // Live sound, in a worklet's own instance.
  liveLoad(slot, text, profile) { return this.calls.liveLoad(slot, this.put(text), profile) === 1; }
  /** Copies a piece of a plan to its own memory, which `livePlanInput` gives. */
  putPlan(place, piece) { new Uint8Array(this.calls.memory.buffer, place, piece.length).set(piece); }
  liveRender(frames) { return new Float32Array(this.calls.memory.buffer, this.calls.liveRender(frames), frames); }
}
