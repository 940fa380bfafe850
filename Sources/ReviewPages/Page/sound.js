// Plays several tracks from one start, so that they stay together to the sample. All of them run all
// the time; which one is heard is a matter of gains, so a switch costs nothing and cannot click.

/** The time constant, in seconds, of every change of gain: 98 % of the way after 8 ms. */
const glide = 0.002;
/** Seconds over which a stretch is faded in before its start and out behind its end. */
const seam = 0.005;
/** Seconds of silence before everything begins again; a stretch that somebody chose has none. */
const usualGap = 0.5;
/** Seconds of silence in a change that is not to be noticed by itself. */
const cover = 0.03;
/** Seconds that are always planned ahead, so that a busy page never leaves a gap. */
const ahead = 1.5;

/** The bytes of a text in base 64. */
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let index = 0; index < raw.length; index++) bytes[index] = raw.charCodeAt(index);
  return bytes;
}

let context = null;

/** The page's one audio context; the first to ask decides on the rate. */
function audioContext(rate) {
  context ??= new AudioContext({ sampleRate: rate, latencyHint: "interactive" });
  return context;
}

/** A set of tracks under one play head. */
class SoundDeck {
  /**
   * @param {string[]} ids The elements that hold the sound files, one for each track.
   * @param {object} options `rate` in hertz, `duration` in seconds, and `changed`, called when playing
   *   begins or ends.
   */
  constructor(ids, { rate, duration, changed }) {
    this.ids = ids;
    this.rate = rate;
    this.duration = duration;
    this.changed = changed;
    this.levels = ids.map(() => 1);
    this.heard = 0;
    this.strength = 1;
    this.stretch = null;
    this.isLooping = false;
    this.isPlaying = false;
    this.place = 0;
    this.passes = [];
    this.turn = 0;
  }

  /** Makes the audio context and decodes all tracks; later calls wait for the first. */
  prepare() {
    this.prepared ??= this.decode();
    return this.prepared;
  }

  async decode() {
    this.context = audioContext(this.rate);
    this.master = this.context.createGain();
    this.master.gain.value = this.strength;
    this.master.connect(this.context.destination);
    this.gains = this.ids.map((_, track) => {
      const gain = this.context.createGain();
      gain.gain.value = this.gainOf(track);
      gain.connect(this.master);
      return gain;
    });
    this.buffers = await Promise.all(
      this.ids.map((id) =>
        this.context.decodeAudioData(bytesOf(document.getElementById(id).textContent).buffer)));
  }

  /** What a track is multiplied by now. */
  gainOf(track) {
    return track === this.heard ? this.levels[track] : 0;
  }

  /** Brings every gain to where it belongs. */
  steer() {
    if (!this.gains) return;
    const now = this.context.currentTime;
    this.gains.forEach((gain, track) => {
      gain.gain.cancelScheduledValues(now);
      gain.gain.setTargetAtTime(this.gainOf(track), now, glide);
    });
    this.master.gain.setTargetAtTime(this.strength, now, glide);
  }

  /** Makes another track the one that is heard. */
  choose(track) {
    this.heard = track;
    this.steer();
  }

  /** The same through a short silence, also where the track stays: only the sound itself can tell. */
  chooseCovered(track) {
    this.heard = track;
    if (!this.gains) return;
    const now = this.context.currentTime;
    this.gains.forEach((gain, index) => {
      gain.gain.cancelScheduledValues(now);
      gain.gain.setTargetAtTime(0, now, glide);
      gain.gain.setTargetAtTime(this.gainOf(index), now + cover, glide);
    });
  }

  /** Sets the factor of every track. */
  setLevels(levels) {
    this.levels = levels;
    this.steer();
  }

  /** Sets the factor on everything, 0…1. */
  setStrength(strength) {
    this.strength = strength;
    this.steer();
  }

  /** Where a pass begins and ends, in seconds of the tracks, and the silence before the next. */
  get bounds() {
    if (this.isLooping && this.stretch) return { ...this.stretch, gap: 0 };
    return { from: 0, to: this.duration, gap: usualGap };
  }

