# SPDX-License-Identifier: BSD-3-Clause
"""Is A faster than B? One word per comparison, from launch medians, that survives being one of many.

Primary: a rank test on log launch times, paired by block when both ran in the same blocks (exact sign flips of
ranks), else Mann-Whitney. The p values of all comparisons tested together are adjusted before any word is said.
Effect: the Hodges-Lehmann ratio with its exact interval. Equivalent: that interval, at 1 - 2 alpha, lies inside
+-delta (two one-sided tests, Schuirmann 1987). Welch's t on log times stands beside it and decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, exp, log, log1p

import numpy as np

from vaiven.errors import VaivenError
from vaiven.stats.arrays import Floats
from vaiven.stats.distributions import normal_quantile
from vaiven.stats.estimate import Estimate
from vaiven.stats.many import benjamini_hochberg, benjamini_yekutieli
from vaiven.stats.planner import RANK_LOSS, launches_to_reach
from vaiven.stats.ranks import RankTest, mann_whitney, shift_paired, shift_unpaired, sign_flip, superiority
from vaiven.stats.welch import Welch, welch

LAUNCHES_MAX = 1000  # beyond it "more launches" is no advice
POWER = 0.8  # with which the advised number of launches would settle it


class Word(StrEnum):
    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Rules:
    """alpha: level of the adjusted rank test. delta: half-width of "the same", relative. dependent: adjust for any
    dependence between comparisons (Benjamini-Yekutieli) instead of positive dependence (Benjamini-Hochberg). unit: what
    was repeated, "launches" of a run or whole "runs"."""

    alpha: float = 0.01
    delta: float = 0.02
    dependent: bool = False
    unit: str = "launches"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one comparison of two sets of launch times shows, before it is judged among others.

    ratio: first over second (below 1: the first is faster), level 1 - alpha. ratio_tost: the same at 1 - 2 alpha.
    spread_log: robust deviation of one log difference (paired) or of one log time (unpaired). p_faster:
    P(a launch of the first is faster).
    """

    launches: tuple[int, int]
    paired: bool
    test: RankTest
    ratio: Estimate
    ratio_tost: Estimate
    welch: Welch
    p_faster: float
    spread_log: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word, with everything that it stands on.

    p_adjusted: None when the test was refused. negligible: different, but inside +-delta. more_launches: how many
    more of each would likely settle an inconclusive one; None when it is settled or when 1000 would not. why: the
    reason for "inconclusive" in words, else "".
    """

    word: Word
    evidence: Evidence
    p_adjusted: float | None
    negligible: bool
    more_launches: int | None
    why: str = ""

    @property
    def different(self) -> bool:
        return self.word in (Word.FASTER, Word.SLOWER)


def weigh(first_ns: Floats, second_ns: Floats, paired: bool, rules: Rules = Rules()) -> Evidence:
    """Launch times of two stacks at one size; paired: row i of both is the same block. NaN rows are left out.

    Raises VaivenError: "bad-shape" (paired and unequal counts), "too-few" (nothing left), "bad-times".
    """
    first, second = _clean(first_ns, second_ns, paired)
    a, b = np.log(first), np.log(second)
    test = sign_flip(a - b) if paired else mann_whitney(a, b)
    if min(a.size, b.size) > 1 and not np.ptp(a) and not np.ptp(b):
        test = replace(test, p=None, refused="constant data: the launches do not vary")
    wide, narrow = (_shift(a, b, paired, level) for level in (1 - rules.alpha, 1 - 2 * rules.alpha))
    return Evidence(
        launches=(a.size, b.size),
        paired=paired,
        test=test,
        ratio=_as_ratio(wide),
        ratio_tost=_as_ratio(narrow),
        welch=welch(a, b),
        p_faster=superiority(a, b),
        spread_log=_spread(a - b) if paired else float(np.hypot(_spread(a), _spread(b)) / np.sqrt(2)),
    )


def judge(evidence: Sequence[Evidence], rules: Rules = Rules()) -> list[Verdict]:
    """The word for each of all comparisons made together: their p values are adjusted for each other."""
    p = np.array([e.test.p for e in evidence if e.test.p is not None])
    adjust = benjamini_yekutieli if rules.dependent else benjamini_hochberg
    adjusted = iter(adjust(p))
    return [_judged(e, float(next(adjusted)) if e.test.p is not None else None, len(p), rules) for e in evidence]


def omnibus(first_ns: Floats, second_ns: Floats) -> RankTest:
    """One test over all sizes: (blocks, S) of both, on the mean log ratio of each block. NaN cells are left out."""
    ratios = np.log(first_ns) - np.log(second_ns)
    rows = np.isfinite(ratios).any(axis=1)
    if not rows.any():
        return RankTest("omnibus", None, 1.0, True, "no block has both")
    return sign_flip(np.nanmean(ratios[rows], axis=1))


def inside(ratio: Estimate, delta: float) -> bool:
    """The whole interval of a ratio lies within +-delta, both ways: 1/(1 + delta) to 1 + delta."""
    if ratio.low is None or ratio.high is None:
        return False
    return log(ratio.low) > -log1p(delta) and log(ratio.high) < log1p(delta)


def _judged(e: Evidence, p: float | None, comparisons: int, rules: Rules) -> Verdict:
    same = inside(e.ratio_tost, rules.delta)
    if p is not None and p <= rules.alpha and e.ratio.value is not None and e.ratio.value != 1:
        word = Word.FASTER if e.ratio.value < 1 else Word.SLOWER
        return Verdict(word, e, p, same, None)
    if p is None:
        return Verdict(Word.INCONCLUSIVE, e, None, False, None, e.test.refused)
    if same:
        return Verdict(Word.EQUIVALENT, e, p, False, None)
    if not e.ratio_tost.known:
        reach = launches_to_reach(rules.alpha, max(comparisons, 1), e.paired)
        more = max(1, reach - min(e.launches))
        return Verdict(Word.INCONCLUSIVE, e, p, False, more, e.ratio_tost.refused)
    needed = _more_launches(e, max(comparisons, 1), rules)
    why = (
        f"needs about {needed} more {rules.unit}" if needed else f"not even {LAUNCHES_MAX} {rules.unit} would settle it"
    )
    return Verdict(Word.INCONCLUSIVE, e, p, False, needed, why)


def _more_launches(e: Evidence, comparisons: int, rules: Rules) -> int | None:
    """Until either the difference or the equivalence would likely show; the ranks' small loss against t counted."""
    assert e.ratio_tost.value is not None
    effect, room = abs(log(e.ratio_tost.value)), log1p(rules.delta)
    spread = e.spread_log * RANK_LOSS * (1 if e.paired else np.sqrt(2))
    power = normal_quantile(POWER)
    ways = []
    if effect > 0:
        ways.append((normal_quantile(1 - rules.alpha / comparisons / 2) + power) * spread / effect)
    if effect < room:
        ways.append((normal_quantile(1 - rules.alpha) + power) * spread / (room - effect))
    wanted = max(ceil(min(ways) ** 2), launches_to_reach(rules.alpha, comparisons, e.paired))
    return max(1, wanted - min(e.launches)) if wanted <= LAUNCHES_MAX else None


