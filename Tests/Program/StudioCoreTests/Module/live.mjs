// Measures what live sound costs in the module, and proves that a long pattern that was compiled elsewhere is taken over
// within its blocks:
//   node live.mjs MODULE.wasm
import { open } from "./module.mjs";

const rate = 48000, block = 128, piece = 1 << 18;
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

// The milliseconds of the slowest of some blocks, and the greatest step between two samples.
let last = 0;
function play(count, during = () => {}) {
  let slowest = 0, step = 0;
  for (let number = 0; number < count; number++) {
    const start = performance.now();
    during(number);
    const samples = new Float32Array(live.memory.buffer, live.liveRender(block), block);
    slowest = Math.max(slowest, performance.now() - start);
    for (const sample of samples) (step = Math.max(step, Math.abs(sample - last))), (last = sample);
  }
  return { slowest, step };
}

// Compiles a pattern in the page's instance; its bytes.
function plan(text) {
  page.open(0, "a.ahap", text);
  return page.taken(page.exports.plan(0, 0, rate));
}

// Copies a plan a piece for each block, then takes it over; the slowest block.
function takeOver(bytes) {
  const place = live.livePlanInput(bytes.length);
  const pieces = Math.ceil(bytes.length / piece);
  return play(pieces + 8, (number) => {
    if (number < pieces) {
      const part = bytes.subarray(number * piece, (number + 1) * piece);
      new Uint8Array(live.memory.buffer, place + number * piece, part.length).set(part);
    }
    if (number === pieces && live.livePlan(0, bytes.length, 0) !== 1) throw new Error("the plan is refused");
  });
}

live.liveStart(rate);
const sines = plan(pattern(Array.from({ length: 64 }, (_, index) => hum(index / 64))));
takeOver(sines);
live.livePlay(1, 0);
play(1000);
let start = performance.now();
play(4000);
const share = (performance.now() - start) / ((4000 * block * 1000) / rate);
console.log(`64 sines: ${(share * 100).toFixed(2)} % of a core`);

const taps = Array.from({ length: 100000 }, (_, index) => tap(index * 0.001));
const long = [plan(pattern(taps)), plan(pattern(taps.slice(0, 99999)))];
takeOver(long[0]);
live.livePlay(1, 40 * rate);
const own = play(2000);
const worst = { slowest: 0, step: 0 };
for (let number = 0; number < 10; number++) {
  const next = takeOver(long[(number + 1) % 2]);
  worst.slowest = Math.max(worst.slowest, next.slowest);
  worst.step = Math.max(worst.step, next.step);
  play(100);
}
console.log(
  `100,000 events taken over while playing, ${(long[0].length / 1e6).toFixed(1)} MB: slowest block ` +
    `${worst.slowest.toFixed(2)} ms of ${((block / rate) * 1000).toFixed(2)} (without ${own.slowest.toFixed(2)}), ` +
    `greatest step ${worst.step.toFixed(4)} (without ${own.step.toFixed(4)})`);

const before = live.memory.buffer.byteLength;
for (let number = 0; number < 2000; number++) takeOver(sines);
console.log(`memory after 2,000 more: ${live.memory.buffer.byteLength >> 10} KiB (before ${before >> 10})`);
process.exit(worst.step > own.step * 1.05 || live.memory.buffer.byteLength > before ? 1 : 0);
