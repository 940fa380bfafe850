// Compares the renderings of all patterns for all profiles by the module and by the program, bit for bit:
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

// Returns the samples of a sound file.
function sampleData(file) {
  const bytes = readFileSync(file);
  for (let offset = 12; offset < bytes.length - 8; ) {
    const size = bytes.readUInt32LE(offset + 4);
    if (bytes.toString("latin1", offset, offset + 4) === "data") return bytes.subarray(offset + 8, offset + 8 + size);
    offset += 8 + size + (size & 1);
  }
  throw new Error(`${file} has no samples`);
}

let equalCount = 0;
const different = [];
const profiles = studio.list("profiles");
try {
  for (const [profileIndex, profile] of profiles.entries()) {
    const outputFolder = join(folder, profile.name);
    execFileSync(program, ["render", "Patterns", "-o", outputFolder, "--profile", `Profiles/${profile.name}.json`, "--sample-format", "float"]);
    for (const name of patterns) {
      const bytes = readFileSync(join("Patterns", name));
      if (!studio.open(0, name, bytes)) different.push(`${name} cannot be read`);
      if (!studio.text(0).equals(bytes)) different.push(`${name} is not what was opened`);
      const samples = studio.render(0, profileIndex, 48000);
      if (samples.equals(sampleData(join(outputFolder, name.replace(".ahap", ".wav"))))) equalCount++;
      else different.push(`${name} for ${profile.name}`);
    }
    rmSync(outputFolder, { recursive: true });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${equalCount} of ${profiles.length * patterns.length} renderings are equal to the program's`);
for (const line of different) console.log(`different: ${line}`);
process.exit(different.length > 0 || profiles.length === 0 ? 1 : 0);
