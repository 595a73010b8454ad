# SPDX-License-Identifier: BSD-3-Clause
"""The median and its exact interval from order statistics: no shape is assumed, only independent launches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from vaiven.stats.arrays import Floats, vector
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import launches_needed


def interval_ranks(n: int, level: float) -> tuple[int, int] | None:
    """(low, high) ranks, from 1, of the narrowest symmetric interval with at least that level; None when n is too few.

    The largest low with P(Bin(n, 1/2) <= low - 1) <= (1 - level)/2, and its mirror image.
    """
    tail = special.bdtr(np.arange(n + 1), n, 0.5)
    low = int(np.searchsorted(tail, (1 - level) / 2 * (1 + 1e-12), side="right"))
    return (low, n + 1 - low) if low >= 1 else None


def bounds(values: Sequence[float] | Floats, level: float) -> tuple[float, float] | None:
    """(low, high) of the median's exact interval, None when there are too few; the stopping rule looks at it.

    Infinity is a value: that of a launch which lost more than half of its messages.
    """
    ranks = interval_ranks(len(values), level)
    if ranks is None:
        return None
    rising = np.sort(np.asarray(values, dtype=np.float64))
    return float(rising[ranks[0] - 1]), float(rising[ranks[1] - 1])


def median_interval(values: ArrayLike, unit: str, level: float = 0.95) -> Estimate:
    """The median of independent values (launch medians) with its exact interval.

    Refused with too few values, and when all are equal to the last digit. Raises VaivenError ("not-a-number").
    """
    given = vector(values, "launch values")
    found = bounds(given, level)
    if found is None:
        return refusal(f"too few launches: {given.size} of {launches_needed(level)}", unit, level)
    if given.min() == given.max():
        return refusal("constant data: every launch gave the same value", unit, level)
    return Estimate(float(np.median(given)), *found, unit, level)
