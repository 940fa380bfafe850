// A blind test, in which X is one of two takes that the page reveals only at the end.
// The random sequence, the wording and the record are those of the command `temblor abx`.

/** Yields the identity of X in successive trials, 0 for A and 1 for B. */
function* drawsOf(seed) {
  const numbers = new RandomNumbers(seed);
  while (true) yield numbers.bit();
}

/** Returns the probability of at least a number of correct answers by guessing (binomial test). */
function chanceOfAtLeast(rightCount, trialCount) {
  let sum = 0;
  let combinations = 1;
  for (let count = trialCount; count >= Math.max(0, rightCount); count--) {
    sum += combinations;
    combinations = (combinations * count) / (trialCount - count + 1);
  }
  return Math.min(1, sum / 2 ** trialCount);
}

/** Returns a probability as text in percent, such as `4.2 %`. */
function percentText(chance) {
  if (chance < 0.001) return "less than 0.1 %";
  if (chance < 0.0995) return `${(Math.round(chance * 1000) / 10).toFixed(1)} %`;
  return `${Math.round(chance * 100)} %`;
}

/** Returns the result of a score, with a `conclusion` for programs and a `sentence` for users. */
function meaningOf(rightCount, trialCount, plannedCount, isVoid) {
  if (isVoid) {
    return {
      conclusion: "identical", sentence: "A and B are identical, sample for sample. The result is void.",
    };
  }
  if (trialCount === 0) {
    return { conclusion: "nothing", sentence: "No answers. There is no result." };
  }
  const chance = chanceOfAtLeast(rightCount, trialCount);
  const chanceOfFewer = chanceOfAtLeast(trialCount - rightCount, trialCount);
  const isComplete = trialCount === plannedCount;
  const answers = `${rightCount} correct ${rightCount === 1 ? "answer" : "answers"}`;
  const guessingText = (bound, probability) =>
    `${rightCount} of ${trialCount} correct. By guessing, the probability of ${bound} ${answers} is `
    + `${percentText(probability)}.`;
  const better = `${guessingText("at least", chance)} `;
  let conclusion = "notSignificant";
  let sentence = better + "The result neither shows nor excludes a perceptible difference.";
  if (trialCount < 5) {
    conclusion = "tooFewTrials";
    sentence = better + "At least 5 trials are needed for a result.";
  } else if (chance <= 0.05) {
    conclusion = chance <= 0.01 ? "highlySignificant" : "significant";
    const heard = chance <= 0.01
      ? "The difference is very probably perceptible."
      : "The difference is probably perceptible.";
    sentence = better + (isComplete ? heard : "The difference may be perceptible.");
  } else if (chanceOfFewer <= 0.05) {
    conclusion = "belowChance";
    sentence = `${guessingText("at most", chanceOfFewer)} A and B may be swapped.`;
  }
  if (!isComplete) {
    sentence += ` The test ended after ${trialCount} of ${plannedCount} trials: stopping early `
      + "inflates the result.";
  }
  return { conclusion, sentence };
}

/**
 * The maximum difference between samples of identical sounds, as a fraction of the peak: −60 dB.
 */
const rounding = 0.001;

/** Returns whether two tracks with gains are identical, optionally except for rounding. */
function areIdentical([one, other], gains, isRounded) {
  if (one.buffer.sampleRate !== other.buffer.sampleRate) return false;
  const count = one.buffer.numberOfChannels;
  if (count !== other.buffer.numberOfChannels) return false;
  const shift = Math.round((other.delay - one.delay) * one.buffer.sampleRate);
  const peakOf = (samples) => samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
  for (let channel = 0; channel < count; channel++) {
    const first = one.buffer.getChannelData(channel);
    const second = other.buffer.getChannelData(channel);
    const peak = Math.max(gains[0] * peakOf(first), gains[1] * peakOf(second));
    const tolerance = isRounded ? rounding * peak : 0;
    const last = Math.max(first.length, second.length - shift);
    for (let index = Math.min(0, -shift); index < last; index++) {
      const difference = gains[0] * (first[index] ?? 0) - gains[1] * (second[index + shift] ?? 0);
      if (Math.abs(difference) > tolerance) return false;
    }
  }
  return true;
}

/** The dialog of a blind test, without a figure, clock or colors that could reveal X. */
class BlindTest {
  #draws;
  #x;

