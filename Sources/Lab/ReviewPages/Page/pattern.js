// The values of a pattern's events under their controls, as numbers and as text.

// Zero values are missing in the data.
for (const take of data.takes) {
  take.controls ??= [];
  take.places ??= [];
  for (const event of take.events ?? []) {
    event.length ??= 0;
    event.duration ??= 0;
    event.layer ??= 0;
  }
}

/** Returns the frequency of a sharpness in hertz, by a frequency mapping of the profile. */
function hertzOf({ low, high, scale }, sharpness) {
  const value = clamp(sharpness, 0, 1);
  return scale === "linear" ? low + (high - low) * value : low * (high / low) ** value;
}

/** Returns the frequency of an event at a sharpness in hertz, or null for an audio event. */
function eventHertz(event, sharpness) {
  if (event.kind === "transient") return hertzOf(data.profile.transient, sharpness);
  return event.kind === "continuous" ? hertzOf(data.profile.continuous, sharpness) : null;
}

/** The maximum number of body locations or channels with lanes of their own. */
const maximumLaneCount = 8;

/**
 * Returns the names of the lanes of takes: the body locations of patterns or, without them, the
 * channels of sounds that differ; a single null if there are none.
 */
function laneNamesOf(...takes) {
  const patterns = takes.filter((take) => !take.isSound && take.places.length);
  const names = [...new Set((patterns.length ? patterns : takes).flatMap((take) => take.places))];
  return names.length && names.length <= maximumLaneCount ? names : [null];
}

/**
 * Returns the index of the body location or channel that a lane shows of a take; null for the whole
 * take, and -1 for nothing.
 */
function placeIndex(take, names, lane) {
  if (names[lane] === null || !take.places.length) return null;
  const index = take.places.indexOf(names[lane]);
  if (index >= 0 || !take.isSound) return index;
  return take.places.length === names.length ? lane : null;
}

const partsOfTakes = new WeakMap();

/** Returns a take with only the events, or the track, of a body location or channel. */
function partOf(take, names, lane) {
  const index = placeIndex(take, names, lane);
  if (index === null) return take;
  if (!partsOfTakes.has(take)) partsOfTakes.set(take, new Map());
  const parts = partsOfTakes.get(take);
  if (!parts.has(index)) {
    const isFelt = (event) => event.kind !== "transient" && event.kind !== "continuous"
      || index >= 0 && (event.place ?? index) === index;
    parts.set(index, {
      ...take, events: take.events?.filter(isFelt), track: take.tracks?.[index] ?? take.track,
    });
  }
  return parts.get(index);
}

/** Returns the end of a lane's title. */
const laneSuffix = (name) => (name === null ? "" : `, ${name}`);

const isLasting = (event) => event.kind !== "transient";

/**
 * Returns the last index of a list whose time is not after a given time. Every `stride`th number is
 * a time.
 */
function lastIndex(numbers, stride, time) {
  let [low, high] = [0, numbers.length / stride - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (numbers[middle * stride] <= time) low = middle;
    else high = middle - 1;
  }
  return low * stride;
}

/** Returns the intensity and sharpness of an event at a time, after controls and envelope. */
function valueAt(event, time) {
  const points = event.points;
  const index = lastIndex(points, 3, time);
  if (index + 3 >= points.length) {
    return { intensity: points[index + 1], sharpness: points[index + 2] };
  }
  const width = points[index + 3] - points[index] || 1;
  const fraction = clamp((time - points[index]) / width, 0, 1);
  const between = (offset) =>
    points[index + offset] + fraction * (points[index + 3 + offset] - points[index + offset]);
  return { intensity: between(1), sharpness: between(2) };
}

/** Returns the values of the strongest continuous event at a time. */
function continuousAt(take, time) {
  let best = null;
  for (const event of lastingEvents(take)) {
    if (event.time > time) break;
    if (time >= event.time + event.length) continue;
    const value = valueAt(event, time);
    if (!best || value.intensity > best.intensity) best = { ...value, event };
  }
  return best;
}

const sortedEvents = new WeakMap();

function eventsOf(take) {
  if (!sortedEvents.has(take)) {
    const events = take.events ?? [];
    sortedEvents.set(take, {
      lasting: events.filter(isLasting),
      transients: events.filter((event) => !isLasting(event)).map((event) => ({
        time: event.time, intensity: event.points[1], sharpness: event.points[2], event,
      })),
    });
  }
  return sortedEvents.get(take);
}

const lastingEvents = (take) => eventsOf(take).lasting;
const transientsOf = (take) => eventsOf(take).transients;

/** Returns the nearest transient to a time within a distance in seconds. */
function transientNear(take, time, reach) {
  let best = null;
  for (const each of transientsOf(take)) {
    const distance = Math.abs(each.time - time);
    if (distance < reach && (!best || distance < Math.abs(best.time - time))) best = each;
  }
  return best;
}

