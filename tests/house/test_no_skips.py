# SPDX-License-Identifier: BSD-3-Clause
"""Only tests/conftest.py skips: a test says by a marker what it needs."""

from __future__ import annotations

import re
from pathlib import Path


def skippers(files: dict[str, str]) -> list[str]:
    """The tests, by name, that skip themselves instead of saying by a marker what they need."""
    return [name for name, text in files.items() if re.search(r"\bpytest\.(skip|importorskip|mark\.skip)", text)]


def test_tests_say_what_they_need_and_do_not_skip_themselves(py_files: list[Path], root: Path) -> None:
    allowed = {root / "tests/conftest.py", root / "tests/tools/test_skips.py", Path(__file__)}
    tests = {str(f): f.read_text() for f in py_files if f.is_relative_to(root / "tests") and f not in allowed}
    assert skippers(tests) == []


def test_a_test_that_skips_itself_is_found() -> None:
    bad = {"a": "@pytest.mark.skip(reason='')", "b": "x = pytest.importorskip('x')", "c": "@pytest.mark.skipif(True)"}
    assert skippers({**bad, "d": "skip()"}) == ["a", "b", "c"]