  /**
   * @param {object} host The functions of the page: `hear(side)` with 0 for A and 1 for B,
   *   `begin(isMatched)`, `end()`, `isPlaying()`, `togglePlay()`, `about()` with the takes for the
   *   record, `conditions()`, the `measure` of level matching, `areIdentical()`, and
   *   `differOnlyInLevel()`, a promise that is true if matching removes the only difference.
   */
  constructor(host) {
    this.host = host;
    this.dialog = find("#blind");
    this.stage = "closed";
    const match = { loudness: "Match loudness (LUFS)", felt: "Match felt energy" }[host.measure];
    find("#blind-match").add(new Option(match, host.measure));
    find("#blind-end").addEventListener("click", () => this.leave());
    this.dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.leave();
    });
    this.dialog.addEventListener("keydown", (event) => this.press(event));
  }

  get isRunning() { return this.stage === "trial"; }

  /** Opens the dialog, and asks for the number of trials. */
  open() {
    if (this.dialog.open) return;
    this.show("intro");
    find("#blind-match").value = "none";
    find("#blind-refusal").textContent = "";
    this.dialog.showModal();
    find("#blind-trials").focus();
  }

  /** Ends the test. If there are answers, the result is shown before the dialog closes. */
  leave() {
    if (this.isRunning && this.trials.length > 0) {
      this.finish();
      return;
    }
    this.show("closed");
    this.host.end();
    this.dialog.close();
  }

  /** Shows one stage of the dialog. */
  show(stage) {
    this.stage = stage;
    for (const part of findAll("[data-stage]", this.dialog)) {
      part.hidden = part.dataset.stage !== stage;
    }
    const names = this.host.about().map((take) => take.name);
    find("#blind-names").textContent = stage === "intro"
      ? ""
      : `A is ${names[0]}, B is ${names[1]}`;
    find(".b-foot", this.dialog).hidden = !this.isRunning;
    find("#blind-end").textContent = this.isRunning ? "End test" : "Close";
    find("#blind-progress").textContent = { intro: "Blind test", result: "Result" }[stage] ?? "";
  }

  /** Starts a test, unless matched levels remove the only difference between A and B. */
  async begin(plannedCount) {
    const isMatched = find("#blind-match").value !== "none";
    const isRefused = isMatched && await this.host.differOnlyInLevel();
    find("#blind-refusal").textContent =
      isRefused ? "After matching, A and B are identical; choose “No matching”." : "";
    if (isRefused || !this.dialog.open) return;
    this.plannedCount = clamp(Math.round(plannedCount) || 16, 1, 200);
    this.trials = [];
    // A fixed seed is stated in the result and in the record.
    const chosenSeed = addressSeed();
    this.isSeedChosen = chosenSeed !== null;
    this.seed = chosenSeed ?? randomSeed();
    this.#draws = drawsOf(this.seed);
    this.startTime = timestampText();
    this.beginning = performance.now();
    this.trialStart = 0;
    this.show("trial");
    find("#blind-dots").innerHTML = "<i></i>".repeat(Math.min(50, this.plannedCount));
    this.host.begin(isMatched);
    this.conditions = this.host.conditions();
    this.takes = this.host.about();
    this.ask();
  }

  /** Draws the identity of X at random, and shows the trial. */
  ask() {
    const count = this.trials.length;
    this.#x = this.#draws.next().value;
    this.switchCounts = { a: 0, b: 0, x: 0 };
    find("#blind-progress").textContent = `Trial ${count + 1} of ${this.plannedCount}`;
    findAll("#blind-dots i").forEach((dot, index) => dot.classList.toggle("done", index < count));
    this.propose(null);
    this.hear("x");
    find("#blind-heard").textContent = `Trial ${count + 1}: you hear X`;
    find("#blind-progress").focus();
  }

  hear(name) {
    if (!this.isRunning) return;
    this.switchCounts[name]++;
    this.host.hear(name === "x" ? this.#x : "ab".indexOf(name));
    for (const button of findAll("[data-hear-blind]", this.dialog)) {
      press(button, button.dataset.hearBlind === name);
    }
    find("#blind-heard").textContent = `You hear ${name.toUpperCase()}`;
  }

  /** Records an answer that can still be changed. */
  propose(name) {
    if (!this.isRunning) return;
    this.proposed = name;
    for (const button of findAll("[data-answer]", this.dialog)) {
      press(button, button.dataset.answer === name);
    }
    find("#blind-confirm").disabled = name === null;
    if (name !== null) {
      find("#blind-heard").textContent = `X is ${name.toUpperCase()}? Press Enter to confirm.`;
    }
  }

  /** Confirms the recorded answer. */
  confirm() {
    if (!this.isRunning || this.proposed === null) return;
    const now = (performance.now() - this.beginning) / 1000;
    this.trials.push({
      x: "ab"[this.#x], answer: this.proposed, switchCounts: this.switchCounts,
      from: this.trialStart, to: now,
    });
    this.trialStart = now;
    if (this.trials.length < this.plannedCount) this.ask();
    else this.finish();
  }

  get rightCount() {
    return this.trials.filter((trial) => trial.x === trial.answer).length;
  }

  finish() {
    this.show("result");
    this.host.end();
    const right = this.rightCount;
    const count = this.trials.length;
    find("#blind-score").innerHTML = `${right}<small> of ${count} correct</small>`;
    this.isVoid = this.host.areIdentical();
    find("#blind-sentence").textContent = meaningOf(
      right, count, this.plannedCount, this.isVoid
    ).sentence;
    const measure = {
      none: "not matched", loudness: "matched by loudness", felt: "matched by felt energy"
    };
    find("#blind-levels").textContent = `levels ${measure[this.conditions.match]}`;
    find("#blind-chance").textContent = chanceOfAtLeast(right, count).toPrecision(3);
    find("#blind-seed").textContent = String(this.seed)
      + (this.isSeedChosen ? ", from the URL" : "");
    find("#blind-results").innerHTML = this.trials.map((trial, index) => {
      const isRight = trial.x === trial.answer;
      return `<li class="${isRight ? "right" : "wrong"}"><span aria-hidden="true">`
        + `${isRight ? "✓" : "×"}</span><span class="vh">Trial ${index + 1}: X was `
        + `${trial.x.toUpperCase()}, your answer ${trial.answer.toUpperCase()}</span></li>`;
    }).join("");
    find("#blind-score").focus();
  }

  /** The record of the test in the format of `temblor abx`. */
  get record() {
    const right = this.rightCount;
    const count = this.trials.length;
    const [a, b] = this.takes;
    const milliseconds = (seconds) => Math.round(seconds * 1000) / 1000;
    return {
      formatVersion: 2, test: "abx", ...data.origin, startTime: this.startTime, device: "browser",
      simulated: false, ...this.conditions, a, b,
      seed: Number(this.seed), plannedTrials: this.plannedCount,
      trials: this.trials.map((trial) => ({
        x: trial.x, answer: trial.answer, correct: trial.x === trial.answer,
        switchCounts: trial.switchCounts, from: milliseconds(trial.from), to: milliseconds(trial.to),
      })),
      result: {
        correctCount: right, trials: count, complete: count === this.plannedCount,
        pValue: chanceOfAtLeast(right, count),
        ...meaningOf(right, count, this.plannedCount, this.isVoid),
      },
    };
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !this.isRunning) return;
    const act = {
      a: () => this.hear("a"), b: () => this.hear("b"), x: () => this.hear("x"),
      1: () => this.propose("a"), 2: () => this.propose("b"), Enter: () => this.confirm(),
      " ": () => this.host.togglePlay(),
    }[event.key];
    // A focused button handles these keys itself. Enter on the selected answer confirms it.
    const isChosen = event.key === "Enter" && event.target.dataset.answer === this.proposed;
    if (
      !act || ([" ", "Enter"].includes(event.key) && event.target.matches("button") && !isChosen)
    ) {
      return;
    }
    event.preventDefault();
    act();
  }
}

/** Connects the controls of the test. */
function connectBlindTest(test) {
  find("#blind-open").addEventListener("click", () => test.open());
  find("#blind-form").addEventListener("submit", (event) => {
    event.preventDefault();
    test.begin(Number(find("#blind-trials").value));
  });
  for (const button of findAll("[data-hear-blind]")) {
    button.addEventListener("click", () => test.hear(button.dataset.hearBlind));
  }
  for (const button of findAll("[data-answer]")) {
    button.addEventListener("click", () => test.propose(button.dataset.answer));
  }
  find("#blind-confirm").addEventListener("click", () => test.confirm());
  find("#blind-again").addEventListener("click", () => test.begin(test.plannedCount));
  find("#blind-save").addEventListener("click", () => {
    saveFile("abx.json", "application/json", JSON.stringify(test.record, null, 2) + "\n");
  });
}
