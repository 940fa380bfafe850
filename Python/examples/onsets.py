"""Taps at random times, and when they left the device: onsets.py PICTURE [DEVICE [PROFILE]]"""

import random
import sys
import time

import matplotlib.pyplot as plot

import temblor_haptics as haptics

device, profile = (sys.argv[2:] + ["null:", "phone"][len(sys.argv) - 2:])[:2]
tap = haptics.Pattern(haptics.Transient(0, sharpness=1))
chance = random.Random(7)
errors = []
with haptics.Session(device, profile=profile) as session:
    start, clock = session.now + 0.2, time.monotonic()
    times = [start + 0.15 * number + chance.uniform(0, 0.05) for number in range(40)]
    plays = [session.play(tap, at=moment) for moment in times]
    plays[-1].wait(timeout=60)
    first = plays[0].onset - times[0]
    errors = [1000 * (play.onset - moment - first) for play, moment in zip(plays, times)]
    print(f"{session.missed * 1000:.1f} ms missed, latency of the output stage {session.latency * 1000:.1f} ms")
plot.figure(figsize=(8, 2.5), layout="tight")
plot.plot(times, errors, "o", markersize=3)
plot.xlabel("scheduled, seconds"), plot.ylabel("milliseconds")
plot.title(f"Onset against schedule on {device}, relative to the first")
plot.savefig(sys.argv[1], dpi=80)
