"""Patterns, their sounds, checks, comparisons, and sessions on devices."""

from __future__ import annotations

import ctypes
import errno
import functools
import json
import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence, Union

from ._core import HapticError, Host
from ._core import current_gate as _current_gate
from ._core import shared as _shared

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray

PathLike = Union[str, "os.PathLike[str]"]


# Patterns.


@dataclass(frozen=True)
class Transient:
    """A tap at a time in seconds."""

    time: float
    intensity: float = 1.0
    sharpness: float = 0.5

    def __post_init__(self) -> None:
        _require_event(self)

    def _entry(self) -> dict[str, Any]:
        return _event("HapticTransient", self.time, {"HapticIntensity": self.intensity, "HapticSharpness": self.sharpness})


@dataclass(frozen=True)
class Continuous:
    """A vibration from a time on, for a duration in seconds; attack, decay and release as Core Haptics has them."""

    time: float
    duration: float
    intensity: float = 1.0
    sharpness: float = 0.5
    attack: float | None = None
    decay: float | None = None
    release: float | None = None
    sustained: bool | None = None

    def __post_init__(self) -> None:
        _require_event(self)
        _require("duration", self.duration, 0, _DAY)

    def _entry(self) -> dict[str, Any]:
        values = {
            "HapticIntensity": self.intensity, "HapticSharpness": self.sharpness, "AttackTime": self.attack,
            "DecayTime": self.decay, "ReleaseTime": self.release,
            "Sustained": None if self.sustained is None else float(self.sustained),
        }
        entry = _event("HapticContinuous", self.time, values)
        entry["Event"]["EventDuration"] = self.duration
        return entry


@dataclass(frozen=True)
class Curve:
    """A control that moves along straight lines between points (time, value).

    Args:
        control: "intensity", a factor 0..1; "sharpness", an addition -1..1; or an id of Core Haptics.
        points: Pairs of seconds from the start of the pattern and a value.
    """

    control: str
    points: Sequence[tuple[float, float]]

    def __post_init__(self) -> None:
        if self.control in _CONTROL_RANGES:
            for time, value in self.points:
                _require("the time of a point", time, 0, _DAY)
                _require(f"a point of {self.control}", value, *_CONTROL_RANGES[self.control])

    def _entry(self) -> dict[str, Any]:
        names = {"intensity": "HapticIntensityControl", "sharpness": "HapticSharpnessControl"}
        points = [{"Time": float(time), "ParameterValue": float(value)} for time, value in self.points]
        return {"ParameterCurve": {
            "ParameterID": names.get(self.control, self.control), "Time": 0, "ParameterCurveControlPoints": points}}


_DAY = 86_400
_CONTROL_RANGES = {"intensity": (0, 1), "sharpness": (-1, 1)}


def _require(name: str, value: float, low: float, high: float) -> None:
    """Refuses a value outside its range, and one that is no number."""
    if not low <= value <= high:
        raise ValueError(f"{name} must be from {low:,} to {high:,}, not {value}")


def _require_event(event: Transient | Continuous) -> None:
    _require("time", event.time, 0, _DAY)
    _require("intensity", event.intensity, 0, 1)
    _require("sharpness", event.sharpness, 0, 1)


def _event(kind: str, time: float, values: Mapping[str, float | None]) -> dict[str, Any]:
    parameters = [{"ParameterID": key, "ParameterValue": float(value)} for key, value in values.items() if value is not None]
    return {"Event": {"Time": float(time), "EventType": kind, "EventParameters": parameters}}


