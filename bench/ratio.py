# SPDX-License-Identifier: BSD-3-Clause
"""What every number of the bench is: a ratio of two things done in one run on one machine, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from vaiven.stats import ranks

LEVEL = 0.95
ROUNDS_MIN = 6  # fewer have no interval of that level


@dataclass(frozen=True)
class Ratio:
    """ours / theirs over the rounds of one run: the middle, and the ends of its 95 % interval."""

    what: str
    middle: float
    low: float
    high: float
    rounds: int
    goal: str
    holds: bool


def median_interval(values: np.ndarray) -> tuple[float, float]:
    """The exact binomial interval of the median, order statistics; of fewer than ROUNDS_MIN values the extremes."""
    ordered = np.sort(values)
    count = len(ordered)
    if count < ROUNDS_MIN:
        return float(ordered[0]), float(ordered[-1])
    below = int(scipy.stats.binom.ppf((1 - LEVEL) / 2, count, 0.5))
    return float(ordered[max(below - 1, 0)]), float(ordered[min(count - below, count - 1)])


def ratio(what: str, pairs: Sequence[tuple[float, float]], most: float) -> Ratio:
    """Round i did pairs[i] = (ours, theirs) one after the other; holds if the interval's upper end is <= most.

    The Hodges-Lehmann estimate of the log ratio, paired by round, with the exact interval of the signed-rank test: the
    effect of rule 3, as `vaiven compare` states it. A tool's floor differs by some percent from launch to launch, for
    every tool alike, so the launch is what is repeated and the ratio is one of populations of launches; where tools do
    not differ, the log ratio of a round lies around 0 symmetrically, which is all that this interval asks for.
    """
    middle, low, high = _estimate(pairs)
    return Ratio(what, middle, low, high, len(pairs), f"upper end <= {most:g}", high <= most)


def _estimate(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """(middle, ends of the interval); of fewer than ROUNDS_MIN rounds the median, the lowest and the highest."""
    logs = np.log([ours / theirs for ours, theirs in pairs])
    shift = ranks.shift_paired(logs, LEVEL)
    found = (shift.value, shift.low, shift.high)
    if len(logs) < ROUNDS_MIN or None in found:
        found = (float(np.median(logs)), float(logs.min()), float(logs.max()))
    middle, low, high = (float(np.exp(x)) for x in found)
    return middle, low, high


def within(what: str, pairs: Sequence[tuple[float, float]], expected: float, margin: float) -> Ratio:
    """The same of a ratio that is known beforehand: it says that the lab, and the way of measuring, are right."""
    middle, low, high = _estimate(pairs)
    holds = abs(middle - expected) <= margin
    return Ratio(what, middle, low, high, len(pairs), f"{expected:g} +- {margin:.2g}", holds)


def anchor(what: str, pairs: Sequence[tuple[float, float]], known: float | None) -> Ratio:
    """The same of what is not ours: nothing to reach, beside what it was when the goals were set."""
    middle, low, high = _estimate(pairs)
    return Ratio(what, middle, low, high, len(pairs), f"anchor {known:g}" if known else "-", True)


def highest(what: str, values: Sequence[float], most: float, unit: str) -> Ratio:
    """A difference, one of each round, whose interval shall not reach above `most`, in that unit."""
    low, high = median_interval(np.asarray(values))
    goal = f"upper end <= {most:g} {unit}".rstrip()
    return Ratio(what, float(np.median(values)), low, high, len(values), goal, high <= most)


def bound(what: str, values: list[float], most: float, unit: str) -> Ratio:
    """A plain bound: the median of the values against `most`, in that unit."""
    low, high = median_interval(np.asarray(values))
    median = float(np.median(values))
    return Ratio(what, median, low, high, len(values), f"median <= {most:g} {unit}", median <= most)
