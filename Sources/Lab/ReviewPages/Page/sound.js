// A player of several tracks in sync to the sample.
// All tracks play all the time. Their gains determine the audible track, so that a switch needs no
// restart and does not click.

/** The time constant of all gain changes, in seconds. A change is 98 % complete after 8 ms. */
const gainTimeConstant = 0.002;
/**
 * The duration of the fade-in before the start of a pass and of the fade-out after its end, in
 * seconds.
 */
const fadeDuration = 0.005;
/** The duration of the silence that masks a switch, in seconds. */
const cover = 0.03;
/**
 * The time by which passes are scheduled in advance, in seconds, which avoids gaps on a busy page.
 */
const ahead = 1;

const decodedSounds = new Map();

/**
 * Returns the sound of an element. The sound is decoded once at its own rate, for drawing and
 * playing.
 */
function soundOf(id) {
  if (!decodedSounds.has(id)) {
    const element = document.getElementById(id);
    const decoder = new OfflineAudioContext(1, 1, Number(element.dataset.rate));
    const factor = Number(element.dataset.factor ?? 1);
    decodedSounds.set(id, decoder.decodeAudioData(bytesOf(element.textContent).buffer)
      .then((sound) => (factor > 1 ? interpolatedSound(sound, factor) : sound)));
  }
  return decodedSounds.get(id);
}

/** The number of input samples on either side of an interpolated sample. */
const interpolationRadius = 12;

/** Returns a decimated sound at its original rate, interpolated with a Hann-windowed sinc. */
function interpolatedSound(sound, factor) {
  const samples = sound.getChannelData(0);
  const whole = new AudioBuffer(
    { numberOfChannels: 1, length: samples.length * factor, sampleRate: sound.sampleRate }
  );
  const output = whole.getChannelData(0);
  for (let phase = 0; phase < factor; phase++) {
    const weights = Float32Array.from({ length: 2 * interpolationRadius }, (_, index) => {
      const distance = index - interpolationRadius + 1 - phase / factor;
      if (distance === 0) return 1;
      return Math.sin(Math.PI * distance) / (Math.PI * distance) * (
        0.5 + 0.5 * Math.cos(Math.PI * distance / interpolationRadius)
      );
    });
    for (let index = 0; index < samples.length; index++) {
      let sum = 0;
      for (let tap = 0; tap < weights.length; tap++) {
        sum += weights[tap] * (samples[index + tap - interpolationRadius + 1] ?? 0);
      }
      output[index * factor + phase] = sum;
    }
  }
  return whole;
}

/**
 * Returns the element ID of a take's sound for an output, which is 0 for the actuator and 1 for
 * small speakers.
 */
function soundId(take, output) {
  return `sound-${take}-${Math.min(output, data.takes[take].soundCount - 1)}`;
}

let audio = null;

/** Returns the audio context of the page. */
function audioContext() {
  audio ??= new AudioContext({ latencyHint: "interactive" });
  return audio;
}

/** Resumes an audio context, and reports that there is no sound while `isWaiting` remains true. */
async function resumeSound(context, isWaiting) {
  const timer = setTimeout(() => {
    if (isWaiting()) showNote(silenceWords);
  }, silenceTimeout);
  await context.resume();
  clearTimeout(timer);
}

/** A set of tracks with a common play head. */
class Deck {
  /** @param {() => void} changed Called when playback starts or ends. */
  constructor(changed) {
    this.changed = changed;
    /** The sounds of the tracks, each with its delay relative to the play head in seconds. */
    this.tracks = [];
    this.levels = [];
    /**
     * The index of the audible track, and a Boolean value that indicates whether tracks alternate
     * in successive passes.
     */
    this.heard = 0;
    this.alternates = false;
    this.volume = 1;
    /** The start and end of a pass in seconds, and the silence between looped passes. */
    this.from = 0;
    this.to = 1;
    this.gap = 0.4;
    this.isLooping = false;
    this.isPlaying = false;
    this.pausedPosition = 0;
    this.passes = [];
    this.turn = 0;
    this.loads = 0;
  }

