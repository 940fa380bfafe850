// The functions of the package in node: TEMBLOR_PACKAGE names its folder.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const folder = process.env.TEMBLOR_PACKAGE;
const temblor = await import(join(folder, "temblor.mjs"));
const { load, check, render, play, stop, set, convert, compare, TemblorError } = temblor;

const tap = (Time, intensity = 1) => ({ Event: {
  Time, EventType: "HapticTransient", EventParameters: [
    { ParameterID: "HapticIntensity", ParameterValue: intensity },
    { ParameterID: "HapticSharpness", ParameterValue: 0.5 },
  ],
} });
const hum = (Time, EventDuration, sharpness) => ({ Event: {
  Time, EventDuration, EventType: "HapticContinuous", EventParameters: [
    { ParameterID: "HapticIntensity", ParameterValue: 0.5 },
    { ParameterID: "HapticSharpness", ParameterValue: sharpness },
  ],
} });
const pattern = (...events) => load({ Version: 1, Pattern: events });

test("All shipped patterns are read, checked, and rendered", async () => {
  for (const name of readdirSync("Patterns").filter((each) => each.endsWith(".ahap"))) {
    const bytes = new Uint8Array(readFileSync(join("Patterns", name)));
    const one = await load(bytes, { name });
    assert.equal(one.name, name);
    assert.deepEqual((await check(one)).filter(({ severity }) => severity === "error"), []);
    assert.ok((await render(one)).length >= one.duration * 48000);
    assert.deepEqual((await convert(one, "ahap")).bytes, bytes);
  }
});

test("A file that cannot be read is an error with its line", async () => {
  await assert.rejects(load("{\n  \"Version\": 1,\n  x"), (error) => (
    error instanceof TemblorError && error.line === 3 && error.message.startsWith("line 3: ")
  ));
  await assert.rejects(load(""), TemblorError);
});

test("Events have their values after curves", async () => {
  const one = await pattern(hum(0, 1, 0.3), { ParameterCurve: {
    ParameterID: "HapticIntensityControl", Time: 0,
    ParameterCurveControlPoints: [{ Time: 0, ParameterValue: 0 }, { Time: 1, ParameterValue: 1 }],
  } });
  const [{ kind, duration, corners }] = one.events;
  assert.deepEqual([kind, duration, one.duration, one.format], ["HapticContinuous", 1, 1, "ahap"]);
  assert.deepEqual(corners.map((each) => Math.round(each * 100) / 100), [0, 0, 0.3, 1, 0.5, 0.3]);
});

test("Patterns are independent of the order of calls", async () => {
  const [one, other] = [await pattern(tap(0)), await pattern(tap(0.5))];
  const before = await render(one);
  await render(other);
  assert.deepEqual(await render(one), before);
  assert.deepEqual((await Promise.all([render(one), render(other)]))[0], before);
  assert.equal((await compare(one, one)).isIdentical, true);
  const { isIdentical, time, peak } = await compare(one, other);
  assert.ok(!isIdentical && time < 0.01 && peak > 0.1);
});

test("Profiles are names or JSON", async () => {
  const one = await pattern(hum(0, 0.5, 0.5));
  const profile = {
    name: "mine", summary: "Mine.", frequency: { low: 100, high: 100, scale: "linear" },
    intensity: { law: "power", exponent: 1 }, level: 0.5,
  };
  const samples = await render(one, { profile });
  assert.ok(Math.abs(Math.max(...samples.slice(4800, 9600)) - 0.25) < 0.01);
  await assert.rejects(render(one, { profile: "none" }), /unknown profile "none"/);
  await assert.rejects(render(one, { profile: { name: "x" } }), TemblorError);
  await assert.rejects(render(one, { rate: NaN }), TemblorError);
});

test("A conversion lists its losses", async () => {
  const one = await pattern(tap(0), hum(0.2, 0.5, 0.4));
  const clip = await convert(one, "haptic");
  assert.ok(JSON.parse(new TextDecoder().decode(clip.bytes)).signals);
  const back = await load(clip.bytes, { name: "clip.haptic" });
  assert.equal(back.format, "haptic");
  assert.ok(back.duration > 0.6);
  await assert.rejects(convert(one, "gif"), /"gif" cannot be written/);
});

