"""Many patterns in one call, and datasets of them; run it by Tools/wheel --test."""

import io
import itertools
import json
import os
import subprocess
import sys
import tarfile

import numpy
import pytest

import temblor_haptics as haptics

PATTERNS = [
    haptics.Pattern(haptics.Transient(0), haptics.Continuous(0.05, 0.01 * number), name=f"{number}.ahap")
    for number in range(100)
]


def samples_of(content):
    """The samples of a WAV file of 32-bit floats of one channel."""
    return numpy.frombuffer(content[content.index(b"data") + 8:], "<f4")


@pytest.mark.parametrize("workers", [1, 2, 5, None])
def test_renderings_equal_those_of_single_calls(workers):
    expected = [haptics.render(pattern, profile="dayton-bst-1") for pattern in PATTERNS]
    found = haptics.render_many(PATTERNS, profile="dayton-bst-1", workers=workers)
    assert len(found) == len(expected)
    assert found.samples.dtype == numpy.float32 and found.sample_rate == 48_000
    assert list(numpy.diff(found.offsets)) == [len(each) for each in expected]
    assert all(numpy.array_equal(*pair) for pair in zip(found, expected))
    assert numpy.array_equal(found[-1], expected[-1])
    assert [len(each) for each in found[2:5]] == [len(each) for each in expected[2:5]]
    with pytest.raises(IndexError):
        found[100]
    iterated = haptics.iterate_renderings(PATTERNS, profile="dayton-bst-1", workers=workers)
    assert all(numpy.array_equal(*pair) for pair in zip(iterated, expected))


def test_renderings_are_held_once():
    # The limit of the address space has no room for two copies of the samples.
    script = """if True:
        import resource
        import temblor_haptics as haptics

        pattern = haptics.Pattern(haptics.Continuous(0, 10))
        single = len(haptics.render_many([pattern], workers=1).samples)
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        count = 100
        limit = used + count * single * 4 * 7 // 4
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        found = haptics.render_many([pattern] * count, workers=1)
        assert len(found.samples) == count * single
        found.samples[0] = 0.5
    """
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})


def test_no_patterns_are_no_renderings():
    found = haptics.render_many([])
    assert len(found) == 0 and found.samples.shape == (0,) and list(found.offsets) == [0]
    assert list(haptics.iterate_renderings(iter([]))) == []


def test_names_and_paths_are_rendered(tmp_path):
    path = tmp_path / "mine.ahap"
    path.write_bytes(haptics.Pattern("heartbeat").content)
    found = haptics.render_many(["light", path, haptics.Pattern("medium")], sample_rate=8_000)
    expected = [haptics.render(each, sample_rate=8_000) for each in ("light", "heartbeat", "medium")]
    assert all(numpy.array_equal(*pair) for pair in zip(found, expected))


def test_an_error_is_raised_and_ends_all():
    with pytest.raises(FileNotFoundError):
        haptics.render_many(itertools.chain(PATTERNS, ["nothing"], PATTERNS))
    with pytest.raises(haptics.HapticError, match="unknown profile 'bass'"):
        haptics.iterate_renderings(PATTERNS, profile="bass")
    with pytest.raises(ValueError, match="sample_rate must be from"):
        haptics.render_many(PATTERNS, sample_rate=1)
    with pytest.raises(ValueError, match="workers must be 1 or more, not 0"):
        haptics.render_many(PATTERNS, workers=0)


@pytest.mark.parametrize("workers", [1, 2])
def test_patterns_are_read_a_little_ahead(workers):
    taken = itertools.count()
    endless = ((next(taken), PATTERNS[0])[1] for _ in itertools.repeat(None))
    found = haptics.iterate_renderings(endless, sample_rate=8_000, workers=workers)
    for _ in range(10):
        next(found)
    found.close()
    assert next(taken) <= 2 * 4 * 32 + 32


