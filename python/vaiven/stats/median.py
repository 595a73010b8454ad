# SPDX-License-Identifier: BSD-3-Clause
"""The median and its interval from order statistics: no shape is assumed, only independent launches.

Two order statistics enclose the median with a probability that is known exactly, but whole ranks are coarse: of 16
values they give 97.9 or 92.3 %, never 95. Between them the ends are interpolated as Hettmansperger and Sheather (1986)
found it to be nearly exact for any shape.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from vaiven.stats.arrays import Floats, vector
from vaiven.stats.distributions import fair_coin_cdf
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import launches_needed


def interval_ranks(n: int, level: float) -> tuple[int, int] | None:
    """(low, high) ranks, from 1, of the narrowest symmetric interval with at least that level; None when n is too few.

    The largest low with P(Bin(n, 1/2) <= low - 1) <= (1 - level)/2, and its mirror image.
    """
    tail = fair_coin_cdf(n)
    low = int(np.searchsorted(tail, (1 - level) / 2 * (1 + 1e-12), side="right"))
    return (low, n + 1 - low) if low >= 1 else None


def bounds(values: Sequence[float] | Floats, level: float) -> tuple[float, float] | None:
    """(low, high) of the median's interval, None when there are too few; the stopping rule looks at it.

    Infinity is a value: that of a launch which lost more than half of its messages.
    """
    ranks = interval_ranks(len(values), level)
    if ranks is None:
        return None
    n, rank = len(values), ranks[0]
    rising = np.sort(np.asarray(values, dtype=np.float64))
    low, high = rising[rank - 1], rising[n - rank]
    if inwards := _inwards(n, rank, level):
        low, high = (1 - inwards) * low + inwards * rising[rank], (1 - inwards) * high + inwards * rising[n - 1 - rank]
    return float(low), float(high)


def median_interval(values: ArrayLike, unit: str, level: float = 0.95) -> Estimate:
    """The median of independent values (launch medians) with its interval.

    Refused with too few values, and when all are equal to the last digit. Raises VaivenError ("not-a-number").
    """
    given = vector(values, "launch values")
    found = bounds(given, level)
    if found is None:
        return refusal(f"too few launches: {given.size} of {launches_needed(level)}", unit, level)
    if given.min() == given.max():
        return refusal("constant data: every launch gave the same value", unit, level)
    return Estimate(float(np.median(given)), *found, unit, level)


def _inwards(n: int, rank: int, level: float) -> float:
    """How far towards the next rank, 0 to 1, the ends of an interval lie that has a little more than that level."""
    if 2 * (rank + 1) > n + 1:
        return 0.0
    outer, inner = (1 - 2 * fair_coin_cdf(n)[k - 1] for k in (rank, rank + 1))
    spare = max(outer - level, 0.0) / (outer - inner)
    return float((n - rank) * spare / (rank + (n - 2 * rank) * spare))
