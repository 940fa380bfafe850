// The reference: a sound, or the sound of a video, that is shown as a lane and played in sync with
// the pattern. It is not part of the pattern.

/**
 * @typedef {{file: string, channels: number, rate: number, samples: Float32Array,
 *   peaks: Float32Array, peak: number, start: number, isHeard: boolean}} Reference Interleaved
 *   samples, their peaks in groups of `extremesLength` frames, the largest of these peaks, and the
 *   start in the pattern in seconds.
 */

/** @type {Reference | null} */
let reference = null;
/** The sound that is playing. */
let referenceSource = null;
/** The number of the play for which the reference starts at the next report of the audio thread. */
let dueReferencePlay = 0;
/** The delay between a report of the audio thread and the start of the reference, in seconds. */
const referenceLead = 0.03;

/** Returns the time at which the reference has ended, in seconds. */
const referenceEnd = () => (reference
  ? reference.start + reference.samples.length / reference.channels / reference.rate : 0);

/** Shows a decoded sound as the reference. */
function showReference(sound) {
  const { samples, channels } = sound;
  const groupLength = extremesLength * channels;
  const peaks = new Float32Array(Math.ceil(samples.length / groupLength));
  samples.forEach((sample, index) => {
    const group = Math.floor(index / groupLength);
    peaks[group] = Math.max(peaks[group], Math.abs(sample));
  });
  const peak = peaks.reduce((one, other) => Math.max(one, other), 0);
  reference = { ...sound, peaks, peak, start: 0, isHeard: true };
  find("#reference").hidden = false;
  find("#reference-name").textContent = `♪ ${sound.file}`;
  find("#reference-start").value = "0";
  press(find("#reference-heard"), true);
  showAll();
  referenceChanged();
  announce(`${sound.file} is shown as a lane`);
}

function removeReference() {
  reference = null;
  stopReference();
  find("#reference").hidden = true;
  showAll();
  referenceChanged();
}

/** Draws the reference, and plays it from its position. */
function referenceChanged() {
  drawAll();
  showHeader();
  sendLoop();
}

/** Draws the lane of the reference. */
function drawReference(context) {
  const [top, bottom] = box.lanes.reference;
  const middle = (top + bottom) / 2;
  const { peaks, start, rate: soundRate } = reference;
  const maximum = Math.max(reference.peak, 0.02);
  const perSecond = soundRate / extremesLength;
  context.fillStyle = colors["equal-line"];
  for (let x = box.left; x <= box.width - box.right; x++) {
    const first = Math.floor((timeAt(x) - start) * perSecond);
    const last = Math.max(first + 1, Math.floor((timeAt(x + 1) - start) * perSecond));
    if (last <= 0 || first >= peaks.length) continue;
    let peak = 0;
    for (let group = Math.max(0, first); group < Math.min(last, peaks.length); group++) {
      peak = Math.max(peak, peaks[group]);
    }
    const half = Math.max(0.5, peak / maximum * (bottom - top) / 2);
    context.fillRect(x, middle - half, 1, 2 * half);
  }
}

function stopReference() {
  dueReferencePlay = 0;
  referenceSource?.stop();
  referenceSource = null;
}

/** Requests the start of the reference at the next report of the audio thread. */
function restartReference() {
  stopReference();
  if (state.isPlaying && reference?.isHeard) dueReferencePlay = playNumber;
}

/** Starts the reference at the position that the audio thread reported. */
function followReport({ frame, time, play: reportedPlay }) {
  if (!dueReferencePlay || reportedPlay !== dueReferencePlay || !reference) return;
  dueReferencePlay = 0;
  const [first, last] = playedRange();
  const start = audio.currentTime + referenceLead;
  let position = frame / rate + start - time;
  if (state.isLooping && position >= last) position = first + (position - last) % (last - first);
  referenceSource = new AudioBufferSourceNode(audio, {
    buffer: referenceBuffer(last), loop: state.isLooping, loopStart: first, loopEnd: last,
  });
  referenceSource.connect(volume);
  referenceSource.start(start, position);
}

/** Returns the reference on the time axis of the pattern, with a duration in seconds. */
function referenceBuffer(duration) {
  const { channels, rate: soundRate, samples, start } = reference;
  const length = Math.max(1, Math.ceil(duration * soundRate));
  const buffer = audio.createBuffer(channels, length, soundRate);
  const offset = Math.round(start * soundRate);
  const count = Math.min(samples.length / channels, length - offset);
  for (let channel = 0; channel < channels; channel++) {
    const target = buffer.getChannelData(channel);
    for (let frame = Math.max(0, -offset); frame < count; frame++) {
      target[offset + frame] = samples[frame * channels + channel];
    }
  }
  return buffer;
}

function connectReference() {
  find("#reference-start").addEventListener("change", ({ target }) => {
    if (!reference || target.value === "" || !target.checkValidity()) return;
    reference.start = Number(target.value);
    referenceChanged();
    restartReference();
  });
  find("#reference-heard").addEventListener("click", ({ currentTarget }) => {
    if (!reference) return;
    reference.isHeard = !reference.isHeard;
    press(currentTarget, reference.isHeard);
    restartReference();
  });
  find("#reference-remove").addEventListener("click", removeReference);
}
