"""Two versions of a pattern, and what changed: differences.py PICTURE"""

import sys

import matplotlib.pyplot as plot
import numpy

import temblor_haptics as haptics

old = haptics.Pattern(haptics.Transient(0.1), haptics.Transient(0.4), haptics.Continuous(0.6, 0.5), name="old.ahap")
new = haptics.Pattern(haptics.Transient(0.1), haptics.Transient(0.43), haptics.Continuous(0.6, 0.5, 0.6), name="new.ahap")
found = haptics.compare(old, new)
figure, rows = plot.subplots(2, 1, figsize=(8, 3), sharex=True, layout="tight")
for row, pattern in zip(rows, (old, new)):
    samples = haptics.render(pattern)
    row.plot(numpy.arange(len(samples)) / 48_000, samples, linewidth=0.6)
    row.set_ylabel(pattern.name)
rows[0].set_title("\n".join(found.sentences), fontsize=9)
rows[1].set_xlabel("seconds")
figure.savefig(sys.argv[1], dpi=80)
