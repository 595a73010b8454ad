# SPDX-License-Identifier: BSD-3-Clause
"""Where a change is judged, properties are tried with the same examples each time; elsewhere with new ones."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = """
from hypothesis import given, strategies

tried = []

@given(strategies.integers())
def test_tries(number):
    tried.append(number)

def test_tells():
    print(f"tried {tried}")
"""


def _tried(pytester: pytest.Pytester, root: Path) -> str:
    pytester.makeconftest((root / "tests/conftest.py").read_text())
    pytester.makepyfile(test_examples=EXAMPLES)
    shown = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-s").stdout.str()
    return next(line for line in shown.splitlines() if "tried [" in line)


@pytest.mark.parametrize(("ci", "same"), [("true", True), ("", False)])
def test_examples_are_the_same_where_a_change_is_judged(
    pytester: pytest.Pytester, root: Path, monkeypatch: pytest.MonkeyPatch, ci: str, same: bool
) -> None:
    monkeypatch.setenv("CI", ci)
    assert (_tried(pytester, root) == _tried(pytester, root)) == same
