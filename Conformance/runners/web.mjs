#!/usr/bin/env node
// Runner for the ES module of `Tools/web`. TEMBLOR_PACKAGE names its folder; default: .build/web/package.
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const folder = process.env.TEMBLOR_PACKAGE ?? join(root, ".build/web/package");
const { load, check, render, TemblorError } = await import(join(resolve(folder), "temblor.mjs"));

/** Returns samples as a WAV file of 32-bit floats. */
function wave(samples, rate) {
  const header = Buffer.alloc(44);
  header.write("RIFF");
  header.writeUInt32LE(36 + samples.byteLength, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(3, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(4 * rate, 28);
  header.writeUInt16LE(4, 32);
  header.writeUInt16LE(32, 34);
  header.write("data", 36);
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

const [group, file, mappingFile, output] = process.argv.slice(2);
try {
  const pattern = await load(new Uint8Array(await readFile(file)), { name: basename(file) });
  if (group === "parse") {
    const error = check(pattern).find(({ severity }) => severity === "error");
    if (error) throw new TemblorError(error);
  } else if (group === "model") {
    const events = pattern.events.filter(({ corners }) => corners.length).map(
      ({ kind, time, duration, corners }) => ({ kind, end: time + duration, corners })
    );
    process.stdout.write(JSON.stringify({ events }));
  } else {
    const { low, high, scale, exponent, level } = JSON.parse(await readFile(mappingFile, "utf8"));
    const profile = {
      name: "conformance", summary: "The mapping of a case.", frequency: { low, high, scale },
      intensity: { law: "power", exponent }, level,
    };
    await writeFile(output, wave(render(pattern, { profile }), 48000));
  }
} catch (error) {
  if (!(error instanceof TemblorError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