def _clean(first: Floats, second: Floats, paired: bool) -> tuple[Floats, Floats]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if paired and a.shape != b.shape:
        raise VaivenError(f"{a.size} and {b.size} launches are not pairs", code="bad-shape")
    good_a, good_b = np.isfinite(a), np.isfinite(b)
    if paired:
        good_a = good_b = good_a & good_b
    a, b = a[good_a], b[good_b]
    if not a.size or not b.size:
        raise VaivenError("nothing to compare: no launch of one side has a time", code="too-few")
    if (a <= 0).any() or (b <= 0).any():
        raise VaivenError("times that are zero or negative", code="bad-times")
    return a, b


def _shift(a: Floats, b: Floats, paired: bool, level: float) -> Estimate:
    return shift_paired(a - b, level) if paired else shift_unpaired(a, b, level)


def _as_ratio(shift: Estimate) -> Estimate:
    if shift.value is None or shift.low is None or shift.high is None:
        return Estimate(None, None, None, "ratio", shift.level, shift.refused)
    return Estimate(exp(shift.value), exp(shift.low), exp(shift.high), "ratio", shift.level)


def _spread(x: Floats) -> float:
    """1.4826 MAD, or the standard deviation where more than half are equal; 0 of one value."""
    robust = 1.4826 * float(np.median(np.abs(x - np.median(x))))
    return robust or float(np.std(x))
