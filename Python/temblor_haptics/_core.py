"""The C library, and hosts of it: nothing else touches its memory.

Each thread has a host, so that threads render at once. A fork copies the memory of the library together with the locks
that other threads hold at that moment, but not those threads. A fork therefore waits until no call is in progress, and
the child makes hosts of its own.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
from collections import OrderedDict
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_int64, c_uint8, c_void_p
from pathlib import Path
from typing import Any, Callable

LIBRARY = Path(os.environ.get("TEMBLOR_LIBRARY_PATH") or Path(__file__).parent / "libtemblor.so.0")

_INTERFACE = {
    # name: (result, arguments after the host)
    "release": (None, ""),
    "status": (c_int32, ""),
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


_ACCESSORS = {"status", "output", "output_length", "samples"}
"""Functions that return at once: to release the interpreter's lock would cost more than to keep it."""


class Library:
    """The functions of the library by name."""

    def __init__(self) -> None:
        library = ctypes.CDLL(str(LIBRARY))
        accessors = ctypes.PyDLL(str(LIBRARY))
        self.create = library.temblor_create
        self.create.restype = c_void_p
        self.functions: dict[str, Callable[..., Any]] = {}
        for name, (result, arguments) in _INTERFACE.items():
            function = getattr(accessors if name in _ACCESSORS else library, f"temblor_{name}")
            function.restype = result
            function.argtypes = [c_void_p, *(_TYPES[letter] for letter in arguments)]
            self.functions[name] = function