  /** Replaces the tracks by sounds: `{ id, delay }` each. */
  async load(tracks) {
    const load = ++this.loads;
    const buffers = await Promise.all(tracks.map(({ id }) => soundOf(id)));
    // A later call has replaced this one.
    if (load !== this.loads) return false;
    this.tracks = tracks.map(({ delay = 0 }, index) => ({ buffer: buffers[index], delay }));
    if (this.isPlaying) this.start(this.position);
    return true;
  }

  /** Returns the gain of a track in a pass, by its number. */
  gainOf(track, pass) {
    const heard = this.alternates ? pass % this.tracks.length : this.heard;
    return track === heard ? this.levels[track] ?? 1 : 0;
  }

  /** Applies the current levels and volume to all gains. */
  applyGains() {
    if (!this.master) return;
    const now = audio.currentTime;
    this.master.gain.setTargetAtTime(this.volume, now, gainTimeConstant);
    for (const pass of this.passes) {
      pass.gains.forEach((gain, track) => {
        gain.gain.cancelScheduledValues(now);
        gain.gain.setTargetAtTime(this.gainOf(track, pass.number), now, gainTimeConstant);
      });
    }
  }

  /** Selects the audible track with a short silence, even if it does not change. */
  selectMasked(track) {
    this.heard = track;
    this.alternates = false;
    if (!this.master) return;
    const now = audio.currentTime;
    for (const pass of this.passes) {
      pass.gains.forEach((gain, index) => {
        gain.gain.cancelScheduledValues(now);
        gain.gain.setTargetAtTime(0, now, gainTimeConstant);
        gain.gain.setTargetAtTime(this.gainOf(index, pass.number), now + cover, gainTimeConstant);
      });
    }
  }

  /** Starts playback at the play head or at a given position. */
  async play(position = this.pausedPosition) {
    const turn = ++this.turn;
    const context = audioContext();
    await resumeSound(context, () => turn === this.turn);
    // A later command has replaced this one.
    if (turn !== this.turn) return;
    if (!this.master) {
      this.master = context.createGain();
      this.master.connect(context.destination);
    }
    this.master.gain.value = this.volume;
    this.isPlaying = true;
    this.start(position >= this.from && position < this.to - 0.002 ? position : this.from);
    this.changed();
  }

  /** Pauses playback at the current position. */
  pause() {
    this.turn++;
    if (!this.isPlaying) return;
    this.pausedPosition = this.position;
    this.isPlaying = false;
    this.silence();
    this.changed();
  }

  /** Moves the play head. */
  seek(position) {
    this.pausedPosition = position;
    if (this.isPlaying) this.start(clamp(position, this.from, this.to - 0.002));
  }

  /** Sets the ends of a pass and whether passes repeat. */
  setLoop(from, to, isLooping) {
    const position = this.position;
    Object.assign(this, { from, to, isLooping });
    if (this.isPlaying) this.start(position >= from && position < to ? position : from);
  }

  /** The pass that is playing now. */
  get current() {
    const now = audibleTime(audio);
    return this.passes.findLast((pass) => pass.start <= now) ?? this.passes[0];
  }

  /** The position of the play head, in seconds. */
  get position() {
    if (!this.isPlaying || this.passes.length === 0) return this.pausedPosition;
    const pass = this.current;
    const now = audibleTime(audio);
    return clamp(pass.from + now - pass.start, pass.from, pass.to);
  }

  /** The index of the track that is playing. */
  get sounding() {
    if (!this.alternates || this.passes.length === 0) return this.heard;
    return this.current.number % this.tracks.length;
  }

  /** Cancels the scheduled passes and continues from a position. */
  start(position) {
    this.silence();
    this.pausedPosition = position;
    this.count = 0;
    this.schedulePass(audio.currentTime + 0.03, position, this.to);
    this.schedulePasses();
  }

