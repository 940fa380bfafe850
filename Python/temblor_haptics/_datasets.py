"""Datasets of rendered patterns: WebDataset shards, Parquet files, or a folder of sound files.

A dataset is a folder of parts, each with the same number of patterns, and a file `dataset.json` with the settings. A
part is written under a temporary name and then renamed, so a part that exists is complete. A writer that is started
again with the same patterns skips the parts that exist. Equal patterns, settings, and versions give equal bytes.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable

from . import __version__
from ._haptics import Pattern, PathLike, _check_profile, _check_sample_rate, _pattern, _wav
from ._many import iterate_renderings

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Record = tuple[str, Pattern, NDArray[numpy.float32]]

SETTINGS = "dataset.json"


def write_shards(patterns: Iterable[Pattern | PathLike], folder: PathLike, *, profile: PathLike = "phone",
                 sample_rate: float = 48_000, shard_size: int = 1_000, workers: int | None = None) -> list[Path]:
    """Renders patterns to WebDataset shards: `shard-000000.tar` with `KEY.npy`, `KEY.ahap`, and `KEY.json` for each.

    A key is the number of the pattern with nine digits. The JSON has its name and the number of frames.

    Args:
        patterns: Patterns, paths, or names of shipped patterns; the same in the same order when the writer is resumed.
        folder: A folder, which is created if necessary.
        profile, sample_rate, workers: As for `render_many`.
        shard_size: The number of patterns of a shard.

    Returns:
        The paths of all shards.

    Raises:
        ValueError: The folder has a dataset with other settings.
        HapticError: The profile or a pattern cannot be used.
    """
    settings = _settings("webdataset", profile, sample_rate, shard_size)
    return _write_parts(patterns, folder, settings, "shard-{:06d}.tar", _tar, profile, workers)


def write_parquet(patterns: Iterable[Pattern | PathLike], folder: PathLike, *, profile: PathLike = "phone",
                  sample_rate: float = 48_000, shard_size: int = 1_000, workers: int | None = None) -> list[Path]:
    """Renders patterns to Parquet files `part-000000.parquet` with the columns key, name, ahap, and samples.

    Requires pyarrow. Arguments, result, and errors as for `write_shards`.
    """
    import pyarrow  # type: ignore  # An optional package: its absence is an error before anything is written.

    del pyarrow
    settings = _settings("parquet", profile, sample_rate, shard_size)
    return _write_parts(patterns, folder, settings, "part-{:06d}.parquet", _parquet, profile, workers)


def write_folder(patterns: Iterable[Pattern | PathLike], folder: PathLike, *, profile: PathLike = "phone",
                 sample_rate: float = 48_000, workers: int | None = None) -> list[Path]:
    """Renders patterns to sound files `000000000.wav` of 32-bit floats. Otherwise as `write_shards`."""
    settings = _settings("folder", profile, sample_rate, 1)

    def sound_file(records: list["Record"]) -> bytes:
        return _wav(records[0][2], sample_rate)

    return _write_parts(patterns, folder, settings, "{:09d}.wav", sound_file, profile, workers)


def read_settings(folder: PathLike) -> dict[str, Any]:
    """The settings of a dataset: format, version, profile, profileDigest, sampleRate, and shardSize."""
    settings: dict[str, Any] = json.loads((Path(folder) / SETTINGS).read_text())
    return settings


def _settings(form: str, profile: PathLike, sample_rate: float, shard_size: int) -> dict[str, Any]:
    if shard_size < 1:
        raise ValueError(f"shard_size must be 1 or more, not {shard_size}")
    _check_sample_rate(sample_rate)
    _check_profile(profile)
    path = Path(profile)
    digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.suffix == ".json" else None
    return {
        "format": form, "version": __version__, "profile": path.name, "profileDigest": digest,
        "sampleRate": sample_rate, "shardSize": shard_size}


def _write_parts(patterns: Iterable[Pattern | PathLike], folder: PathLike, settings: dict[str, Any], name: str,
                 encode: Callable[[list["Record"]], bytes], profile: PathLike, workers: int | None) -> list[Path]:
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    if (root / SETTINGS).exists():
        if read_settings(root) != settings:
            raise ValueError(f"{root} has a dataset with other settings; use another folder, or delete {root / SETTINGS}")
    else:
        _write(root / SETTINGS, (json.dumps(settings, indent=2) + "\n").encode())
    size = settings["shardSize"]
    remaining = iter(patterns)
    paths = []
    # Patterns of several parts are rendered together, so that small parts keep all cores busy.
    batch_size = max(1, 512 // size)
    first = 0
    while batch := list(itertools.islice(remaining, batch_size * size)):
        parts = [batch[start:start + size] for start in range(0, len(batch), size)]
        targets = [root / name.format(first + number) for number in range(len(parts))]
        paths += targets
        missing = [(part, target, index) for index, (part, target) in enumerate(zip(parts, targets))
                   if not target.exists()]
        opened = [[_pattern(pattern) for pattern in part] for part, _, _ in missing]
        rendered = iterate_renderings(
            itertools.chain.from_iterable(opened), profile=profile, sample_rate=settings["sampleRate"], workers=workers)
        for part, (_, target, index) in zip(opened, missing):
            start = (first + index) * size
            records = [(f"{start + number:09d}", pattern, next(rendered)) for number, pattern in enumerate(part)]
            _write(target, encode(records))
        first += batch_size
    return paths


def _write(path: Path, content: bytes) -> None:
    """Writes a file that is either complete or absent."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def _tar(records: list["Record"]) -> bytes:
    import numpy

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for key, pattern, samples in records:
            array = io.BytesIO()
            numpy.save(array, samples)
            facts = {"name": pattern.name, "frames": len(samples)}
            members = {"ahap": pattern.text.encode(), "json": json.dumps(facts).encode(), "npy": array.getvalue()}
            for extension, content in members.items():
                entry = tarfile.TarInfo(f"{key}.{extension}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _parquet(records: list["Record"]) -> bytes:
    import pyarrow  # type: ignore
    import pyarrow.parquet  # type: ignore

    table = pyarrow.table({
        "key": [key for key, _, _ in records],
        "name": [pattern.name for _, pattern, _ in records],
        "ahap": [pattern.text for _, pattern, _ in records],
        "samples": pyarrow.array([samples for _, _, samples in records], pyarrow.list_(pyarrow.float32())),
    })
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer)
    return buffer.getvalue()