/**
 * Returns the value of a control of an event's layer at a time, or null if the layer does not set
 * it.
 */
function controlAt(take, event, name, time) {
  const line = take.controls[event.layer]?.[name];
  if (!line) return null;
  const index = lastIndex(line, 2, time + 1e-9);
  if (index + 2 >= line.length) return line[index + 1];
  const fraction = clamp((time - line[index]) / (line[index + 2] - line[index] || 1), 0, 1);
  return line[index + 1] + fraction * (line[index + 3] - line[index + 1]);
}

/**
 * Returns the intensity in the file, the control, and their product as text, such as `0.9 × 0.7 =
 * 0.63`.
 */
function intensityText(take, event, time) {
  const control = controlAt(take, event, "intensity", time);
  if (control === null || Math.abs(control - 1) < 0.004) return numberText(event.intensity);
  const product = clamp(event.intensity * control, 0, 1);
  return `${numberText(event.intensity)} × ${numberText(control)} = ${numberText(product)}`;
}

/**
 * Returns the sharpness in the file, the control, and their sum as text, such as `0.6 + 0.71 = 1
 * (limit)`.
 */
function sharpnessText(take, event, time) {
  const control = controlAt(take, event, "sharpness", time);
  if (control === null || Math.abs(control) < 0.004) return numberText(event.sharpness);
  const sum = event.sharpness + control;
  const sign = control < 0 ? "\u2212" : "+";
  const limit = sum > 1.004 || sum < -0.004 ? " (limit)" : "";
  return `${numberText(event.sharpness)} ${sign} ${numberText(Math.abs(control))} = `
    + `${numberText(clamp(sum, 0, 1))}${limit}`;
}

/** Returns the time of an event's maximum intensity, in seconds. */
function peakTime(event) {
  let best = 0;
  for (let index = 3; index < event.points.length; index += 3) {
    if (event.points[index + 1] > event.points[best + 1] + 1e-4) best = index;
  }
  return event.points[best];
}

const ordinals = [
  "First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth",
];
const kindNames = {
  transient: "transient", continuous: "continuous event", tone: "audio tone",
  "sound file": "sound file",
};

/**
 * Returns the name of an event, such as `Second transient`.
 * The ordinal is omitted if the event is the only one of its kind.
 */
function eventName(take, event) {
  const same = take.events.filter((each) => each.kind === event.kind);
  const ordinal = same.indexOf(event);
  const name = kindNames[event.kind];
  if (same.length < 2) return name[0].toUpperCase() + name.slice(1);
  return `${ordinals[ordinal] ?? `Number ${ordinal + 1},`} ${name}`;
}

/**
 * Returns the counts of a take's elements as text, such as `2 transients, 1 continuous event, 1
 * curve`.
 */
function countsText(take) {
  if (!take.events) return "recording";
  const parts = Object.entries(kindNames).map(([kind, name]) => {
    const count = take.events.filter((event) => event.kind === kind).length;
    return count ? counted(count, name) : "";
  });
  if (take.controlCount) parts.push(counted(take.controlCount, "curve"));
  if (take.places.length) parts.push(`at ${take.places.join(", ")}`);
  return parts.filter(Boolean).join(", ") || "no events";
}

/** Returns the cells of an event in a table, without the letter of the take. */
function eventCells(take, event) {
  const hertz = eventHertz(event, event.points[2]);
  return [
    ...take.places.length ? [escaped(take.places[event.place] ?? "everywhere")] : [],
    `${secondsText(event.time)} s`,
    isLasting(event) ? `${secondsText(event.duration)} s` : "—",
    intensityText(take, event, peakTime(event)),
    sharpnessText(take, event, event.time),
    hertz === null ? "—" : `${hertz.toFixed(0)} Hz`,
  ];
}

/** Returns the source text of a take. */
function sourceOf(index) {
  return document.getElementById(`source-${index}`)?.textContent ?? null;
}

// The color scale of sharpness, the same in both themes.
const ramp = [
  [0x65, 0x58, 0xe0], [0x88, 0x52, 0xd8], [0xa4, 0x4e, 0xc8], [0xbc, 0x4c, 0xb3],
  [0xd0, 0x4c, 0x9b], [0xde, 0x50, 0x7f], [0xe7, 0x58, 0x62], [0xea, 0x64, 0x40],
  [0xe5, 0x72, 0x17],
];

/** Returns the color of a sharpness, 0…1. */
function rampColor(sharpness) {
  const position = clamp(sharpness, 0, 1) * (ramp.length - 1);
  const index = Math.min(ramp.length - 2, Math.floor(position));
  const fraction = position - index;
  const parts = ramp[index].map(
    (part, k) => Math.round(part + fraction * (ramp[index + 1][k] - part))
  );
  return `rgb(${parts.join(" ")})`;
}
