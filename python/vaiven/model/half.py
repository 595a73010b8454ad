# SPDX-License-Identifier: BSD-3-Clause
"""The full rate of a stack and n_1/2, the size that gets half of it, both read off the measured curve.

Between two measured sizes the time is taken to be straight. No law is fitted: one straight line through all times may
pass far from the curve where half the rate is reached, and alpha/beta with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vaiven.model.line import usable
from vaiven.model.times import LaunchTimes
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.bootstrap import RESAMPLES, centres, launch_draws, spread_interval, too_few
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN
from vaiven.stats.median import median_interval

_RATE, _SIZE = "byte/s", "byte"


@dataclass(frozen=True, slots=True)
class HalfRate:
    """full: the rate of the largest message, byte/s. size: n_1/2, the smallest size that gets half of it, bytes.

    between: the neighbouring measured sizes that it lies between; None where there is no n_1/2.
    """

    full: Estimate
    size: Estimate
    between: tuple[int, int] | None


def half_rate(times: LaunchTimes, rng: np.random.Generator, level: float = 0.95) -> HalfRate:
    """Of one stack, one way. Never raises for data that cannot carry it: the refusals say what is missing."""
    assert times.direction.value == "one way"
    rest, _ = usable(times)
    launches, sizes = rest.launches.size, rest.sizes_bytes
    if launches < LAUNCHES_MIN or not sizes.size or not sizes[-1]:
        why = too_few(launches) if launches < LAUNCHES_MIN else "no message has a byte"
        return HalfRate(refusal(why, _RATE, level), refusal(why, _SIZE, level), None)
    centre, drawn = rest.centre_ns(), centres(rest.ns, launch_draws(launches, RESAMPLES, rng))
    full = _rate(median_interval(rest.ns[np.isfinite(rest.ns[:, -1]), -1], "ns", level), int(sizes[-1]))
    at = int(_reached(sizes, centre[None])[0])
    if at == 0:
        why = f"the smallest message of {sizes[0]} bytes has more than half of the full rate already"
        return HalfRate(full, refusal(why, _SIZE, level), None)
    half = float(half_size(sizes, centre[None])[0])
    size = spread_interval(half_size(sizes, drawn), half, _SIZE, launches, level, ratio=True)
    return HalfRate(full, size, (int(sizes[at - 1]), int(sizes[at])))


def _rate(time: Estimate, size_bytes: int) -> Estimate:
    """Of messages of that size, which take that time: the median of launches alone, whose interval needs no draws."""
    if time.value is None or time.low is None or time.high is None:
        return refusal(time.refused, _RATE, time.level)
    value, low, high = (size_bytes / ns * 1e9 for ns in (time.value, time.high, time.low))
    return Estimate(value, low, high, _RATE, time.level)


def half_size(sizes_bytes: Ints, ns: Floats) -> Floats:
    """(B,) where each curve of (B, S) times first has half the rate of its last point; its first size at the least."""
    n, rows = sizes_bytes.astype(np.float64), np.arange(ns.shape[0])
    right = np.maximum(_reached(sizes_bytes, ns), 1)
    left = right - 1
    slope = (ns[rows, right] - ns[rows, left]) / (n[right] - n[left])
    half = n[-1] / ns[:, -1] / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        found = half * (ns[rows, left] - slope * n[left]) / (1 - half * slope)
    return np.clip(found, n[left], n[right])


def _reached(sizes_bytes: Ints, ns: Floats) -> Ints:
    """(B,) index of the first size with at least half the rate of the last."""
    return np.argmax(2 * sizes_bytes / ns >= (sizes_bytes[-1] / ns[:, -1])[:, None], axis=1)
