# SPDX-License-Identifier: BSD-3-Clause
"""Rates: payload over one-way time, in units that say which power they mean.

MB is 10^6 bytes, MiB is 2^20. The asymptote is r_inf of the line; `Line.size_at_share` says from which size on a
share of it is reached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vaiven.errors import VaivenError
from vaiven.model.line import Line
from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.model.units import scale
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.bootstrap import band, centres, launch_draws, too_few
from vaiven.stats.estimate import Estimate
from vaiven.stats.launches import LAUNCHES_MIN


@dataclass(frozen=True, eq=False)
class RateCurve:
    """Rate by size of one stack, with a pointwise interval, and the asymptote of its line.

    rate, low, high: (S,) in `unit`; low and high are NaN where `refused` says why. asymptote: r_inf in `unit`.
    near_asymptote: the smallest measured size from which on the rate stays above `share` of it, None if never.
    """

    stack: str
    statistic: Statistic
    unit: str
    sizes_bytes: Ints
    rate: Floats
    low: Floats
    high: Floats
    asymptote: Estimate
    share: float
    near_asymptote: int | None
    refused: str = ""


def rates(
    times: LaunchTimes, line: Line, rng: np.random.Generator, unit: str = "MB/s", share: float = 0.9
) -> RateCurve:
    """The curve of those launches. Raises VaivenError: "round-trip", "different-kind", "unlike-units"."""
    if Direction.ROUND_TRIP in (times.direction, line.direction):
        raise VaivenError("a rate is bytes over the one-way time", "convert one_way()", code="round-trip")
    if times.statistic is not line.statistic:
        raise VaivenError(f"times are {times.statistic}, the line {line.statistic}", code="different-kind")
    factor = byte_per_s_in(unit)
    centre = times.centre_ns()
    rate = 1e9 * times.sizes_bytes / centre * factor
    low, high, refused = _band(times, rng)
    asymptote = line.r_inf.scaled(factor, unit)
    return RateCurve(
        stack=times.stack,
        statistic=times.statistic,
        unit=unit,
        sizes_bytes=times.sizes_bytes,
        rate=rate,
        low=1e9 * times.sizes_bytes / high * factor,
        high=1e9 * times.sizes_bytes / low * factor,
        asymptote=asymptote,
        share=share,
        near_asymptote=_from_size(times.sizes_bytes, rate, share * asymptote.number()) if asymptote.known else None,
        refused=refused,
    )


def byte_per_s_in(unit: str) -> float:
    """What one byte/s is in `unit`. Raises VaivenError: "unknown-unit", "unlike-units"."""
    (ours, dimension), (theirs, other) = scale("byte/s"), scale(unit)
    if dimension != other:
        raise VaivenError(f"{unit} is not a rate", "such as MB/s, MiB/s, Mb/s", code="unlike-units")
    return ours / theirs


def _band(times: LaunchTimes, rng: np.random.Generator, level: float = 0.95) -> tuple[Floats, Floats, str]:
    """(low_ns, high_ns, refused) of the centre at each size."""
    if times.launches.size < LAUNCHES_MIN:
        nothing = np.full(times.sizes_bytes.size, np.nan)
        return nothing, nothing, too_few(times.launches.size)
    launches = times.launches.size
    return *band(centres(times.ns, launch_draws(launches, 1000, rng)), launches, level), ""


def _from_size(sizes_bytes: Ints, rate: Floats, wanted: float) -> int | None:
    below = np.flatnonzero(~(rate >= wanted))
    start = int(below[-1]) + 1 if below.size else 0
    return int(sizes_bytes[start]) if start < sizes_bytes.size else None
