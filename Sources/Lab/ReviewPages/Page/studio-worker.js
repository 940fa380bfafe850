// Work that takes longer than a picture: renderings, their pictures, and plans of long texts.

let core = null;
/** Jobs that wait: of several of one kind and slot only the last. */
const jobs = new Map();

/** What each kind of job answers; the buffers of the answer are handed over. */
const kinds = {
  /** The sound of a slot, and what the profile's hardware makes of it. */
  picture({ slot, text, profile, rate, name, columns }) {
    if (!core.open(slot, name, text)) return {};
    const samples = core.render(slot, profile, rate);
    return { samples, felt: columns ? core.felt(slot, profile, columns) : new Float32Array(0) };
  },
  /** Decibels of a stretch of the sound. */
  spectrum({ slot, text, profile, rate, name, columns, rows, from, to }) {
    if (!core.open(slot, name, text)) return {};
    core.render(slot, profile, rate);
    return { decibels: core.spectrogram(columns, rows, from, to) };
  },
  /** What is wrong with a text. */
  check({ slot, text, profile, name }) {
    core.open(slot, name, text);
    return { findings: core.check(slot, profile) };
  },
  /** The text of a pattern made of a sound. */
  trace({ slot, profile, sound }) {
    return core.trace(slot, sound, profile) ? { text: core.text(slot) } : {};
  },
  /** The compiled pattern. */
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
