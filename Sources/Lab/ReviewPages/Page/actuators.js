// Playback on devices without samples: a phone, whose vibration is on or off, and a gamepad with two
// motors.

/** The duration of a step of `levelsOf`, in seconds. */
const levelStep = 0.01;
/** The intensity below which a device that is only on or off is off. */
const minimumVibration = 0.1;
/** The minimum duration of a vibration, in seconds. Motors do not respond to shorter ones. */
const minimumPulse = 0.02;
/** The minimum duration of a repeated range, in seconds. */
const minimumLoop = 0.1;
/** The interval between commands to a gamepad, in seconds. */
const gamepadInterval = 0.03;
/** The limits of `navigator.vibrate` in Chromium, which ignores more entries. */
const vibrationLimits = { entries: 99, seconds: 5 };
/** The time by which a vibration continues after the next one is due, in seconds. */
const vibrationOverlap = 0.1;

/**
 * Returns the intensity and sharpness of a score in steps of `levelStep`: those of the strongest
 * event.
 */
function levelsOf({ events, duration }) {
  const count = Math.ceil((duration + minimumPulse) / levelStep - 1e-6);
  const levels = { intensity: new Float32Array(count), sharpness: new Float32Array(count) };
  for (const { kind, time, duration: length = 0, felt = [] } of events) {
    const last = kind === "HapticTransient" ? time : Math.max(time + length, felt.at(-3) ?? time);
    const end = Math.max(last, time + minimumPulse);
    for (let index = 0; index < felt.length; index += 3) {
      const corner = felt.slice(index, index + 3);
      const next = felt.slice(index + 3, index + 6);
      addSegment(levels, corner, next.length ? next : [end, corner[1], corner[2]]);
    }
  }
  return levels;
}

/** Adds a segment between two corners to the levels. */
function addSegment({ intensity, sharpness }, [start, level, tone], [end, endLevel, endTone]) {
  const first = Math.max(0, Math.floor(start / levelStep + 1e-6));
  const last = Math.min(intensity.length, Math.ceil(end / levelStep - 1e-6));
  for (let step = first; step < last; step++) {
    const from = Math.max(start, step * levelStep);
    const to = Math.min(end, (step + 1) * levelStep);
    const fraction = end > start ? ((from + to) / 2 - start) / (end - start) : 0;
    const value = level + fraction * (endLevel - level);
    if (value <= intensity[step]) continue;
    intensity[step] = value;
    sharpness[step] = tone + fraction * (endTone - tone);
  }
}

/**
 * Returns the position in a repeated range, in seconds, at a time without repetitions.
 *
 * @param {number} seconds
 * @param {number[]} range
 */
function repeatedPosition(seconds, [from, to]) {
  return seconds < to ? seconds : from + (seconds - from) % Math.max(minimumLoop, to - from);
}

/** A pattern that is playing. `ended` resolves at its end. */
class Play {
  constructor() {
    this.controls = { intensity: 1, sharpness: 0 };
    this.isPlaying = true;
    this.ended = new Promise((resolve) => { this.resolve = resolve; });
  }
  /** Applies controls that have changed. */
  apply() {}
  /** Ends the sound or vibration. */
  silence() {}
  finish() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.silence();
    this.resolve();
  }
}

/**
 * @typedef {{intensity: Float32Array, sharpness: Float32Array}} Levels Values in steps of
 *   `levelStep`.
 */

/** A play of levels on the clock of the page. */
class ActuatorPlay extends Play {
  /** Sends commands to the device. Returns false if it refuses. */
  send() { return true; }
  /**
   * Starts at a position in seconds. A range, `[from, to]` in seconds, is repeated. Returns false if
   * the device refuses.
   *
   * @param {Levels} levels
   * @param {{at?: number, range?: number[] | null}} options
   */
  begin(levels, { at = 0, range = null } = {}) {
    this.levels = levels;
    this.range = range;
    this.origin = performance.now() / 1000 - at;
    return this.send();
  }
  /** The time since the start of the pattern in seconds, without repetitions. */
  get elapsed() { return performance.now() / 1000 - this.origin; }
  /** The duration of the pattern in seconds. */
  get duration() { return this.levels.intensity.length * levelStep; }
  hasEndedAt(seconds) { return !this.range && seconds > this.duration - 1e-6; }
  /** Returns the index of the level at a time since the start, with repetitions. */
  levelIndex(seconds) {
    const position = this.range ? repeatedPosition(seconds, this.range) : seconds;
    return Math.floor(position / levelStep);
  }
}

