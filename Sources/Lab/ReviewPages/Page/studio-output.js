// The level meter, and vibration: this phone or a gamepad plays the pattern with the sound.

/** The lowest level of the meter, and the fall of its mark in a second, in decibels. */
const meterRange = { minimum: -60, fall: 24 };
let analyser = null;
let meterSamples = null;
/** The level of the meter in decibels, and the time of its last update in milliseconds. */
const meter = { level: -Infinity, time: 0 };

/** Measures the output of a node. */
function measure(source) {
  analyser = audio.createAnalyser();
  analyser.fftSize = 2048;
  meterSamples = new Float32Array(analyser.fftSize);
  source.connect(analyser);
}

/** Shows the peak of the last samples. The level falls slowly, so that it can be read. */
function showMeter() {
  if (!analyser) return;
  analyser.getFloatTimeDomainData(meterSamples);
  let peak = 0;
  for (const sample of meterSamples) peak = Math.max(peak, Math.abs(sample));
  const now = performance.now();
  const fallen = meter.level - meterRange.fall * (now - meter.time) / 1000;
  meter.level = Math.max(20 * Math.log10(peak), fallen, -999);
  meter.time = now;
  const shown = clamp(meter.level, meterRange.minimum, 0);
  const bar = find("#meter");
  find("i", bar).style.transform = `scaleX(${1 - shown / meterRange.minimum})`;
  bar.setAttribute("aria-valuenow", String(Math.round(shown)));
  bar.classList.toggle("full", meter.level > -0.1);
  bar.title = `Peak ${numberText(shown, 0)} dBFS`;
}

/** Empties the meter. */
function clearMeter() {
  meter.level = -Infinity;
  const bar = find("#meter");
  find("i", bar).style.transform = "scaleX(0)";
  bar.setAttribute("aria-valuenow", String(meterRange.minimum));
  bar.classList.remove("full");
}

// Vibration.

/** A Boolean value that indicates whether devices vibrate during playback. */
let isFelt = false;
/** @type {ActuatorPlay[]} */
let feltPlays = [];

/** Returns a play for every device that can vibrate: this phone, and the gamepads. */
function actuatorPlays() {
  const pads = [...(navigator.getGamepads?.() ?? [])].map((pad) => pad?.vibrationActuator)
    .filter((actuator) => actuator?.playEffect);
  const canVibrate = Boolean(navigator.vibrate) && navigator.maxTouchPoints > 0;
  return [...(canVibrate ? [new VibrationPlay()] : []), ...pads.map((pad) => new GamepadPlay(pad))];
}

function stopFeeling() {
  for (const each of feltPlays) each.finish();
  feltPlays = [];
}

/** Plays the pattern on the devices from the play head. */
function startFeeling() {
  stopFeeling();
  if (!isFelt || !state.isPlaying || !score()) return;
  const levels = levelsOf(score());
  const range = state.isLooping ? playedRange() : null;
  for (const each of actuatorPlays()) {
    Object.assign(each.controls, liveControls());
    if (each.begin(levels, { at: state.position, range })) feltPlays.push(each);
    else showNote("This browser refuses to vibrate. Touch the page first.");
  }
}

/** Passes the live controls to the devices. */
function controlFeeling() {
  for (const each of feltPlays) {
    Object.assign(each.controls, liveControls());
    each.apply();
  }
}

const liveControls = () => ({
  intensity: Number(find("#live-intensity").value),
  sharpness: Number(find("#live-sharpness").value),
});

function setFelt(isOn) {
  isFelt = isOn;
  press(find("#feel"), isOn);
  // A browser polls gamepads from the first listener on, so the page asks for them only here.
  if (isOn) addEventListener("gamepadconnected", startFeeling);
  else removeEventListener("gamepadconnected", startFeeling);
  if (isOn && !actuatorPlays().length) {
    showNote("No motor was found. Open the page on an Android phone, or press a button of a "
      + "gamepad.");
  } else announce(isOn ? "Playback vibrates" : "Playback does not vibrate");
  startFeeling();
}

function connectOutput() {
  find("#feel").addEventListener("click", () => setFelt(!isFelt));
}
