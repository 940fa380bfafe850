"""How the level follows intensity: levels.py PICTURE"""

import sys

import matplotlib.pyplot as plot
import numpy

import temblor_haptics as haptics

intensities = numpy.linspace(0.05, 1, 20)
plot.figure(figsize=(8, 3), layout="tight")
for profile in ("phone", "dayton-bst-1", "speaker"):
    levels = [
        haptics.measure(haptics.render(haptics.Pattern(haptics.Continuous(0, 1, value)), profile=profile))["rmsDecibels"]
        for value in intensities
    ]
    plot.plot(intensities, levels, "o-", markersize=3, label=profile)
plot.xlabel("intensity"), plot.ylabel("dBFS, RMS"), plot.legend()
plot.title("Level of a continuous event of one second")
plot.savefig(sys.argv[1], dpi=80)
