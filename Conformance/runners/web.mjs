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

/** Returns the amplitudes and taps of a vendor's file: the squares of Temblor's intensities. */
function amplitudes(pattern) {
  const points = [];
  const taps = [];
  for (const { kind, corners } of pattern.events.filter(({ corners }) => corners.length)) {
    const pairs = [];
    for (let index = 0; index < corners.length; index += 3) {
      pairs.push([corners[index], corners[index + 1] ** 2]);
    }
    if (kind === "HapticTransient") {
      taps.push(...pairs);
      continue;
    }
    const end = points.at(-1)?.[0];
    if (end !== undefined && pairs[0][0] > end) points.push([end, 0], [pairs[0][0], 0]);
    points.push(...pairs);
  }
  return { points, taps };
}

const [group, file, mappingFile, output] = process.argv.slice(2);
try {
  const pattern = await load(new Uint8Array(await readFile(file)), { name: basename(file) });
  if (group === "parse" || group === "haptic" || group === "android") {
    const error = (await check(pattern)).find(({ severity }) => severity === "error");
    if (error) throw new TemblorError(error);
    if (group !== "parse") process.stdout.write(JSON.stringify(amplitudes(pattern)));
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
    await writeFile(output, wave(await render(pattern, { profile }), 48000));
  }
} catch (error) {
  if (!(error instanceof TemblorError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