def test_conversions_and_measurements_equal_those_of_single_calls():
    assert list(haptics.convert_many(PATTERNS[:40], "haptic")) == [
        haptics.convert(pattern, "haptic") for pattern in PATTERNS[:40]]
    sounds = list(haptics.iterate_renderings(PATTERNS[:6]))
    assert list(haptics.measure_many(sounds)) == [haptics.measure(sound) for sound in sounds]


WRITERS = [haptics.write_shards, haptics.write_folder, haptics.write_parquet]


def written(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def arguments(writer):
    if writer is haptics.write_parquet:
        pytest.importorskip("pyarrow")
    return {} if writer is haptics.write_folder else {"shard_size": 32}


@pytest.mark.parametrize("writer", WRITERS)
def test_datasets_are_deterministic_and_resumed(writer, tmp_path):
    options = arguments(writer)
    paths = writer(PATTERNS, tmp_path / "a", sample_rate=8_000, **options)
    assert len(paths) == (100 if writer is haptics.write_folder else 4) and all(path.exists() for path in paths)
    assert writer(iter(PATTERNS), tmp_path / "b", sample_rate=8_000, workers=1, **options)
    expected = written(tmp_path / "a")
    assert written(tmp_path / "b") == expected
    # A run that was interrupted lacks parts; those that exist are not written again.
    kept = paths[0].stat().st_mtime_ns
    paths[-1].unlink()
    paths[1].unlink()
    assert writer(PATTERNS, tmp_path / "a", sample_rate=8_000, **options) == paths
    assert written(tmp_path / "a") == expected
    assert paths[0].stat().st_mtime_ns == kept
    with pytest.raises(ValueError, match="has a dataset with other settings"):
        writer(PATTERNS, tmp_path / "a", sample_rate=16_000, **options)
    assert haptics.read_settings(tmp_path / "a")["sampleRate"] == 8_000


def test_shards_have_a_record_for_each_pattern(tmp_path):
    paths = haptics.write_shards(PATTERNS, tmp_path, profile="dayton-bst-1", shard_size=64)
    assert [path.name for path in paths] == ["shard-000000.tar", "shard-000001.tar"]
    with tarfile.open(paths[1]) as archive:
        names = archive.getnames()
        assert names[:3] == ["000000064.ahap", "000000064.json", "000000064.npy"] and len(names) == 3 * 36
        samples = numpy.load(io.BytesIO(archive.extractfile("000000070.npy").read()))
        facts = json.loads(archive.extractfile("000000070.json").read())
        text = archive.extractfile("000000070.ahap").read().decode()
    assert numpy.array_equal(samples, haptics.render(PATTERNS[70], profile="dayton-bst-1"))
    assert facts == {"name": "70.ahap", "frames": len(samples)} and text == PATTERNS[70].text


def test_folders_have_sound_files(tmp_path):
    paths = haptics.write_folder(PATTERNS[:3], tmp_path)
    assert numpy.array_equal(samples_of(paths[2].read_bytes()), haptics.render(PATTERNS[2]))
    assert haptics.measure(paths[2])["duration"] == haptics.measure(haptics.render(PATTERNS[2]))["duration"]


def test_parquet_files_have_a_row_for_each_pattern(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(haptics.write_parquet(PATTERNS[:5], tmp_path)[0])
    assert table.column_names == ["key", "name", "ahap", "samples"]
    row = table.slice(3, 1).to_pylist()[0]
    assert row["name"] == "3.ahap" and row["key"] == "000000003"
    assert numpy.array_equal(numpy.array(row["samples"], numpy.float32), haptics.render(PATTERNS[3]))



def test_a_failed_call_leaves_the_folder_usable(tmp_path):
    folder = tmp_path / "set"
    with pytest.raises(haptics.HapticError):
        haptics.write_shards(["light"], folder, profile="no-such-profile")
    with pytest.raises(ValueError):
        haptics.write_shards(["light"], folder, sample_rate=0)
    assert len(haptics.write_shards(["light"], folder)) == 1
