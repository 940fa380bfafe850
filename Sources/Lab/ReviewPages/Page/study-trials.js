// The trials of a study, as in the program: the next trial follows from the seed and the answers.

/** A transformed up-down staircase: down after two correct answers, up after an incorrect one. */
class Staircase {
  /** @param {object} settings The number of `reversals` after which it ends. */
  constructor(settings) {
    this.settings = settings;
    this.correctCount = 0;
    this.direction = 0;
    this.reversals = 0;
  }

  /** True after the last reversal. */
  get isOver() { return this.reversals >= this.settings.reversals; }

  /** Records an answer and returns the next step: −1, 0, or 1. */
  record(isCorrect) {
    this.correctCount = isCorrect ? this.correctCount + 1 : 0;
    const isDown = this.correctCount === 2;
    if (isCorrect && !isDown) return 0;
    const step = isDown ? -1 : 1;
    this.correctCount = 0;
    if (this.direction !== 0 && step !== this.direction) this.reversals++;
    this.direction = step;
    return step;
  }
}

/** The trials of a study. */
class TrialSequence {
  /**
   * @param {object} study The study: `procedure`, `values` (null if unknown), `pairs` of indexes
   *   `{ tested, reference }`, `repeats`, and the settings of the `staircase`.
   * @param {bigint} seed The seed of the random order.
   */
  constructor(study, seed) {
    this.study = study;
    this.numbers = new RandomNumbers(seed);
    this.isStaircase = study.procedure === "staircase";
    const { values } = study;
    this.order = [];
    if (this.isStaircase) {
      this.order = [...study.pairs].sort(
        (one, other) => (values[one.tested] ?? 0) - (values[other.tested] ?? 0));
    } else {
      for (let count = 0; count < study.repeats; count++) {
        this.order.push(...this.numbers.shuffled(study.pairs));
      }
    }
    this.staircase = new Staircase(study.staircase);
    this.step = this.order.length - 1;
    this.answerCount = 0;
    this.trial = this.makeTrial();
  }

  /** The planned number of trials, or null for a staircase. */
  get plannedCount() { return this.isStaircase ? null : this.order.length; }

  /** The pair of the next trial, or undefined after the last trial. */
  get nextPair() {
    if (!this.isStaircase) return this.order[this.answerCount];
    const isOver = this.staircase.isOver
      || this.answerCount >= this.study.staircase.maximumTrials;
    return isOver ? undefined : this.order[this.step];
  }

  /** Returns the next trial, or null after the last trial. */
  makeTrial() {
    const pair = this.nextPair;
    if (!pair) return null;
    const { tested, reference } = pair;
    const isFirst = this.numbers.bit() === 0;
    const ordered = isFirst ? [tested, reference] : [reference, tested];
    switch (this.study.procedure) {
      case "magnitude":
        return { intervals: [tested], correct: null, tested };
      case "rating":
        return { intervals: [reference, tested], correct: null, tested };
      case "abx": {
        const last = this.numbers.bit();
        return { intervals: [...ordered, ordered[last]], correct: last + 1, tested };
      }
      default: {
        const { values } = this.study;
        const isWeaker = (values[tested] ?? Infinity) < (values[reference] ?? -Infinity);
        return { intervals: ordered, correct: isFirst !== isWeaker ? 1 : 2, tested };
      }
    }
  }

  /** Records the answer of the current trial, and draws the next trial. */
  submit(answer) {
    if (!this.trial) return;
    this.answerCount++;
    if (this.isStaircase) {
      const step = this.step + this.staircase.record(answer === this.trial.correct);
      this.step = Math.min(Math.max(0, step), this.order.length - 1);
    }
    this.trial = this.makeTrial();
  }
}
