"""One pattern as four transducers are driven: profiles.py PICTURE"""

import sys

import matplotlib.pyplot as plot
import numpy

import temblor_haptics as haptics

pattern = haptics.Pattern.shipped("earthquake-splash")
plot.figure(figsize=(8, 3), layout="tight")
for profile in ("phone", "dayton-bst-1", "dayton-tt25-8", "speaker"):
    samples = haptics.render(pattern, profile=profile)
    spectrum = numpy.abs(numpy.fft.rfft(samples * numpy.hanning(len(samples))))
    hertz = numpy.fft.rfftfreq(len(samples), 1 / 48_000)
    plot.plot(hertz, 20 * numpy.log10(spectrum / spectrum.max() + 1e-6), linewidth=0.8, label=profile)
plot.xlim(0, 700), plot.ylim(-50, 3), plot.legend()
plot.xlabel("hertz"), plot.ylabel("decibels")
plot.title("earthquake-splash on four profiles")
plot.savefig(sys.argv[1], dpi=80)
