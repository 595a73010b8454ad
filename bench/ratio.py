# SPDX-License-Identifier: BSD-3-Clause
"""What every number of the bench is: a ratio of two things done in one run on one machine, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95


@dataclass(frozen=True)
class Ratio:
    """ours / theirs over the rounds of one run: the median, and the ends of its 95 % interval."""

    what: str
    median: float
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


def ratio(what: str, ours: list[float], theirs: list[float], most: float) -> Ratio:
    """Round i did ours[i] and theirs[i] one after the other; holds if the interval's upper end is <= most."""
    ratios = np.asarray(ours) / np.asarray(theirs)
    low, high = median_interval(ratios)
    return Ratio(what, float(np.median(ratios)), low, high, len(ratios), f"upper end <= {most:g}", high <= most)


def bound(what: str, values: list[float], most: float, unit: str) -> Ratio:
    """A plain bound: the median of the values against `most`, in that unit."""
    low, high = median_interval(np.asarray(values))
    median = float(np.median(values))
    return Ratio(what, median, low, high, len(values), f"median <= {most:g} {unit}", median <= most)
