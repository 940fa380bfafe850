"""Compares recordings with renderings: samples.py TEMBLOR PATTERN.RATE.FORMAT.raw...

Integer samples must be equal in every frame, except those of 16 bits: their dither is triangular and two steps wide, so
no sample may differ by more than 1.5 steps. The last 15 ms are not compared, because only a file fades out there.
"""
import array
import os
import subprocess
import sys
import tempfile

STEPS = {"s16": 32_767, "s24": 8_388_607, "s24_3": 8_388_607, "s32": 2_147_483_647}


def rendered_samples(temblor, pattern, rate):
    """Returns the samples of the single channel of a rendering, from −1 to 1."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rendering.wav")
        command = [temblor, "render", pattern, "--rate", rate, "--sample-format", "float", "-o", path]
        subprocess.run(command, check=True, capture_output=True)
        with open(path, "rb") as file:
            data = file.read()
    start = data.index(b"data") + 8
    return array.array("f", data[start:start + (len(data) - start) // 4 * 4])


def recorded_samples(path, sample_format):
    """Returns the integer samples of the first of two channels."""
    with open(path, "rb") as file:
        data = file.read()
    if sample_format == "s16":
        return array.array("h", data[:len(data) // 4 * 4])[::2]
    if sample_format == "s24_3":
        return [int.from_bytes(data[i:i + 3], "little", signed=True) for i in range(0, len(data) - 5, 6)]
    values = array.array("i", data[:len(data) // 8 * 8])[::2]
    if sample_format == "s24":
        # The fourth byte is undefined, so the sign is extended from the third byte.
        return [((value & 0xFFFFFF) ^ 0x800000) - 0x800000 for value in values]
    return values


def compare(temblor, path):
    """Returns the number of differing frames, or None if the recording does not contain the pattern, and the number of
    compared frames."""
    pattern, rate, sample_format, _ = os.path.basename(path).split(".")
    steps = STEPS[sample_format]
    expected = [value * steps for value in rendered_samples(temblor, pattern, rate)]
    expected = expected[:len(expected) - int(rate) * 15 // 1000]
    recorded = recorded_samples(path, sample_format)
    tolerance = 1.5 if sample_format == "s16" else 0.500001
    expected_onset, recorded_onset = [
        next((i for i, value in enumerate(values) if abs(value) > steps / 100), 0) for values in (expected, recorded)]

    def differing_count(shift, count):
        return sum(abs(recorded[i + shift] - expected[i]) > tolerance for i in range(count))

    onset_shift = recorded_onset - expected_onset
    shifts = [
        shift for shift in range(onset_shift - 4, onset_shift + 5) if 0 <= shift <= len(recorded) - len(expected)]
    if not shifts:
        return None, len(expected)
    # The first 500 frames after the onset determine the shift.
    search_count = min(len(expected), expected_onset + 500)
    best_shift = min(shifts, key=lambda shift: differing_count(shift, search_count))
    return differing_count(best_shift, len(expected)), len(expected)


failed = False
for path in sys.argv[2:]:
    if not os.path.exists(path):
        continue
    differing, frame_count = compare(sys.argv[1], path)
    result = "the pattern is not recorded" if differing is None else f"{differing} of {frame_count} frames differ"
    print("ok     " if differing == 0 else "FAILED ", os.path.basename(path), result)
    failed = failed or differing != 0
sys.exit(failed)
