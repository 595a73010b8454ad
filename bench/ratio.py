# SPDX-License-Identifier: BSD-3-Clause
"""What every number of the bench is: a ratio of two things done in one run on one machine, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from vaiven.stats import ranks

LEVEL = 0.95


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
    """The exact binomial interval of the median: a pair of order statistics (of fewer than 6 values: the extremes)."""
    ordered = np.sort(values)
    count = len(ordered)
    if count < 6:
        return float(ordered[0]), float(ordered[-1])
    below = int(stats.binom.ppf((1 - LEVEL) / 2, count, 0.5))
    return float(ordered[max(below - 1, 0)]), float(ordered[min(count - below, count - 1)])


def ratio(what: str, pairs: Sequence[tuple[float, float]], most: float) -> Ratio:
    """Round i did pairs[i] = (ours, theirs) one after the other; holds if the interval's upper end is <= most.

    The Hodges-Lehmann estimate of the log ratio, paired by round, with the exact interval of the signed-rank test: the
    effect of rule 3, as `vaiven compare` states it. A tool's floor differs by some percent from launch to launch, for
    every tool alike, so the launch is what is repeated and the ratio is one of populations of launches; where tools do
    not differ, the log ratio of a round lies around 0 symmetrically, which is all that this interval asks for.
    """
    logs = np.log([ours / theirs for ours, theirs in pairs])
    shift = ranks.shift_paired(logs, LEVEL)
    middle, low, high = (
        float(np.exp(x)) if x is not None else float("nan") for x in (shift.value, shift.low, shift.high)
    )
    return Ratio(what, middle, low, high, len(logs), f"upper end <= {most:g}", high <= most)


def bound(what: str, values: list[float], most: float, unit: str) -> Ratio:
    """A plain bound: the median of the values against `most`, in that unit."""
    low, high = median_interval(np.asarray(values))
    median = float(np.median(values))
    return Ratio(what, median, low, high, len(values), f"median <= {most:g} {unit}", median <= most)
