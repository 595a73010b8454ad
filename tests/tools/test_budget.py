# SPDX-License-Identifier: BSD-3-Clause
"""A test that takes long is marked so, or fails: tests/conftest.py sees to that, whatever else the machine does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import conftest

LONG = """
import time

import pytest

def busy():
    until = time.process_time() + 0.6
    while time.process_time() < until:
        pass

def test_long(): busy()

@pytest.mark.slow
def test_slow(): busy()

def test_quick(): pass

def test_wrong():
    busy()
    assert False, "wrong"
"""


def test_a_long_test_fails_unless_it_is_marked(
    pytester: pytest.Pytester, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_BUDGET_S", "0.3")
    pytester.makeconftest((root / "tests/conftest.py").read_text())
    pytester.makepyfile(LONG)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    assert done.parseoutcomes() | {"warnings": 0} == {"passed": 2, "failed": 2, "warnings": 0}
    done.stdout.fnmatch_lines(["took 0.* s of 0.3: make it shorter, or mark it slow", "*AssertionError: wrong"])


@pytest.mark.parametrize(
    ("wall_s", "busy_s", "waited_s", "spent_s"), [(5, 1, 0, 5), (50, 4, 48, 4), (2, 3, 0, 3), (20, 1, 5, 15)]
)
def test_what_others_take_is_not_counted(wall_s: float, busy_s: float, waited_s: float, spent_s: float) -> None:
    assert conftest.spent_s(wall_s, busy_s, waited_s) == spent_s


def test_this_process_uses_the_processor() -> None:
    before = conftest.processor_s()
    while conftest.processor_s() < before + 0.01:
        pass
    assert conftest.stalled_s() >= 0
