// The elements around the figure: the header, the fields of the selection, and the profiles.

function showHeader() {
  for (const slotIndex of [0, 1]) {
    const slot = slots[slotIndex];
    const button = find(`#slot-${slotIndex}`);
    button.setAttribute("aria-pressed", slotIndex === state.slot && Boolean(slot));
    button.classList.toggle("empty", !slot);
    find(".nm", button).textContent = slot?.name ?? "Compare with…";
    find(".changed", button).hidden = !isChanged(slotIndex);
    const hear = find(`#hear-${slotIndex}`);
    hear.disabled = !slot;
    hear.setAttribute("aria-checked", slotIndex === state.slot);
    hear.tabIndex = slotIndex === state.slot ? 0 : -1;
  }
  const slot = current();
  for (const [id, key, name] of [["#undo", "undo", "Undo"], ["#redo", "redo", "Redo"]]) {
    const label = slot?.history?.[key];
    const button = find(id);
    button.disabled = label === null || label === undefined;
    button.title = `${name}${label ? `: ${label}` : ""} (Ctrl ${key === "undo" ? "" : "Shift "}Z)`;
    button.setAttribute("aria-label", label ? `${name}: ${label}` : name);
  }
  find("#title").textContent = slot?.name ?? "No pattern";
  document.title = slot ? `${slot.name} · Temblor Studio` : "Temblor Studio";
  for (const id of ["#save", "#save-as", "#play"]) find(id).disabled = !slot;
  showEditability(slot);
  const read = score();
  if (!read) {
    find("#facts").textContent = slot ? "This file cannot be played; the findings say why." : "";
    return;
  }
  const facts = [factsOf(read) || "empty: add an event, or drop a file here", slot.partsText];
  find("#facts").textContent = facts.filter(Boolean).join(" · ");
  find("#duration").textContent = `/ ${clockText(wholeLength(), wholeLength())} s`;
}

/** Returns the duration of a pattern and the counts of its parts as text; empty without parts. */
function factsOf({ duration, events, curves, parameters }) {
  const transients = events.filter(isTransient).length;
  const sounds = events.filter(isAudio).length;
  const parts = [[transients, "transient"], [sounds, "sound"], [curves.length, "curve"],
    [parameters.length, "parameter"]];
  const words = parts.filter(([count]) => count).map(([count, noun]) => counted(count, noun));
  const continuous = events.length - transients - sounds;
  if (continuous) words.splice(transients ? 1 : 0, 0, `${continuous} continuous`);
  return words.length ? [spanText(duration), ...words].join(" · ") : "";
}

/** Disables the buttons that change the pattern if its text has an error, and shows the reason. */
function showEditability(slot) {
  const reason = slot && !slot.isGood ? `The text cannot be read: ${textProblem(slot)}` : "";
  for (const button of findAll(".tools > .btn, #duplicate, #delete")) {
    button.dataset.title ??= button.title;
    button.setAttribute("aria-disabled", Boolean(reason));
    button.title = reason || button.dataset.title;
  }
}

/**
 * @typedef {{name: string, words: string, value: any, minimum?: number, maximum?: number,
 *   step?: number, hasSlider?: boolean, isEnvelope?: boolean, isText?: boolean,
 *   isToggle?: boolean}} Field
 */

/**
 * Returns the fields of a part: name, label, value and range, as the module accepts them.
 *
 * @returns {Field[]}
 */
function fieldsOf(item) {
  const time = { name: "time", words: "Time", minimum: 0, step: 0.01 };
  if (!item.event) {
    const minimum = isIntensity(item.id) ? 0 : -1;
    return [{ ...time, value: valuesOf(item).time },
      { name: "value", words: "Value", value: item.value, minimum, maximum: 1, hasSlider: true }];
  }
  const { event } = item;
  /** @type {Field[]} */
  const fields = [{ ...time, value: event.time }];
  if (item.type === "continuous") {
    fields.push({ ...time, name: "duration", words: "Duration", value: event.duration });
  }
  if (item.type === "audio") return [...fields,
    { name: "path", words: "Sound file", value: event.file ?? "", isText: true }];
  fields.push(
    {
      name: "intensity",
      words: "Intensity",
      value: event.intensity,
      minimum: 0,
      maximum: 1,
      hasSlider: true
    }
  );
  fields.push(
    {
      name: "sharpness",
      words: "Sharpness",
      value: event.sharpness,
      minimum: 0,
      maximum: 1,
      hasSlider: true
    }
  );
  if (item.type === "continuous") {
    for (
      const [name, words] of [["attack", "Attack"], ["decay", "Decay"], ["release", "Release"]]
    ) {
      fields.push({ name, words, value: event[name], minimum: 0, maximum: 1, isEnvelope: true });
    }
    fields.push(
      {
        name: "sustained",
        words: "Sustained",
        value: event.sustained,
        isToggle: true,
        isEnvelope: true
      }
    );
  }
  return fields;
}

