"""Haptic patterns as sound: read, check, build, render, compare, convert and play them.

    import temblor_haptics as haptics

    pattern = haptics.Pattern("knock.ahap")
    samples = haptics.render(pattern, profile="dayton-bst-1")      # float32, shape (frames,), -1..1
    for finding in haptics.check(pattern):
        print(finding)

Times are in seconds, intensities and sharpnesses are from 0 to 1, and levels are in decibels of full scale (dBFS).
An array of a sound has the shape (frames,) or (channels, frames). A pattern is a `Pattern`, the path of a file, or the
name of a shipped pattern, in every function; a file of that name takes precedence.

Each thread has its own host of the library, so threads work in parallel. Patterns are copied and pickled by name and
content, so they can be sent to other processes with any start method. A fork waits for the calls of other threads.

Importing the package loads neither the library nor numpy; the first use of a function does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._core import HapticError as HapticError
    from ._datasets import read_settings as read_settings
    from ._datasets import write_folder as write_folder
    from ._datasets import write_parquet as write_parquet
    from ._datasets import write_shards as write_shards
    from ._haptics import Comparison as Comparison
    from ._haptics import Continuous as Continuous
    from ._haptics import Curve as Curve
    from ._haptics import Finding as Finding
    from ._haptics import Pattern as Pattern
    from ._haptics import Play as Play
    from ._haptics import Session as Session
    from ._haptics import Transient as Transient
    from ._haptics import check as check
    from ._haptics import compare as compare
    from ._haptics import convert as convert
    from ._haptics import formats as formats
    from ._haptics import measure as measure
    from ._haptics import profiles as profiles
    from ._haptics import render as render
    from ._haptics import shipped as shipped
    from ._haptics import trace as trace
    from ._many import Renderings as Renderings
    from ._many import convert_many as convert_many
    from ._many import iterate_renderings as iterate_renderings
    from ._many import measure_many as measure_many
    from ._many import render_many as render_many

__version__ = "0.0.0"

_MODULES = {
    "_core": ("HapticError",),
    "_haptics": (
        "Comparison", "Continuous", "Curve", "Finding", "Pattern", "Play", "Session", "Transient", "check", "compare",
        "convert", "formats", "measure", "profiles", "render", "shipped", "trace"),
    "_many": ("Renderings", "convert_many", "iterate_renderings", "measure_many", "render_many"),
    "_datasets": ("read_settings", "write_folder", "write_parquet", "write_shards"),
}
__all__ = sorted(name for names in _MODULES.values() for name in names)


def __getattr__(name: str) -> object:
    """Loads the module of a name at its first use (PEP 562)."""
    for module, names in _MODULES.items():
        if name in names:
            from importlib import import_module

            value = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
