#!/usr/bin/env python3
"""Draws the README's picture: a rendered 16-bit mono WAV as waveform and frequency, in SVG.

usage: temblor render earthquake-splash && python3 picture.py earthquake-splash.wav > splash.svg
"""
import array
import sys
import wave

WIDTH, LEFT, RIGHT = 860, 60, 20
TOP, WAVE_HEIGHT, GAP, TONE_HEIGHT = 40, 180, 34, 120
BLUE, RED, GREY = "#0b62a4", "#c2410c", "#6b7280"

with wave.open(sys.argv[1]) as file:
    rate, count = file.getframerate(), file.getnframes()
    samples = array.array("h", file.readframes(count))
seconds = count / rate
plot = WIDTH - LEFT - RIGHT
x = lambda time: LEFT + time / seconds * plot
wave_middle = TOP + WAVE_HEIGHT / 2
tone_bottom = TOP + WAVE_HEIGHT + GAP + TONE_HEIGHT
level = lambda sample: wave_middle - sample / 32768 * WAVE_HEIGHT / 2
tone = lambda hertz: tone_bottom - (hertz - 50) / 200 * TONE_HEIGHT
height = tone_bottom + 40

out = [
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif"'
    f' font-size="12" role="img"><title>The waveform and frequency of a rendered pattern</title>',
    f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    f'<text x="{LEFT}" y="22" font-size="14" fill="#111827">'
    "earthquake-splash: a faint P wave, a violent S wave with three jolts, decay</text>",
]
for time in [tick / 5 for tick in range(int(seconds * 5) + 1)]:
    out.append(f'<path d="M{x(time):.1f} {TOP}V{tone_bottom}" stroke="#e5e7eb"/>')
    out.append(f'<text x="{x(time):.1f}" y="{tone_bottom + 16}" text-anchor="middle" fill="{GREY}">{time:g}</text>')
out.append(f'<text x="{LEFT + plot / 2}" y="{height - 6}" text-anchor="middle" fill="{GREY}">seconds</text>')
for share in (-1, -0.5, 0, 0.5, 1):
    y = wave_middle - share * WAVE_HEIGHT / 2
    out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="{GREY}">{share:g}</text>')
for hertz in (80, 125, 230):
    out.append(f'<path d="M{LEFT} {tone(hertz):.1f}H{LEFT + plot}" stroke="#e5e7eb"/>')
    out.append(f'<text x="{LEFT - 6}" y="{tone(hertz) + 4:.1f}" text-anchor="end" fill="{GREY}">{hertz} Hz</text>')

upper, lower = [], []
for pixel in range(plot):
    part = samples[pixel * count // plot : max(pixel * count // plot + 1, (pixel + 1) * count // plot)]
    upper.append(f"{LEFT + pixel} {level(max(part)):.1f}")
    lower.append(f"{LEFT + pixel} {level(min(part)):.1f}")
out.append(f'<path d="M{"L".join(upper)}L{"L".join(reversed(lower))}Z" fill="{BLUE}" stroke="{BLUE}" stroke-width="0.6"/>')

crossing = None
for index in range(1, count):
    if samples[index - 1] < 0 <= samples[index]:
        here = index - samples[index] / (samples[index] - samples[index - 1])
        if crossing is not None and max(samples[int(crossing) : index]) > 40:
            hertz = rate / (here - crossing)
            if 50 < hertz < 250:
                out.append(f'<circle cx="{x(here / rate):.1f}" cy="{tone(hertz):.1f}" r="1.4" fill="{RED}"/>')
        crossing = here
out.append("</svg>")
print("\n".join(out))
