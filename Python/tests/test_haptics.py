"""What the wheel gives, measured with numpy; run it by Tools/wheel --test."""

import ctypes
import importlib.metadata
import itertools
import json
import resource
import struct
import subprocess
import sys
import threading
import time
import wave
from pathlib import Path

import numpy
import pytest

import temblor_haptics as haptics

PROGRAM = str(Path(sys.executable).parent / "temblor")


def ran(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, check=True)


def samples_of(path):
    """The samples of a WAV file of 32-bit floats."""
    content = Path(path).read_bytes()
    place = content.index(b"data") + 8
    return numpy.frombuffer(content[place:place + struct.unpack_from("<I", content, place - 4)[0]], "<f4")


@pytest.mark.parametrize("name", haptics.shipped())
def test_samples_are_the_programs(name, tmp_path):
    for profile in haptics.profiles():
        ran("render", name, "--profile", profile, "--sample-format", "float", "-o", str(tmp_path / "a.wav"))
        rendered = haptics.render(haptics.Pattern.shipped(name), profile=profile)
        assert rendered.dtype == numpy.float32
        assert numpy.array_equal(rendered, samples_of(tmp_path / "a.wav")), profile


def test_a_pattern_is_built_and_heard():
    pattern = haptics.Pattern(
        haptics.Transient(0.0), haptics.Continuous(0.25, 0.5, sharpness=0.2),
        haptics.Curve("intensity", [(0.25, 1.0), (0.75, 0.0)]))
    assert pattern.duration == 0.75
    samples = haptics.render(pattern)
    level = [numpy.abs(samples[int(start * 48000):][:2400]).max() for start in (0.3, 0.5, 0.65)]
    assert level[0] > level[1] > level[2] > 0
    assert haptics.check(pattern) == []
    assert repr(pattern) == "<Pattern 'pattern.ahap', ahap, 0.750 s>"


def test_errors_have_a_place():
    with pytest.raises(haptics.HapticError) as caught:
        haptics.Pattern.parse('{\n  "Version": 1, "Pattern": [\n', "knock.ahap")
    error = caught.value
    assert (error.file, error.line, error.column) == ("knock.ahap", 3, 1)
    assert str(error) == "knock.ahap:3:1: the text ends inside the array that starts at 2:28"
    with pytest.raises(haptics.HapticError, match="unknown profile 'bass'"):
        haptics.render(haptics.Pattern(haptics.Transient(0)), profile="bass")
    with pytest.raises(haptics.HapticError, match="nothing"):
        haptics.Pattern.shipped("nothing")
    with pytest.raises(ValueError, match="sample_rate must be from 8,000 to 192,000, not 1"):
        haptics.render(haptics.Pattern(haptics.Transient(0)), sample_rate=1)
    with pytest.raises(FileNotFoundError):
        haptics.render("nothing.ahap")
    with pytest.raises(haptics.HapticError):
        haptics.Session("wav:/nowhere/a.wav")


def test_findings_have_lines():
    text = '{"Version": 1, "Pattern": [\n{"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters":\n' \
        '[{"ParameterID": "HapticIntensity", "ParameterValue": 2}]}}]}'
    found = haptics.check(haptics.Pattern.parse(text, "loud.ahap"))
    assert [(each.severity, each.line) for each in found] == [("note", 2), ("warning", 3)]
    assert str(found[1]) == "loud.ahap:3:55: warning: HapticIntensity is 2.0, outside 0.0 to 1.0; 1.0 is used; " \
        "the value is not a percentage; write 0.02"
    assert haptics.check(__file__)[0].severity == "error"


