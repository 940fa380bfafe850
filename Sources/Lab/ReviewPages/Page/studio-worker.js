// The background work of the studio: rendering, figures of sounds, and compilation of long texts.

let core = null;
/** The pending jobs, with the latest job of each kind and slot. */
const jobs = new Map();

/** The texts of the slots. Each text is opened once before the first job that needs it. */
const texts = [];

/** Opens the text of a slot. Returns false if it cannot be read. */
function openText(slot) {
  const text = texts[slot];
  text.isReadable ??= core.open(slot, text.name, text.bytes);
  return text.isReadable;
}

/**
 * Returns the minimum and maximum of each group of samples, which a figure of a long sound shows,
 * and the peak.
 */
function extremesOf(samples) {
  const extremes = new Float32Array(2 * Math.ceil(samples.length / extremesLength));
  let peak = 0;
  for (let group = 0; 2 * group < extremes.length; group++) {
    const last = Math.min(samples.length, (group + 1) * extremesLength);
    let [low, high] = [0, 0];
    for (let index = group * extremesLength; index < last; index++) {
      const sample = samples[index];
      if (sample > high) high = sample;
      else if (sample < low) low = sample;
    }
    extremes[2 * group] = low;
    extremes[2 * group + 1] = high;
    peak = Math.max(peak, high, -low);
  }
  return { extremes, peak };
}

/** The functions that perform each kind of job. The buffers of their results are transferred. */
const kinds = {
  /** Returns the sound of a slot, its extremes, and the acceleration of the hardware. */
  picture({ slot, profile, rate, columns }) {
    if (!openText(slot)) return {};
    const samples = core.render(slot, profile, rate);
    const felt = columns ? core.felt(slot, profile, columns) : new Float32Array(0);
    return { samples, felt, ...extremesOf(samples) };
  },
  /** Returns the spectrogram of a time range in decibels. */
  spectrum({ slot, profile, rate, columns, rows, from, to }) {
    if (!openText(slot)) return {};
    core.render(slot, profile, rate);
    return { decibels: core.spectrogram(columns, rows, from, to) };
  },
  /** Returns the findings of a text. */
  check({ slot, profile }) {
    openText(slot);
    return { findings: core.check(slot, profile) };
  },
  /** Returns the text of a pattern traced from a sound. */
  trace({ slot, profile, sound }) {
    return core.trace(slot, sound, profile) ? { text: core.text(slot) } : {};
  },
  /** Returns the compiled pattern of a slot. */
  plan({ slot, profile, rate }) {
    return openText(slot) ? { plan: core.plan(slot, profile, rate) } : {};
  },
};

function work() {
  const [[key, job]] = jobs;
  jobs.delete(key);
  const answer = kinds[job.kind](job);
  const buffers = Object.values(answer).flatMap((each) => each.buffer ?? []);
  const message = { kind: job.kind, slot: job.slot, number: job.number, ...answer };
  postMessage(message, { transfer: buffers });
  if (jobs.size) setTimeout(work);
}

onmessage = async ({ data }) => {
  if (data.module) {
    core = await Core.make(data.module);
    if (data.profile) core.addProfile(data.profile);
    postMessage({ isReady: true });
    if (jobs.size) work();
  } else if (data.kind === "sound") {
    core.sound(data);
  } else if (data.kind === "text") {
    texts[data.slot] = data;
  } else {
    if (core && !jobs.size) setTimeout(work);
    jobs.set(`${data.kind} ${data.slot}`, data);
  }
};
