"""Many patterns in one call, on all cores: threads with a host each, whose calls run without the interpreter's lock."""

from __future__ import annotations

import collections
import itertools
import mmap
import os
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence, TypeVar, Union, overload

from ._haptics import Pattern, PathLike, _check_profile, _check_sample_rate, convert, measure, render

if TYPE_CHECKING:
    import numpy
    from numpy.typing import ArrayLike, NDArray

Item = TypeVar("Item")
Result = TypeVar("Result")

_CHUNK_SIZE = 32
"""The number of patterns of a task, so that the cost of a task is small against that of its patterns."""
_CHUNKS_PER_WORKER = 4
"""The number of tasks of each thread that are in progress or wait to be read, which bounds the memory."""


class Renderings(Sequence["NDArray[numpy.float32]"]):
    """The renderings of many patterns: one array, and the offset of each rendering in it.

    Attributes:
        samples: float32 of shape (frames,): all renderings, one after the other.
        offsets: int64 of shape (count + 1,): rendering i is samples[offsets[i]:offsets[i + 1]].
        sample_rate: Frames per second.
    """

    def __init__(self, samples: "NDArray[numpy.float32]", offsets: "NDArray[numpy.int64]", sample_rate: float) -> None:
        self.samples = samples
        self.offsets = offsets
        self.sample_rate = sample_rate

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> "NDArray[numpy.float32]": ...

    @overload
    def __getitem__(self, index: slice) -> Sequence["NDArray[numpy.float32]"]: ...

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        return self.samples[self.offsets[number]:self.offsets[number + 1]]


def render_many(patterns: Iterable[Pattern | PathLike], *, profile: PathLike = "phone", sample_rate: float = 48_000,
                workers: int | None = None) -> Renderings:
    """Renders patterns on all cores, into one array. Each rendering equals that of `render`, bit for bit.

    Args:
        patterns: Patterns, paths, or names of shipped patterns.
        profile, sample_rate: As for `render`.
        workers: The number of threads, or None for one for each core.

    Raises:
        HapticError: The profile or a pattern cannot be used.
    """
    import numpy

    offsets = [0]
    byte_count = 0
    # Memory of its own grows without a copy, and its pages are touched only by the copies below, which run without the
    # interpreter's lock.
    memory = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for rendering in iterate_renderings(patterns, profile=profile, sample_rate=sample_rate, workers=workers):
        start = byte_count
        byte_count += rendering.nbytes
        if byte_count > len(memory):
            memory.resize(2 * byte_count)
        numpy.frombuffer(memory, rendering.dtype, len(rendering), start)[:] = rendering
        offsets.append(offsets[-1] + len(rendering))
    if byte_count > 0:
        memory.resize(byte_count)
    samples = numpy.frombuffer(memory, numpy.float32, offsets[-1])
    return Renderings(samples, numpy.array(offsets, numpy.int64), sample_rate)


def iterate_renderings(patterns: Iterable[Pattern | PathLike], *, profile: PathLike = "phone",
                       sample_rate: float = 48_000, workers: int | None = None) -> Iterator["NDArray[numpy.float32]"]:
    """Renders patterns on all cores, and yields the renderings in the order of the patterns.

    The patterns are read only a little ahead, so memory does not grow with their number. Arguments as for `render_many`.
    """
    _check_sample_rate(sample_rate)
    _check_profile(profile)
    return _mapped(lambda pattern: render(pattern, profile=profile, sample_rate=sample_rate), patterns, workers)


def convert_many(patterns: Iterable[Pattern | PathLike], format: str, *,
                 workers: int | None = None) -> Iterator[tuple[bytes, list[str]]]:
    """Converts patterns on all cores, and yields what `convert` returns, in order and with bounded memory."""
    return _mapped(lambda pattern: convert(pattern, format), patterns, workers)


def measure_many(sounds: "Iterable[ArrayLike | PathLike]", *, sample_rate: float = 48_000,
                 workers: int | None = None) -> Iterator[dict[str, Any]]:
    """Measures sounds on all cores, and yields what `measure` returns, in order and with bounded memory."""
    return _mapped(lambda sound: measure(sound, sample_rate=sample_rate), sounds, workers)


def _mapped(work: Callable[[Item], Result], items: Iterable[Item], workers: int | None) -> Iterator[Result]:
    """The results of a function, in the order of the items."""
    if workers is None:
        workers = len(os.sched_getaffinity(0))
    if workers < 1:
        raise ValueError(f"workers must be 1 or more, not {workers}")
    return _results(work, iter(items), workers)


def _results(work: Callable[[Item], Result], items: Iterator[Item], workers: int) -> Iterator[Result]:
    def chunk_results(chunk: list[Item]) -> list[Result]:
        return [work(item) for item in chunk]

    if workers == 1:
        # Without threads, results are computed when they are read.
        yield from map(work, items)
        return
    chunks = iter(lambda: list(itertools.islice(items, _CHUNK_SIZE)), [])
    pending: collections.deque[Future[list[Result]]] = collections.deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="temblor") as executor:
        try:
            for chunk in chunks:
                pending.append(executor.submit(chunk_results, chunk))
                if len(pending) >= workers * _CHUNKS_PER_WORKER:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
