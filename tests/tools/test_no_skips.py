# SPDX-License-Identifier: BSD-3-Clause
"""Only tests/conftest.py skips, and where CI is set a skip is a failure, whoever asked for it: it sees to that too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SKIPPED = """
import pytest

@pytest.mark.skip(reason="no root here")
def test_marked(): pass

def test_called():
    pytest.skip("no lab here")

@pytest.fixture
def unable():
    pytest.skip("no browser here")

def test_by_fixture(unable): pass

@pytest.mark.xfail
def test_expected(): assert False

def test_passes(): pass
"""
SKIPPED_MODULE = "import pytest\npytest.skip('no module here', allow_module_level=True)\n"


def _outcomes(pytester: pytest.Pytester, root: Path, **tests: str) -> dict[str, int]:
    pytester.makeconftest((root / "tests/conftest.py").read_text())
    pytester.makepyfile(**tests)
    return pytester.runpytest_subprocess("-p", "no:cacheprovider").parseoutcomes()


def test_skips_fail_in_ci(pytester: pytest.Pytester, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    outcomes = _outcomes(pytester, root, test_skipped=SKIPPED)
    assert "skipped" not in outcomes
    assert outcomes.pop("failed", 0) + outcomes.pop("errors", 0) == 3
    assert outcomes == {"passed": 1, "xfailed": 1}


def test_a_skipped_module_fails_in_ci(pytester: pytest.Pytester, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert "errors" in _outcomes(pytester, root, test_module=SKIPPED_MODULE)


def test_skips_are_skips_elsewhere(pytester: pytest.Pytester, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    outcomes = _outcomes(pytester, root, test_skipped=SKIPPED, test_module=SKIPPED_MODULE)
    assert outcomes == {"passed": 1, "xfailed": 1, "skipped": 4}


def skippers(files: dict[str, str]) -> list[str]:
    """The tests, by name, that skip themselves instead of saying by a marker what they need."""
    return [name for name, text in files.items() if re.search(r"\bpytest\.(skip|importorskip|mark\.skip)", text)]


def test_tests_say_what_they_need_and_do_not_skip_themselves(root: Path) -> None:
    ours = {root / "tests/conftest.py", Path(__file__)}
    tests = {str(f): f.read_text() for f in (root / "tests").rglob("*.py") if f not in ours}
    assert skippers(tests) == []


def test_a_test_that_skips_itself_is_found() -> None:
    bad = {"a": SKIPPED, "b": "x = pytest.importorskip('x')", "c": "@pytest.mark.skipif(True)", "d": "skip()"}
    assert skippers(bad) == ["a", "b", "c"]
