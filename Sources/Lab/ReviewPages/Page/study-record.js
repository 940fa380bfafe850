// The results of a participant: rows like those of the program, in the storage of the browser.

/** Returns the trials of the study for a seed. */
const trialsOf = (seed) => new TrialSequence(
  {
    ...data.study,
    values: data.stimuli.map(({ value }) => (value === "" ? null : Number(value))),
  },
  seed);

/** Returns the seed of the page or of its URL, or null for a random seed. */
const chosenSeed = () => data.seed ?? addressSeed();

/** The answers of a participant. */
class StudyRecord {
  /** Continues the stored answers of a participant, or starts without answers. */
  constructor(participant) {
    this.participant = participant;
    this.rows = [];
    const stored = this.stored;
    this.seed = BigInt(stored?.seed ?? chosenSeed() ?? randomSeed());
    this.trials = trialsOf(this.seed);
    for (const row of stored?.rows ?? []) {
      this.rows.push(row);
      this.trials.submit(Number(row.answer));
    }
  }

  /** The key of the answers in the storage. Different studies have different keys. */
  get key() {
    const { table, procedure, repeats } = data.study;
    const seed = chosenSeed() ?? "";
    return ["temblor-study", table, procedure, repeats, seed, this.participant].join("/");
  }

  /** The stored answers, or null. */
  get stored() {
    try {
      return JSON.parse(localStorage.getItem(this.key));
    } catch {
      return null;
    }
  }

  /** Stores the answers. Returns false if the browser does not allow this. */
  store() {
    try {
      localStorage.setItem(
        this.key, JSON.stringify({ seed: String(this.seed), rows: this.rows }));
      this.isStored = true;
    } catch {
      this.isStored = false;
    }
    return this.isStored;
  }

  /** Adds the answer of the current trial, and stores all answers. */
  submit(answer, seconds) {
    const { intervals, correct, tested } = this.trials.trial;
    const { stimuli, study, conditions } = data;
    this.rows.push({
      ...conditions,
      study: study.table,
      participant: this.participant,
      seed: String(this.seed),
      procedure: study.procedure,
      trial: String(this.rows.length + 1),
      intervals: intervals.map((index) => stimuli[index].id).join(" "),
      tested: stimuli[tested].id,
      value: stimuli[tested].value,
      answer: String(answer),
      right: correct === null ? "" : String(correct),
      time: timestampText(),
      seconds: seconds.toFixed(3),
    });
    this.trials.submit(answer);
    this.store();
  }

  /** The results as CSV. */
  get text() {
    return csvText(
      [data.columns, ...this.rows.map((row) => data.columns.map((name) => row[name] ?? ""))]);
  }

  /** The name of the results file. */
  get fileName() { return `study-${data.name}-${this.participant}.csv`; }
}
