# SPDX-License-Identifier: BSD-3-Clause
"""The gain of one stack over another, by one stated definition each for time and for rate.

Time: (t_old - t_new)/t_old, the share of the old time that is saved. Rate: r_new/r_old - 1 = t_old/t_new - 1. They
are not the same number: 20 % less time is 25 % more rate. `rate_gain` and `time_gain` convert exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vaiven.errors import VaivenError
from vaiven.model.times import LaunchTimes, common_sizes, paired, same_kind
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.bootstrap import band, centres, launch_draws, too_few
from vaiven.stats.launches import LAUNCHES_MIN


@dataclass(frozen=True, eq=False)
class Gain:
    """By size, shares (0.2 is 20 %), time with an interval by bootstrap over blocks: NaN where `refused` says why."""

    new: str
    old: str
    sizes_bytes: Ints
    time: Floats
    time_low: Floats
    time_high: Floats
    rate: Floats
    refused: str = ""


def gain(
    new: LaunchTimes, old: LaunchTimes, rng: np.random.Generator, level: float = 0.95, same_blocks: bool = True
) -> Gain:
    """Of two stacks. same_blocks: both come from one run, and its blocks pair them; launches of two runs are not pairs.

    Raises VaivenError: "different-kind", "no-common-size", "no-common-block"."""
    same_kind(new, old)
    sizes = common_sizes(new, old)
    ours, theirs = new.at_sizes(sizes), old.at_sizes(sizes)
    if same_blocks:
        ours, theirs = paired(ours, theirs)
    time = time_saved(ours.centre_ns(), theirs.centre_ns())
    low = high = np.full(sizes.size, np.nan)
    launches = min(ours.launches.size, theirs.launches.size)
    refused = too_few(launches, unit=new.unit) if launches < LAUNCHES_MIN else ""
    if not refused:
        draws = launch_draws(ours.launches.size, 1000, rng)
        others = draws if same_blocks else launch_draws(theirs.launches.size, 1000, rng)
        drawn = time_saved(centres(ours.ns, draws), centres(theirs.ns, others))
        low, high = band(drawn, launches, level)
    return Gain(new.stack, old.stack, sizes, time, low, high, rate_gain(time), refused)


def time_saved(new_ns: ArrayLike, old_ns: ArrayLike) -> Floats:
    """(t_old - t_new)/t_old. Raises VaivenError ("bad-times") for times that are zero or negative."""
    new, old = np.asarray(new_ns, dtype=np.float64), np.asarray(old_ns, dtype=np.float64)
    if (new <= 0).any() or (old <= 0).any():
        raise VaivenError("times that are zero or negative have no gain", code="bad-times")
    return (old - new) / old


def rate_gain(time_gain_share: ArrayLike) -> Floats:
    """The rate gain that a time gain is: g/(1 - g)."""
    g = np.asarray(time_gain_share, dtype=np.float64)
    return g / (1 - g)


def time_gain(rate_gain_share: ArrayLike) -> Floats:
    """The time gain that a rate gain is: r/(1 + r)."""
    r = np.asarray(rate_gain_share, dtype=np.float64)
    return r / (1 + r)
