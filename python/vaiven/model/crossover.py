# SPDX-License-Identifier: BSD-3-Clause
"""The size from which on another stack is the cheaper one: by the lines, and by the measured points."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vaiven.model.line import SIZES_MIN, weighted_line
from vaiven.model.times import Direction, LaunchTimes, Statistic, common_sizes, paired, same_kind
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.bootstrap import centres, interval, launch_draws, too_few
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN

RESAMPLES = 2000
MISSING_MAX = 0.05  # share of resamples without a crossing, beyond which it is not certain that there is one


@dataclass(frozen=True, eq=False)
class Crossover:
    """size: where the two lines meet, (alpha_b - alpha_a)/(beta_a - beta_b), bytes; refused where they do not meet
    inside the measured sizes, or where the measured times do not change sides: lines that fit badly cross anywhere.
    between: every pair of neighbouring measured sizes between which the points change
    sides. below, above: which stack is faster at the smallest and at the largest common size."""

    first: str
    second: str
    direction: Direction
    statistic: Statistic
    size: Estimate
    between: tuple[tuple[int, int], ...]
    below: str
    above: str


def crossover(
    first: LaunchTimes,
    second: LaunchTimes,
    rng: np.random.Generator,
    level: float = 0.95,
    same_blocks: bool = True,
) -> Crossover:
    """Of two stacks. same_blocks: both come from one run, and its blocks pair them; launches of two runs are not pairs.

    Raises VaivenError: "different-kind", "no-common-size", "no-common-block"."""
    same_kind(first, second)
    sizes = common_sizes(first, second)
    a, b = first.at_sizes(sizes), second.at_sizes(sizes)
    if same_blocks:
        a, b = paired(a, b)
    ours, theirs = a.centre_ns(), b.centre_ns()
    whole = np.isfinite(ours) & np.isfinite(theirs)
    names = (first.stack, second.stack)
    sign = np.sign(theirs[whole] - ours[whole])
    between = _changes(sizes[whole], sign)
    return Crossover(
        first=names[0],
        second=names[1],
        direction=first.direction,
        statistic=first.statistic,
        size=_seen(_where(a, b, rng, level, same_blocks), between),
        between=between,
        below=_faster(names, sign[:1]),
        above=_faster(names, sign[-1:]),
    )


def meeting_point(ours: tuple[Floats, Floats], theirs: tuple[Floats, Floats]) -> Floats:
    """The size where two lines (alpha, beta) meet; NaN for parallel ones."""
    with np.errstate(divide="ignore", invalid="ignore"):
        met = (theirs[0] - ours[0]) / (ours[1] - theirs[1])
    return np.where(np.isfinite(met), met, np.nan)


def _where(a: LaunchTimes, b: LaunchTimes, rng: np.random.Generator, level: float, same_blocks: bool) -> Estimate:
    sizes, launches = a.sizes_bytes, min(a.launches.size, b.launches.size)
    if launches < LAUNCHES_MIN:
        return refusal(too_few(launches), "byte", level)
    if sizes.size < SIZES_MIN:
        return refusal(f"too few sizes: {sizes.size} of {SIZES_MIN}", "byte", level)
    met = float(meeting_point(weighted_line(sizes, a.centre_ns()), weighted_line(sizes, b.centre_ns())))
    draws = launch_draws(a.launches.size, RESAMPLES, rng)
    others = draws if same_blocks else launch_draws(b.launches.size, RESAMPLES, rng)
    drawn = meeting_point(*(weighted_line(sizes, centres(t.ns, d)) for t, d in ((a, draws), (b, others))))
    inside = (drawn > sizes[0]) & (drawn < sizes[-1])
    if not sizes[0] < met < sizes[-1]:
        return refusal(f"the lines do not cross between {sizes[0]} and {sizes[-1]} bytes", "byte", level)
    if 1 - inside.mean() > MISSING_MAX:
        return refusal("undetermined: the lines may not cross at all", "byte", level)
    return interval(np.clip(drawn, sizes[0], sizes[-1]), met, "byte", launches, level)


def _seen(size: Estimate, between: tuple[tuple[int, int], ...]) -> Estimate:
    """A crossing of the lines, if the points change sides within its interval."""
    if size.low is None or size.high is None:
        return size
    if any(low <= size.high and high >= size.low for low, high in between):
        return size
    why = f"the lines cross at {size.number():.0f} bytes, the measured times do not"
    return refusal(why, size.unit, size.level)


def _changes(sizes: Ints, sign: Floats) -> tuple[tuple[int, int], ...]:
    there = np.flatnonzero(sign)
    steps = [(i, j) for i, j in pairwise(there) if sign[i] != sign[j]]
    return tuple((int(sizes[i]), int(sizes[j])) for i, j in steps)


def _faster(names: tuple[str, str], sign: Floats) -> str:
    """The faster of the two; "" for a draw or when nothing was measured."""
    return {1.0: names[0], -1.0: names[1]}.get(float(sign[0]) if sign.size else 0.0, "")
