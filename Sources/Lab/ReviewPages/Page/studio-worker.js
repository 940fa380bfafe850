// Background work: rendering, figures of sounds, and compilation of long texts.

let core = null;
/** The pending jobs: the latest of each kind and slot. */
const jobs = new Map();

/** The functions that answer each kind of job. The buffers of the answer are transferred. */
const kinds = {
  /** Returns the sound of a slot and the acceleration of the hardware. */
  picture({ slot, text, profile, rate, name, columns }) {
    if (!core.open(slot, name, text)) return {};
    const samples = core.render(slot, profile, rate);
    return { samples, felt: columns ? core.felt(slot, profile, columns) : new Float32Array(0) };
  },
  /** Returns the spectrogram of a time range in decibels. */
  spectrum({ slot, text, profile, rate, name, columns, rows, from, to }) {
    if (!core.open(slot, name, text)) return {};
    core.render(slot, profile, rate);
    return { decibels: core.spectrogram(columns, rows, from, to) };
  },
  /** Returns the findings of a text. */
  check({ slot, text, profile, name }) {
    core.open(slot, name, text);
    return { findings: core.check(slot, profile) };
  },
  /** Returns the text of a pattern traced from a sound. */
  trace({ slot, profile, sound }) {
    return core.trace(slot, sound, profile) ? { text: core.text(slot) } : {};
  },
  /** Returns the compiled pattern. */
  plan({ slot, text, profile, rate, name }) {
    return core.open(slot, name, text) ? { plan: core.plan(slot, profile, rate) } : {};
  },
};

function work() {
  const [[key, job]] = jobs;
  jobs.delete(key);
  const answer = kinds[job.kind](job);
  const buffers = Object.values(answer).flatMap((each) => each.buffer ?? []);
  postMessage({ kind: job.kind, slot: job.slot, number: job.number, ...answer }, buffers);
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
  } else {
    if (core && !jobs.size) setTimeout(work);
    jobs.set(`${data.kind} ${data.slot}`, data);
  }
};
