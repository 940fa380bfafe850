"""The recipes of the article for Dask and Ray, as they are printed there; run it by Tools/wheel --test."""

import os
import re
import signal
from pathlib import Path

import dask
import numpy
import pytest

import temblor_haptics as haptics

ARTICLE = Path(__file__).parents[2] / "Sources/Program/Temblor/Temblor.docc/PythonAndC.md"
PATTERNS = [haptics.Pattern(haptics.Transient(0), haptics.Transient(0.0001 * number)) for number in range(600)]


def code(title):
    """The block of code after a line of the article."""
    match = re.search(rf"^{title}[^\n]*:\n\n```python\n(.*?)```", ARTICLE.read_text(), re.DOTALL | re.MULTILINE)
    assert match, f"the article has no recipe {title}"
    return match[1]


def recipe(title, tmp_path, monkeypatch):
    """The module of a recipe, which other processes can import, too."""
    name = f"recipe_{title.lower()}"
    (tmp_path / f"{name}.py").write_text(code(title))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    return __import__(name)


@pytest.mark.parametrize("title", ["Dask", "Ray", "Snakemake", "PyTorch"])
def test_recipes_are_short(title):
    assert len([line for line in code(title).splitlines() if line]) <= 15


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_dask_gives_the_samples_of_one_process(scheduler, tmp_path, monkeypatch):
    module = recipe("Dask", tmp_path, monkeypatch)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        found = module.recipe(PATTERNS)
    assert found == [float(abs(samples).max()) for samples in map(haptics.render, PATTERNS)]


def test_ray_gives_the_samples_of_one_process_although_a_worker_ends(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    module = recipe("Ray", tmp_path, monkeypatch)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        @ray.remote(max_retries=2)
        def ends_once(path):
            if not os.path.exists(path):
                open(path, "x").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return haptics.render_many(PATTERNS[:256], workers=1).samples

        expected = haptics.render_many(PATTERNS).samples
        assert numpy.array_equal(numpy.concatenate(module.recipe(PATTERNS)), expected)
        retried = ray.get(ends_once.remote(str(tmp_path / "ended")))
        assert numpy.array_equal(retried, expected[:len(retried)]) and len(retried) > 0
    finally:
        ray.shutdown()
