// A blind test: X is one of two takes, and nothing in the page tells which before the end. Draws, words
// and the saved record follow the rules of the program's own blind test, `temblor abx`.

/** The greatest seed: every reader of JSON holds it exactly. */
const greatestSeed = (1n << 53n) - 1n;

/** What X is in trial after trial, 0 for A and 1 for B: the highest bits of SplitMix64. */
function* drawsOf(seed) {
  let state = seed;
  while (true) {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    yield Number((z ^ (z >> 31n)) >> 63n);
  }
}

/** The probability of at least so many right answers in so many trials by guessing alone. */
function chanceOfAtLeast(rightCount, trialCount) {
  let sum = 0;
  let ways = 1;
  for (let count = trialCount; count >= Math.max(0, rightCount); count--) {
    sum += ways;
    ways = (ways * count) / (trialCount - count + 1);
  }
  return Math.min(1, sum / 2 ** trialCount);
}

/** A chance as people read it. */
function percentText(chance) {
  if (chance < 0.001) return "less than 0.1 %";
  if (chance < 0.0995) return `${(Math.round(chance * 1000) / 10).toFixed(1)} %`;
  return `${Math.round(chance * 100)} %`;
}

/** What a score means: `conclusion` for programs, `sentence` for people. */
function meaningOf(rightCount, trialCount, plannedCount) {
  if (trialCount === 0) {
    return { conclusion: "nothing", sentence: "No trials were answered; there is no result." };
  }
  const chance = chanceOfAtLeast(rightCount, trialCount);
  const chanceOfFewer = chanceOfAtLeast(trialCount - rightCount, trialCount);
  const isComplete = trialCount === plannedCount;
  const count = `${rightCount} of ${trialCount} correct; a guesser would do`;
  const better = `${count} this well ${percentText(chance)} of the time; `;
  let conclusion = "notSignificant";
  let sentence = better + "this neither shows nor rules out a perceptible difference.";
  if (trialCount < 5) {
    conclusion = "tooFewTrials";
    sentence = better + "at least 5 trials are needed for a result.";
  } else if (chance <= 0.05) {
    conclusion = chance <= 0.01 ? "highlySignificant" : "significant";
    const heard = chance <= 0.01 ? "a difference was very probably heard." : "a difference was probably heard.";
    sentence = better + (isComplete ? heard : "a difference may have been heard.");
  } else if (chanceOfFewer <= 0.05) {
    conclusion = "belowChance";
    sentence = `${count} this badly ${percentText(chanceOfFewer)} of the time; A and B may have been swapped.`;
  }
  if (!isComplete) {
    sentence += ` The test ended after ${trialCount} of ${plannedCount} trials: stopping early `
      + "inflates the result.";
  }
  return { conclusion, sentence };
}

/** The dialog that asks, and tells the result. */
class BlindTest {
  #draws;
  #x;

