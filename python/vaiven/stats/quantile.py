# SPDX-License-Identifier: BSD-3-Clause
"""Quantiles of single messages, such as the 99th percentile: how many messages carry one, and how well it is known.

The largest of few messages is no 99th percentile, whatever it is called: a quantile is given only where BEYOND_MIN
messages are expected beyond it. Messages of one launch resemble each other, so its interval is that of Woodruff (1952):
the share of messages below the quantile varies from launch to launch, and the quantiles at both ends of that share's
interval are those of the quantile.
"""

from __future__ import annotations

import math

import numpy as np

from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.bootstrap import too_few
from vaiven.stats.distributions import student_quantile
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN, messages_needed


def pooled_quantile(ns: Floats, launches: Ints, share: float, unit: str, level: float = 0.95) -> Estimate:
    """What that share of all messages does not exceed, 0 < share < 1.

    ns: of each message, infinite where it was lost. launches: the number of its launch. Refused with too few messages
    or launches, and where lost messages, or the end of what was measured, lie within the interval.
    """
    needed = messages_needed(share)
    if ns.size < needed:
        return refusal(f"too few messages: {ns.size} of {needed}", unit, level)
    kinds, which = np.unique(launches, return_inverse=True)
    if kinds.size < LAUNCHES_MIN:
        return refusal(too_few(kinds.size), unit, level)
    rising = np.sort(ns)
    value = rising[_rank(share, ns.size)]
    reach = _reach(which, ns <= value, share, level)
    high = _rank(share + reach, ns.size)
    if high >= ns.size or not np.isfinite(rising[high]):
        why = "too few messages beyond it" if np.isfinite(rising[-1]) else "lost messages reach so far down"
        return refusal(why, unit, level)
    low = rising[max(0, _rank(share - reach, ns.size))]
    return Estimate(float(value), float(low), float(rising[high]), unit, level)


def _rank(share: float, count: int) -> int:
    """The smallest of `count` rising values that so large a share does not exceed, by its place from 0."""
    return math.ceil(share * count - 1e-9) - 1


def _reach(which: Ints, below: np.ndarray, share: float, level: float) -> float:
    """How far the share below moves to either side: by the launches' own, and never less than by chance alone."""
    sizes, found = np.bincount(which), np.bincount(which, below)
    k, n = sizes.size, which.size
    off = found - found.sum() / n * sizes
    error = math.sqrt(k / (k - 1) * float(np.sum(off**2))) / n
    chance = math.sqrt(share * (1 - share) / n)
    return -student_quantile((1 - level) / 2, k - 1) * max(error, chance)
