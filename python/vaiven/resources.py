# SPDX-License-Identifier: BSD-3-Clause
"""Where the installed files of vaiven are: native programs, ready labs and plans."""

from __future__ import annotations

import ctypes.util
import os
import shutil
import sysconfig
from pathlib import Path

from vaiven.errors import VaivenError

_PACKAGE = Path(__file__).parent


def program(name: str) -> Path:
    """The native program of that name ("vaiven-probe", "vaiven-probe-s390x", "vaiven-fabric").

    Searched: as `_installed` does, then PATH. VaivenError ("no-program") if it is nowhere.
    """
    if found := find(name):
        return found
    raise VaivenError(f"the program {name} is not installed", "run `make`, or `pip install .`", code="no-program")


def find(name: str) -> Path | None:
    """The same, or None."""
    found = _installed(name) or shutil.which(name)
    return Path(found) if found else None


def library() -> Path:
    """libvaiven, for programs in this process.

    Searched: as `_installed` does, then where the system looks. VaivenError ("no-library") if it is nowhere.
    """
    found = _installed("libvaiven.so") or ctypes.util.find_library("vaiven")
    if found:
        return Path(found)
    raise VaivenError("libvaiven is not installed", "run `make`, or `pip install .`", code="no-library")


def _installed(name: str) -> Path | None:
    """The native file of that name: in $VAIVEN_NATIVE (a build directory, for work on vaiven itself), this Python's
    scripts directory or `bin` beside the package (where `pip install --target` puts them). None if in none of them.
    """
    for place in (os.environ.get("VAIVEN_NATIVE"), sysconfig.get_path("scripts"), _PACKAGE.parent / "bin"):
        if place and (Path(place) / name).is_file():
            return Path(place) / name
    return None


def ready(kind: str) -> Path:
    """The directory of ready "labs" or "plans": in the installed package, or beside it in a source tree."""
    installed = _PACKAGE / kind
    return installed if installed.is_dir() else _PACKAGE.parent.parent / kind
