// Measures the cost of live sound in the module, and checks that the plan of a long pattern, compiled in another
// instance, is loaded while the blocks continue:
//   node live.mjs MODULE.wasm
import { open } from "./module.mjs";

const rate = 48000, blockFrameCount = 128, chunkSize = 1 << 18;
const page = open(process.argv[2]);
const worklet = open(process.argv[2]);
const live = worklet.exports;

const pattern = (events) => Buffer.from(JSON.stringify({ Version: 1, Pattern: events }));
const tap = (time) => ({ Event: { Time: time, EventType: "HapticTransient" } });
const hum = (sharpness) => ({
  Event: {
    Time: 0, EventType: "HapticContinuous", EventDuration: 30,
    EventParameters: [
      { ParameterID: "HapticIntensity", ParameterValue: 0.1 }, { ParameterID: "HapticSharpness", ParameterValue: sharpness },
    ],
  },
});

// Plays blocks, and returns the time of the slowest block in milliseconds and the maximum step between two samples.
let previousSample = 0;
function play(count, during = () => {}) {
  let slowest = 0, step = 0;
  for (let index = 0; index < count; index++) {
    const start = performance.now();
    during(index);
    const samples = new Float32Array(live.memory.buffer, live.liveRender(blockFrameCount), blockFrameCount);
    slowest = Math.max(slowest, performance.now() - start);
    for (const sample of samples) (step = Math.max(step, Math.abs(sample - previousSample))), (previousSample = sample);
  }
  return { slowest, step };
}

// Compiles a pattern in the instance of the page, and returns the bytes of the plan.
function plan(text) {
  page.open(0, "a.ahap", text);
  return page.output(page.exports.plan(0, 0, rate));
}

// Copies a chunk of a plan in each block, then loads the plan. Returns the result of `play`.
function loadPlan(bytes) {
  const address = live.livePlanInput(bytes.length);
  const chunkCount = Math.ceil(bytes.length / chunkSize);
  return play(chunkCount + 8, (index) => {
    if (index < chunkCount) {
      const chunk = bytes.subarray(index * chunkSize, (index + 1) * chunkSize);
      new Uint8Array(live.memory.buffer, address + index * chunkSize, chunk.length).set(chunk);
    }
    if (index === chunkCount && live.livePlan(0, bytes.length, 0) !== 1) throw new Error("the plan is refused");
  });
}

live.liveStart(rate);
const sines = plan(pattern(Array.from({ length: 64 }, (_, index) => hum(index / 64))));
loadPlan(sines);
live.livePlay(1, 0);
play(1000);
let start = performance.now();
play(4000);
const loadFraction = (performance.now() - start) / ((4000 * blockFrameCount * 1000) / rate);
console.log(`64 sines: ${(loadFraction * 100).toFixed(2)} % of a core`);

const taps = Array.from({ length: 100000 }, (_, index) => tap(index * 0.001));
const longPlans = [plan(pattern(taps)), plan(pattern(taps.slice(0, 99999)))];
loadPlan(longPlans[0]);
live.livePlay(1, 40 * rate);
const steady = play(2000);
const worst = { slowest: 0, step: 0 };
for (let index = 0; index < 10; index++) {
  const next = loadPlan(longPlans[(index + 1) % 2]);
  worst.slowest = Math.max(worst.slowest, next.slowest);
  worst.step = Math.max(worst.step, next.step);
  play(100);
}
console.log(
  `100,000 events, loaded while playing, ${(longPlans[0].length / 1e6).toFixed(1)} MB: slowest block ` +
    `${worst.slowest.toFixed(2)} ms of ${((blockFrameCount / rate) * 1000).toFixed(2)} (without ${steady.slowest.toFixed(2)}), ` +
    `maximum step ${worst.step.toFixed(4)} (without ${steady.step.toFixed(4)})`);

const memoryBefore = live.memory.buffer.byteLength;
for (let index = 0; index < 2000; index++) loadPlan(sines);
console.log(`memory after 2,000 more: ${live.memory.buffer.byteLength >> 10} KiB (before ${memoryBefore >> 10})`);
process.exit(worst.step > steady.step * 1.05 || live.memory.buffer.byteLength > memoryBefore ? 1 : 0);
