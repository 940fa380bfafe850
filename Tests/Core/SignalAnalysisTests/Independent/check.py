#!/usr/bin/env python3
"""Compares `temblor info --json` with numpy, scipy and sox; needs those three.

Usage: check.py [path of temblor]. Prints a table of the greatest deviations and their tolerances;
ends with 1 where one is exceeded.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy import io, signal

TEMBLOR = sys.argv[1] if len(sys.argv) > 1 else ".build/release/temblor"
ROOT = os.path.dirname(os.path.abspath(__file__)) + "/../../../.."
RATE = 48_000


def decibels(power):
    return 10 * math.log10(power) if power > 1e-20 else -200


# Loudness, from the coefficients printed in ITU-R BS.1770-4 for 48 kHz.
SHELF = ([1.53512485958697, -2.69169618940638, 1.19839281085285],
         [1, -1.69065929318241, 0.73248077421585])
HIGH_PASS = ([1, -2, 1], [1, -1.99004745483398, 0.99007225036621])


def loudness(x):
    x = np.atleast_2d(x)
    if x.shape[1] < 0.4 * RATE:
        x = np.pad(x, ((0, 0), (0, int(0.4 * RATE) - x.shape[1])))
    y = signal.lfilter(*HIGH_PASS, signal.lfilter(*SHELF, x))
    size, hop = int(0.4 * RATE), int(0.1 * RATE)
    blocks = [np.sum(np.mean(y[:, s:s + size] ** 2, axis=1))
              for s in range(0, y.shape[1] - size + 1, hop)]
    level = lambda p: -0.691 + decibels(p)
    loud = [b for b in blocks if level(b) > -70]
    if not loud:
        return None
    gate = level(np.mean(loud)) - 10
    return level(np.mean([b for b in loud if level(b) > gate]))


def true_peak(x):
    """Four times the rate by a Hann-windowed sinc of 49 taps."""
    n = np.arange(49)
    taps = np.sinc((n - 24) / 4) * 0.5 * (1 - np.cos(2 * np.pi * n / 48))
    return max(np.max(np.abs(signal.upfirdn(taps, c, up=4))) for c in np.atleast_2d(x))


def ideal_peak(x):
    return max(np.max(np.abs(signal.resample_poly(c, 32, 1, window=("kaiser", 12))))
               for c in np.atleast_2d(x))


def powers(x):
    """The mean square of each bin of one transform of everything between silences, and the bins."""
    x = np.atleast_2d(x)
    size = 2 ** math.ceil(math.log2(4 * max(x.shape[1], RATE // 2)))
    bins = np.abs(np.fft.rfft(x, size)) ** 2 / size / x.shape[1]
    bins[:, 1:-1] *= 2
    return np.fft.rfftfreq(size, 1 / RATE), np.mean(bins, axis=0)


def hand(f):
    profile = json.load(open(f"{ROOT}/Profiles/android.json"))
    points = [(p["hertz"], p["decibels"]) for p in profile["thresholds"] if p["hertz"] >= 20]
    hertz, level = np.array(points).T
    reference = level[list(hertz).index(100)]
    gain = 10 ** ((reference - np.interp(np.log(np.maximum(f, 1e-9)), np.log(hertz), level)) / 20)
    return np.where((f >= 20) & (f <= 400), gain, 0)


def analogue(f1, f2, f3, q4, step=None):
    """ISO 8041: band limits, transition to velocity, and a step; evaluated by scipy."""
    w = lambda hertz: 2 * np.pi * hertz

    def gain(f):
        s = np.maximum(f, 1e-9) * 2 * np.pi
        product = np.abs(signal.freqs(*signal.butter(2, w(f1), "high", analog=True), s)[1])
        product *= np.abs(signal.freqs(*signal.butter(2, w(f2), "low", analog=True), s)[1])
        product *= np.abs(signal.freqs(
            [1 / w(f3), 1], [1 / w(f3) ** 2, 1 / q4 / w(f3), 1], s)[1])
        if step:
            f5, q5, f6, q6 = step
            product *= (f5 / f6) ** 2 * np.abs(signal.freqs(
                [1 / w(f5) ** 2, 1 / q5 / w(f5), 1], [1 / w(f6) ** 2, 1 / q6 / w(f6), 1], s)[1])
        return np.where(f > 0, product, 0)
    return gain


WEIGHTINGS = {
    "hand": hand,
    "hand-arm": analogue(10 ** 0.8, 10 ** 3.1, 100 / 2 / np.pi, 0.64),
    "whole-body": analogue(0.4, 100, 12.5, 0.63, (2.37, 0.91, 3.35, 0.91)),
}


def sox(path):
    text = subprocess.run(["sox", path, "-n", "stats"], capture_output=True, text=True).stderr
    # The first number behind a name stands for all channels.
    return {key: float(line[len(key):].split()[0]) for line in text.splitlines()
            for key in ("DC offset", "Pk lev dB", "RMS lev dB") if line.startswith(key)}


def sounds(folder):
    """Name, samples by channel, and times at which events begin, where they are known."""
    rng = np.random.default_rng(5)
    t = np.arange(3 * RATE) / RATE
    yield "white noise", 0.15 * rng.standard_normal(3 * RATE), None
    yield "weak noise", 0.001 * rng.standard_normal(RATE), None
    for hertz in (31.5, 61, 125, 233, 997, 7_000):
        yield f"sine {hertz} Hz", 0.7 * np.sin(2 * np.pi * hertz * t), None
    yield "sine fs/4 at 45 degrees", 0.5 * np.sin(np.pi / 2 * np.arange(RATE) + np.pi / 4), None
    yield "sweep 20 Hz to 20 kHz", 0.5 * signal.chirp(t, 20, 3, 20_000, "log"), None
    yield "sweep 30 to 400 Hz", 0.5 * signal.chirp(t, 30, 3, 400), None
    yield "with offset", 0.2 * np.sin(2 * np.pi * 80 * t) + 0.1, None
    yield "stereo", np.stack([0.5 * np.sin(2 * np.pi * 90 * t),
                              0.05 * rng.standard_normal(len(t))]), None
    yield "60 ms burst", 0.8 * np.sin(2 * np.pi * 100 * t[:2_880]), None
    for name in sorted(os.listdir(f"{ROOT}/Patterns")):
        if not name.endswith(".ahap"):
            continue
        path = f"{folder}/{name}.wav"
        subprocess.run([TEMBLOR, "render", f"{ROOT}/Patterns/{name}", "--sample-format", "float",
                        "-o", path], check=True, capture_output=True)
        items = json.load(open(f"{ROOT}/Patterns/{name}"))["Pattern"]
        times = sorted(i["Event"]["Time"] for i in items if "Event" in i)
        taps = [i["Event"]["Time"] for i in items
                if i.get("Event", {}).get("EventType") == "HapticTransient"]
        apart = [x for x in taps
                 if all(abs(x - y) > 0.0499 or x == y for y in times)]
        yield name, io.wavfile.read(path)[1].astype(float), (times, apart)


TOLERANCES = {
    "peak, sox (dB)": 0.006, "RMS, sox (dB)": 0.006, "DC, sox": 1.1e-6,
    "peak, numpy (dB)": 0.0001, "RMS, numpy (dB)": 0.0001, "DC, numpy": 1e-7,
    "true peak, BS.1770 at 4x by scipy (dB)": 0.0001,
    "true peak, ideal at 32x by scipy (dB)": 0.6,
    "loudness, BS.1770 by scipy (LU)": 0.05,
    "centroid, numpy (%)": 1, "bands, numpy (dB)": 0.3,
    "felt hand, scipy (dB)": 0.25, "felt hand-arm, scipy (dB)": 0.25,
    "felt whole-body, scipy (dB)": 0.25,
    "onsets of taps 50 ms apart (ms)": 1.2,
}


def main():
    worst = {key: (0, "") for key in TOLERANCES}
    count = 0

    def note(key, difference, name):
        if abs(difference) > worst[key][0]:
            worst[key] = (abs(difference), name)

    with tempfile.TemporaryDirectory() as folder:
        for name, x, events in sounds(folder):
            count += 1
            path = f"{folder}/check.wav"
            x = np.asarray(x, dtype=np.float32).astype(float)
            io.wavfile.write(path, RATE, x.T.astype(np.float32))
            told = {}
            for weighting in WEIGHTINGS:
                run = subprocess.run([TEMBLOR, "info", "--json", "--weighting", weighting, path],
                                     check=True, capture_output=True)
                told[weighting] = json.loads(run.stdout)["takes"][0]
            figures = told["hand"]
            rms = decibels(np.mean(x ** 2))
            by_sox = sox(path)
            note("peak, sox (dB)", figures["peakDecibels"] - by_sox["Pk lev dB"], name)
            note("RMS, sox (dB)", figures["rmsDecibels"] - by_sox["RMS lev dB"], name)
            if x.ndim == 1:
                note("DC, sox", figures["dc"] - by_sox["DC offset"], name)
            note("peak, numpy (dB)",
                 figures["peakDecibels"] - decibels(np.max(np.abs(x)) ** 2), name)
            note("RMS, numpy (dB)", figures["rmsDecibels"] - rms, name)
            note("DC, numpy", figures["dc"] - np.mean(x), name)
            note("true peak, BS.1770 at 4x by scipy (dB)",
                 figures["truePeakDecibels"] - decibels(true_peak(x) ** 2), name)
            note("true peak, ideal at 32x by scipy (dB)",
                 figures["truePeakDecibels"] - decibels(ideal_peak(x) ** 2), name)
            expected = loudness(x)
            if (expected is None) != (figures["loudness"] is None):
                note("loudness, BS.1770 by scipy (LU)", 99, name)
            elif expected is not None:
                note("loudness, BS.1770 by scipy (LU)", figures["loudness"] - expected, name)
            f, p = powers(x)
            note("centroid, numpy (%)",
                 100 * (figures["centroidHertz"] / (np.sum(f * p) / np.sum(p)) - 1), name)
            for band in figures["bands"]:
                chosen = (f >= band["fromHertz"]) & (f < band.get("toHertz", 1e9))
                level = decibels(np.sum(p[chosen]))
                # What lies on an edge is shared differently; what is weak does not matter.
                if level > rms - 10:
                    note("bands, numpy (dB)", band["decibels"] - level, name)
            for weighting, gain in WEIGHTINGS.items():
                level = decibels(np.sum(p * gain(f) ** 2))
                # Of what is hardly felt, the window decides how much.
                # Below 6 Hz an offset and its sudden start cannot be told from each other.
                is_blurred = weighting == "whole-body" and name == "with offset"
                if level > rms - 40 and not is_blurred:
                    note(f"felt {weighting}, scipy (dB)",
                         told[weighting]["weightedDecibels"] - level, name)
            if events and name != "earthquake-simulation.ahap":
                found = [o["time"] for o in figures["onsets"]]
                for time in events[1]:
                    off = min((abs(time - other) for other in found), default=9)
                    note("onsets of taps 50 ms apart (ms)", 1_000 * off, name)
                for time in found:
                    off = min(abs(time - other) for other in events[0])
                    note("onsets of taps 50 ms apart (ms)", 1_000 * off, name)

    print(f"{count} sounds")
    print(f"{'figure':42} {'worst':>10} {'allowed':>10}  where")
    for key, allowed in TOLERANCES.items():
        value, name = worst[key]
        mark = "" if value <= allowed else "  EXCEEDED"
        print(f"{key:42} {value:10.2g} {allowed:10.2g}  {name}{mark}")
    return any(worst[key][0] > allowed for key, allowed in TOLERANCES.items())


if __name__ == "__main__":
    sys.exit(main())