class Pattern:
    """A haptic pattern: of a file in any format that is read, of a shipped pattern, or built of events and curves.

    Copies and pickled patterns keep name and content, nothing else.

    Args:
        *parts: The path of a file or the name of a shipped pattern; or `Transient`, `Continuous` and `Curve` in any order.
        name: The name of a built pattern in messages.

    Raises:
        HapticError: With file, line and column, where the pattern cannot be used.

    Example:
        Pattern("heartbeat")
        Pattern(Transient(0), Continuous(0.1, 0.5, sharpness=0.2), Curve("intensity", [(0.1, 1), (0.6, 0)]))
    """

    def __init__(self, *parts: Transient | Continuous | Curve | PathLike, name: str = "pattern.ahap") -> None:
        if len(parts) == 1 and isinstance(parts[0], (str, os.PathLike)):
            found = _pattern(parts[0])
            self._restore(found.name, found.content)
            return
        for part in parts:
            if not isinstance(part, (Transient, Continuous, Curve)):
                raise TypeError(f"a part must be a Transient, Continuous, or Curve, not {type(part).__name__}")
        entries = [part._entry() for part in parts]
        text = json.dumps({"Version": 1.0, "Pattern": entries}, allow_nan=False)
        self._open(name, text.encode())

    @classmethod
    def read(cls, path: PathLike) -> "Pattern":
        """Reads a pattern file of any format.

        Raises:
            OSError: The file cannot be read.
            HapticError: It is no pattern that can be used.
        """
        return cls.parse(Path(path).read_bytes(), os.fspath(path))

    @classmethod
    def parse(cls, content: bytes | str, name: str = "pattern.ahap") -> "Pattern":
        """Reads the content of a pattern file; messages call it by its name.

        Raises:
            HapticError: It is no pattern that can be used.
        """
        made = cls.__new__(cls)
        made._open(name, content.encode() if isinstance(content, str) else bytes(content))
        return made

    @classmethod
    def shipped(cls, name: str) -> "Pattern":
        """A shipped pattern, one of `shipped()`.

        Raises:
            HapticError: None has this name.
        """
        return cls.parse(_shipped_text(name), f"{name}.ahap")

    def _open(self, name: str, content: bytes) -> None:
        self._restore(name, content)
        self._slot(_shared())

    def _restore(self, name: str, content: bytes) -> None:
        self.name = name
        self._content = content

    def _slot(self, host: Host) -> int:
        """The slot of the pattern in a host; valid in a `with` statement of the host."""
        return host.slot(self.name, self._content)

    def _report(self, name: str, raw: bool = False) -> Any:
        with _shared() as host:
            return host.report(name, self._slot(host), raw=raw)

    def __copy__(self) -> "Pattern":
        return _restored(type(self), self.name, self._content)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Pattern":
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.name, self._content)

    @property
    def text(self) -> str:
        """The pattern as AHAP; a file of AHAP to the byte."""
        return self._report("text", raw=True).decode()

    @property
    def content(self) -> bytes:
        """The bytes that the pattern was read from."""
        return self._content

    @property
    def format(self) -> str:
        """The id of the format that it was read from, as `formats()` has it."""
        return self._report("origin")["format"]

    @property
    def duration(self) -> float:
        """Seconds from the start to the end of the last event."""
        return float(self._report("score")["duration"])

    def __repr__(self) -> str:
        return f"<Pattern {self.name!r}, {self.format}, {self.duration:.3f} s>"


def _restored(kind: type[Pattern], name: str, content: bytes) -> Pattern:
    """A pattern whose content was read before, maybe in another process; it is opened by its first use."""
    made = kind.__new__(kind)
    made._restore(name, content)
    return made


# What is known.


def profiles() -> list[str]:
    """The names of the shipped profiles: how intensity and sharpness become level and frequency."""
    return [each["name"] for each in _shared().report("profiles")]


def formats() -> dict[str, str]:
    """The titles of the formats by id."""
    return {each["id"]: each["title"] for each in _shared().report("formats")}


def shipped() -> list[str]:
    """The names of the shipped patterns, in alphabetical order."""
    return list(_shipped_names())


# Sound.


def render(pattern: Pattern | PathLike, profile: PathLike = "phone",
           sample_rate: float = 48_000) -> "NDArray[numpy.float32]":
    """Renders a pattern as `temblor render` does, sample for sample.

    Args:
        pattern: A pattern, the path of its file, or the name of a shipped one. Sound files that it plays are left out.
        profile: The name of a profile, or the path of its JSON file.
        sample_rate: Frames per second, 8,000..192,000.

    Returns:
        float32 of shape (frames,), -1..1, with the silence in which the transducer comes to rest. One copy is made.

    Raises:
        HapticError: The pattern or the profile cannot be used.
    """
    import numpy

    _check_sample_rate(sample_rate)
    pattern = _pattern(pattern)
    with _shared() as host, _current_gate():
        number = host.profile(profile)
        count = host.call("render", pattern._slot(host), number, float(sample_rate))
        if count > 0:
            # Copied without the interpreter's lock, so that other threads go on.
            samples = numpy.empty(count, numpy.float32)
            ctypes.memmove(samples.ctypes.data, host.call("samples"), samples.nbytes)
            return samples
        if host.call("status"):
            raise HapticError.of(host.output())
    return numpy.zeros(0, numpy.float32)


