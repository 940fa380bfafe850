// The interface of the WebAssembly module, and the only script that accesses its memory.
// The page, the worker and the worklet have separate instances of the module.

/** A UTF-8 encoder and decoder, also for worklets, which have no `TextEncoder`. */
const utf8 = typeof TextEncoder === "undefined" ? null
  : {
    bytes: (text) => new TextEncoder().encode(text),
    text: (bytes) => new TextDecoder().decode(bytes)
  };

/**
 * @typedef {{kind: string, path: string, time: number, duration?: number, intensity: number, sharpness: number,
 *   attack?: number, decay?: number, release?: number, sustained?: number, file?: string, felt: number[]}} ScoreEvent
 */

/**
 * @typedef {{kind: "clip" | "location", name: string, text: string, losses: object[]}} FilePart One
 *   of several patterns in a file, as AHAP.
 * @typedef {{problem: string | null, parts: FilePart[], duration: number}} FileContents The reason
 *   that a file cannot be read, or null if it can, its parts, and the duration of a file with parts
 *   in seconds.
 */

/** The slot for files that are examined without being opened. */
const trialSlot = 3;

/** The number of samples of each minimum and maximum in a figure of a long sound. */
const extremesLength = 256;

/**
 * An instance of the module.
 * Slots are 0 (A), 1 (B), 2 (the clipboard) and `trialSlot`. Profiles and formats are indices.
 */
class Core {
  constructor(instance) {
    const { memory, create, _initialize, ...calls } = instance.exports;
    _initialize?.();
    const host = create();
    this.calls = { memory };
    for (const name in calls) this.calls[name] = (...values) => calls[name](host, ...values);
  }
  /** Compiles the module asynchronously. */
  static async make(bytes) {
    return new Core((await WebAssembly.instantiate(bytes, {})).instance);
  }
  /**
   * Writes arrays to the input buffer of the next call and returns the address and length of each.
   */
  writeInput(...parts) {
    const count = parts.reduce((sum, part) => sum + part.byteLength, 0);
    let address = this.calls.input(count);
    return parts.flatMap((part) => {
      const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      new Uint8Array(this.calls.memory.buffer, address, bytes.length).set(bytes);
      address += bytes.length;
      return [address - bytes.length, bytes.length];
    });
  }
  /** Returns a copy of bytes from the output buffer of the last call. */
  readOutput(count) {
    return new Uint8Array(this.calls.memory.buffer, this.calls.output(), count).slice();
  }
  parsed(bytes) { return bytes.length > 0 ? JSON.parse(utf8.text(bytes)) : null; }
  floats(count) { return new Float32Array(this.readOutput(count).buffer); }
  writeInputText(text) { return this.writeInput(utf8.bytes(text)); }
  report(name, slot = 0, profile = 0) {
    return this.readOutput(this.calls.report(...this.writeInputText(name), slot, profile));
  }
  list(name, slot, profile) { return this.parsed(this.report(name, slot, profile)); }

  // Texts.
  /** Reads a file. Returns false if it cannot be read; `check` returns the reason. */
  open(slot, name, bytes) {
    return this.calls.open(slot, ...this.writeInput(utf8.bytes(name), bytes)) === 1;
  }
  /** Returns the error of the last call as text, with its line if there is one. */
  failure() {
    const { place, line, message, hint } = this.parsed(
      this.readOutput(this.calls.outputLength())
    ) ?? { message: "it is empty" };
    const location = line ? `line ${line}: ` : place ? `${place}: ` : "";
    return location + message + (hint ? `; ${hint}` : "");
  }
  /**
   * Examines a file without opening it in a slot.
   *
   * @returns {FileContents}
   */
  examine(name, bytes) {
    const problem = this.open(trialSlot, name, bytes) ? null : this.failure();
    const parts = problem === null ? this.parts(trialSlot) : [];
    const duration = parts.length > 1 ? this.score(trialSlot).duration : 0;
    this.clearTrial();
    return { problem, parts, duration };
  }
  /** Removes the examined file from `trialSlot`. */
  clearTrial() { this.open(trialSlot, "", new Uint8Array(0)); }
  /**
   * Replaces the text of a slot. Returns false for an invalid text, while the last valid text keeps
   * playing.
   */
  replace(slot, bytes) { return this.calls.replace(slot, ...this.writeInput(bytes)) === 1; }
  /**
   * Applies all changes or none. Returns an error message, or null. An `entry` is added byte for
   * byte.
   */
  change(slot, changes) {
    const texts = changes.map(
      (each) => (each.entry ? `{"add":${each.entry}}` : JSON.stringify(each))
    );
    if (this.calls.change(slot, ...this.writeInputText(`[${texts}]`)) === 1) return null;
    return this.failure();
  }
  begin(slot, label) { this.calls.begin(slot, ...this.writeInputText(label)); }
  undo(slot) { return this.calls.step(slot, 0) === 1; }
  redo(slot) { return this.calls.step(slot, 1) === 1; }
  history(slot) { return this.list("history", slot) ?? { undo: null, redo: null, changed: false }; }
  text(slot) { return this.report("text", slot); }
  part(slot, path) {
    return utf8.text(this.readOutput(this.calls.part(slot, ...this.writeInputText(path))));
  }
  /** Returns the numbers of the lines that differ from the opened text. */
  lines(slot) { return this.list("lines", slot) ?? []; }
  score(slot) { return this.list("score", slot); }
  check(slot, profile) { return this.list("check", slot, profile) ?? []; }