class HapticError(Exception):
    """An error in a pattern, profile, or device.

    Attributes:
        message: One line without a location.
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

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are pickled by their arguments, here the whole line; processes hand them back with all attributes.
        return type(self), (self.message, self.file, self.line, self.column, self.rule, self.hint)

    @classmethod
    def of(cls, output: bytes) -> "HapticError":
        fields = json.loads(output) if output else {"message": "the library refuses"}
        return cls(**{key: fields[key] for key in ("message", "file", "line", "column", "rule", "hint") if key in fields})


class _Gate:
    """The calls of one process into the library, and the forks that wait for them. Use it in a `with` statement."""

    FORK_SECONDS = 5.0
    """The longest time that a fork waits for calls of other threads."""

    def __init__(self, is_usable: bool = True) -> None:
        self.process = os.getpid()
        self._is_usable = is_usable
        # Reentrant, since a handler of a signal may fork or call while its thread holds it.
        self._condition = threading.Condition(threading.RLock())
        self._depths: dict[int, int] = {}
        """The number of nested calls of each thread that is in one."""
        self._local = threading.local()
        """The depth of the thread that reads it, so that nested calls take no lock."""
        self._fork_count = 0
        self._library: Library | None = None
        self._loading = threading.Lock()

    def __enter__(self) -> None:
        if not self._is_usable:
            raise HapticError(
                "this process was forked while another thread was using the library",
                hint="use the start method spawn or forkserver")
        depth: int = getattr(self._local, "depth", 0)
        if depth > 0:
            self._local.depth = depth + 1
            return
        thread = threading.get_ident()
        with self._condition:
            # A thread that is in a call already passes: the fork waits for it.
            while self._fork_count > 0 and thread not in self._depths:
                self._condition.wait()
            self._depths[thread] = self._depths.get(thread, 0) + 1
        self._local.depth = 1

    def __exit__(self, *_: object) -> None:
        self._local.depth -= 1
        if self._local.depth > 0:
            return
        thread = threading.get_ident()
        with self._condition:
            self._depths[thread] -= 1
            if self._depths[thread] == 0:
                del self._depths[thread]
                if self._fork_count > 0:
                    self._condition.notify_all()

    @property
    def library(self) -> Library:
        with self._loading:
            if self._library is None:
                self._library = Library()
            return self._library

    def _is_quiet(self) -> bool:
        """Whether no other thread is in a call."""
        return self._depths.keys() <= {threading.get_ident()}

    def before_fork(self) -> None:
        """Lets calls end and none begin. Other threads wait until `after_fork`."""
        self._condition.acquire()
        self._fork_count += 1
        self._condition.wait_for(self._is_quiet, self.FORK_SECONDS)

    def after_fork(self) -> None:
        self._fork_count -= 1
        self._condition.notify_all()
        self._condition.release()

    def made_anew(self) -> "_Gate":
        """The gate of a child; closed if a call of the parent may have left locks behind."""
        gate = _Gate(is_usable=self._is_usable and self._is_quiet())
        gate._library = self._library
        return gate


_gate = _Gate()


def current_gate() -> _Gate:
    """The gate of this process.

    By its number, since a child releases the objects of the parent's other threads before it runs any hook.
    """
    global _gate
    if _gate.process != os.getpid():
        _gate = _gate.made_anew()
    return _gate


os.register_at_fork(
    before=lambda: current_gate().before_fork(), after_in_parent=lambda: _gate.after_fork(),
    after_in_child=current_gate)


class Host:
    """A host of the library, for one process. Threads that share it take turns, in `with` statements."""

    PATTERN_LIMIT = 256
    """The number of patterns that stay open."""
    CONTENT_LIMIT = 16 << 20
    """The number of bytes of all patterns that stay open; one stays in any case."""

    def __init__(self) -> None:
        self._gate = current_gate()
        self._lock = threading.RLock()
        self._address: int | None = None
        with self._gate:
            self._library = self._gate.library
            self._address = self._library.create()
        self._slots: OrderedDict[tuple[str, bytes], int] = OrderedDict()
        """The slots of open patterns by name and content, the one that was used last at the end."""
        self._slot_count = 0
        self._content_length = 0
        self._free: list[int] = []
        self._added_profiles: dict[bytes, int] = {}

    def __del__(self) -> None:
        # The memory of the parent's hosts stays as it is: devices and threads that they have are the parent's.
        if getattr(self, "_address", None) and not self.is_inherited:
            with self._gate:
                self._library.functions["release"](self._address)
            self._address = None

    @property
    def is_inherited(self) -> bool:
        """Whether this process is a child, by a fork, of the process that made the host."""
        return self._gate.process != os.getpid()

    def __enter__(self) -> "Host":
        self._require_process()
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _require_process(self) -> None:
        if self.is_inherited:
            raise HapticError(
                "the session belongs to the parent process", hint="open a session in this process")

    def call(self, name: str, *arguments: Any) -> Any:
        self._require_process()
        with self._gate:
            return self._library.functions[name](self._address, *arguments)

    def output(self, length: int | None = None) -> bytes:
        """The bytes that the last call has made."""
        return ctypes.string_at(self.call("output"), self.call("output_length") if length is None else length)

    def bytes(self, name: str, *arguments: Any) -> bytes:
        """What a call makes that answers how many bytes it is."""
        with self:
            return self.output(max(0, self.call(name, *arguments)))

    def report(self, name: str, slot: int = 0, profile: int = 0, raw: bool = False) -> Any:
        found = self.bytes("report", name.encode(), len(name), slot, profile)
        return found if raw else json.loads(found)

    def slot(self, name: str, content: bytes) -> int:
        """The slot of a pattern, which is opened if it is not. Valid in the `with` statement around the call.

        Raises:
            HapticError: The content is no pattern that can be used.
        """
        key = (name, content)
        with self:
            if key in self._slots:
                self._slots.move_to_end(key)
                return self._slots[key]
            slot = self._vacate(len(content))
            title = name.encode()
            if not self.call("open", slot, title, len(title), content, len(content)):
                error = HapticError.of(self.output())
                self._free.append(slot)
                raise error
            self._content_length += len(content)
            self._slots[key] = slot
            return slot

    def _vacate(self, length: int) -> int:
        """A slot for a pattern of some bytes, from which the patterns that were used least recently are removed."""
        while self._slots and self._content_length + length > self.CONTENT_LIMIT:
            slot = self._remove_oldest()
            self.call("open", slot, b"", 0, _EMPTY, len(_EMPTY))
            self._free.append(slot)
        if self._free:
            return self._free.pop()
        if self._slots and self._slot_count >= self.PATTERN_LIMIT:
            return self._remove_oldest()
        # A number is never given twice, even if an interrupt loses one.
        self._slot_count += 1
        return self._slot_count - 1

    def _remove_oldest(self) -> int:
        (_, content), slot = self._slots.popitem(last=False)
        self._content_length -= len(content)
        return slot

    def profile(self, profile: "str | os.PathLike[str]") -> int:
        """The number of a profile by its name, or by the path of its file."""
        key = os.fspath(profile)
        shipped = self._shipped_profiles()
        if key in shipped:
            return shipped[key]
        if not key.endswith(".json"):
            raise HapticError(f"unknown profile {key!r}", hint="call profiles() to list profiles, or use the path of a file")
        # By content, since the file may have changed since the last call.
        content = Path(key).read_bytes()
        with self:
            number = self._added_profiles.get(content)
            if number is None:
                number = self.call("add_profile", content, len(content))
                if number < 0:
                    error = HapticError.of(self.output())
                    error.file = key
                    raise error
                self._added_profiles[content] = number
            return number

    _profile_numbers: dict[str, int] = {}

    def _shipped_profiles(self) -> dict[str, int]:
        """The numbers of the shipped profiles by name, the same in every host."""
        if not Host._profile_numbers:
            Host._profile_numbers = {each["name"]: number for number, each in enumerate(self.report("profiles"))}
        return Host._profile_numbers

    def run(self, *words: str) -> tuple[int, str, str]:
        """Runs a verb of the program: its exit status, what it prints and what it reports."""
        line = b"".join(word.encode() + b"\0" for word in words)
        with self:
            status = self.call("run", line, len(line))
            printed, _, reported = self.output().decode().partition("\0")
        return status, printed, reported


_EMPTY = b'{"Version":1,"Pattern":[]}'
"""A pattern without events, which frees the memory of the one before it."""

_local = threading.local()


def shared() -> Host:
    """The host of this thread."""
    host: Host | None = getattr(_local, "host", None)
    if host is None or host.is_inherited:
        host = Host()
        _local.host = host
    return host