/** A play on a phone that vibrates, on or off. */
class VibrationPlay extends ActuatorPlay {
  apply() { if (this.levels) this.send(); }

  /** Sends the next part of the pattern, and prepares the one after it. */
  send() {
    clearTimeout(this.timer);
    const start = this.elapsed;
    if (this.hasEndedAt(start)) {
      this.finish();
      return true;
    }
    const { durations, next } = this.part(start);
    if (!navigator.vibrate(durations)) {
      this.finish();
      return false;
    }
    this.timer = setTimeout(() => this.send(), Math.max(0, 1000 * (start + next - this.elapsed)));
    return true;
  }

  /**
   * Returns the on and off durations of the part at a time in milliseconds, as `navigator.vibrate`
   * takes them, and the time after which the next part is due, in seconds.
   *
   * A part ends where the vibration ends, if possible, so that its successor replaces silence.
   */
  part(start) {
    const durations = [0];
    let isOn = true;
    let end = null;
    let step = 0;
    const stepCount = Math.round(vibrationLimits.seconds / levelStep);
    for (; step < stepCount && !this.hasEndedAt(start + step * levelStep); step++) {
      const index = this.levelIndex(start + (step + 0.5) * levelStep);
      const level = (this.levels.intensity[index] ?? 0) * this.controls.intensity;
      if (level >= minimumVibration !== isOn) {
        if (durations.length === vibrationLimits.entries) break;
        if (isOn && step > stepCount / 2) end = { length: durations.length, step };
        isOn = !isOn;
        durations.push(0);
      }
      durations[durations.length - 1] += 1000 * levelStep;
    }
    const isLast = this.hasEndedAt(start + step * levelStep);
    let next = step * levelStep;
    if (!isLast && end) {
      durations.length = end.length;
      next = end.step * levelStep;
    } else if (!isLast && isOn) next -= vibrationOverlap;
    // Browsers ignore a pause at the end.
    if (durations.length % 2 === 0) durations.pop();
    return { durations: durations.map(Math.round), next };
  }

  silence() {
    clearTimeout(this.timer);
    navigator.vibrate(0);
  }
}

/** A play on the motors of a gamepad: dull vibration on the strong motor, sharp on the weak one. */
class GamepadPlay extends ActuatorPlay {
  constructor(actuator) {
    super();
    this.actuator = actuator;
  }

  /** Sends commands until the end. */
  send() {
    this.timer = setInterval(() => this.rumble(), 1000 * gamepadInterval);
    return true;
  }

  /** Sends the strongest level until the next command. */
  rumble() {
    const seconds = this.elapsed;
    if (this.hasEndedAt(seconds)) {
      this.finish();
      return;
    }
    let [intensity, sharpness] = [0, 0];
    for (let step = 0; step < Math.round(gamepadInterval / levelStep); step++) {
      const index = this.levelIndex(seconds + step * levelStep);
      if (!(this.levels.intensity[index] > intensity)) continue;
      intensity = this.levels.intensity[index];
      sharpness = this.levels.sharpness[index];
    }
    intensity = Math.min(1, intensity * this.controls.intensity);
    sharpness = Math.min(1, Math.max(0, sharpness + this.controls.sharpness));
    this.actuator.playEffect("dual-rumble", {
      duration: 2000 * gamepadInterval,
      strongMagnitude: intensity * (1 - sharpness), weakMagnitude: intensity * sharpness,
    })?.catch?.(() => this.finish());
  }

  silence() {
    clearInterval(this.timer);
    this.actuator.reset?.();
  }
}