def test_sounds_are_measured():
    times = numpy.arange(48000) / 48000
    figures = haptics.measure(0.5 * numpy.sin(2 * numpy.pi * 100 * times))
    assert abs(figures["peakDecibels"] - 20 * numpy.log10(0.5)) < 0.001
    assert abs(figures["rmsDecibels"] - 20 * numpy.log10(0.5 / numpy.sqrt(2))) < 0.001
    assert abs(figures["centroidHertz"] - 100) < 1
    assert haptics.measure(numpy.zeros((2, 4800)), sample_rate=8000)["duration"] == 0.6
    with pytest.raises(ValueError, match="shape"):
        haptics.measure(numpy.zeros((2, 2, 2)))


def test_sounds_become_patterns():
    taps = haptics.Pattern(haptics.Transient(0.1, 0.8, 0.5), haptics.Transient(0.4, 0.6, 0.9))
    traced = haptics.trace(haptics.render(taps), taps_only=True)
    assert [round(event["Event"]["Time"], 2) for event in json.loads(traced.text)["Pattern"]] == [0.1, 0.4]
    assert traced.name == "sound.ahap"
    with pytest.raises(haptics.HapticError, match="not found"):
        haptics.trace("/nonexistent.wav")


def test_patterns_of_sounds_are_called_like_the_sounds(tmp_path):
    with wave.open(str(tmp_path / "knock.wav"), "wb") as file:
        file.setparams((1, 2, 8_000, 0, "NONE", ""))
        file.writeframes((haptics.render("heartbeat", sample_rate=8_000) * 32767).astype(numpy.int16).tobytes())
    assert haptics.trace(tmp_path / "knock.wav").name == "knock.ahap"


def test_differences_are_named():
    a = haptics.Pattern(haptics.Transient(0), haptics.Transient(0.5))
    b = haptics.Pattern(haptics.Transient(0), name="b.ahap")
    found = haptics.compare(a, b)
    assert found and found.equality == "different"
    assert found.sentences == ["B is missing A's second transient, at 0.5 s."]
    assert not haptics.compare(a, a)
    assert found.is_within_tolerance is None
    assert haptics.compare(a, a, tolerance="0").is_within_tolerance is True
    assert haptics.compare(a, b, profile="dayton-bst-1", tolerance="3dB,5ms").is_within_tolerance is False
    with pytest.raises(haptics.HapticError, match="unknown profile"):
        haptics.compare(a, b, profile="bass")
    with pytest.raises(haptics.HapticError, match="tolerance"):
        haptics.compare(a, b, tolerance="loud")
    assert haptics.compare(haptics.render(a), haptics.render(b)).differences[0]["kind"] == "missing"


def test_formats_are_converted():
    pattern = haptics.Pattern.shipped("heartbeat")
    content, losses = haptics.convert(pattern, "haptic")
    other = haptics.Pattern.parse(content, "heartbeat.haptic")
    assert other.format == "haptic" and abs(other.duration - pattern.duration) < 0.05
    assert losses
    with pytest.raises(haptics.HapticError, match="unknown format 'mp3'"):
        haptics.convert(pattern, "mp3")


def test_a_session_plays_at_the_frame(tmp_path):
    """Onsets in the file that a session writes, against the starts and onsets it reports."""
    tap = haptics.Pattern(haptics.Transient(0, sharpness=1))
    with haptics.Session(f"wav:{tmp_path}/played.wav", sample_rate=48_000) as session:
        first = session.now + 2
        plays = [session.play(tap, at=first + 0.2 * number) for number in range(4)]
        assert plays[3].wait(timeout=30)
        starts, onsets = [play.start for play in plays], [play.onset for play in plays]
        assert session.missed == 0 and session.latency == 96 / 48_000
    assert starts == [round((first + 0.2 * number) * 48_000) for number in range(4)]
    assert numpy.allclose(numpy.diff(onsets), 0.2, atol=0.001)
    with wave.open(f"{tmp_path}/played.wav") as file:
        raw = numpy.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels())
    rendered = haptics.render(tap)
    silent = int(numpy.argmax(numpy.abs(rendered) > 0.003))
    sounding = numpy.abs(raw[:, 0] / 32768) > 0.003
    # The file may lack a part of the first buffer of the session, but the distances are exact.
    heard = [frame for frame in numpy.flatnonzero(sounding) if not sounding[max(0, frame - 2400):frame].any()]
    assert list(numpy.diff(heard)) == [9600] * 3
    assert starts[0] + 96 + silent - 960 <= heard[0] <= starts[0] + 96 + silent


