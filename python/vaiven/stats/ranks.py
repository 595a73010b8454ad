# SPDX-License-Identifier: BSD-3-Clause
"""Rank tests on launch medians, exact, with the shift that belongs to each.

Launch medians are skewed and have stray values, so ranks are the primary test. Paired by block: the signed-rank or
mean statistic under all 2^L flips of sign. Unpaired: Mann-Whitney under all choices of m of m + n. Values are log
times: a shift is the log of a ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, sqrt

import numpy as np
from numpy.typing import ArrayLike

from vaiven.stats.arrays import Floats, Ints, midranks, vector
from vaiven.stats.distributions import normal_cdf, normal_quantile
from vaiven.stats.estimate import Estimate, refusal

EXACT_FLIPS = 40  # pairs; two halves of 2^20 sums each fit in memory
EXACT_CHOICES = 400  # m * n up to which the Mann-Whitney distribution is counted


@dataclass(frozen=True, slots=True)
class RankTest:
    """Two-sided. p: None when refused. p_least: the smallest p that so many values can give. exact: counted, not
    approximated."""

    name: str
    p: float | None
    p_least: float
    exact: bool
    refused: str = ""


def sign_flip(differences: ArrayLike, statistic: str = "ranks") -> RankTest:
    """Do paired differences lie around zero? All 2^L flips of sign, counted exactly up to 40 pairs.

    statistic: "ranks" (signed-rank, midranks for ties: stray values do not matter) or "mean". Zeros are not ranked.
    Refused when all are zero. Raises VaivenError ("not-a-number", "too-few").
    """
    d = vector(differences, "differences")
    name = f"sign flip, {statistic}"
    p_least = 2.0 ** (1 - d.size)
    if not d.any():
        return RankTest(name, None, p_least, True, "no difference at all: identical data")
    weights = _signed_ranks(d) if statistic == "ranks" else d
    if d.size > EXACT_FLIPS:
        return RankTest(name, _flip_normal(weights), p_least, False)
    exact = _flip_ranks(weights) if statistic == "ranks" else _flip_exact(weights)
    return RankTest(name, exact, p_least, True)


def mann_whitney(first: ArrayLike, second: ArrayLike) -> RankTest:
    """Is one of two independent groups larger? Exact, ties and all, for up to m n = 400, normal beyond.

    Raises VaivenError ("not-a-number", "too-few").
    """
    a, b = vector(first, "first"), vector(second, "second")
    p_least = min(1.0, 2 / comb(a.size + b.size, a.size))
    both = np.concatenate((a, b))
    if both.min() == both.max():
        return RankTest("Mann-Whitney", None, p_least, True, "no difference at all: identical data")
    if a.size * b.size <= EXACT_CHOICES:
        return RankTest("Mann-Whitney", _choice_exact(np.round(2 * midranks(both)).astype(int), a.size), p_least, True)
    return RankTest("Mann-Whitney", _choice_normal(midranks(both), a.size), p_least, False)


def superiority(first: ArrayLike, second: ArrayLike) -> float:
    """P(first < second) + P(equal)/2, over all pairs: 0.5 when neither tends to be smaller."""
    a, b = vector(first, "first"), vector(second, "second")
    return float((a[:, None] < b).mean() + (a[:, None] == b).mean() / 2)


def shift_paired(differences: ArrayLike, level: float) -> Estimate:
    """Hodges-Lehmann: the median of all means of two differences, with the exact interval of the signed-rank test.

    Unit: that of the differences ("log"). Refused when there are too few for the level.
    """
    d = vector(differences, "differences")
    walsh = np.sort((d[:, None] + d)[np.triu_indices(d.size)] / 2)
    out = _rank_cut(_signed_rank_counts(d.size), (1 - level) / 2) if d.size <= 300 else _signed_rank_cut(d.size, level)
    return _cut_interval(walsh, out, level, d.size)


def shift_unpaired(first: ArrayLike, second: ArrayLike, level: float) -> Estimate:
    """Hodges-Lehmann: the median of all differences first - second, with the exact interval of Mann-Whitney."""
    a, b = vector(first, "first"), vector(second, "second")
    gaps = np.sort((a[:, None] - b).ravel())
    small = a.size * b.size <= EXACT_CHOICES
    out = _rank_cut(_whitney_counts(a.size, b.size), (1 - level) / 2) if small else _whitney_cut(a.size, b.size, level)
    return _cut_interval(gaps, out, level, min(a.size, b.size))


def _cut_interval(rising: Floats, out: int, level: float, n: int) -> Estimate:
    """The interval that leaves `out` values out at each end."""
    if out < 1:
        return refusal(f"too few: {n}, an interval of {100 * level:.0f} % needs more", "log", level)
    value = float(np.median(rising))
    return Estimate(value, float(rising[out - 1]), float(rising[-out]), "log", level)


def _rank_cut(counts: Floats, tail: float) -> int:
    """How many values to leave out: the largest k with P(T <= k - 1) <= tail."""
    return int(np.searchsorted(np.cumsum(counts) / counts.sum(), tail * (1 + 1e-12), side="right"))


@lru_cache(maxsize=64)
def _signed_rank_counts(n: int) -> Floats:
    """Ways of every signed-rank sum 0..n(n+1)/2, scaled so that it does not overflow."""
    counts = np.zeros(n * (n + 1) // 2 + 1)
    counts[0] = 1.0
    for rank in range(1, n + 1):
        counts[rank:] += counts[:-rank].copy()
        counts /= 2
    return counts


@lru_cache(maxsize=64)
def _whitney_counts(m: int, n: int) -> Floats:
    """Ways of every U from 0 to m n: the Gaussian binomial coefficient, by its product formula."""
    counts = np.zeros(m * n + 1)
    counts[0] = 1.0
    for i in range(1, min(m, n) + 1):
        high = max(m, n) + i
        for u in range(counts.size - 1, high - 1, -1):
            counts[u] -= counts[u - high]
        for u in range(i, counts.size):
            counts[u] += counts[u - i]
    return counts


def _choice_exact(doubled: Ints, chosen: int) -> float:
    """Of all choices of so many of these doubled ranks, the share with a sum as far from its mean as the first's."""
    ways = np.zeros((chosen + 1, int(doubled.sum()) + 1))  # of choosing so many with that sum
    ways[0, 0] = 1.0
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    away = np.abs(np.arange(ways.shape[1]) * doubled.size - chosen * doubled.sum())
    observed = abs(int(doubled[:chosen].sum()) * doubled.size - chosen * int(doubled.sum()))
    return float(ways[-1, away >= observed].sum() / ways[-1].sum())


