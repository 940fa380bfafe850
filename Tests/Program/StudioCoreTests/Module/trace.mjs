// Compares the patterns that the module and `temblor trace` make of the sounds of all patterns: the events must be
// equal within a millisecond and a hundredth.
//   node trace.mjs MODULE.wasm PROGRAM
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "./module.mjs";

const [path, program] = process.argv.slice(2);
const studio = open(path);
const profile = studio.list("profiles").findIndex(({ name }) => name === "phone");
const folder = mkdtempSync(join(tmpdir(), "temblor-trace-"));
const run = (...args) => execFileSync(program, [...args, "-q"], { stdio: ["ignore", "pipe", "ignore"] });

/** Returns the events of a text, as lists of numbers. */
const events = (text) => JSON.parse(text).Pattern.flatMap(({ Event: event }) => (event
  ? [[event.EventType.length, event.Time, event.EventDuration ?? 0, ...event.EventParameters.map((parameter) => parameter.ParameterValue)]] : []));

let [equalCount, count] = [0, 0];
const different = [];
try {
  run("render", "Patterns", "-o", folder, "--sample-format", "float");
  for (const name of readdirSync(folder).filter((fileName) => fileName.endsWith(".wav"))) {
    const bytes = readFileSync(join(folder, name));
    const samples = bytes.subarray(bytes.indexOf("data", 12, "latin1") + 8);
    const title = Buffer.from(name.replace(".wav", ".ahap"));
    const [address, , nameAddress, nameLength] = studio.put(samples, title);
    count++;
    if (studio.exports.trace(0, nameAddress, nameLength, address, samples.length >> 2, 1, 48000, profile) !== 1) {
      different.push(`${name}: ${studio.message()}`);
      continue;
    }
    const moduleEvents = events(studio.text(0).toString());
    const programEvents = events(run("trace", join(folder, name), "-o", "-").toString());
    const isNear = moduleEvents.length === programEvents.length && moduleEvents.every((event, index) => event.every(
      (value, field) => Math.abs(value - programEvents[index][field]) <= [0, 0.001, 0.002, 0.01, 0.01][field]));
    if (isNear) equalCount++; else different.push(`${name}: ${moduleEvents.length} events for ${programEvents.length}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${equalCount} of ${count} sounds become the program's pattern`);
for (const line of different) console.log(`different: ${line}`);
process.exit(different.length > 0 || count === 0 ? 1 : 0);