test("A vibration is on where the intensity is at least 0.1", async () => {
  const calls = [];
  const navigator = { vibrate(durations) { calls.push(durations); return true; } };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  const one = await pattern(hum(0, 0.1, 0.5), tap(0.3));
  stop(await play(one, { output: "vibration" }));
  stop(await play(one, { output: "vibration", intensity: 0.1 }));
  assert.deepEqual(calls, [[100, 200, 20], 0, [0, 300, 20], 0]);
  navigator.vibrate = () => false;
  await assert.rejects(play(one, { output: "vibration" }), /refuses to vibrate/);
  delete globalThis.navigator;
});

/** Simulates a phone that vibrates, with the clock of the test. Returns its calls. */
function phone(context) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  context.mock.method(performance, "now", () => now);
  const calls = [];
  const navigator = { vibrate(durations) { calls.push({ now, durations }); return true; } };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  context.after(() => { delete globalThis.navigator; });
  const wait = (milliseconds) => {
    for (let step = 0; step < milliseconds; step++) {
      now += 1;
      context.mock.timers.tick(1);
    }
  };
  return { calls, wait };
}

/** Returns the times at which the vibration of calls starts and stops, in milliseconds. */
function edges(calls) {
  const times = [];
  calls.forEach(({ now, durations }, index) => {
    const end = calls[index + 1]?.now ?? Infinity;
    let [time, isOn] = [now, true];
    if (index > 0 && times.length % 2 === 1 && !durations[0]) times.push(now);
    for (const duration of [durations].flat()) {
      const last = Math.min(end, time + duration);
      if (isOn && last > time) {
        if (times.at(-1) === time) times.pop(); else if (times.length % 2 === 0) times.push(time);
        times.push(last);
      }
      time += duration;
      isOn = !isOn;
    }
  });
  return times;
}

test("A vibration starts at a position", async (context) => {
  const { calls, wait } = phone(context);
  const one = await pattern(hum(0, 0.1, 0.5), tap(0.3));
  const made = await play(one, { output: "vibration", at: 0.05 });
  assert.deepEqual(calls[0].durations, [50, 200, 20]);
  wait(300);
  await made.ended;
  const late = await play(one, { output: "vibration", at: 5 });
  await late.ended;
  await assert.rejects(play(one, { output: "vibration", at: -1 }), /invalid start -1/);
});

test("A vibration repeats", async (context) => {
  const { calls, wait } = phone(context);
  const one = await pattern(hum(0, 0.2, 0.5), hum(0.5, 0.1, 0.5));
  const made = await play(one, { output: "vibration", loop: true });
  wait(11000);
  stop(made);
  const times = edges(calls).slice(0, 36);
  // Each round of 600 ms ends with a vibration, which continues in the next round.
  const expected = [0, 200];
  for (let round = 0; expected.length < 36; round++) {
    expected.push(500 + 600 * round, 800 + 600 * round);
  }
  assert.deepEqual(times, expected);
});

test("A vibration is not limited by the browser", async (context) => {
  const { calls, wait } = phone(context);
  const taps = Array.from({ length: 150 }, (_, index) => tap(index * 0.04));
  const one = await pattern(...taps, hum(7, 12, 0.5), hum(20, 0.5, 0.5));
  const made = await play(one, { output: "vibration" });
  wait(21000);
  await made.ended;
  for (const { durations } of calls) {
    const list = [durations].flat();
    assert.ok(list.length <= 99 && list.every((each) => each <= 10000));
  }
  const times = edges(calls);
  assert.equal(times.length, 304);
  times.slice(0, 300).forEach((time, index) => {
    assert.ok(Math.abs(time - (40 * (index >> 1) + 20 * (index % 2))) <= 10, `${index}: ${time}`);
  });
  times.slice(300).forEach((time, index) => {
    assert.ok(Math.abs(time - [7000, 19000, 20000, 20500][index]) <= 10, `${index}: ${time}`);
  });
});

test("A vibration follows its controls", async (context) => {
  const { calls, wait } = phone(context);
  const one = await pattern(hum(0, 2, 0.5));
  const made = await play(one, { output: "vibration" });
  wait(500);
  set(made, { intensity: 0.1 });
  wait(500);
  set(made, { intensity: 1 });
  wait(1100);
  await made.ended;
  assert.deepEqual(edges(calls).slice(0, 4), [0, 500, 1000, 2000]);
});

test("Eight functions and one error are exported", () => {
  const names = ["TemblorError", "check", "compare", "convert", "load", "play", "render", "set", "stop"];
  assert.deepEqual(Object.keys(temblor).sort(), names);
});

