# SPDX-License-Identifier: BSD-3-Clause
"""Types are what they say: mypy, strictly, over the whole package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def complaints(root: Path, *files: Path) -> str:
    """What mypy says of these files, or of the package, with what it remembers of the last time; "" if nothing."""
    words = [sys.executable, "-m", "mypy", "--no-error-summary", "--no-color-output", "--config-file"]
    cache = ["--cache-dir", str(root / ".mypy_cache")]
    done = subprocess.run(
        [*words, str(root / "pyproject.toml"), *cache, *map(str, files)],
        capture_output=True, text=True, check=False, cwd=root,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def said(root: Path) -> str:
    """Of the package. A fixture, for without what it remembers mypy takes longer than a test may."""
    return complaints(root)


def test_the_package_has_the_types_that_it_says(said: str) -> None:
    assert said == ""


@pytest.mark.usefixtures("said")
def test_a_wrong_type_is_found(root: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def untyped(x):\n    return x\n\n\nsize_bytes: int = 'eight'\n")
    found = complaints(root, bad)
    assert "[no-untyped-def]" in found and "[assignment]" in found
