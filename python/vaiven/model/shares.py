# SPDX-License-Identifier: BSD-3-Clause
"""Processor or card: what of a message is the hosts' work and what the wire's, by size, and where the wire takes over.

What the wire takes is computed from the frames; all above is the hosts': software and cards. Where both are as long as
each other, paper D's question changes its answer: below, a faster processor helps more, above, a faster network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vaiven.model.times import LaunchTimes
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.bootstrap import RESAMPLES, centres, interval, launch_draws, too_few
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN


@dataclass(frozen=True, eq=False)
class Shares:
    """hosts, wire: (S,) of the whole time of a message of each size; they add up to 1, and the hosts' is below 0 where
    a message is faster than its wire. takes_over: the size at which both are as long, between measured ones; refused
    where one of the two leads at all sizes.
    """

    sizes_bytes: Ints
    hosts: Floats
    wire: Floats
    takes_over: Estimate


def shares(times: LaunchTimes, rng: np.random.Generator) -> Shares | None:
    """Of one stack between two hosts; None where the wire's time is not known."""
    one_way = times.one_way()
    if one_way.wire_ns is None:
        return None
    whole = one_way.centre_ns()
    wire = one_way.wire_ns / whole
    launches = one_way.launches.size
    return Shares(one_way.sizes_bytes, 1 - wire, wire, _takes_over(one_way, launches, whole, rng))


def _takes_over(times: LaunchTimes, launches: int, whole: Floats, rng: np.random.Generator) -> Estimate:
    assert times.wire_ns is not None
    value = _crossing(times.sizes_bytes, times.wire_ns / whole)
    if not np.isfinite(value):
        leads = "the wire leads" if times.wire_ns[-1] >= 0.5 * whole[-1] else "the hosts lead"
        return refusal(f"{leads} at every size", "byte")
    if launches < LAUNCHES_MIN:
        return refusal(too_few(launches), "byte")
    drawn = centres(times.ns, launch_draws(launches, RESAMPLES, rng))
    found = np.array([_crossing(times.sizes_bytes, times.wire_ns / one) for one in drawn])
    return interval(found, value, "byte", launches)


def _crossing(sizes_bytes: Ints, wire: Floats) -> float:
    """Where the share of the wire goes through one half for the last time, straight between two sizes; NaN if never."""
    with np.errstate(invalid="ignore"):
        below = np.flatnonzero((wire[:-1] < 0.5) & (wire[1:] >= 0.5))
    if not below.size:
        return float("nan")
    at = int(below[-1])
    part = (0.5 - wire[at]) / (wire[at + 1] - wire[at])
    return float(sizes_bytes[at] + part * (sizes_bytes[at + 1] - sizes_bytes[at]))
