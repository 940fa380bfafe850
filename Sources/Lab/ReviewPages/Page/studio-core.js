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
    const { memory, create, _initialize, ...calls } = instance.exports;
    _initialize?.();
    const host = create();
    this.calls = { memory };
    for (const name in calls) this.calls[name] = (...values) => calls[name](host, ...values);
  }
  /** Compiles without stopping the page. */
  static async make(bytes) {
    return new Core((await WebAssembly.instantiate(bytes, {})).instance);
  }
  /** Puts bytes, one array after the other, where the next call reads them: the place and the number of each. */
  put(...parts) {
    const count = parts.reduce((sum, part) => sum + part.byteLength, 0);
    let place = this.calls.input(count);
    return parts.flatMap((part) => {
      const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      new Uint8Array(this.calls.memory.buffer, place, bytes.length).set(bytes);
      place += bytes.length;
      return [place - bytes.length, bytes.length];
    });
  }
  /** A copy of so many bytes that a call has made. */
  taken(count) {
    return new Uint8Array(this.calls.memory.buffer, this.calls.output(), count).slice();
  }
  parsed(bytes) { return bytes.length > 0 ? JSON.parse(utf8.text(bytes)) : null; }
  floats(count) { return new Float32Array(this.taken(count).buffer); }
  putText(text) { return this.put(utf8.bytes(text)); }
  report(name, slot = 0, profile = 0) { return this.taken(this.calls.report(...this.putText(name), slot, profile)); }
  list(name, slot, profile) { return this.parsed(this.report(name, slot, profile)); }

  // Texts.
  /** Reads a file; false where it cannot be used, and `check` says why. */
  open(slot, name, bytes) {
    return this.calls.open(slot, ...this.put(utf8.bytes(name), bytes)) === 1;
  }
  /** Makes a text typed by hand the slot's; false where it does not read: the last good one stays what sounds. */
  replace(slot, text) { return this.calls.replace(slot, ...this.putText(text)) === 1; }
  /** Makes changes, all or none; a sentence where they cannot be made. An `entry` is added byte for byte. */
  change(slot, changes) {
    const texts = changes.map((each) => (each.entry ? `{"add":${each.entry}}` : JSON.stringify(each)));
    if (this.calls.change(slot, ...this.putText(`[${texts}]`)) === 1) return null;
    const { place, message, hint } = this.parsed(this.taken(this.calls.outputLength()));
    return (place ? `${place}: ` : "") + message + (hint ? `; ${hint}` : "");
  }
  begin(slot, label) { this.calls.begin(slot, ...this.putText(label)); }
  undo(slot) { return this.calls.step(slot, 0) === 1; }
  redo(slot) { return this.calls.step(slot, 1) === 1; }
  history(slot) { return this.list("history", slot) ?? { undo: null, redo: null, changed: false }; }
  text(slot) { return this.report("text", slot); }
  part(slot, path) { return utf8.text(this.taken(this.calls.part(slot, ...this.putText(path)))); }
  /** Numbers of the lines that differ from the opened ones. */
  lines(slot) { return this.list("lines", slot) ?? []; }
  score(slot) { return this.list("score", slot); }
  check(slot, profile) { return this.list("check", slot, profile) ?? []; }

  // Profiles and formats.
  profiles() { return this.list("profiles") ?? []; }
  /** The number of a profile given as JSON text. */
  addProfile(bytes) { return this.calls.addProfile(...this.put(bytes)); }
  hertz(profile, sharpness) { return this.calls.hertz(profile, sharpness); }
  formats() { return this.list("formats") ?? []; }
  origin(slot) { return this.list("origin", slot); }
  /** The text in the format of an id. */
  save(slot, format) { return this.taken(this.calls.save(slot, ...this.putText(format))); }
  losses() { return this.list("losses") ?? []; }

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
    // The samples first: their place is that of numbers.
    const [place, , title, length] = this.put(samples, name);
    this.calls.sound(title, length, place, samples.length, channels, rate);
  }
  /** Makes a pattern of a sound, named as it will be, and opens it; false where none can be made. */
  trace(slot, { name, channels, rate, samples }, profile) {
    const [place, , title, length] = this.put(samples, name);
    return this.calls.trace(slot, title, length, place, samples.length, channels, rate, profile) === 1;
  }
  /** A compiled pattern as bytes for another instance. */
  plan(slot, profile, rate) { return this.taken(this.calls.plan(slot, profile, rate)); }

  // Live sound, in a worklet's own instance.
  liveLoad(slot, text, profile) { return this.calls.liveLoad(slot, ...this.put(text), profile) === 1; }
  /** Copies a piece of a plan to its own memory, which `livePlanInput` gives. */
  putPlan(place, piece) { new Uint8Array(this.calls.memory.buffer, place, piece.length).set(piece); }
  liveRender(frames) { return new Float32Array(this.calls.memory.buffer, this.calls.liveRender(frames), frames); }
}
