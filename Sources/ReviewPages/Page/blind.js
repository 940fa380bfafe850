// A blind test: X is one of two takes, and nothing in the page tells which before the end.

/** Whole numbers of 64 bits from a seed: SplitMix64, as in the program's own blind test. */
function* numbersFrom(seed) {
  let state = BigInt.asUintN(64, seed);
  while (true) {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    yield z ^ (z >> 31n);
  }
}

/** The probability of at least so many right answers in so many trials by guessing alone. */
function chanceOfAtLeast(rightCount, trialCount) {
  let sum = 0;
  let ways = 1;
  for (let count = trialCount; count >= rightCount; count--) {
    sum += ways;
    ways = (ways * count) / (trialCount - count + 1);
  }
  return Math.min(1, sum / 2 ** trialCount);
}

/** A chance as people read it. */
function chanceText(chance) {
  if (chance >= 0.001) return `${Number((100 * chance).toPrecision(2))} %`;
  return "less than 0.1 %";
}

/** What a score means, in a sentence. */
function meaningOf(rightCount, trialCount) {
  const chance = chanceOfAtLeast(rightCount, trialCount);
  if (chance <= 0.05) return "You hear a difference: guessing alone rarely does so well.";
  return "This does not show that you hear a difference: guessing alone does so well often enough.";
}

/** The dialog that asks, and tells the result. */
class BlindTest {
  /**
   * @param {object} host What the page does for the test: `hear(take)`, `begin()`, `end()`, `takes`, `deck`.
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
      button.addEventListener("click", () => this.answer(Number(button.dataset.answer)));
    }
    part("play").addEventListener("click", () => this.togglePlay());
    part("save").addEventListener("click", () => this.save());
    part("again").addEventListener("click", () => this.begin(this.pair, this.trialCount));
    this.dialog.addEventListener("close", () => this.end());
    this.dialog.addEventListener("keydown", (event) => this.press(event));
  }

  begin(pair, trialCount) {
    if (pair[0] === pair[1]) {
      say("Choose two different takes");
      return;
    }
    this.pair = pair;
    this.trialCount = trialCount;
    this.answers = [];
    const asked = new URLSearchParams(location.search).get("seed");
    this.isSeedFixed = asked !== null && /^[0-9]{1,19}$/.test(asked);
    this.seed = this.isSeedFixed ? BigInt(asked) : crypto.getRandomValues(new BigUint64Array(1))[0];
    const numbers = numbersFrom(this.seed);
    this.order = Array.from({ length: trialCount }, () => Number(numbers.next().value & 1n));
    this.isRunning = true;
    const names = pair.map((take) => this.host.takes[take].name);
    this.part("names").textContent = `A is ${names[0]}. B is ${names[1]}.`;
    this.part("running").hidden = false;
    this.part("result").hidden = true;
    if (!this.dialog.open) this.dialog.showModal();
    this.host.begin();
    this.ask();
    this.part("progress").focus();
  }

  /** Shows the trial that is next. */
  ask() {
    const count = this.answers.length;
    this.part("progress").textContent = `Trial ${count + 1} of ${this.trialCount}`;
    this.dialog.querySelector(".bar span").style.width = `${(100 * count) / this.trialCount}%`;
    this.hear("x");
    say(`Trial ${count + 1} of ${this.trialCount}`);
  }

  hear(name) {
    if (!this.isRunning) return;
    this.heard = name;
    const which = name === "x" ? this.order[this.answers.length] : Number(name);
    this.host.hear(this.pair[which]);
    for (const button of this.dialog.querySelectorAll("[data-hear]")) {
      button.setAttribute("aria-pressed", String(button.dataset.hear === name));
    }
    this.part("heard").textContent = `You hear ${name === "x" ? "X" : "AB"[Number(name)]}`;
  }

  answer(which) {
    if (!this.isRunning) return;
    this.answers.push(which);
    if (this.answers.length < this.trialCount) this.ask();
    else this.finish();
  }

  togglePlay() {
    if (this.host.deck.isPlaying) this.host.deck.pause();
    else this.host.deck.play();
  }

  playingChanged() {
    this.part("play").textContent = this.host.deck.isPlaying ? "Pause" : "Play";
  }

  get rightCount() {
    return this.answers.filter((answer, trial) => answer === this.order[trial]).length;
  }

  finish() {
    this.isRunning = false;
    this.host.deck.pause();
    const right = this.rightCount;
    this.part("running").hidden = true;
    this.part("result").hidden = false;
    this.part("score").textContent = `${right} of ${this.trialCount} right`;
    this.part("sentence").textContent = meaningOf(right, this.trialCount);
    this.part("right").textContent = `${right} of ${this.trialCount}`;
    this.part("chance").textContent = `p = ${chanceOfAtLeast(right, this.trialCount).toPrecision(3)}`;
    const list = this.part("trials-list");
    list.replaceChildren(...this.answers.map((answer, trial) => {
      const item = document.createElement("li");
      const isRight = answer === this.order[trial];
      item.className = isRight ? "right" : "wrong";
      item.textContent = `${trial + 1} ${isRight ? "✓" : "✗"}`;
      const words = document.createElement("span");
      words.className = "hidden";
      words.textContent = ` X was ${"AB"[this.order[trial]]}, you said ${"AB"[answer]}`;
      item.append(words);
      return item;
    }));
    this.part("score").focus();
  }

  /** The result as other programs read it. */
  get result() {
    const right = this.rightCount;
    return {
      a: this.host.takes[this.pair[0]].name,
      b: this.host.takes[this.pair[1]].name,
      levelMatch: this.host.levelMatch,
      seed: String(this.seed),
      seedWasChosen: this.isSeedFixed,
      trials: this.answers.map((answer, trial) => ({
        x: "AB"[this.order[trial]], answer: "AB"[answer], right: answer === this.order[trial],
      })),
      rightCount: right,
      trialCount: this.trialCount,
      pValue: chanceOfAtLeast(right, this.trialCount),
      sentence: meaningOf(right, this.trialCount),
    };
  }

  save() {
    const text = JSON.stringify(this.result, null, 2) + "\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "blind-test.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !this.isRunning) return;
    const act = {
      a: () => this.hear("0"), b: () => this.hear("1"), x: () => this.hear("x"),
      1: () => this.answer(0), 2: () => this.answer(1),
    }[event.key] ?? (event.key === " " && !event.target.matches("button") ? () => this.togglePlay() : null);
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** The dialog was closed, before its end or behind it. */
  end() {
    this.isRunning = false;
    this.host.end();
  }
}
