# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs as the unit of replication: one value a run and cell, and no word that another day would take back.

The launches of one run share its state, so they are no replications of it. Of several runs on each side the rank test
of `stats.verdict` judges the runs themselves, by all ways of dealing them to the sides. One new run is held against
the history of runs like it: a prediction interval of logarithms (Student's, for so many runs), at a level that holds
for all cells together (Bonferroni). Runs are not normal: now and then a cell, or a whole run, falls into another mode.
So each run of the history is held against the others as well, the new one among them, and the interval is as much wider
as it takes to let none of them stand out. What half of the cells of a run have in common is judged on its own, for they
move together; a cell is then judged by what it is beyond that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, copysign, exp, log, log1p, sqrt

import numpy as np

from vaiven.stats.arrays import Floats
from vaiven.stats.distributions import shifted_student_cdf, student_cdf, student_quantile
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.ranks import RankTest, mann_whitney, shift_unpaired, superiority
from vaiven.stats.verdict import POWER, Evidence, Rules, Verdict, Word, inside
from vaiven.stats.welch import welch

RUNS_MIN = 8  # of a history: from 5 it calls 3 % of the cells of identical runs different
RUNS_ADVISED = 8  # on each side: they find a change of 5 % in two cells of three, 5 and 5 hardly any
CHANGES = (0.05, 0.10, 0.20)  # whose chance of being found is told
PREDICTION = "prediction"  # the name of its test
_WIDER = 4  # 1 + 4 / k times as far as the farthest of k runs: half as far again of 8, and normal runs do not feel it
_CELLS_OF_A_WHOLE = 4  # of fewer each is most of what they have in common
_STEP = 1e-6  # of a logarithm: the least by which runs are taken to vary
_HALVINGS = 30  # of what is looked for: to nine digits
_FARTHEST = 500.0  # of a logarithm that is shown
_WITH_ALL = "the run differs as a whole, and this is no more of it than others are"
ONE_EACH = "one run each cannot tell a change from another day"


@dataclass(frozen=True, slots=True)
class Whole:
    """What cells of a run have in common: the later run, or runs, over the earlier, median of the cells' logarithms.

    ratio: with its interval at 1 - alpha; p: of that change, which is one question and not adjusted; None: not told.
    """

    ratio: Estimate
    p: float | None

    def word(self, rules: Rules) -> Word:
        if self.p is None or self.p > rules.alpha or self.ratio.value is None:
            return Word.INCONCLUSIVE
        return Word.FASTER if self.ratio.value < 1 else Word.SLOWER


def p_least(first: int, second: int) -> float:
    """The smallest two-sided p that so many runs on each side can give."""
    return min(1.0, 2 / comb(first + second, first))


def weigh_run(history_ns: Floats, new_ns: Floats, rules: Rules) -> list[Evidence]:
    """Each of (S,) cells of a new run against (k, S) of its history, all judged together. NaN are left out.

    With fewer than RUNS_MIN runs the test of a cell is refused.
    """
    logs, new = np.log(history_ns), np.log(new_ns)
    widened = _widened(logs, new, rules.alpha)
    return [_weighed(known[np.isfinite(known)], float(one), new.size, widened, rules)
            for known, one in zip(logs.T, new, strict=True)]  # fmt: skip


def judge_run(evidence: Sequence[Evidence], whole: Whole, rules: Rules) -> list[Verdict]:
    """The word for each cell of one run: if nothing changed, any is "faster" or "slower" with probability alpha.

    Of a run that is slower as a whole a cell is slower when it is so by more than the whole; likewise faster.
    """
    told = len(evidence) >= _CELLS_OF_A_WHOLE and whole.word(rules) is not Word.INCONCLUSIVE
    common = log(whole.ratio.value or 1.0) if told else 0.0
    return [_judged(one, common, len(evidence), rules) for one in evidence]


def found_share(evidence: Sequence[Evidence], change: float, rules: Rules) -> float:
    """In which share of the cells a change of that size would be found, by the history that they were judged by."""
    told = [one for one in evidence if one.test.p is not None]
    if not told:
        return 0.0
    alpha, log_change = rules.alpha / len(evidence), log1p(change)
    return float(np.mean([_power(one.launches[1], log_change / _error(one.spread_log, one.launches[1]), alpha)
                          for one in told]))  # fmt: skip


def whole_run(history_ns: Floats, new_ns: Floats, rules: Rules) -> Whole:
    """What half of (S,) cells of a new run have in common that (k, S) of its history have not."""
    level = 1 - rules.alpha
    common, own = _common(history_ns, new_ns[None])
    if common.size < RUNS_MIN or not np.ptp(common):
        return Whole(refusal(f"too few runs: {common.size} of {RUNS_MIN}", "ratio", level), None)
    change, degrees = float(own[0] - common.mean()), common.size - 1
    error = _error(float(common.std(ddof=1)), common.size) * _widened(common[:, None], own, rules.alpha)
    p = 2 * student_cdf(-abs(change) / error, degrees)
    return Whole(_interval(change, error, degrees, rules.alpha, level), p)


def whole_sides(first_ns: Floats, second_ns: Floats, rules: Rules) -> Whole:
    """The same of (m, S) runs against (n, S): the rank test of what the cells of each run have in common."""
    first, second = _common(first_ns, second_ns)
    shift = shift_unpaired(first, second, 1 - rules.alpha)
    if shift.value is None or shift.low is None or shift.high is None:
        return Whole(refusal(shift.refused, "ratio", shift.level), None)
    ratio = Estimate(exp(shift.value), exp(shift.low), exp(shift.high), "ratio", shift.level)
    return Whole(ratio, mann_whitney(first, second).p)


def standing_out(history_ns: Floats, alpha: float = 0.01) -> list[tuple[int, float]]:
    """(row, its ratio to the others as a whole) of runs that no run of the others' kind would be, all rows together.

    Each is held against the others, without it. None where there are fewer than RUNS_MIN others.
    """
    common, _ = _common(history_ns, history_ns[:0])
    found = []
    for row in range(common.size if common.size > RUNS_MIN else 0):
        others = np.delete(common, row)
        change, error = common[row] - others.mean(), _error(float(others.std(ddof=1)), others.size)
        limit = student_quantile(1 - alpha / common.size / 2, others.size - 1)
        if abs(change) > limit * error:
            found.append((row, exp(change)))
    return found


def own_alarms(history_ns: Floats, alpha: float = 0.01) -> tuple[int, int]:
    """(how many of k runs would be called different in some cell, k): each held against the others as a new run is.

    Of runs between which nothing was changed that is how often such a history cries wolf. history_ns: (k, S); cells
    that a run lacks are left out. (0, 0) where a run has fewer than RUNS_MIN others, or no cell is left.
    """
    logs = np.log(history_ns[:, np.isfinite(history_ns).all(axis=0)])
    runs, cells = logs.shape
    if runs <= RUNS_MIN or not cells:
        return 0, 0
    farthest = _apart(logs).max(axis=1)
    limit = student_quantile(1 - alpha / cells / 2, runs - 2)
    others = [float(np.delete(farthest, row).max()) for row in range(runs)]
    wider = 1 + _WIDER / (runs - 1)
    return sum(own > max(limit, wider * most) for own, most in zip(farthest, others, strict=True)), runs


def _apart(logs: Floats) -> Floats:
    """(n, S): how far each run is from the others, in errors of a prediction by them. NaN where those are too few."""
    counts = np.isfinite(logs).sum(axis=0) - 1
    known = np.where(counts >= RUNS_MIN, logs, np.nan)
    counts = np.maximum(counts, RUNS_MIN)
    mean = (np.nansum(known, axis=0) - known) / counts
    squares = np.nansum((known[None] - mean[:, None]) ** 2, axis=1) - (known - mean) ** 2
    error = np.sqrt(squares / (counts - 1) * (1 + 1 / counts))
    return np.abs(known - mean) / np.maximum(error, _STEP)


def _widened(known: Floats, new: Floats, alpha: float) -> float:
    """By how much (k, S) of a history are less alike than normal ones, for (S,) of a new run to be told from them: at
    least 1. Where any of them could be the new one, the largest of them all is so in no more than one of k + 1."""
    apart = _apart(np.vstack([known, new]))[:-1]
    if not np.isfinite(apart).any():
        return 1.0
    limit = student_quantile(1 - alpha / new.size / 2, len(known) - 1)
    return max(1.0, (1 + _WIDER / len(known)) * float(np.nanmax(apart)) / limit)


def _common(first_ns: Floats, second_ns: Floats) -> tuple[Floats, Floats]:
    """For each run the median over its cells of log times, each cell taken from its own median over all runs."""
    both = np.log(np.vstack([first_ns, second_ns]))
    moved = both - np.nanmedian(both, axis=0)
    whole = np.nanmedian(moved, axis=1)
    return whole[: len(first_ns)], whole[len(first_ns) :]


def _weighed(known: Floats, new: float, cells: int, widened: float, rules: Rules) -> Evidence:
    """One of so many cells: the logarithms of its history, and of the new run."""
    refused = ONE_EACH if known.size < RUNS_MIN else "" if np.ptp(known) else "constant data: the runs do not vary"
    level, spread = 1 - rules.alpha, 0.0
    if refused:
        test = RankTest(PREDICTION, None, 1.0, False, refused)
        wide, narrow = refusal(refused, "ratio", level), refusal(refused, "ratio", level - rules.alpha)
    else:
        change, degrees, spread = new - float(known.mean()), known.size - 1, float(known.std(ddof=1)) * widened
        error = _error(spread, known.size)
        test = RankTest(PREDICTION, 2 * student_cdf(-abs(change) / error, degrees), 0.0, False)
        wide = _interval(change, error, degrees, rules.alpha / cells, level)
        narrow = _interval(change, error, degrees, 2 * rules.alpha, level - rules.alpha)
    alone = np.array([new])
    return Evidence(
        launches=(1, known.size), paired=False, test=test, ratio=wide, ratio_tost=narrow, welch=welch(alone, known),
        p_faster=superiority(alone, known), spread_log=spread,
    )  # fmt: skip


def _interval(change: float, error: float, degrees: int, outside: float, level: float) -> Estimate:
    reach = student_quantile(1 - outside / 2, degrees) * error
    low, high = max(change - reach, -_FARTHEST), min(change + reach, _FARTHEST)
    return Estimate(exp(change), exp(low), exp(high), "ratio", level)


def _judged(one: Evidence, common: float, cells: int, rules: Rules) -> Verdict:
    same = inside(one.ratio_tost, rules.delta)
    if one.test.p is None or one.ratio.value is None:
        missing = max(0, RUNS_MIN - one.launches[1])
        why = f"{one.test.refused}: {missing} more runs of the plan as it was before are wanted" if missing else (
            one.test.refused)  # fmt: skip
        return Verdict(Word.INCONCLUSIVE, one, None, False, missing or None, why)
    change = log(one.ratio.value)
    p = min(1.0, cells * _p(one, _beyond(change, common)))
    if p <= rules.alpha:
        return Verdict(Word.FASTER if change < 0 else Word.SLOWER, one, p, same, None)
    if same:
        return Verdict(Word.EQUIVALENT, one, p, False, None)
    if cells * one.test.p <= rules.alpha:
        return Verdict(Word.INCONCLUSIVE, one, p, False, None, _WITH_ALL)
    finds = least_found(one, cells, rules)
    return Verdict(Word.INCONCLUSIVE, one, p, False, None, f"finds changes from {100 * finds:.2g} % on")


def _beyond(change: float, common: float) -> float:
    """By how much a cell changed more than its run as a whole, the same way."""
    return change if change * common <= 0 else copysign(max(0.0, abs(change) - abs(common)), change)


def _p(one: Evidence, change: float) -> float:
    """Two-sided, of a change of that size."""
    runs = one.launches[1]
    return 2 * student_cdf(-abs(change) / _error(one.spread_log, runs), runs - 1)


def least_found(one: Evidence, cells: int, rules: Rules) -> float:
    """The smallest change, as a share, that such a cell shows four times of five."""
    runs = one.launches[1]
    return exp(min(_shift_found(runs, rules.alpha / cells) * _error(one.spread_log, runs), _FARTHEST)) - 1


@lru_cache(maxsize=256)
def _shift_found(runs: int, alpha: float) -> float:
    """How many errors of a prediction a change is that is found with POWER: as many in every cell."""
    low, high = 0.0, 1.0
    while _power(runs, high, alpha) < POWER:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(runs, middle, alpha) >= POWER else (middle, high)
    return high


def _power(runs: int, shift: float, alpha: float) -> float:
    """With which probability a new run that is shifted by so many errors lies outside its prediction interval."""
    return 1 - shifted_student_cdf(student_quantile(1 - alpha / 2, runs - 1), runs - 1, shift)


def _error(spread_log: float, runs: int) -> float:
    """Of a prediction of one run's logarithm by so many."""
    return spread_log * sqrt(1 + 1 / runs)
