# SPDX-License-Identifier: BSD-3-Clause
"""The size from which on another stack is the cheaper one: where the verdicts say so, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vaiven.model.compare import Compared, matched
from vaiven.model.times import LaunchTimes
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.bootstrap import centres, interval, launch_draws, too_few
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN

RESAMPLES = 2000


@dataclass(frozen=True, eq=False)
class Crossover:
    """between: the sizes at which the two change places for certain, as `Compared.turns` has them. size: where the
    measured curves meet there, taken to be straight between measured sizes, bytes; refused unless there is one such
    place."""

    size: Estimate
    between: tuple[tuple[int, int], ...]


def crossover(
    compared: Compared, first: LaunchTimes, second: LaunchTimes, rng: np.random.Generator, level: float = 0.95
) -> Crossover:
    """compared: the verdicts on these two. Raises as `matched`."""
    a, b = matched(first, second, compared.paired)
    return Crossover(_met(compared, a, b, rng, level), compared.turns)


def _met(compared: Compared, a: LaunchTimes, b: LaunchTimes, rng: np.random.Generator, level: float) -> Estimate:
    if len(compared.turns) != 1:
        why = "they change places several times" if compared.turns else "they change places at no size for certain"
        return refusal(why, "byte", level)
    launches = min(a.launches.size, b.launches.size)
    if launches < LAUNCHES_MIN:
        return refusal(too_few(launches, unit=a.unit), "byte", level)
    low, high = compared.turns[0]
    sizes = a.sizes_bytes[(a.sizes_bytes >= low) & (a.sizes_bytes <= high)]
    a, b = a.at_sizes(sizes), b.at_sizes(sizes)
    draws = launch_draws(a.launches.size, RESAMPLES, rng)
    others = draws if compared.paired else launch_draws(b.launches.size, RESAMPLES, rng)
    value = float(meeting_point(sizes, (b.centre_ns() - a.centre_ns())[None])[0])
    drawn = meeting_point(sizes, centres(b.ns, others) - centres(a.ns, draws))
    return interval(drawn, value, "byte", launches, level)


def meeting_point(sizes_bytes: Ints, difference: Floats) -> Floats:
    """(B,) where each of (B, S) differences first passes zero, straight between sizes; NaN where it does not."""
    n, rows = sizes_bytes.astype(np.float64), np.arange(difference.shape[0])
    passed = np.sign(difference[:, 1:]) != np.sign(difference[:, :1])
    right = passed.argmax(axis=1) + 1
    before, after = difference[rows, right - 1], difference[rows, right]
    with np.errstate(divide="ignore", invalid="ignore"):
        met = n[right - 1] + (n[right] - n[right - 1]) * before / (before - after)
    return np.where(passed.any(axis=1), met, np.nan)
