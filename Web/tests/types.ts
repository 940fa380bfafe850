// A program that uses every declaration. It is type-checked, and not run.
import {
  check, compare, convert, load, Pattern, play, render, set, stop, TemblorError,
} from "./package/temblor";

export async function main(file: File): Promise<void> {
  const first: Pattern = await load(file);
  const second = await load({ Version: 1, Pattern: [] }, { name: "second.ahap" });
  const findings = await check(first, { profile: "phone" });
  const lines: number[] = findings.map((finding) => finding.line ?? 0);
  const samples: Float32Array = await render(first, { rate: 44100, profile: { name: "mine" } });
  const gamepad = navigator.getGamepads()[0];
  const playing = await play(first, { loop: true, output: gamepad ?? "sound", sharpness: 0.2 });
  set(playing, { intensity: 0.5 });
  stop(playing);
  await playing.ended;
  const { bytes, losses } = await convert(first, "haptic");
  const { time } = await compare(first, second);
  if (new TemblorError("text") instanceof Error) {
    console.log(lines, samples, bytes.length, losses[0].message, time);
  }
}