/** Returns the played values of an event as text. */
function playedText(item) {
  if (item.type === "audio") {
    const sound = soundOf(item.event);
    return sound ? `<b>${counted(sound.channels, "channel")}</b>, ${sound.rate} Hz`
      : "This sound is not loaded: drop its file on the page.";
  }
  if (!item.event) {
    if (item.type === "parameter") {
      return "Holds from its time on, until the next parameter or curve.";
    }
    if (isSharpness(item.id)) return "Added to the sharpness of every event.";
    return isIntensity(item.id) ? "Multiplies the intensity of every event." : "";
  }
  const points = pointsOf(item);
  const [first, last] = [points[0], points.at(-1)];
  const hertz = (point) => Math.round(core.hertz(state.profile, point[2]));
  if (item.type === "continuous") {
    const [from, to] = [first, last].map((point) => numberText(point[1]));
    return `Played: intensity <b>${from} → ${to}</b>, <b>${hertz(first)} → ${hertz(last)} Hz</b>`;
  }
  const { intensity } = item.event;
  const isScaled = intensity && Math.abs(first[1] - intensity) > 0.005;
  const product = isScaled
    ? ` (${numberText(intensity)} × ${numberText(first[1] / intensity)})`
    : "";
  return `Played: intensity <b>${numberText(first[1])}</b>${product}, <b>${hertz(first)} Hz</b>`;
}

const typeNames = { transient: "Transient", continuous: "Continuous event", audio: "Sound" };
let shownFields = "";

/** Shows the fields of the selection. Existing fields are updated. */
function showSelection() {
  const panel = find("#fields");
  const list = selected();
  const item = list.at(-1);
  const key = list.length === 1
    ? `${state.slot} ${item.path} ${item.type}`
    : `${state.slot} ${list.length}`;
  find("#nothing").hidden = list.length > 0;
  panel.hidden = !list.length;
  if (!item) { shownFields = ""; return; }
  find("#kind").textContent = list.length > 1 ? `${list.length} parts`
    : item.event
    ? typeNames[item.type]
    : `${controlName(item.id)} ${item.curve ? "curve" : "parameter"}`;
  const times = list.map((each) => each.time);
  const span = `${secondsText(Math.min(...times))} – ${secondsText(Math.max(...list.map((each) => each.end)))} s`;
  const [number, count] = item.curve ? [item.pointIndex, item.curve.points.length / 2]
    : [numberIn(item.path), (item.event ? score().events : score().parameters).length];
  find("#which").textContent = list.length > 1
    ? span
    : `${item.curve ? "point " : ""}${number + 1} of ${count} · `
    + (item.end > item.time ? span : `${secondsText(item.time)} s`);
  find("#played").innerHTML = list.length > 1
    ? "Drag, or use the arrow keys: all of them follow."
    : playedText(item);
  find("#duplicate").hidden = list.every((each) => each.type === "point");
  if (key !== shownFields) makeFields(list.length === 1 ? fieldsOf(item) : []);
  shownFields = key;
  if (list.length !== 1) return;
  for (const { name: field, value, isToggle, isText } of fieldsOf(item)) {
    for (const input of findAll(`[data-field="${field}"]`, panel)) {
      if (isToggle) input.checked = (value ?? 1) >= 0.5;
      else if (input !== document.activeElement || input.type === "range") {
        input.value = isText ? value : value === undefined ? "" : rounded(value);
      }
    }
  }
}

