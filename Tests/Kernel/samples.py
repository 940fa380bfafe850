"""Compares recordings with what is rendered: samples.py TEMBLOR PATTERN.RATE.FORMAT.raw...

Whole numbers are equal in every frame; of 16 bits, whose dither is triangular and two steps wide, none is further than
1.5 steps. The last 15 ms are left out: a file fades there, a device does not.
"""
import array
import os
import subprocess
import sys
import tempfile

STEPS = {"s16": 32_767, "s24": 8_388_607, "s24_3": 8_388_607, "s32": 2_147_483_647}


def rendered(temblor, pattern, rate):
    """The one channel, as numbers of −1…1."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "due.wav")
        command = [temblor, "render", pattern, "--rate", rate, "--sample-format", "float", "-o", path]
        subprocess.run(command, check=True, capture_output=True)
        with open(path, "rb") as file:
            data = file.read()
    start = data.index(b"data") + 8
    return array.array("f", data[start:start + (len(data) - start) // 4 * 4])


def recorded(path, form):
    """The first of two channels, as whole numbers."""
    with open(path, "rb") as file:
        data = file.read()
    if form == "s16":
        return array.array("h", data[:len(data) // 4 * 4])[::2]
    if form == "s24_3":
        return [int.from_bytes(data[i:i + 3], "little", signed=True) for i in range(0, len(data) - 5, 6)]
    values = array.array("i", data[:len(data) // 8 * 8])[::2]
    # Of the fourth byte only the sign counts.
    return [((value & 0xFFFFFF) ^ 0x800000) - 0x800000 for value in values] if form == "s24" else values


def compare(temblor, path):
    pattern, rate, form, _ = os.path.basename(path).split(".")
    steps = STEPS[form]
    due = [value * steps for value in rendered(temblor, pattern, rate)]
    due = due[:len(due) - int(rate) * 15 // 1000]
    heard = recorded(path, form)
    limit = 1.5 if form == "s16" else 0.500001
    loud = [next((i for i, value in enumerate(values) if abs(value) > steps / 100), 0) for values in (due, heard)]

    def differing(shift, count):
        return sum(abs(heard[i + shift] - due[i]) > limit for i in range(count))

    shifts = [shift for shift in range(loud[1] - loud[0] - 4, loud[1] - loud[0] + 5) if 0 <= shift <= len(heard) - len(due)]
    if not shifts:
        return None, len(due)
    shift = min(shifts, key=lambda shift: differing(shift, min(len(due), loud[0] + 500)))
    return differing(shift, len(due)), len(due)


failed = False
for path in sys.argv[2:]:
    if not os.path.exists(path):
        continue
    count, frames = compare(sys.argv[1], path)
    words = "nothing is heard" if count is None else f"{count} of {frames} frames differ"
    print("ok     " if count == 0 else "FAILED ", os.path.basename(path), words)
    failed = failed or count != 0
sys.exit(failed)