test("A gamepad gets dull vibration on its strong motor", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  let now = 0;
  context.mock.method(performance, "now", () => now);
  const calls = [];
  const actuator = { playEffect: async (kind, effect) => { calls.push({ kind, ...effect }); }, reset() { calls.push("reset"); } };
  const one = await pattern(hum(0, 0.2, 0));
  const made = await play(one, { output: { vibrationActuator: actuator } });
  const step = () => { now += 30; context.mock.timers.tick(30); };
  step();
  assert.equal(calls[0].kind, "dual-rumble");
  assert.ok(Math.abs(calls[0].strongMagnitude - 0.5) < 0.01 && calls[0].weakMagnitude === 0);
  set(made, { intensity: 0.5, sharpness: 1 });
  step();
  assert.ok(calls[1].strongMagnitude === 0 && Math.abs(calls[1].weakMagnitude - 0.25) < 0.01);
  assert.throws(() => set(made, { intensity: 2 }), TemblorError);
  for (let count = 0; count < 10; count++) step();
  await made.ended;
  assert.equal(made.isPlaying, false);
  assert.equal(calls.at(-1), "reset");
  stop(made);
});

test("An output without actuator is an error", async () => {
  const one = await pattern(tap(0));
  await assert.rejects(play(one, { output: "vibration" }), /cannot vibrate/);
  await assert.rejects(play(one, { output: {} }), /no actuator/);
});

test("Rendering AHAP needs the small module only", async (context) => {
  const partial = mkdtempSync(join(tmpdir(), "temblor-ahap-"));
  context.after(() => rmSync(partial, { recursive: true, force: true }));
  for (const name of ["temblor.mjs", "temblor-ahap.wasm"]) {
    copyFileSync(join(folder, name), join(partial, name));
  }
  const small = await import(join(partial, "temblor.mjs"));
  const one = await small.load({ Version: 1, Pattern: [tap(0), hum(0.2, 0.5, 0.4)] });
  assert.ok((await small.render(one)).length > 0.7 * 48000);
  assert.ok((await small.render(one, { profile: "speaker" })).length > 0.7 * 48000);
  await assert.rejects(small.render(one, { profile: "dayton-bst-1" }), /temblor\.wasm/);
  await assert.rejects(small.check(one), /temblor\.wasm/);
  await assert.rejects(small.convert(one, "haptic"), /temblor\.wasm/);
  copyFileSync(join(folder, "temblor.wasm"), join(partial, "temblor.wasm"));
  const clip = await small.convert(one, "haptic");
  assert.deepEqual(clip, await convert(one, "haptic"));
  assert.equal((await small.load(clip.bytes, { name: "clip.haptic" })).format, "haptic");
  assert.deepEqual(await small.check(one), await check(one));
  const profile = "dayton-bst-1";
  assert.deepEqual(await small.render(one, { profile }), await render(one, { profile }));
});

test("Both modules render AHAP equally", async () => {
  for (const name of readdirSync("Patterns").filter((each) => each.endsWith(".ahap"))) {
    const bytes = new Uint8Array(readFileSync(join("Patterns", name)));
    const small = await load(bytes, { name });
    // The name of a file of another kind selects the module with all formats.
    const full = await load(bytes, { name: `${name}.json` });
    assert.equal(full.format, "ahap");
    assert.deepEqual(small.events, full.events);
    for (const profile of ["phone", "speaker"]) {
      assert.ok((await compare(small, full, { profile })).isIdentical);
    }
  }
});

test("A file is read by its content, whatever its name", async () => {
  const content = { Metadata: { Version: 1 }, Pattern: [{ Event: {
    Type: "transient", RelativeTime: 0, Parameters: { Intensity: 100, Frequency: 50 },
  } }] };
  const named = await load(content, { name: "a.he" });
  const misnamed = await load(content, { name: "a.ahap" });
  assert.equal(misnamed.format, "he");
  assert.deepEqual(misnamed.events, named.events);
});

test("A suppression can name a rule of any format", async () => {
  const rules = async (rule) => (await check(await load({
    Version: 1, Metadata: { AllowedRules: { [rule]: "On purpose." } }, Pattern: [tap(0)],
  }))).map((finding) => finding.rule);
  assert.ok((await rules("he/percent-curve")).includes("unused-allowance"));
  assert.ok((await rules("no-such-rule")).includes("unknown-rule"));
});

test("The package is smaller than its limits", () => {
  const compressedSize = (name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length;
  assert.ok(statSync(join(folder, "temblor.wasm")).size < 2_800_000);
  assert.ok(compressedSize("temblor.wasm") < 1_120_000);
  assert.ok(compressedSize("temblor-ahap.wasm") < 330_000);
  assert.ok(statSync(join(folder, "temblor.mjs")).size < 32_000);
});
