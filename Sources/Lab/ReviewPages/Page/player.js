// The transport at the foot of both pages: play, loop, output, volume, and groups of choices.

/** The outputs by their place: what is sent to an actuator, and what small speakers play instead. */
const outputs = [
  { name: "the signal for the actuator", note: "The signal for the actuator: needs a shaker or good headphones; a laptop stays silent." },
  { name: "what small speakers play", note: "The band lifted, harmonics added: audible on laptops and phones." },
];

/** Whether there is a choice of outputs. */
const hasOutputs = data.takes.every((take) => take.soundCount > 1);

/** Small speakers first: the first press of Play is heard on a laptop. */
let output = hasOutputs ? 1 : 0;

/** Sets up the controls that both pages have. */
function connectTransport(deck, { toggle, chooseOutput, scrub }) {
  find("#play").addEventListener("click", toggle);
  find("#output-choice").hidden = !hasOutputs;
  for (const button of findAll("#output [role=radio]")) {
    button.addEventListener("click", () => setOutput(Number(button.dataset.output), chooseOutput));
  }
  check(find("#output"), find(`#output [data-output="${output}"]`));
  find("#volume").addEventListener("input", (event) => {
    deck.volume = (event.target.value / 100) ** 2;
    deck.steer();
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
  // A page in the background is drawn seldom, and plays on.
  setInterval(() => deck.planAhead(), 150);
}

/** Makes an output the one that is heard. */
function setOutput(chosen, chooseOutput) {
  if (!hasOutputs) return;
  output = chosen;
  check(find("#output"), find(`#output [data-output="${chosen}"]`));
  note(outputs[chosen].note);
  chooseOutput();
}

/** Shows that playing has started or ended, and calls back at every frame until it ends. */
function followPlaying(deck, draw) {
  document.body.classList.toggle("playing", deck.isPlaying);
  find("#play").setAttribute("aria-label", deck.isPlaying ? "Pause" : "Play");
  const frame = () => {
    deck.planAhead();
    draw();
    if (deck.isPlaying) requestAnimationFrame(frame);
  };
  frame();
}

/** Shows where the play head is. */
function showPlace(deck, duration) {
  const place = deck.position;
  find("#clock").textContent = clockText(place, duration);
  const bar = find("#scrub");
  bar.setAttribute("aria-valuemax", duration.toFixed(3));
  bar.setAttribute("aria-valuenow", place.toFixed(3));
  bar.setAttribute("aria-valuetext", `${secondsText(place)} seconds`);
}
