# SPDX-License-Identifier: BSD-3-Clause
"""Welch's t test of two means with its interval: the test of the published comparisons, beside the rank verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vaiven.stats.arrays import vector
from vaiven.stats.distributions import student_cdf, student_quantile


@dataclass(frozen=True, slots=True)
class Welch:
    """t, degrees of freedom (Welch and Satterthwaite), two-sided p, and the interval of mean(first) - mean(second).

    All None when refused. Units: those of the data; of log times a difference is the log of a ratio.
    """

    t: float | None
    df: float | None
    p: float | None
    difference: float | None
    low: float | None
    high: float | None
    level: float
    refused: str = ""


def welch(first: ArrayLike, second: ArrayLike, level: float = 0.99) -> Welch:
    """Two independent groups, unequal variances and counts allowed.

    Refused below 2 values a group and for constant groups. Raises VaivenError ("not-a-number").
    """
    a, b = vector(first, "first"), vector(second, "second")
    if min(a.size, b.size) < 2:
        return _refused(f"too few launches: {min(a.size, b.size)} of 2", level)
    share_a, share_b = a.var(ddof=1) / a.size, b.var(ddof=1) / b.size
    error = float(np.sqrt(share_a + share_b))
    if error <= 1e-14 * max(abs(a.mean()), abs(b.mean())):
        return _refused("constant data: no spread to compare with", level)
    df = float((share_a + share_b) ** 2 / (share_a**2 / (a.size - 1) + share_b**2 / (b.size - 1)))
    difference = float(a.mean() - b.mean())
    t = difference / error
    reach = student_quantile((1 + level) / 2, df) * error
    p = 2 * student_cdf(-abs(t), df)
    return Welch(t, df, p, difference, difference - reach, difference + reach, level)


def _refused(why: str, level: float) -> Welch:
    return Welch(None, None, None, None, None, None, level, why)
