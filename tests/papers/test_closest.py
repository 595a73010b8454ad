# SPDX-License-Identifier: BSD-3-Clause
"""What is nearest to the border of a claim is told with what was measured there, in the unit of its words."""

from __future__ import annotations

import numpy as np
import pytest

from vaiven.papers.claims import published
from vaiven.papers.closest import closest
from vaiven.papers.inequality import Comparison, Inequality
from vaiven.papers.judge import judge
from vaiven.stats.launches import LAUNCHES_MIN

from . import runs

SECONDS = {"a": 1e-3, "b": 3e-3}


def around(value: float) -> np.ndarray:
    """A value, and resamples of it."""
    return value * np.concatenate(([1.0], np.linspace(0.99, 1.01, 41)))


def told(text: str, **words: object) -> tuple[str, str, float, float]:
    """(comparison, unit, left, right) of the closest one."""
    made: list[Comparison] = []
    known = {"t": lambda host: around(SECONDS[host]), "bw": lambda _: around(1e6), "HOSTS": ("a", "b"), "LINK": 1.25e6}
    margins = np.atleast_1d(Inequality(text).margin(known | words, made))
    found = closest(made, float(margins[0]), LAUNCHES_MIN, ("fast",))
    assert found is not None
    return found.text, found.left.unit, found.left.number(), found.right.number()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("all(t(h) < 0.004 for h in HOSTS)", ("t('b') < 0.004", "ns", 3e6, 4e6)),
        ("not all(t(h) > 0.002 for h in HOSTS)", ("t('a') > 0.002", "ns", 1e6, 2e6)),
        ("0.5e-3 < t('a') < t('b')", ("0.0005 < t('a')", "ns", 5e5, 1e6)),
        ("bw('a') < 0.9 * LINK", ("bw('a') < 0.9 * LINK", "byte/s", 1e6, 1.125e6)),
        ("t('b') / t('a') < 4", ("t('b') / t('a') < 4", "", 3, 4)),
        ("2000 / t('a') < LINK", ("2000 / t('a') < LINK", "byte/s", 2e6, 1.25e6)),
        ("all(n / bw('a') < 0.001 for n in (8, 100))", ("100 / bw('a') < 0.001", "ns", 1e5, 1e6)),
        ("t('a') < 0.5 and held('a') < 1000", ("held('a') < 1000", "", 1024, 1000)),
        ("t('a') < 0.0011 and held('a') < 9000", ("t('a') < 0.0011", "ns", 1e6, 1.1e6)),
        ("t_fast('a') < 1", ("t_fast('a') < 1", "ns", 1e6, 1e9)),
    ],
)
def test_it_is_the_one_that_the_margin_is_of(text: str, what: tuple[str, str, float, float]) -> None:
    comparison, unit, *sides = told(text, t_fast=lambda host: around(SECONDS[host]), held=lambda _: 1024)
    assert (comparison, unit) == what[:2] and sides == pytest.approx(what[2:])


def test_each_verdict_that_is_no_fact_has_one_with_its_intervals() -> None:
    verdicts = [one for one in judge(published(), runs.FAITHFUL.candidates) if one.margin is not None]
    assert {one.claim.id for one in verdicts if one.closest is None} == {
        one.claim.id for one in verdicts if one.claim.kind == "fact"
    }
    by_id = {one.claim.id: one.closest for one in verdicts}
    assert by_id["A58"] and by_id["A58"].left.unit == "ns"
    assert by_id["A58"].right.number() == pytest.approx(839e6, rel=0.01)
