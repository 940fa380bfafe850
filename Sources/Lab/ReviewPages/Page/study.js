// The page of a study: it asks for a participant, plays the trials, and stores the answers.

/** The time between a command and the first stimulus, in seconds. */
const leadIn = 0.1;

/** The message for a browser that does not store answers. */
const unstoredText =
  "This browser does not store answers. Save the results before you close the page.";

/** Returns the audio context of the page at the rate of the sounds, which are not interpolated. */
function soundContext() {
  audio ??= new AudioContext({ latencyHint: "interactive", sampleRate: data.rate });
  return audio;
}

/** Plays the stimuli of a trial one after the other. */
class TrialPlayer {
  constructor() {
    this.sources = [];
    this.starts = [];
    this.turn = 0;
    this.end = 0;
  }

  /** The time since the end of the trial, in seconds, or a negative number before. */
  get elapsed() {
    return audibleTime(soundContext()) - this.end;
  }

  /** Plays stimuli. Returns false if a later call has replaced this one. */
  async play(intervals) {
    const turn = ++this.turn;
    this.stop();
    const context = soundContext();
    await resumeSound(context, () => turn === this.turn);
    const sounds = await Promise.all(intervals.map((index) => soundOf(`sound-${index}-0`)));
    if (turn !== this.turn) return false;
    let time = context.currentTime + leadIn;
    this.starts = [];
    for (const sound of sounds) {
      const source = context.createBufferSource();
      source.buffer = sound;
      source.connect(context.destination);
      source.start(time);
      this.sources.push(source);
      this.starts.push(time);
      time += sound.duration + data.gap;
    }
    this.end = time;
    return true;
  }

  /** The number of the playing interval from 1, or 0 before the first. */
  get interval() {
    const now = audibleTime(soundContext());
    return this.starts.filter((start) => start <= now).length;
  }

  stop() {
    for (const source of this.sources) source.stop();
    this.sources = [];
  }
}

/** The stages of the page: start, trial, pause, and end. */
class StudySession {
  constructor() {
    this.player = new TrialPlayer();
    this.stage = "start";
    this.isPlaying = false;
    this.answer = null;
  }

  /** Shows one stage of the page. */
  show(stage) {
    this.stage = stage;
    for (const part of findAll("[data-stage]")) part.hidden = part.dataset.stage !== stage;
    const heading = find(`[data-stage=${stage}] [data-focus]`);
    heading?.focus();
  }

  /** Starts or continues the study of a participant. */
  begin(participant) {
    const name = participant.trim();
    if (!name || name.includes("/")) {
      find("#refusal").textContent = "Enter a participant ID without slashes.";
      find("#participant").focus();
      return;
    }
    find("#refusal").textContent = "";
    this.record = new StudyRecord(name);
    if (!this.record.store()) showNote(unstoredText);
    if (this.record.trials.trial) this.beginTrial();
    else this.finish();
  }

  /** Shows the current trial and plays it. */
  beginTrial() {
    const { trials } = this.record;
    const count = trials.answerCount + 1;
    find("#progress").textContent = trials.plannedCount === null
      ? `Trial ${count}` : `Trial ${count} of ${trials.plannedCount}`;
    find("#intervals").innerHTML = trials.trial.intervals
      .map((_, index) => `<li>${index + 1}</li>`).join("");
    this.show("trial");
    this.propose(null);
    this.play();
  }

  /** Plays the current trial. Answers are accepted after its end. */
  async play() {
    this.setPlaying(true);
    if (!await this.player.play(this.record.trials.trial.intervals)) return;
    const turn = this.player.turn;
    const follow = () => {
      if (turn !== this.player.turn || this.stage !== "trial") return;
      const isOver = this.player.elapsed >= 0;
      findAll("#intervals li").forEach((item, index) => {
        item.classList.toggle("on", !isOver && index + 1 === this.player.interval);
      });
      if (isOver) this.setPlaying(false);
      else setTimeout(follow, 15);
    };
    follow();
  }

