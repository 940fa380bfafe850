// The transport at the bottom of reports and galleries, with play, loop, output, volume, and radio
// groups.

/** The outputs by index: the signal for an actuator, and the signal for small speakers. */
const outputs = [
  {
    name: "the signal for the actuator",
    note: "The signal for the actuator: requires a shaker or good headphones. Laptop speakers cannot reproduce it."
  },
  {
    name: "what small speakers play",
    note: "Shifted up, with added harmonics: audible on laptops and phones."
  },
];

/** A Boolean value that indicates whether the page has sounds for both outputs. */
const hasOutputs = data.takes.every((take) => take.soundCount > 1);

/** The initial output is small speakers, so that a laptop is audible at the first press of Play. */
let output = hasOutputs ? 1 : 0;

/** Connects the controls that all pages share. */
function connectTransport(deck, { toggle, chooseOutput, scrub }) {
  find("#play").addEventListener("click", toggle);
  find("#output-choice").hidden = !hasOutputs;
  for (const button of findAll("#output [role=radio]")) {
    button.addEventListener("click", () => setOutput(Number(button.dataset.output), chooseOutput));
  }
  check(find("#output"), find(`#output [data-output="${output}"]`));
  find("#volume").addEventListener("input", (event) => {
    deck.volume = (event.target.value / 100) ** 2;
    deck.applyGains();
  });
  const bar = find("#scrub");
  const seek = (event) => {
    const box = bar.getBoundingClientRect();
    scrub(clamp((event.clientX - box.left) / box.width, 0, 1));
  };
  bar.addEventListener("pointerdown", (event) => {
    bar.setPointerCapture(event.pointerId);
    seek(event);
  });
  bar.addEventListener("pointermove", (event) => { if (event.buttons) seek(event); });
  // Scheduling must continue in a background page, which is drawn rarely.
  setInterval(() => deck.schedulePasses(), 150);
}

/** Selects an output by its index. */
function setOutput(chosen, chooseOutput) {
  if (!hasOutputs) return;
  output = chosen;
  check(find("#output"), find(`#output [data-output="${chosen}"]`));
  showNote(outputs[chosen].note);
  chooseOutput();
}

/** Shows whether playback is active, and draws every frame until playback ends. */
function followPlaying(deck, draw) {
  document.body.classList.toggle("playing", deck.isPlaying);
  find("#play").setAttribute("aria-label", deck.isPlaying ? "Pause" : "Play");
  const frame = () => {
    deck.schedulePasses();
    draw();
    if (deck.isPlaying) requestAnimationFrame(frame);
  };
  frame();
}

/** Shows the position of the play head in the transport. */
function showPosition(deck, duration) {
  const position = deck.position;
  find("#clock").textContent = clockText(position, duration);
  const bar = find("#scrub");
  bar.setAttribute("aria-valuemax", duration.toFixed(3));
  bar.setAttribute("aria-valuenow", position.toFixed(3));
  bar.setAttribute("aria-valuetext", `${secondsText(position)} seconds`);
}