def test_controls_move():
    hum = haptics.Pattern(haptics.Continuous(0, 20))
    with haptics.Session("null:") as session:
        play = session.play(hum)
        play.set(intensity=0.5, over=0.1)
        play.set(gain=0.5)
        play.stop()
        assert play.wait(timeout=30)
        assert play.state == "ended"
    with pytest.raises(haptics.HapticError, match="the session is closed"):
        session.now


def test_threads_render_the_same():
    expected = haptics.render(haptics.Pattern.shipped("heartbeat"))
    wrong = []

    def work():
        for _ in range(50):
            if not numpy.array_equal(haptics.render(haptics.Pattern.shipped("heartbeat")), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not wrong


def test_memory_stays():
    """100,000 calls, after so many that every pool is warm."""
    pattern = haptics.Pattern(haptics.Transient(0))

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    def calls(count):
        for _ in range(count):
            # The time differs, so that each pattern is read.
            haptics.Pattern(haptics.Transient(next(times)))
            haptics.render(pattern, sample_rate=8_000)

    times = (number / 10_000 for number in itertools.count())
    calls(5_000)
    before = resident()
    calls(50_000)
    assert resident() - before < 4 << 20


def test_names_of_shipped_patterns_are_patterns(tmp_path, monkeypatch):
    shipped = haptics.Pattern.shipped("light")
    for name in ("light", "light.ahap", Path("light")):
        assert numpy.array_equal(haptics.render(name), haptics.render(shipped))
        assert haptics.check(name) == haptics.check(shipped)
        assert haptics.convert(name, "haptic") == haptics.convert(shipped, "haptic")
        assert not haptics.compare(name, shipped)
        assert haptics.measure(name)["duration"] > 0
    with haptics.Session("null:") as session:
        assert session.play("light").wait(timeout=30)
    # As in the program, a file goes first.
    monkeypatch.chdir(tmp_path)
    Path("light").write_bytes(haptics.Pattern.shipped("heartbeat").content)
    assert numpy.array_equal(haptics.render("light"), haptics.render("heartbeat"))
    with pytest.raises(FileNotFoundError, match="file not found, and no shipped pattern has this name: 'lihgt'"):
        haptics.check("lihgt")


@pytest.mark.parametrize("make, message", [
    (lambda: haptics.Transient(-1), "time must be from 0 to 86,400, not -1"),
    (lambda: haptics.Transient(0, intensity=7), "intensity must be from 0 to 1, not 7"),
    (lambda: haptics.Transient(0, sharpness=float("nan")), "sharpness must be from 0 to 1, not nan"),
    (lambda: haptics.Continuous(0, -1), "duration must be from 0 to 86,400, not -1"),
    (lambda: haptics.Continuous(float("inf"), 1), "time must be from 0 to 86,400, not inf"),
    (lambda: haptics.Curve("intensity", [(0, 2)]), "a point of intensity must be from 0 to 1, not 2"),
    (lambda: haptics.Curve("sharpness", [(-1, 0)]), "the time of a point must be from 0 to 86,400, not -1"),
    (lambda: haptics.Session("null:", strength=9), "strength must be from 0 to 1, not 9"),
    (lambda: haptics.Session("null:", strength=float("nan")), "strength must be from 0 to 1, not nan"),
    (lambda: haptics.Session("null:", sample_rate=-1), "sample_rate must be from 8,000 to 192,000, not -1"),
])
def test_numbers_outside_their_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_play_that_ended_says_so():
    tap = haptics.Pattern(haptics.Transient(0))
    with haptics.Session("null:") as session:
        play = session.play(tap)
        with pytest.raises(ValueError, match="gain must be from 0 to 1,000, not -1"):
            play.set(gain=-1)
        assert play.wait(timeout=30)
        assert not play.set(gain=0.5)
        assert not play.stop()
        start = play.start
    assert (play.state, play.start) == ("ended", start)
    session.close()


def test_messages_name_what_was_given():
    with pytest.raises(haptics.HapticError, match="^sound: "):
        haptics.measure(numpy.zeros(0))
    with pytest.raises(haptics.HapticError, match="^b: "):
        haptics.compare(numpy.ones(4_800), numpy.zeros(0))


def test_a_process_that_rendered_ends_without_a_word():
    code = "import threading, temblor_haptics as haptics; haptics.render('light'); session = haptics.Session('null:'); " \
        "thread = threading.Thread(target=haptics.render, args=('light',)); thread.start(); thread.join()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert (ended.stdout, ended.stderr) == (b"", b"")


def test_the_program_is_there():
    assert ran("--version").stdout.decode() == f"temblor {importlib.metadata.version('temblor-haptics')}\n"
    assert haptics.__version__ == importlib.metadata.version("temblor-haptics")


def test_importing_is_quick():
    """Importing loads no other module; the first use of a function does."""
    code = "import sys; before = set(sys.modules); import temblor_haptics; print(*set(sys.modules) - before)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split()
    assert set(loaded) <= {b"temblor_haptics", b"__future__"}


def test_all_names_exist():
    assert all(getattr(haptics, name) is not None for name in haptics.__all__)
    assert set(haptics.__all__) <= set(dir(haptics))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        haptics.nothing


SINE = 0.5 * numpy.sin(2 * numpy.pi * 100 * numpy.arange(4800) / 48000)


@pytest.mark.parametrize("sound, message", [
    (numpy.stack([SINE, SINE]).T, r"the shape \(4800, 2\); transpose it, as in sound.T"),
    (numpy.zeros((65, 100)), r"can have 1 to 64 channels, and this one has the shape \(65, 100\)"),
    (numpy.zeros((0, 100)), "can have 1 to 64 channels"),
    (numpy.zeros((2, 2, 2)), r"must have the shape \(frames,\) or \(channels, frames\), not \(2, 2, 2\)"),
    (numpy.zeros(100, complex), "must have real numbers, not complex128"),
    (["a", "b"], "must have real numbers"),
])
def test_arrays_of_other_shapes_are_refused(sound, message):
    for call in (haptics.measure, haptics.trace, lambda each: haptics.compare(SINE, each)):
        with pytest.raises(ValueError, match=message):
            call(sound)


def test_arrays_have_their_channels_first():
    stereo = haptics.measure(numpy.stack([SINE, 0.1 * SINE]))
    levels = [channel["peakDecibels"] for channel in stereo["channels"]]
    assert abs(levels[0] - levels[1] - 20) < 0.001
    assert abs(stereo["peakDecibels"] - haptics.measure(SINE)["peakDecibels"]) < 0.001
    assert not haptics.compare(SINE, numpy.stack([SINE]))
    assert haptics.measure((SINE * 32767).astype(numpy.int16).astype(numpy.float64) / 32768)["duration"] == 0.1


def test_a_pattern_by_its_name_is_the_shipped_one(tmp_path):
    assert haptics.Pattern("light").content == haptics.Pattern.shipped("light").content
    path = tmp_path / "mine.ahap"
    path.write_bytes(haptics.Pattern("heartbeat").content)
    assert haptics.Pattern(path).content == haptics.Pattern("heartbeat").content
    with pytest.raises(FileNotFoundError):
        haptics.Pattern("lihgt")
    with pytest.raises(TypeError, match="a part must be a Transient, Continuous, or Curve, not int"):
        haptics.Pattern(3)
