# SPDX-License-Identifier: BSD-3-Clause
"""Where a series of runs changes for good: steps, told from chance by random orders of the same runs.

At each place the runs before are held against those after it by ranks, cell by cell; the largest of all these counts.
It is certain when at most 1 % of random orders of the same whole runs have one as large: cells that move together stay
together, and one run that stands out is no step. Each part is then looked at for further ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from vaiven.stats.arrays import Bools, Floats, midranks
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.ranks import shift_unpaired

SIDE_MIN = 5  # runs on each side of a step: fewer cannot be told from chance
ORDERS = 499
RESAMPLES = 200
_BATCH = 50  # orders that are looked at together


@dataclass(frozen=True, eq=False)
class Step:
    """at: the first run after it; low, high: with 95 % it is from `low` to `high`. p: of the random orders.

    cells: (S,) which changed for certain. ratios: (S,) after over before, between the steps around, with intervals.
    whole: the same of what all cells have in common.
    """

    at: int
    low: int
    high: int
    p: float
    cells: Bools
    ratios: tuple[Estimate, ...]
    whole: Estimate


def steps(ns: Floats, rng: np.random.Generator, alpha: float = 0.01) -> list[Step]:
    """Of (runs, cells) times in order of time, all of them numbers. None of fewer than 2 SIDE_MIN runs."""
    logs = np.log(ns)
    found = sorted(_search(logs, 0, rng, alpha))
    edges = [0, *(at for at, _ in found), len(logs)]
    return [
        _step(logs[edges[i] : edges[i + 2]], edges[i], at, p, rng, alpha) for i, (at, p) in enumerate(found)
    ]  # fmt: skip


def _search(logs: Floats, first: int, rng: np.random.Generator, alpha: float) -> list[tuple[int, float]]:
    """(the run after it, p) of the steps in these runs, of which the first has that number."""
    if len(logs) < 2 * SIDE_MIN:
        return []
    ranks = _scaled(np.apply_along_axis(midranks, 0, logs))
    scores = _scores(ranks[None])[0]
    at, observed = SIDE_MIN + int(scores.max(axis=1).argmax()), float(scores.max())
    p = _p(ranks, observed, rng, alpha)
    if p > alpha:
        return []
    return [
        *_search(logs[:at], first, rng, alpha), (first + at, p), *_search(logs[at:], first + at, rng, alpha)
    ]  # fmt: skip


def _scaled(values: Floats) -> Floats:
    """Each cell with mean 0 and deviation 1; one that does not vary is 0."""
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _scores(values: Floats) -> Floats:
    """(B, n, S) -> (B, places, S): how far the sum of the runs before each place is from 0, in its deviations."""
    n = values.shape[1]
    before = np.arange(SIDE_MIN, n - SIDE_MIN + 1)
    sums = values.cumsum(axis=1)[:, before - 1]
    return np.abs(sums) / np.sqrt(before * (n - before) / (n - 1))[:, None]


def _p(ranks: Floats, observed: float, rng: np.random.Generator, alpha: float) -> float:
    """The share of random orders with a score as large; as soon as it is above alpha for certain, what it is then."""
    larger = done = 0
    while done < ORDERS and larger <= alpha * ORDERS:
        count = min(_BATCH, ORDERS - done)
        orders = rng.permuted(np.tile(np.arange(len(ranks)), (count, 1)), axis=1)
        larger += int((_scores(ranks[orders]).max(axis=(1, 2)) >= observed * (1 - 1e-12)).sum())
        done += count
    return (1 + larger) / (1 + done)


def _step(part: Floats, first: int, at: int, p: float, rng: np.random.Generator, alpha: float) -> Step:
    """The step at run `at`, within the runs between the steps around it, of which the first has that number."""
    here = at - first
    before, after = part[:here], part[here:]
    centre = part - np.median(part, axis=0)
    whole = centre.mean(axis=1)
    low, high = _span(part, here, rng)
    return Step(
        at=at,
        low=first + low,
        high=first + high,
        p=p,
        cells=_certain(part, here, rng, alpha),
        ratios=tuple(_ratio(b, a, alpha) for a, b in zip(before.T, after.T, strict=True)),
        whole=_ratio(whole[here:], whole[:here], alpha),
    )


def _certain(part: Floats, here: int, rng: np.random.Generator, alpha: float) -> Bools:
    """(S,) the cells whose runs differ across that place more than any cell does in 99 of 100 random orders."""
    ranks = _scaled(np.apply_along_axis(midranks, 0, part))
    observed = np.abs(ranks[:here].sum(axis=0))
    most = [np.abs(ranks[rng.permutation(len(part))[:here]].sum(axis=0)).max() for _ in range(ORDERS)]
    return np.asarray(observed >= np.quantile(most, 1 - alpha) - 1e-9)


def _span(part: Floats, here: int, rng: np.random.Generator) -> tuple[int, int]:
    """Where the step is found again, in 95 % of series whose runs are drawn from those on either side of it."""
    n = len(part)
    draws = np.hstack([rng.integers(0, here, (RESAMPLES, here)), rng.integers(here, n, (RESAMPLES, n - here))])
    drawn = _scaled(part)[draws]
    scores = _scores(drawn - drawn.mean(axis=1, keepdims=True))
    places = SIDE_MIN + scores.max(axis=2).argmax(axis=1)
    low, high = np.quantile(places, [0.025, 0.975], method="nearest")
    return min(int(low), here), max(int(high), here)


def _ratio(after: Floats, before: Floats, alpha: float) -> Estimate:
    shift = shift_unpaired(after, before, 1 - alpha)
    if shift.value is None or shift.low is None or shift.high is None:
        return refusal(shift.refused, "ratio", shift.level)
    return Estimate(exp(shift.value), exp(shift.low), exp(shift.high), "ratio", shift.level)
