# SPDX-License-Identifier: BSD-3-Clause
"""The formatters have the last word: clang-format for C, ruff for Python (`make format` mends what fails here)."""

from __future__ import annotations

import subprocess
from pathlib import Path

PYTHON = ["python", "tests", "bench", "docs"]


def _run(command: list, root: Path) -> tuple[int, str]:
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def _clang_format(files: list[Path], root: Path) -> tuple[int, str]:
    style = f"-style=file:{root / '.clang-format'}"
    return _run(["clang-format", style, "--dry-run", "--Werror", *files], root)


def _ruff(verb: list[str], what: list, root: Path) -> tuple[int, str]:
    return _run(["ruff", *verb, "--no-cache", "--config", root / "pyproject.toml", *what], root)


def test_c_is_formatted(c_files: list[Path], root: Path) -> None:
    assert c_files
    status, text = _clang_format(c_files, root)
    assert status == 0, text


def test_python_is_formatted(root: Path) -> None:
    status, text = _ruff(["format", "--check"], PYTHON, root)
    assert status == 0, text


def test_python_is_lint_free(root: Path) -> None:
    status, text = _ruff(["check"], PYTHON, root)
    assert status == 0, text


def test_bad_format_is_found(tmp_path: Path, root: Path) -> None:
    c, py = tmp_path / "bad.c", tmp_path / "bad.py"
    c.write_text("int  f( void ){return 1 ;}\n")
    py.write_text("import os\nx = { 'a':1 }\n")
    assert _clang_format([c], root)[0] != 0
    assert _ruff(["format", "--check"], [py], root)[0] == 1
    status, text = _ruff(["check"], [py], root)
    assert status == 1 and "F401" in text
