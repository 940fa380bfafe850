"""The C library, and hosts of it: nothing else touches its memory."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_int64, c_uint8, c_void_p
from pathlib import Path

LIBRARY = Path(os.environ.get("TEMBLOR_LIBRARY_PATH") or Path(__file__).parent / "libtemblor.so.0")

_INTERFACE = {
    # name: (result, arguments behind the host)
    "release": (None, ""),
    "output": (POINTER(c_uint8), ""),
    "output_length": (c_int32, ""),
    "samples": (POINTER(c_float), ""),
    "open": (c_int32, "ibibi"),
    "report": (c_int32, "biii"),
    "save": (c_int32, "ibi"),
    "hertz": (c_double, "id"),
    "sound": (c_int32, "bipiid"),
    "add_profile": (c_int32, "bi"),
    "render": (c_int32, "iid"),
    "run": (c_int32, "bi"),
    "session_open": (c_int32, "biidd"),
    "session_play": (c_int32, "iil"),
    "session_control": (c_int32, "iiddl"),
    "session_status": (c_int32, ""),
    "session_close": (None, ""),
}
_TYPES = {"i": c_int32, "l": c_int64, "d": c_double, "b": c_char_p, "p": c_void_p}


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(str(LIBRARY))
    library.temblor_create.restype = c_void_p
    for name, (result, arguments) in _INTERFACE.items():
        call = getattr(library, f"temblor_{name}")
        call.restype, call.argtypes = result, [c_void_p, *(_TYPES[letter] for letter in arguments)]
    return library


_library: ctypes.CDLL | None = None
_loading = threading.Lock()


class HapticError(Exception):
    """What is wrong with a pattern, a profile or a device.

    Attributes:
        message: One line without a place.
        file: The file as it was named; empty where there is none.
        line: The line from 1, or None.
        column: The column from 1, or None.
        rule: The id of the rule that is broken.
        hint: What to do, or None.
    """

    def __init__(self, message: str, file: str = "", line: int | None = None, column: int | None = None,
                 rule: str = "", hint: str | None = None) -> None:
        self.message, self.file, self.line, self.column = message, file, line, column
        self.rule, self.hint = rule, hint
        place = ":".join(str(part) for part in (file, line, column) if part)
        super().__init__((f"{place}: " if place else "") + message + (f"; {hint}" if hint else ""))

    @classmethod
    def of(cls, output: bytes) -> "HapticError":
        fields = json.loads(output) if output else {"message": "the library refuses"}
        return cls(**{key: fields[key] for key in ("message", "file", "line", "column", "rule", "hint") if key in fields})


class Host:
    """A host of the library; threads take turns."""

    def __init__(self) -> None:
        global _library
        with _loading:
            if _library is None:
                _library = _load()
        self.lock = threading.RLock()
        self._address = _library.temblor_create()
        self._free: list[int] = []
        self._count = 0
        self.profiles = {each["name"]: number for number, each in enumerate(self.report("profiles"))}

    def __del__(self) -> None:
        if _library is not None and getattr(self, "_address", None):
            _library.temblor_release(self._address)
            self._address = None

    def call(self, name: str, *arguments):
        return getattr(_library, f"temblor_{name}")(self._address, *arguments)

    def output(self, length: int | None = None) -> bytes:
        """The bytes that the last call has made."""
        return ctypes.string_at(self.call("output"), self.call("output_length") if length is None else length)

    def bytes(self, name: str, *arguments) -> bytes:
        """What a call makes that answers how many bytes it is."""
        with self.lock:
            return self.output(max(0, self.call(name, *arguments)))

    def report(self, name: str, slot: int = 0, profile: int = 0, raw: bool = False):
        found = self.bytes("report", name.encode(), len(name), slot, profile)
        return found if raw else json.loads(found)

    def open(self, name: str, content: bytes) -> int:
        """Reads a file into a slot that is free; its number."""
        with self.lock:
            slot = self._free.pop() if self._free else self._count
            self._count = max(self._count, slot + 1)
            title = name.encode()
            if not self.call("open", slot, title, len(title), content, len(content)):
                error = HapticError.of(self.output())
                self._free.append(slot)
                raise error
            return slot

    def close(self, slot: int) -> None:
        with self.lock:
            if self._address:
                self.call("open", slot, b"", 0, b"", 0)
                self._free.append(slot)

    def profile(self, profile: "str | os.PathLike[str]") -> int:
        """The number of a profile by its name, or by the path of its file."""
        key = os.fspath(profile)
        with self.lock:
            if key in self.profiles:
                return self.profiles[key]
            if not key.endswith(".json"):
                raise HapticError(f"no profile has the name {key!r}", hint="profiles() lists them; or give the path of a file")
            content = Path(key).read_bytes()
            number = self.call("add_profile", content, len(content))
            if number < 0:
                error = HapticError.of(self.output())
                error.file = key
                raise error
            self.profiles[key] = number
            return number

    def run(self, *words: str) -> tuple[int, str, str]:
        """Runs a verb of the program: its exit status, what it prints and what it reports."""
        line = b"".join(word.encode() + b"\0" for word in words)
        with self.lock:
            status = self.call("run", line, len(line))
            printed, _, reported = self.output().decode().partition("\0")
        return status, printed, reported


_shared: Host | None = None


def shared() -> Host:
    """The host that all patterns share."""
    global _shared
    if _shared is None:
        _shared = Host()
    return _shared