_RATES = (8_000, 192_000)


def _check_sample_rate(sample_rate: float) -> None:
    _require("sample_rate", sample_rate, *_RATES)


def _check_profile(profile: PathLike) -> None:
    """Raises the error of a profile that cannot be used."""
    with _shared() as host:
        host.profile(profile)


def measure(sound: "ArrayLike | PathLike", sample_rate: float = 48_000) -> dict[str, Any]:
    """Measures a sound: levels, spectrum and onsets, as `temblor info --json` prints them.

    Args:
        sound: An array of shape (frames,) or (channels, frames), or the path of a sound file.
        sample_rate: Frames per second of an array.

    Returns:
        Among others `duration` in seconds, `peakDecibels`, `rmsDecibels`, `weightedDecibels`, `centroidHertz`, and
        `onsets`, each with `time` and `strength`.

    Raises:
        HapticError: The sound cannot be read.
    """
    with _Files() as files:
        path = files.path(sound, sample_rate, "sound")
        measured: dict[str, Any] = json.loads(files.ran("info", path, "--json"))["takes"][0]
        # The path of an array is that of a temporary file.
        measured["sound"] = files.title(path)
        return measured


def trace(sound: "ArrayLike | PathLike", *, events: int | None = None, taps_only: bool = False,
          profile: PathLike = "phone", sample_rate: float = 48_000) -> Pattern:
    """The pattern of a sound: of a recording of vibration its events, of any other sound its onsets and level.

    Args:
        sound: An array of shape (frames,) or (channels, frames), or the path of a sound file.
        events: The maximum number of events, 1..100,000; the strongest are kept. None keeps all.
        taps_only: True for a pattern of transients only.
        profile: The profile of the recorded transducer, or of the transducer that the pattern is for.
        sample_rate: Frames per second of an array.

    Raises:
        HapticError: The sound cannot be read.
    """
    with _Files() as files, tempfile.TemporaryDirectory(prefix="temblor-") as folder:
        path = os.path.join(folder, "trace.ahap")
        options = ["--profile", os.fspath(profile)]
        if events is not None:
            _require("events", events, 1, 100_000)
            options += ["--events", str(int(events))]
        if taps_only:
            options.append("--taps-only")
        source = files.path(sound, sample_rate, "sound")
        files.ran("trace", source, "-q", "-o", path, *options)
        # The pattern is called like its sound, since its file is a temporary one.
        return Pattern.parse(Path(path).read_bytes(), f"{Path(files.title(source)).stem}.ahap")


# Checks.


@dataclass(frozen=True)
class Finding:
    """A problem in a pattern, or a recommendation.

    Attributes:
        severity: "error", "warning" or "note".
        rule: The id of the rule.
        message: One line.
        hint: What to do, or None.
        line, column: Where in the text, from 1, or None.
        place: The path to the value in the words of the format.
    """

    severity: str
    rule: str
    message: str
    hint: str | None = None
    line: int | None = None
    column: int | None = None
    place: str = ""
    file: str = ""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return f"{place}: {self.severity}: {self.message}" + (f"; {self.hint}" if self.hint else "")


def check(pattern: Pattern | PathLike, profile: PathLike = "phone") -> list[Finding]:
    """Returns the findings of `temblor check --profile`, in the order of the text.

    A file that cannot be read is a list of its errors, not an exception.
    """
    with _shared() as host:
        try:
            slot = _pattern(pattern)._slot(host)
        except HapticError as error:
            return [Finding("error", error.rule, error.message, error.hint, error.line, error.column, "", error.file)]
        found = host.report("check", slot, host.profile(profile))
    known = Finding.__dataclass_fields__
    return [Finding(**{key: value for key, value in each.items() if key in known}) for each in found]


# Comparison and conversion.


