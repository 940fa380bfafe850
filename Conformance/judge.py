#!/usr/bin/env python3
"""Runs the cases of this folder with one runner and prints what it passes.

    judge.py RUNNER [--group parse|model|render|haptic|android] [--case ID] [--all]

README.md has the contract of runners. Exit status: 0 where every case passes or is skipped, 3 where one fails."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
TOLERANCE = 0.005
AMPLITUDE_TOLERANCE = 0.01


class Skip(Exception):
    """The runner does not do this."""


class Failure(Exception):
    """What is wrong, in a line."""


def run(runner, *arguments):
    """Exit status and output of the runner with the arguments of one case."""
    try:
        done = subprocess.run([runner, *arguments], capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failure("no answer in 60 s") from error
    if done.returncode == SKIPPED:
        raise Skip
    if done.returncode not in (0, 2):
        raise Failure(f"exit status {done.returncode}: {done.stderr.decode(errors='replace').strip()[-200:]}")
    return done.returncode, done.stdout


# ---- parse: exit status 0 where the file is read, 2 where it is refused


def check_verdict(status, case):
    if case["verdict"] != "either" and (status == 0) != (case["verdict"] == "accept"):
        raise Failure("read, must be refused" if status == 0 else "refused, must be read")


def judge_parse(runner, case, _):
    status, _ = run(runner, "parse", path("parse", case["id"]))
    check_verdict(status, case)


# ---- model: events with corners of intensity and sharpness


def triples(event):
    return np.asarray(event["corners"], float).reshape(-1, 3)


def order(event):
    first = triples(event)[0]
    return (round(first[0], 4), event["kind"], round(event["end"], 4), *np.round(first[1:], 3))


def values(corners, times):
    """The columns after the time, such as intensity and sharpness, on the lines between corners; after a jump where
    there is one."""
    index = np.clip(np.searchsorted(corners[:, 0], times, side="right") - 1, 0, len(corners) - 1)
    after = np.minimum(index + 1, len(corners) - 1)
    span = corners[after, 0] - corners[index, 0]
    share = np.where(span > 0, (times - corners[index, 0]) / np.where(span > 0, span, 1), 0)
    return corners[index, 1:] + np.clip(share, 0, 1)[:, None] * (corners[after, 1:] - corners[index, 1:])


def active(events, times):
    """How many events are active: a continuous one from its start up to its end, a transient at its millisecond."""
    count = np.zeros(len(times), int)
    for event in events:
        start = triples(event)[0, 0]
        end = start + 0.001 if event["kind"] == "HapticTransient" else event["end"]
        count += (times >= start) & (times < end)
    return count


def judge_model(runner, case, _):
    status, output = run(runner, "model", path("model", case["id"]))
    if status != 0:
        raise Failure("refused")
    had, wanted = json.loads(output)["events"], case["events"]
    had.sort(key=order), wanted.sort(key=order)
    if [e["kind"] for e in had] != [e["kind"] for e in wanted]:
        raise Failure(f"{len(had)} events, not {len(wanted)}, or of other kinds")
    first = min((triples(e)[0, 0] for e in wanted), default=0)
    grid = first + 0.0005 + np.arange(int((max((e["end"] for e in wanted), default=0) - first) * 1000) + 2) / 1000
    # Half a millisecond to each side of a start or end is left open.
    edges = [t for e in wanted for t in (triples(e)[0, 0], triples(e)[0, 0] + 0.001, e["end"])]
    clear = np.all([abs(grid - t) > 0.0004 for t in edges], axis=0) if edges else grid > 0
    if np.any(active(had, grid)[clear] != active(wanted, grid)[clear]):
        raise Failure("another number of active events")
    for one, other in zip(had, wanted):
        mine, right = triples(one), triples(other)
        if abs(mine[0, 0] - right[0, 0]) > 0.0005 or abs(one["end"] - other["end"]) > 0.0005:
            raise Failure(f"{one['kind']} from {mine[0, 0]} to {one['end']}, not {right[0, 0]} to {other['end']}")
        times = right[0, 0] + np.arange(int((other["end"] - right[0, 0]) * 1000) + 1) / 1000
        # At a jump either side is right.
        inner = right[1:, 0]
        times = times[[not len(inner) or t == times[0] or np.min(abs(inner - t)) > 1e-6 for t in times]]
        distance = abs(values(mine, times) - values(right, times))
        if distance.max() > TOLERANCE:
            row, column = np.unravel_index(distance.argmax(), distance.shape)
            raise Failure(f"{('intensity', 'sharpness')[column]} {values(mine, times)[row, column]:.4f}, not "
                          f"{values(right, times)[row, column]:.4f}, at {times[row]:.4f} s")


# ---- render: checks of a sound


def read_wav(name):
    """Samples of the first channel and their rate, from 16-bit integers or 32-bit floats."""
    with open(name, "rb") as file:
        data = file.read()
    if data[:4] != b"RIFF":
        raise Failure("no WAV file")
    place, form = 12, None
    while place + 8 <= len(data):
        size = int.from_bytes(data[place + 4:place + 8], "little")
        body = data[place + 8:place + 8 + size]
        if data[place:place + 4] == b"fmt ":
            channels, rate = int.from_bytes(body[2:4], "little"), int.from_bytes(body[4:8], "little")
            form = np.dtype("<f4") if int.from_bytes(body[14:16], "little") == 32 else np.dtype("<i2")
        if data[place:place + 4] == b"data" and form is not None:
            samples = np.frombuffer(body[:len(body) // form.itemsize * form.itemsize], form).astype(float)
            return samples[::channels] / (32768 if form.itemsize == 2 else 1), rate
        place += 8 + size + size % 2
    raise Failure("a WAV file without samples")


def part(samples, rate, start, end):
    return samples[max(0, round(start * rate)):max(0, round(end * rate))]


def baseband(samples, rate, hertz):
    """The signal moved down by a frequency and averaged over a cycle of it twice: twice its complex amplitude."""
    cycle = max(1, round(rate / hertz))
    moved = samples * np.exp(-2j * np.pi * hertz * np.arange(len(samples)) / rate)
    box = np.ones(cycle) / cycle
    return 2 * np.convolve(np.convolve(moved, box, "same"), box, "same")


def check_onset(check, samples, rate, mapping):
    loud = np.flatnonzero(abs(samples) > 0.002 * mapping["level"])
    loud = loud[loud >= (check["time"] - 0.05) * rate]
    had = loud[0] / rate if len(loud) else np.inf
    if abs(had - check["time"]) > 0.0005:
        raise Failure(f"onset at {had:.5f} s, not {check['time']}")


def check_silence(check, samples, rate, mapping):
    peak = abs(part(samples, rate, check["from"], check.get("to", len(samples) / rate))).max(initial=0)
    if peak > 0.01 * mapping["level"]:
        raise Failure(f"{peak:.5f} where silence must be, from {check['from']} s")


def check_frequency(check, samples, rate, _):
    signal = part(samples, rate, check["from"], check["to"])
    low = baseband(signal, rate, check["hertz"])
    margin = round(rate / check["hertz"])
    low = low[margin:-margin] if len(low) > 4 * margin else low[margin // 2:-margin // 2]
    if not len(low) or abs(low).max() < 1e-6:
        raise Failure(f"nothing to measure from {check['from']} s")
    slope = np.polyfit(np.arange(len(low)) / rate, np.unwrap(np.angle(low)), 1)[0]
    had = check["hertz"] + slope / (2 * np.pi)
    if abs(had / check["hertz"] - 1) > 0.005:
        raise Failure(f"{had:.2f} Hz, not {check['hertz']}, from {check['from']} s")


def check_level(check, samples, rate, _):
    signal = part(samples, rate, check["from"], check["to"])
    phase = 2 * np.pi * check["hertz"] * np.arange(len(signal)) / rate
    base = np.stack([np.sin(phase), np.cos(phase), np.ones(len(signal))], axis=1)
    had = np.hypot(*np.linalg.lstsq(base, signal, rcond=None)[0][:2]) if len(signal) else 0
    if abs(20 * np.log10(max(had, 1e-9) / check["amplitude"])) > 0.2:
        raise Failure(f"amplitude {had:.5f}, not {check['amplitude']}, from {check['from']} s")


def check_envelope(check, samples, rate, _):
    """The amplitude stays within 0.5 dB, and the floor, of a line between points."""
    had = abs(baseband(samples, rate, check["hertz"]))
    points = np.asarray(check["points"])
    frames = np.arange(round(points[0, 0] * rate), min(round(points[-1, 0] * rate), len(had)))
    wanted = np.interp(frames / rate, points[:, 0], points[:, 1])
    excess = abs(had[frames] - wanted) - (wanted * 0.06 + check["floor"])
    if not len(frames) or excess.max() > 0:
        worst = excess.argmax() if len(frames) else 0
        raise Failure(f"amplitude {had[frames[worst]]:.5f}, not {wanted[worst]:.5f}, at {frames[worst] / rate:.4f} s"
                      if len(frames) else "the sound ends before its envelope")


def check_step(check, samples, rate, _):
    had = abs(np.diff(samples)).max(initial=0) * rate / 48000
    if had > check["most"]:
        raise Failure(f"a step of {had:.5f}, at most {check['most']} at 48 kHz")


def judge_render(runner, case, folder):
    mapping, sound = os.path.join(folder, "mapping.json"), os.path.join(folder, "out.wav")
    with open(mapping, "w", encoding="utf-8") as file:
        json.dump(case["mapping"], file)
    if os.path.exists(sound):
        os.remove(sound)
    status, _ = run(runner, "render", path("render", case["id"]), mapping, sound)
    if status != 0:
        raise Failure("refused")
    samples, rate = read_wav(sound)
    if not np.all(np.isfinite(samples)):
        raise Failure("samples that are NaN or infinite")
    for check in case["checks"]:
        globals()["check_" + check["check"]](check, samples, rate, case["mapping"])


# ---- haptic and android: a verdict, and the amplitudes of an accepted file


def amplitudes(points, times):
    """Amplitudes on the lines between points, after a jump where there is one; 0 outside."""
    points = np.asarray(points, float).reshape(-1, 2)
    if not len(points):
        return np.zeros(len(times))
    is_inside = (times >= points[0, 0]) & (times < points[-1, 0])
    return np.where(is_inside, values(points, times)[:, 0], 0)


def judge_vendor(group):
    def judge(runner, case, _):
        status, output = run(runner, group, path(group, case["id"]))
        check_verdict(status, case)
        if case["verdict"] == "either" or status != 0 or not ("points" in case or "taps" in case):
            return
        answer = json.loads(output)
        if "points" in case:
            wanted = np.asarray(case["points"], float)
            times = np.arange(int(wanted[-1, 0] * 1000) + 20) / 1000 + 0.0005
            # Half a millisecond to each side of a jump is left open.
            jumps = np.concatenate([wanted[[0, -1], 0], wanted[1:, 0][np.diff(wanted[:, 0]) == 0]])
            times = times[np.all([abs(times - jump) > 0.0006 for jump in jumps], axis=0)]
            distance = abs(amplitudes(answer["points"], times) - amplitudes(wanted, times))
            if distance.max() > AMPLITUDE_TOLERANCE:
                worst = times[distance.argmax()]
                raise Failure(f"amplitude {amplitudes(answer['points'], np.array([worst]))[0]:.4f}, not "
                              f"{amplitudes(wanted, np.array([worst]))[0]:.4f}, at {worst:.4f} s")
        if "taps" in case:
            had, wanted = np.asarray(answer["taps"], float).reshape(-1, 2), np.asarray(case["taps"], float)
            if len(had) != len(wanted):
                raise Failure(f"{len(had)} taps, not {len(wanted)}")
            if abs(had[:, 0] - wanted[:, 0]).max() > 0.0005 or abs(had[:, 1] - wanted[:, 1]).max() > AMPLITUDE_TOLERANCE:
                raise Failure(f"taps {had.tolist()}, not {wanted.tolist()}")

    return judge


JUDGES = {"parse": judge_parse, "model": judge_model, "render": judge_render,
          "haptic": judge_vendor("haptic"), "android": judge_vendor("android")}
ENDINGS = {"haptic": ".haptic", "android": ".xml"}


def path(group, name):
    return os.path.join(HERE, group, name + ENDINGS.get(group, ".ahap"))


def cases(group):
    if group == "parse":
        with open(os.path.join(HERE, "parse/cases.tsv"), encoding="utf-8") as file:
            head, *rows = [line.rstrip("\n").split("\t") for line in file]
        return [dict(zip(head, row)) for row in rows]
    with open(os.path.join(HERE, group, "cases.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    parser = argparse.ArgumentParser(description="Run the conformance cases with one runner.")
    parser.add_argument("runner")
    parser.add_argument("--group", choices=JUDGES)
    parser.add_argument("--case", help="an id")
    parser.add_argument("--all", action="store_true", help="print cases that pass, too")
    options = parser.parse_args()
    runner = os.path.abspath(options.runner)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for group, judge in JUDGES.items():
            if options.group not in (None, group):
                continue
            tally = {}
            for case in cases(group):
                if options.case not in (None, case["id"]):
                    continue
                result, reason = "pass", ""
                try:
                    judge(runner, case, folder)
                except Skip:
                    result = "skip"
                except (Failure, ValueError, KeyError, TypeError, IndexError) as error:
                    result, reason = "FAIL", str(error)
                tally.setdefault(case["confidence"], []).append(result)
                if options.all or result == "FAIL":
                    print(f"{result}\t{case['id']}\t{case['confidence']}\t{reason}")
            for confidence, results in sorted(tally.items()):
                print(f"{group}, {confidence}: {results.count('pass')} of {len(results)} pass, "
                      f"{results.count('skip')} skipped")
                failed += results.count("FAIL")
    sys.exit(3 if failed else 0)


if __name__ == "__main__":
    main()