  /** Fades out everything that plays and cancels the scheduled passes. */
  silence() {
    const now = audio?.currentTime ?? 0;
    for (const pass of this.passes) {
      for (const envelope of pass.envelopes) {
        envelope.gain.cancelScheduledValues(now);
        envelope.gain.setTargetAtTime(0, now, gainTimeConstant);
      }
      for (const source of pass.sources) source.stop(now + 10 * gainTimeConstant);
    }
    this.passes = [];
  }

  /** Schedules passes within the look-ahead. Must be called often during playback. */
  schedulePasses() {
    if (!this.isPlaying || this.passes.length === 0) return;
    const now = audio.currentTime;
    const endOf = (pass) => pass.start + pass.to - pass.from;
    while (this.passes.length > 1 && this.passes[1].start < now - 1) this.passes.shift();
    let last = this.passes.at(-1);
    const isMore = () => this.isLooping
      || (this.alternates && last.number + 1 < this.tracks.length);
    while (isMore() && endOf(last) + this.gap < now + ahead) {
      last = this.schedulePass(endOf(last) + this.gap, this.from, this.to);
    }
    if (!isMore() && audibleTime(audio) >= endOf(last)) {
      this.pause();
      this.pausedPosition = this.from;
      this.changed();
    }
  }

  /** Schedules one pass of all tracks. Its fades are outside the pass. */
  schedulePass(start, from, to) {
    const number = this.count++;
    const pass = { start, from, to, number, gains: [], envelopes: [], sources: [] };
    this.tracks.forEach(({ buffer, delay }, track) => {
      const source = audio.createBufferSource();
      const envelope = audio.createGain();
      const gain = audio.createGain();
      source.buffer = buffer;
      gain.gain.value = this.gainOf(track, number);
      source.connect(envelope).connect(gain).connect(this.master);
      const first = from + delay;
      const lead = clamp(first, 0, fadeDuration);
      const wait = Math.max(0, -first);
      const end = start + to - from;
      if (lead > 0) {
        envelope.gain.setValueAtTime(0, start - lead);
        envelope.gain.linearRampToValueAtTime(1, start);
      }
      envelope.gain.setValueAtTime(1, end);
      envelope.gain.linearRampToValueAtTime(0, end + fadeDuration);
      // After the end of its buffer, a source is silent.
      const length = to - from - wait + lead + fadeDuration;
      if (length > 0) {
        source.start(start + wait - lead, Math.max(0, first) - lead, length);
        source.onended = () => gain.disconnect();
        pass.sources.push(source);
      }
      pass.envelopes.push(envelope);
      pass.gains.push(gain);
    });
    this.passes.push(pass);
    return pass;
  }
}

/** Returns a 16-bit sound as a WAVE file. Samples in −1…1 become the original integers. */
function waveFile(buffer) {
  const channels = Array.from(
    { length: buffer.numberOfChannels }, (_, index) => buffer.getChannelData(index));
  const size = buffer.length * channels.length * 2;
  const view = new DataView(new ArrayBuffer(44 + size));
  const text = (offset, letters) => {
    [...letters].forEach((letter, index) => view.setUint8(offset + index, letter.charCodeAt(0)));
  };
  text(0, "RIFF");
  view.setUint32(4, 36 + size, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels.length, true);
  view.setUint32(24, buffer.sampleRate, true);
  view.setUint32(28, buffer.sampleRate * channels.length * 2, true);
  view.setUint16(32, channels.length * 2, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, size, true);
  let offset = 44;
  for (let frame = 0; frame < buffer.length; frame++) {
    for (const channel of channels) {
      view.setInt16(offset, clamp(Math.round(channel[frame] * 32768), -32768, 32767), true);
      offset += 2;
    }
  }
  return view.buffer;
}