@dataclass(frozen=True)
class Comparison:
    """How B differs from A.

    Attributes:
        equality: "identical", "equal" in all that is heard, or "different", as `temblor compare --json` has it.
        sentences: What is different, a sentence each, in the order of time.
        differences: The same with numbers: kind, start and end in seconds, amount, unit.
        gain: The factor on A that fits B best.
        is_within_tolerance: True if no difference exceeds the tolerance, or None without a tolerance.
        result: All that `temblor compare --json` prints.
    """

    equality: str
    sentences: list[str]
    differences: list[dict[str, Any]]
    gain: float
    is_within_tolerance: bool | None
    result: dict[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        """Whether there are differences."""
        return bool(self.differences)


def compare(a: "Pattern | ArrayLike | PathLike", b: "Pattern | ArrayLike | PathLike", *, profile: PathLike = "phone",
            tolerance: str | None = None, sample_rate: float = 48_000) -> Comparison:
    """Compares two patterns, sounds or recordings, A being the reference.

    Args:
        a, b: A pattern, the path of a pattern or sound file, or an array of shape (frames,) or (channels, frames).
        profile: The name of a profile, or the path of its JSON file.
        tolerance: Limits for level, time, and frequency, such as "0.5dB,5ms,2%"; "0" allows no difference. None judges
            nothing.
        sample_rate: Frames per second of arrays, and of patterns.

    Raises:
        HapticError: One of the two, the profile, or the tolerance cannot be used.
    """
    _check_sample_rate(sample_rate)
    options = ["--profile", os.fspath(profile)]
    if tolerance is not None:
        options += ["--tolerance", tolerance]
    with _Files() as files:
        paths = [files.path(a, sample_rate, "a"), files.path(b, sample_rate, "b")]
        if isinstance(a, (Pattern, str, os.PathLike)) and isinstance(b, (Pattern, str, os.PathLike)):
            options += ["--rate", str(round(sample_rate))]
        result = json.loads(files.ran("compare", *paths, "--json", *options, good=(0, 3)))
    first = result["comparisons"][0]
    differences = first["differences"]
    return Comparison(
        first["equality"], [each["sentence"] for each in differences], differences, first["gain"],
        first.get("withinTolerance"), result)


def convert(pattern: Pattern | PathLike, format: str) -> tuple[bytes, list[str]]:
    """The content of a pattern's file in another format, and a line for each loss.

    Args:
        pattern: A pattern, or the path of its file.
        format: An id of `formats()`.

    Raises:
        HapticError: The format is unknown or cannot be written.
    """
    if format not in formats():
        raise HapticError(f"unknown format {format!r}", hint="call formats() to list the formats")
    pattern = _pattern(pattern)
    with _shared() as host:
        slot = pattern._slot(host)
        identifier = format.encode()
        length = host.call("save", slot, identifier, len(identifier))
        if not length:
            raise HapticError.of(host.output())
        content = host.output(length)
        losses = host.report("origin", slot)["losses"] + host.report("losses")
    return content, [f"{each['kind']}: {each['message']}" for each in losses]


# Devices.


class Play:
    """A pattern as a session plays it once."""

    def __init__(self, session: "Session", number: int) -> None:
        self._session, self._number = session, number

    def _state(self) -> dict[str, Any]:
        return next((each for each in self._session._plays() if each["id"] == self._number), {"state": "ended"})

    @property
    def state(self) -> str:
        """"waiting", "playing" or "ended"."""
        return self._state()["state"]

    @property
    def start(self) -> int | None:
        """The frame of the session at which it started; None before."""
        return self._state().get("start")

    @property
    def onset(self) -> float | None:
        """When its first frame leaves the device, in seconds of `time.monotonic()`, by the device's own clock; None
        before it has started."""
        return self._state().get("onset")

    def set(self, *, intensity: float | None = None, sharpness: float | None = None, gain: float | None = None,
            over: float = 0.0, at: float | None = None) -> bool:
        """Moves controls within `over` seconds, from a time of the session on or at once.

        Args:
            intensity: A factor, 0..1.
            sharpness: An addition, -1..1.
            gain: A factor, 0..1,000.

        Returns:
            False if the play has ended.
        """
        values = (intensity, sharpness, gain)
        ranges = {"intensity": (0, 1), "sharpness": (-1, 1), "gain": (0, 1_000)}
        for value, (name, limits) in zip(values, ranges.items()):
            if value is not None:
                _require(name, value, *limits)
        _require("over", over, 0, _DAY)
        moved = [
            self._session._control(self._number, control, value, over, at)
            for control, value in enumerate(values) if value is not None
        ]
        return all(moved)

    def stop(self, at: float | None = None) -> bool:
        """Fades it out within 2 ms, at a time of the session or at once; False if the play has ended."""
        return self._session._control(self._number, 3, 0.0, 0.0, at)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it has ended; False where a time in seconds passed before."""
        end = None if timeout is None else time.monotonic() + timeout
        while self.state != "ended":
            if self._session.is_over or (end is not None and time.monotonic() > end):
                return False
            time.sleep(0.005)
        return True


class Session:
    """A device that is open, with a clock of seconds from 0 on. Use it in a `with` statement.

    Args:
        device: As `temblor --device` has it: "default", "plughw:CARD=Device", "wav:FILE", "null:".
        profile: The name of a profile, or the path of its file.
        sample_rate: Frames per second, 8,000..192,000; the device uses the nearest rate that it supports.
        strength: A factor on everything, 0..1.

    A session belongs to the process that opened it: it cannot be pickled, and calls in a child after a fork raise.

    Raises:
        HapticError: The device or the profile cannot be used.

    Example:
        with Session("plughw:CARD=Device", profile="dayton-bst-1") as session:
            play = session.play(Pattern.shipped("heartbeat"), at=session.now + 0.5)
            play.wait()
            print(play.onset)
    """

    def __init__(self, device: str = "default", profile: PathLike = "phone", sample_rate: float = 48_000,
                 strength: float = 1.0) -> None:
        _check_sample_rate(sample_rate)
        _require("strength", strength, 0, 1)
        self._host = Host()
        self._profile = self._host.profile(profile)
        self._ended_plays: list[dict[str, Any]] | None = None
        self.events: list[dict[str, Any]] = []
        """What happened at the device so far: kind, frames that were missed, text."""
        name = device.encode()
        with self._host:
            if not self._host.call("session_open", name, len(name), self._profile, float(sample_rate), float(strength)):
                raise HapticError.of(self._host.output())
        status = self._status()
        self.sample_rate: float = status["rate"]
        self.latency: float = status["latency"] / self.sample_rate
        """Seconds by which limiters and transducer stages delay what is played; `Play.onset` has them in it."""

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Fades out, lets the rest be heard and closes the device. Does nothing in a child after a fork."""
        if self._host.is_inherited or self._ended_plays is not None:
            return
        with self._host:
            self._ended_plays = [{**each, "state": "ended"} for each in self._status()["plays"]]
            self._host.call("session_close")

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a session cannot be copied or pickled; open one in each process")

    def _status(self) -> dict[str, Any]:
        found = self._host.bytes("session_status")
        if not found:
            raise HapticError("the session is closed")
        status = json.loads(found)
        self.events += status["events"]
        return status

    def _plays(self) -> list[dict[str, Any]]:
        return self._status()["plays"] if self._ended_plays is None else self._ended_plays

    def _frame(self, at: float | None) -> int:
        return -1 if at is None else max(0, round(at * self.sample_rate))

    def _control(self, number: int, control: int, value: float, over: float, at: float | None) -> bool:
        with self._host:
            return self._host.call("session_control", number, control, float(value), float(over), self._frame(at)) == 1

    @property
    def now(self) -> float:
        """Seconds of the session that were handed to the device; what is played at a later time is in time."""
        return self._status()["rendered"] / self.sample_rate

    @property
    def heard(self) -> float:
        """Seconds of the session that left the device."""
        return self._status()["heard"] / self.sample_rate

    @property
    def missed(self) -> float:
        """Seconds that were not heard."""
        return self._status()["missed"] / self.sample_rate

    @property
    def is_over(self) -> bool:
        """Whether the device has ended by itself."""
        return self._status()["isOver"]

    def play(self, pattern: Pattern | PathLike, at: float | None = None) -> Play:
        """Plays a pattern at a time in seconds of the session, exact to the frame, or at once.

        Raises:
            HapticError: The pattern cannot be used, or too much is played already.
        """
        pattern = _pattern(pattern)
        with self._host:
            slot = pattern._slot(self._host)
            number = self._host.call("session_play", slot, self._profile, self._frame(at))
            if number < 0:
                raise HapticError.of(self._host.output())
        return Play(self, number)


# Helpers.


def _pattern(pattern: Pattern | PathLike) -> Pattern:
    """A pattern by the rule of the program: a file, or else a shipped pattern, whose name may have an extension."""
    if isinstance(pattern, Pattern):
        return pattern
    path = os.fspath(pattern)
    if os.path.lexists(path):
        return Pattern.read(path)
    endings = [f".{each}" for form in _shared().report("formats") for each in form["extensions"]]
    ending = max((each for each in endings if path.lower().endswith(each)), key=len, default="")
    name = path[:len(path) - len(ending)]
    if name not in _shipped_names():
        raise FileNotFoundError(errno.ENOENT, "file not found, and no shipped pattern has this name", path)
    return Pattern.shipped(name)


@functools.lru_cache(maxsize=None)
def _shipped_names() -> tuple[str, ...]:
    printed = json.loads(_ran("patterns", "--json"))
    return tuple(sorted(each["name"] for each in printed["patterns"]))


@functools.lru_cache(maxsize=None)
def _shipped_text(name: str) -> str:
    return _ran("patterns", name)


def _failure(reported: str) -> HapticError:
    lines = [line for line in reported.strip().splitlines() if line] or ["the library refuses"]
    return HapticError(lines[0].removeprefix("temblor: ").removeprefix("error: "))


def _ran(*words: str, good: Iterable[int] = (0,), titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """What a verb prints; `titles` are those of paths, for messages."""
    status, printed, reported = _shared().run(*words)
    if status not in good:
        for path, title in titles.items():
            reported = reported.replace(path, title)
        raise _failure(reported)
    return printed


class _Files:
    """Patterns and arrays as files, for as long as they are looked at."""

    def __enter__(self) -> "_Files":
        self._folder = tempfile.TemporaryDirectory(prefix="temblor-")
        self._titles: dict[str, str] = {}
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def path(self, take: Any, rate: float, title: str) -> str:
        """The path of a file with a pattern or sound; messages call an array by a title."""
        if isinstance(take, (str, os.PathLike)):
            return os.fspath(take)
        folder = Path(self._folder.name, title)
        folder.mkdir()
        if isinstance(take, Pattern):
            path = folder / Path(take.name).name
            path.write_bytes(take.content)
            self._titles[str(path)] = take.name
            return str(path)
        path = folder / "sound.wav"
        path.write_bytes(_wav(take, rate))
        self._titles[str(path)] = title
        return str(path)

    def title(self, path: str) -> str:
        """The name of a path in messages and results."""
        return self._titles.get(path, path)

    def ran(self, *words: str, good: Iterable[int] = (0,)) -> str:
        return _ran(*words, good=good, titles=self._titles)


_MAXIMUM_CHANNEL_COUNT = 64


def _wav(samples: "ArrayLike", rate: float) -> bytes:
    """The bytes of a WAV file of 32-bit floats."""
    import struct

    import numpy

    sound = numpy.asarray(samples)
    if not numpy.issubdtype(sound.dtype, numpy.number) or numpy.iscomplexobj(sound):
        raise ValueError(f"an array of a sound must have real numbers, not {sound.dtype}")
    if sound.ndim not in (1, 2):
        raise ValueError(f"an array of a sound must have the shape (frames,) or (channels, frames), not {sound.shape}")
    channels = 1 if sound.ndim == 1 else sound.shape[0]
    if not 1 <= channels <= _MAXIMUM_CHANNEL_COUNT:
        hint = "; transpose it, as in sound.T" if 1 <= sound.shape[-1] <= _MAXIMUM_CHANNEL_COUNT else ""
        raise ValueError(
            f"an array of the shape (channels, frames) can have 1 to {_MAXIMUM_CHANNEL_COUNT} channels, and this one has "
            f"the shape {sound.shape}{hint}")
    _require("sample_rate", rate, 1, 1_000_000)
    frames = numpy.ascontiguousarray(sound.T, numpy.float32)
    content = frames.tobytes()
    form = struct.pack("<HHIIHH", 3, channels, round(rate), round(rate) * channels * 4, channels * 4, 32)
    return (b"RIFF" + struct.pack("<I", 36 + len(content)) + b"WAVEfmt " + struct.pack("<I", 16) + form
            + b"data" + struct.pack("<I", len(content)) + content)
