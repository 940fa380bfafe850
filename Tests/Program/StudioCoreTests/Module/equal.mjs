// Compares what the module renders of all patterns, for all profiles, with what the program does, bit for bit:
//   node equal.mjs MODULE.wasm PROGRAM
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "./module.mjs";

const [path, program] = process.argv.slice(2);
const studio = open(path);
const patterns = readdirSync("Patterns").filter((name) => name.endsWith(".ahap"));
const folder = mkdtempSync(join(tmpdir(), "temblor-equal-"));

// The samples of a sound file.
function data(file) {
  const bytes = readFileSync(file);
  for (let place = 12; place < bytes.length - 8; ) {
    const size = bytes.readUInt32LE(place + 4);
    if (bytes.toString("latin1", place, place + 4) === "data") return bytes.subarray(place + 8, place + 8 + size);
    place += 8 + size + (size & 1);
  }
  throw new Error(`${file} has no samples`);
}

let equal = 0;
const different = [];
const profiles = studio.list("profiles");
try {
  for (const [number, profile] of profiles.entries()) {
    const out = join(folder, profile.name);
    execFileSync(program, ["render", "Patterns", "-o", out, "--profile", `Profiles/${profile.name}.json`, "--sample-format", "float"]);
    for (const name of patterns) {
      const bytes = readFileSync(join("Patterns", name));
      if (!studio.open(0, name, bytes)) different.push(`${name} cannot be read`);
      if (!studio.text(0).equals(bytes)) different.push(`${name} is not what was opened`);
      const samples = studio.render(0, number, 48000);
      if (samples.equals(data(join(out, name.replace(".ahap", ".wav"))))) equal++;
      else different.push(`${name} for ${profile.name}`);
    }
    rmSync(out, { recursive: true });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${equal} of ${profiles.length * patterns.length} renderings are equal to the program's`);
for (const line of different) console.log(`different: ${line}`);
process.exit(different.length > 0 || profiles.length === 0 ? 1 : 0);