  /** Loops or not, over a stretch or, where that is absent, over everything. */
  setLoop(isLooping, stretch) {
    const place = this.position;
    this.isLooping = isLooping;
    this.stretch = stretch;
    if (!this.isPlaying) return;
    const { from, to } = this.bounds;
    this.start(place >= from && place < to ? place : from);
  }

  /** Begins to play where the play head is. */
  async play() {
    const turn = ++this.turn;
    await this.prepare();
    await this.context.resume();
    // A later command has overtaken this one.
    if (turn !== this.turn) return;
    const { from, to } = this.bounds;
    this.isPlaying = true;
    this.start(this.place < from || this.place >= to - 0.001 ? from : this.place);
    this.changed();
  }

  /** Stops; the play head stays where it is. */
  pause() {
    this.turn++;
    if (!this.isPlaying) return;
    this.place = this.position;
    this.isPlaying = false;
    this.silence();
    this.changed();
  }

  /** Moves the play head. */
  seek(seconds) {
    const place = Math.min(Math.max(0, seconds), this.duration);
    if (this.isPlaying) this.start(Math.min(place, this.duration - 0.001));
    this.place = place;
  }

  /** Where the play head is, in seconds. */
  get position() {
    if (!this.isPlaying) return this.place;
    const now = this.context.currentTime - (this.context.outputLatency || 0);
    let found = this.passes[0];
    for (const pass of this.passes) if (pass.start <= now) found = pass;
    if (!found) return this.place;
    return Math.min(found.to, found.from + Math.max(0, now - found.start));
  }

  /** Drops what is planned and plays on from a place. */
  start(place) {
    this.silence();
    this.place = place;
    const start = this.context.currentTime + 0.02;
    this.addPass(start, place, this.bounds.to, place > 0);
    this.planAhead();
  }

  /** Lets everything that sounds fade, and forgets what was to come. */
  silence() {
    const now = this.context.currentTime;
    for (const pass of this.passes) {
      for (const envelope of pass.envelopes) {
        envelope.gain.cancelScheduledValues(now);
        envelope.gain.setTargetAtTime(0, now, glide);
      }
      for (const source of pass.sources) source.stop(now + 10 * glide);
    }
    this.passes = [];
  }

  /** Plans passes until there are enough ahead; call it often while playing. */
  planAhead() {
    if (!this.isPlaying && this.passes.length === 0) return;
    const now = this.context.currentTime;
    while (this.passes.length > 1 && this.passes[1].start < now - 1) this.passes.shift();
    if (!this.isLooping) {
      const last = this.passes[this.passes.length - 1];
      const heard = now - (this.context.outputLatency || 0);
      if (last && heard >= last.start + last.to - last.from) this.finish();
      return;
    }
    const { from, to, gap } = this.bounds;
    for (let last = this.passes[this.passes.length - 1]; last && last.start < now + ahead;) {
      last = this.addPass(last.start + last.to - last.from + gap, from, to, from > 0);
    }
  }

  /** The end was reached: the play head goes back. */
  finish() {
    this.isPlaying = false;
    this.passes = [];
    this.place = 0;
    this.changed();
  }

  /** Plans one pass over the tracks; its fades lie outside of it. */
  addPass(start, from, to, fadesIn) {
    const lead = fadesIn ? Math.min(seam, from) : 0;
    const end = start + to - from;
    const fadesOut = to < this.duration;
    const envelopes = [];
    const sources = this.buffers.map((buffer, track) => {
      const source = this.context.createBufferSource();
      const envelope = this.context.createGain();
      source.buffer = buffer;
      source.connect(envelope).connect(this.gains[track]);
      if (fadesIn) {
        envelope.gain.setValueAtTime(0, start - lead);
        envelope.gain.linearRampToValueAtTime(1, start);
      }
      if (fadesOut) {
        envelope.gain.setValueAtTime(1, end);
        envelope.gain.linearRampToValueAtTime(0, end + seam);
      }
      // Behind the end of its buffer a source is silent by itself.
      source.start(start - lead, from - lead, to - from + lead + (fadesOut ? seam : 0));
      source.onended = () => envelope.disconnect();
      envelopes.push(envelope);
      return source;
    });
    const pass = { start, from, to, sources, envelopes };
    this.passes.push(pass);
    return pass;
  }
}
