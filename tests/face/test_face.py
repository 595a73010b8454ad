# SPDX-License-Identifier: BSD-3-Clause
"""`import vaiven`: every name is there, typed, and costs nothing until it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import vaiven

PACKAGE = Path(vaiven.__file__).parent


def run(script: str) -> list[str]:
    """What a fresh interpreter prints, in words."""
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()  # fmt: skip


def test_importing_it_loads_no_library() -> None:
    heavy = ("numpy", "polars", "msgspec", "jinja2", "cyclopts", "rich", "pyroute2", "scipy")
    assert run(f"import sys, vaiven; print(*(name for name in {heavy} if name in sys.modules))") == []


def test_every_name_is_there_and_told() -> None:
    for name in vaiven.__all__:
        assert getattr(vaiven, name).__doc__, name
    assert set(vaiven.__all__) <= set(dir(vaiven))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = vaiven.nothing


def test_what_type_checkers_are_told_is_what_is_loaded() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    told = {(alias.asname, f"{node.module}.{alias.name}") for node in stub.body if isinstance(node, ast.ImportFrom)
            for alias in node.names}  # fmt: skip
    loaded = {(name, f"vaiven.{place}.{name}") for name, place in vaiven._PLACES.items()}
    assert told == loaded | {("lab", "vaiven.face.lab.lab")}
    assert {name for name, _ in told} == set(vaiven.__all__)
    assert (PACKAGE / "py.typed").is_file()


@pytest.mark.parametrize("first", ["import vaiven.lab.topology", "import vaiven.run.place", "pass"])
def test_a_lab_can_be_called_whatever_was_imported_before(first: str) -> None:
    script = f"{first}\nimport vaiven\nfrom vaiven.lab import topology\nprint(callable(vaiven.lab), topology.__name__)"
    assert run(script) == ["True", "vaiven.lab.topology"]


def test_the_public_names_of_a_notebook_are_documented() -> None:
    for kind in (vaiven.Run, vaiven.Runs, vaiven.Results, vaiven.Lab):
        public = [name for name in vars(kind) if not name.startswith("_")]
        lacking = [name for name in public if not getattr(kind, name).__doc__ and name != "name"]
        assert lacking == [], kind