def _choice_normal(ranks: Floats, chosen: int) -> float:
    """The same by the normal law, equal ranks counted, corrected for steps of a half."""
    n, others = ranks.size, ranks.size - chosen
    _, equal = np.unique(ranks, return_counts=True)
    spread = sqrt(chosen * others / 12 * (n + 1 - float((equal**3 - equal).sum()) / (n * (n - 1))))
    away = abs(float(ranks[:chosen].sum()) - chosen * (n + 1) / 2)
    return min(1.0, 2 * normal_cdf((0.5 - away) / spread))


def _signed_rank_cut(n: int, level: float) -> int:
    z = normal_quantile((1 + level) / 2)
    return int(n * (n + 1) / 4 - z * np.sqrt(n * (n + 1) * (2 * n + 1) / 24))


def _whitney_cut(m: int, n: int, level: float) -> int:
    z = normal_quantile((1 + level) / 2)
    return int(m * n / 2 - z * np.sqrt(m * n * (m + n + 1) / 12))


def _signed_ranks(d: Floats) -> Floats:
    """Doubled midranks of |d| with the sign of d: whole numbers, so that equal sums are equal. Zeros stay zero."""
    ranks = np.zeros(d.size)
    moved = d != 0
    ranks[moved] = np.round(2 * midranks(np.abs(d[moved])))
    return np.sign(d) * ranks


def _flip_ranks(weights: Floats) -> float:
    """As `_flip_exact`, for signed ranks: halves of whole numbers, whose sums are few enough to count one by one."""
    steps = np.rint(2 * np.abs(weights)).astype(np.int64)
    observed = round(abs(2 * weights.sum()))
    ways = np.zeros(int(steps.sum()) + 1)  # ways[k]: how many choices of the positive ones add up to k
    ways[0] = 1
    for step in steps:
        ways[step:] += ways[: ways.size - step].copy()
    sums = np.abs(2 * np.arange(ways.size) - steps.sum())
    return float(min(1.0, ways[sums >= observed].sum() / ways.sum()))


def _flip_exact(weights: Floats) -> float:
    """P(|sum of flipped weights| >= |sum|), counted by joining the sums of two halves.

    Sums that differ by rounding alone count as equal, in favour of no difference.
    """
    observed = abs(weights.sum())
    edge = observed - 1e-9 * np.abs(weights).sum()
    magnitudes = np.abs(weights)
    half = weights.size // 2
    left, right = _flip_sums(magnitudes[:half]), np.sort(_flip_sums(magnitudes[half:]))
    above = right.size - np.searchsorted(right, edge - left, side="left")
    below = np.searchsorted(right, -edge - left, side="right")
    return float(min(1.0, (above.sum() + below.sum()) / (left.size * right.size)))


def _flip_sums(magnitudes: Floats) -> Floats:
    sums = np.zeros(1)
    for m in magnitudes:
        sums = np.concatenate((sums - m, sums + m))
    return sums


def _flip_normal(weights: Floats) -> float:
    return 2 * normal_cdf(-abs(weights.sum()) / sqrt((weights**2).sum()))