function makeFields(fields) {
  const rows = find("#rows");
  rows.textContent = "";
  let envelope = null;
  for (const field of fields) {
    const row = document.createElement("div");
    row.className = `field${field.hasSlider ? "" : " two"}`;
    const limits = {
      min: field.minimum, max: field.maximum, placeholder: field.isEnvelope ? "none" : undefined
    };
    const kind = field.isToggle ? "checkbox" : field.isText ? "text" : "number";
    const words = `<label for="field-${field.name}">${field.words}</label>`;
    const slide = `<input type="range" step="0.01" tabindex="-1" aria-label="${field.words}, slider">`;
    row.innerHTML = `${words}${field.hasSlider ? slide : ""}<input id="field-${field.name}" type="${kind}" step="any">`;
    for (const control of findAll("input", row)) {
      control.dataset.field = field.name;
      for (const [name, limit] of Object.entries(limits)) {
        if (limit !== undefined) control.setAttribute(name, limit);
      }
    }
    const input = find(`#field-${field.name}`, row);
    const slider = find("[type=range]", row);
    const set = (value, isSame) => {
      const item = selected()[0];
      if (!item) return;
      const changes = [
        field.isText
          ? { set: `${item.path}.path`, to: value }
          : assign(item.path, field.name, value)
      ];
      change(isSame ? null : labelFor(`Change ${field.words.toLowerCase()} of`, [item]), changes);
    };
    input.addEventListener("change", () => {
      if (field.isToggle) set(input.checked ? 1 : 0);
      else if (field.isText) set(input.value);
      else if (input.value !== "" && input.checkValidity()) set(Number(input.value));
      else showSelection();
    });
    if (slider) {
      let isSame = false;
      slider.addEventListener("pointerdown", () => { isSame = false; });
      slider.addEventListener("input", () => {
        input.value = slider.value;
        set(Number(slider.value), isSame);
        isSame = true;
      });
    }
    if (field.isEnvelope && !envelope) {
      envelope = document.createElement("details");
      envelope.innerHTML = "<summary>Envelope</summary>";
      envelope.open = fields.some((each) => each.isEnvelope && each.value !== undefined);
      rows.append(envelope);
    }
    (field.isEnvelope ? envelope : rows).append(row);
  }
}

// Profiles.
const kindNames = { mapping: "Phones and speakers", transducer: "Shakers and actuators" };
const plainTitles = {
  phone: "Phone",
  speaker: "Small speakers",
  android: "Android phone",
  "meta-quest": "Meta Quest controllers",
  mpeg: "MPEG reference software",
  pulsar: "Pulsar audio simulator",
};
/** Returns the title of a profile, which is its product or else its name. */
const profileTitle = ({ title, name }) => plainTitles[name] ?? title;

function fillProfiles() {
  const select = find("#profile");
  select.textContent = "";
  const groups = new Map();
  profiles.forEach((profile, index) => {
    const { kind } = profile;
    if (!groups.has(kind)) {
      const group = document.createElement("optgroup");
      group.label = kindNames[kind] ?? kind;
      groups.set(kind, group);
      select.append(group);
    }
    groups.get(kind).append(new Option(profileTitle(profile), String(index)));
  });
  select.value = String(state.profile);
}

/** Selects the profile for playback and figures. */
function chooseProfile(index) {
  state.profile = index;
  find("#profile").value = String(index);
  for (const slotIndex of [0, 1]) {
    if (!slots[slotIndex]) continue;
    Object.assign(slots[slotIndex], { samples: null, felt: null, spectrum: null });
    send(slotIndex);
  }
  drawAll();
  showSelection();
  updateLists();
  const { name, low, high, hasHardware } = profiles[index];
  const title = profileTitle(profiles[index]);
  const band = `plays ${Math.round(low)}–${Math.round(high)} Hz`;
  showNote(name === "speaker" ? `${title}: ${band} with harmonics, audible on laptops and phones.`
    : `${title}: ${band}, as sent to the actuator. Listen with a shaker or good headphones.`
      + (hasHardware ? " The lane Felt shows the vibration of the actuator." : ""));
}

function choosePicture(picture) {
  if (find("#views").hidden) return;
  state.picture = picture;
  check(find("#views"), find(`#views [data-view="${picture}"]`));
  drawAll();
}
