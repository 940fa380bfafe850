#!/usr/bin/env node
// Runner for `validateAHAP` of the TypeScript package capacitor-rich-haptics (sergey-faraday/capacitor-rich-haptics).
//
// Build src/validate.ts at commit 2d870fd with `tsc --target es2022 --module es2022`, and name the result validate.mjs.
// CAPACITOR_RICH_HAPTICS names that file. It plays nothing itself: no tracks, no sounds.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

const [group, file] = process.argv.slice(2);
if (group !== "parse") process.exit(77);
const { validateAHAP } = await import(resolve(process.env.CAPACITOR_RICH_HAPTICS ?? "validate.mjs"));
try {
  process.exitCode = validateAHAP(JSON.parse(await readFile(file, "utf8"))).length ? 2 : 0;
} catch {
  process.exitCode = 2;
}