  setPlaying(isPlaying) {
    this.isPlaying = isPlaying;
    find("#hint").textContent = isPlaying ? "Playing…" : `Answer with ${data.answerText}.`;
    for (const button of findAll("[data-answer]")) button.disabled = isPlaying;
    find("#number").disabled = isPlaying;
    this.update();
    if (!isPlaying && !data.hasTwoAnswers) find("#number").focus();
  }

  /** Selects an answer that can still be changed. */
  propose(answer) {
    this.answer = answer;
    if (answer === null) find("#number").value = "";
    for (const button of findAll("[data-answer]")) {
      press(button, Number(button.dataset.answer) === answer);
    }
    this.update();
  }

  /** True if the procedure accepts the selected answer. */
  get isValid() {
    if (this.answer === null || !Number.isFinite(this.answer)) return false;
    if (data.hasTwoAnswers) return this.answer === 1 || this.answer === 2;
    return data.study.procedure === "rating"
      ? this.answer >= 0 && this.answer <= 100 : this.answer > 0;
  }

  update() { find("#confirm").disabled = this.isPlaying || !this.isValid; }

  /** Confirms the selected answer. */
  confirm() {
    if (this.stage !== "trial" || this.isPlaying) return;
    if (!this.isValid) {
      showNote(`Answer with ${data.answerText}.`);
      return;
    }
    this.record.submit(this.answer, Math.max(0, this.player.elapsed));
    const { trials } = this.record;
    if (!trials.trial) this.finish();
    else if (data.breakInterval && trials.answerCount % data.breakInterval === 0) {
      this.show("pause");
    } else this.beginTrial();
  }

  /** Ends the study, or interrupts it. */
  finish() {
    this.player.turn++;
    this.player.stop();
    const { answerCount, trial } = this.record.trials;
    find("#end-title").textContent = trial ? "Study stopped" : "Study complete";
    const { participant, isStored } = this.record;
    const count = `${counted(answerCount, "answer")} of ${participant}`;
    const next = trial ? " To continue, start with the same participant ID." : " Thank you.";
    find("#end-text").textContent = isStored
      ? `${count} stored in this browser.${next}` : `${count}. ${unstoredText}`;
    this.show("end");
  }

  /** Handles a key press that no control handles. */
  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const isInButton = event.target.matches("button, input");
    if (this.stage === "pause" && !isInButton) {
      event.preventDefault();
      this.beginTrial();
      return;
    }
    if (this.stage !== "trial" || event.target.matches("#number") && event.key.length === 1) return;
    const isDigit = data.hasTwoAnswers && ["1", "2"].includes(event.key);
    const act = {
      Enter: () => this.confirm(), r: () => this.play(), R: () => this.play(),
      Escape: () => this.finish(),
    }[event.key];
    // A focused button handles Enter itself, except for the selected answer.
    const isChosen = Number(event.target.dataset?.answer) === this.answer;
    if (event.key === "Enter" && event.target.matches("button") && !isChosen) return;
    if (!act && !isDigit) return;
    event.preventDefault();
    if (isDigit && !this.isPlaying) this.propose(Number(event.key));
    if (act) act();
  }
}

const session = new StudySession();
find("#begin").addEventListener("submit", (event) => {
  event.preventDefault();
  session.begin(find("#participant").value);
});
for (const button of findAll("[data-answer]")) {
  button.addEventListener("click", () => session.propose(Number(button.dataset.answer)));
}
find("#number").addEventListener("input", (event) => {
  const text = event.target.value.trim().replace(",", ".");
  session.answer = text === "" ? null : Number(text);
  session.update();
});
find("#confirm").addEventListener("click", () => session.confirm());
find("#replay").addEventListener("click", () => session.play());
find("#stop").addEventListener("click", () => session.finish());
find("#continue").addEventListener("click", () => session.beginTrial());
find("#save").addEventListener("click", () => {
  saveFile(session.record.fileName, "text/csv", session.record.text);
});
find("#again").addEventListener("click", () => {
  find("#participant").value = "";
  session.show("start");
});
document.addEventListener("keydown", (event) => session.press(event));
find("#choices").hidden = !data.hasTwoAnswers;
find("#number-label").hidden = data.hasTwoAnswers;
find("#participant").value = new URLSearchParams(location.search).get("participant") ?? "";
document.body.classList.add("ready");
session.show("start");
