# SPDX-License-Identifier: BSD-3-Clause
"""What a message costs on an Ethernet cluster, which layer is to blame, and two cures.

    import vaiven

    run = vaiven.measure("demo")                  # or vaiven.open("last"), vaiven.open("runs/2026...")
    run.launches()                                # a frame of polars; vaiven.to_pandas(...) makes one of pandas
    run.results().costs.to_frame()                # what it says: costs, sizes, comparison, ladders ...
    run.pictures()["time"]                        # shown by a notebook, which shows runs and results, too

Each name is loaded when it is used, so importing vaiven costs nothing. Their types: __init__.pyi.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from vaiven import lab as _room

__version__ = "0.1.0"
__all__ = [
    "Estimate", "Group", "GroupError", "Lab", "Results", "Run", "Runs", "VaivenError", "compare", "history", "lab",
    "measure", "open", "overlay", "resume", "runs", "to_pandas",
]  # fmt: skip
_PLACES = {
    "Estimate": "stats.estimate", "Group": "face.group", "GroupError": "face.group", "Lab": "face.lab",
    "Results": "results.results", "Run": "face.run",
    "Runs": "face.run", "VaivenError": "errors", "compare": "face.run", "history": "face.run",
    "measure": "face.measure", "open": "face.run", "overlay": "face.run", "resume": "face.measure",
    "runs": "face.run", "to_pandas": "results.frames",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Room(ModuleType):
    """vaiven.lab is a room of the package, and what raises a lab: importing a room sets that name, whatever else it
    was to mean, so the room itself is called."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return import_module("vaiven.face.lab").lab(*args, **options)


_room.__class__ = _Room
