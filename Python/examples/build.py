"""A pattern built in Python, and what it becomes: build.py PICTURE"""

import sys

import matplotlib.pyplot as plot
import numpy

import temblor_haptics as haptics

pattern = haptics.Pattern(
    haptics.Transient(0.05, sharpness=0.8),
    haptics.Continuous(0.15, 0.8, intensity=0.9, sharpness=0.1),
    haptics.Curve("intensity", [(0, 1.0), (0.14, 1.0), (0.15, 0.1), (0.7, 1.0), (0.95, 0.0)]),
    haptics.Curve("sharpness", [(0.15, 0.0), (0.95, 0.6)]),
)
samples = haptics.render(pattern)
plot.figure(figsize=(8, 2.5), layout="tight")
plot.plot(numpy.arange(len(samples)) / 48_000, samples, linewidth=0.6)
plot.xlabel("seconds")
plot.title("A tap and a swell that becomes sharper")
plot.savefig(sys.argv[1], dpi=80)