  /**
   * @param {object} host What the page does for the test: `hear(take)`, `begin(pair)`, `end()`, `isPlaying`,
   *   `togglePlay()`, and `about(pair)`, which is what the record says of the takes.
   */
  constructor(host) {
    this.host = host;
    this.dialog = document.getElementById("blind-dialog");
    const part = (name) => document.getElementById("blind-" + name);
    this.part = part;
    document.getElementById("blind-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = event.target.querySelectorAll("select");
      const pair = chosen.length === 2 ? [...chosen].map((each) => Number(each.value)) : [0, 1];
      this.begin(pair, Number(part("trials").value));
    });
    for (const button of this.dialog.querySelectorAll("[data-hear]")) {
      button.addEventListener("click", () => this.hear(button.dataset.hear));
    }
    for (const button of this.dialog.querySelectorAll("[data-answer]")) {
      button.addEventListener("click", () => this.propose(button.dataset.answer));
    }
    part("confirm").addEventListener("click", () => this.confirm());
    part("play").addEventListener("click", () => this.host.togglePlay());
    part("save").addEventListener("click", () => this.save());
    part("again").addEventListener("click", () => this.begin(this.pair, this.plannedCount));
    this.dialog.addEventListener("keydown", (event) => this.press(event));
    this.dialog.addEventListener("cancel", (event) => {
      if (!this.isRunning || this.trials.length === 0) return;
      event.preventDefault();
      this.finish();
    });
    this.dialog.addEventListener("close", () => {
      // Told late: another test may have begun.
      if (this.dialog.open) return;
      this.isRunning = false;
      this.host.end();
    });
  }

  begin(pair, plannedCount) {
    this.part("form-error").textContent = pair[0] === pair[1] ? "Choose two different takes." : "";
    if (pair[0] === pair[1]) return;
    this.pair = pair;
    this.plannedCount = plannedCount;
    this.trials = [];
    // A fixed order is noted in the result and in the record.
    const asked = new URLSearchParams(location.search).get("seed");
    this.isSeedChosen = asked !== null && /^[0-9]{1,16}$/.test(asked) && BigInt(asked) <= greatestSeed;
    this.seed = this.isSeedChosen
      ? BigInt(asked) : crypto.getRandomValues(new BigUint64Array(1))[0] & greatestSeed;
    this.#draws = drawsOf(this.seed);
    this.isRunning = true;
    this.startTime = new Date().toISOString().replace(/\.[0-9]+Z$/, "Z");
    this.beginning = performance.now();
    this.trialStart = 0;
    const names = this.host.about(pair).map((take) => take.name);
    this.part("names").textContent = `A is ${names[0]}, B is ${names[1]}.`;
    this.part("running").hidden = false;
    this.part("result").hidden = true;
    if (!this.dialog.open) this.dialog.showModal();
    this.host.begin(pair);
    this.ask();
  }

  /** Draws X and shows the trial. */
  ask() {
    const count = this.trials.length;
    this.#x = this.#draws.next().value;
    this.switchCounts = { a: 0, b: 0, x: 0 };
    this.part("progress").textContent = `Trial ${count + 1} of ${this.plannedCount}`;
    this.dialog.querySelector(".bar span").style.width = `${(100 * count) / this.plannedCount}%`;
    this.propose(null);
    this.hear("x");
    this.part("heard").textContent = `Trial ${count + 1}: you hear X`;
    this.part("progress").focus();
  }

  hear(name) {
    if (!this.isRunning) return;
    this.switchCounts[name]++;
    this.host.hear(this.pair[name === "x" ? this.#x : "ab".indexOf(name)]);
    for (const button of this.dialog.querySelectorAll("[data-hear]")) {
      button.setAttribute("aria-pressed", String(button.dataset.hear === name));
    }
    this.part("heard").textContent = `You hear ${name.toUpperCase()}`;
  }

  /** Notes an answer that can still be changed. */
  propose(name) {
    if (!this.isRunning) return;
    this.proposed = name;
    for (const button of this.dialog.querySelectorAll("[data-answer]")) {
      button.setAttribute("aria-pressed", String(button.dataset.answer === name));
    }
    this.part("confirm").disabled = name === null;
    if (name !== null) this.part("heard").textContent = `X is ${name.toUpperCase()}? Press Enter to confirm.`;
  }

  /** The answer that was noted stands. */
  confirm() {
    if (!this.isRunning || this.proposed === null) return;
    const now = (performance.now() - this.beginning) / 1000;
    this.trials.push({
      x: "ab"[this.#x], answer: this.proposed, switchCounts: this.switchCounts, from: this.trialStart, to: now,
    });
    this.trialStart = now;
    if (this.trials.length < this.plannedCount) this.ask();
    else this.finish();
  }

  /** Called when the sound begins or stops. */
  playingChanged() {
    this.part("play").textContent = this.host.isPlaying() ? "Pause" : "Play";
  }

  get rightCount() {
    return this.trials.filter((trial) => trial.x === trial.answer).length;
  }

  finish() {
    this.isRunning = false;
    this.host.end();
    const right = this.rightCount;
    const count = this.trials.length;
    this.part("running").hidden = true;
    this.part("result").hidden = false;
    this.part("score").textContent = `${right} of ${count} correct`;
    this.part("sentence").textContent = meaningOf(right, count, this.plannedCount).sentence;
    this.part("chance").textContent = chanceOfAtLeast(right, count).toPrecision(3);
    this.part("seed").textContent = String(this.seed) + (this.isSeedChosen ? ", from the URL" : "");
    this.part("trials-list").replaceChildren(...this.trials.map((trial, index) => {
      const item = document.createElement("li");
      const isRight = trial.x === trial.answer;
      item.className = isRight ? "right" : "wrong";
      item.textContent = `${index + 1} ${isRight ? "✓" : "✗"}`;
      const words = document.createElement("span");
      words.className = "hidden";
      words.textContent = ` X was ${trial.x.toUpperCase()}, your answer ${trial.answer.toUpperCase()}`;
      item.append(words);
      return item;
    }));
    this.part("score").focus();
  }

  /** The test as `temblor abx` writes it down. */
  get record() {
    const right = this.rightCount;
    const count = this.trials.length;
    const [a, b] = this.host.about(this.pair);
    const milliseconds = (seconds) => Math.round(seconds * 1000) / 1000;
    return {
      test: "abx", form: 2, ...this.host.origin, startTime: this.startTime, device: "browser",
      simulated: false, ...this.host.conditions(), a, b,
      seed: Number(this.seed), plannedTrials: this.plannedCount,
      trials: this.trials.map((trial) => ({
        x: trial.x, answer: trial.answer, correct: trial.x === trial.answer, switchCounts: trial.switchCounts,
        from: milliseconds(trial.from), to: milliseconds(trial.to),
      })),
      result: {
        correctCount: right, trials: count, complete: count === this.plannedCount,
        pValue: chanceOfAtLeast(right, count),
        ...meaningOf(right, count, this.plannedCount),
      },
    };
  }

  save() {
    const text = JSON.stringify(this.record, null, 2) + "\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "abx.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !this.isRunning) return;
    const act = {
      a: () => this.hear("a"), b: () => this.hear("b"), x: () => this.hear("x"),
      1: () => this.propose("a"), 2: () => this.propose("b"), Enter: () => this.confirm(),
      " ": () => this.host.togglePlay(),
    }[event.key];
    // A button that has the focus is pressed by these itself; one that was chosen already confirms.
    const isChosen = event.key === "Enter" && event.target.dataset.answer === this.proposed;
    if (!act || ([" ", "Enter"].includes(event.key) && event.target.matches("button") && !isChosen)) return;
    event.preventDefault();
    act();
  }
}
