# SPDX-License-Identifier: BSD-3-Clause
"""The tree under inspection. A house test is a function from files to a list of offences, and a bad example."""

from __future__ import annotations

import ast
import fcntl
import functools
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

# Of the C house, from the bottom up.
LIBRARIES = ("core/libvaiven-core", "io/libvaiven-io", "stack/libvaiven-stack", "stack/libvaiven-builtin",
             "probe/libvaiven-questions", "sim/libvaiven-simulator")  # fmt: skip
_NOT_OURS = {".git", ".venv", "__pycache__", "runs", "node_modules"}


parsed = functools.cache(ast.parse)  # several tests look through all of Python


def _walk(root: Path) -> Iterator[Path]:
    for directory, names, files in os.walk(root):
        top = Path(directory) == root
        names[:] = sorted(
            n for n in names if n not in _NOT_OURS and not n.endswith(("_cache", ".egg-info")) and n != ".hypothesis"
            and not (top and n.startswith("build"))
        )  # fmt: skip
        yield from (Path(directory) / name for name in sorted(files) if name not in _NOT_OURS)


@pytest.fixture(scope="session")
def files(root: Path) -> list[Path]:
    """Every file of the checkout that is source, not product."""
    return list(_walk(root))


@pytest.fixture(scope="session")
def c_files(files: list[Path], root: Path) -> list[Path]:
    """All C sources and headers."""
    return [f for f in files if f.suffix in (".c", ".h")]


@pytest.fixture(scope="session")
def libraries(root: Path) -> Path:
    """The static libraries as the C tests have them, up to date: below that directory."""
    build = root / "build-tests"
    with open(root / "meson.build") as lock:  # of workers that come at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        commands = [["meson", "setup", build, root, "-Dtests=true"]] * (not (build / "build.ninja").exists())
        for command in (*commands, ["ninja", "-C", build, *(f"src/{name}.a" for name in LIBRARIES)]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
    return build / "src"


@pytest.fixture(scope="session")
def py_files(files: list[Path]) -> list[Path]:
    """All Python files."""
    return [f for f in files if f.suffix == ".py"]