  // Profiles and formats.
  profiles() { return this.list("profiles") ?? []; }
  /** Adds a profile as JSON text, and returns its index. */
  addProfile(bytes) { return this.calls.addProfile(...this.writeInput(bytes)); }
  hertz(profile, sharpness) { return this.calls.hertz(profile, sharpness); }
  formats() { return this.list("formats") ?? []; }
  origin(slot) { return this.list("origin", slot); }
  /**
   * Returns the clips of a slot's file, or its patterns at different body locations; empty for a
   * single pattern.
   *
   * @returns {FilePart[]}
   */
  parts(slot) { return this.list("parts", slot) ?? []; }
  /** Returns the text of a slot in the format with an ID. */
  save(slot, format) {
    return this.readOutput(this.calls.save(slot, ...this.writeInputText(format)));
  }
  losses() { return this.list("losses") ?? []; }

  // Figures, and rendering of whole patterns.
  render(slot, profile, rate) {
    const count = this.calls.render(slot, profile, rate);
    return new Float32Array(this.calls.memory.buffer, this.calls.samples(), count).slice();
  }
  wav(slot, profile, rate) { return this.readOutput(this.calls.wav(slot, profile, rate)); }
  /**
   * Returns the spectrogram of the last rendering in decibels, column by column, by ascending
   * frequency.
   */
  spectrogram(columns, rows, from, to) {
    return this.floats(this.calls.spectrogram(columns, rows, from, to));
  }
  /**
   * Returns the minimum and maximum acceleration of the hardware, column by column; empty if
   * unknown.
   */
  felt(slot, profile, columns) { return this.floats(this.calls.felt(slot, profile, columns)); }
  /** Passes the interleaved samples of a sound file with its name to the module. */
  sound({ name, channels, rate, samples }) {
    // The samples come first, because their address must be aligned.
    const [address, , title, length] = this.writeInput(samples, name);
    this.calls.sound(title, length, address, samples.length, channels, rate);
  }
  /**
   * Traces a sound to a pattern with the given name and opens it. Returns false if there is no
   * result.
   */
  trace(slot, { name, channels, rate, samples }, profile) {
    const [address, , title, length] = this.writeInput(samples, name);
    return this.calls.trace(
      slot, title, length, address, samples.length, channels, rate, profile
    ) === 1;
  }
  /** Returns a compiled pattern as bytes for another instance of the module. */
  plan(slot, profile, rate) { return this.readOutput(this.calls.plan(slot, profile, rate)); }

  // Live playback, in the instance of a worklet.
  liveLoad(slot, text, profile) {
    return this.calls.liveLoad(slot, ...this.writeInput(text), profile) === 1;
  }
  /** Copies a part of a plan to the memory whose address `livePlanInput` returns. */
  putPlan(address, piece) {
    new Uint8Array(this.calls.memory.buffer, address, piece.length).set(piece);
  }
  liveRender(frames) {
    return new Float32Array(this.calls.memory.buffer, this.calls.liveRender(frames), frames);
  }
}
