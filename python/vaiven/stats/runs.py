# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs as the unit of replication: one value a run and cell, and no word that another day would take back.

The launches of one run share its state, so they are no replications of it. Of several runs on each side the rank test
of `stats.verdict` judges the runs themselves, by all ways of dealing them to the sides. One new run is held against
the history of runs like it: a prediction interval of logarithms (Student's, for so many runs), at a level that holds
for all cells together (Bonferroni). What all cells of a run have in common is judged on its own: they move together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, exp, log, log1p, sqrt

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
ONE_EACH = "one run each cannot tell a change from another day"


@dataclass(frozen=True, slots=True)
class Whole:
    """What all cells together say: the later run, or runs, over the earlier, mean of the cells' logarithms.

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


def weigh_run(history_ns: Floats, new_ns: float, cells: int, rules: Rules) -> Evidence:
    """One cell of a new run against (k,) runs of its history; cells: how many are judged together. NaN are left out.

    With fewer than RUNS_MIN runs the test is refused.
    """
    known = np.log(history_ns[np.isfinite(history_ns)])
    change = log(new_ns) - float(known.mean())
    if known.size < RUNS_MIN or not np.ptp(known):
        why = ONE_EACH if known.size < RUNS_MIN else "constant data: the runs do not vary"
        return _evidence(known, new_ns, RankTest(PREDICTION, None, 1.0, False, why), None, 0.0, rules)
    spread = float(known.std(ddof=1))
    error = spread * sqrt(1 + 1 / known.size)
    p = min(1.0, 2 * student_cdf(-abs(change) / error, known.size - 1))
    return _evidence(known, new_ns, RankTest(PREDICTION, p, 0.0, False), (change, error, cells), spread, rules)


def judge_run(evidence: Sequence[Evidence], rules: Rules) -> list[Verdict]:
    """The word for each cell of one run: if nothing changed, any is "faster" or "slower" with probability alpha."""
    return [_judged(one, len(evidence), rules) for one in evidence]


def found_share(evidence: Sequence[Evidence], change: float, rules: Rules) -> float:
    """In which share of the cells a change of that size would be found, by the history that they were judged by."""
    told = [one for one in evidence if one.test.p is not None]
    if not told:
        return 0.0
    return float(np.mean([_power(one.spread_log, one.launches[1], log1p(change), rules.alpha / len(evidence))
                          for one in told]))  # fmt: skip


def whole_run(history_ns: Floats, new_ns: Floats, rules: Rules) -> Whole:
    """What (S,) cells of a new run have in common that (k, S) of its history have not."""
    level = 1 - rules.alpha
    common, own = _common(history_ns, new_ns[None])
    if common.size < RUNS_MIN or not np.ptp(common):
        return Whole(refusal(f"too few runs: {common.size} of {RUNS_MIN}", "ratio", level), None)
    change, degrees = float(own[0] - common.mean()), common.size - 1
    error = float(common.std(ddof=1)) * sqrt(1 + 1 / common.size)
    reach = student_quantile((1 + level) / 2, degrees) * error
    ratio = Estimate(exp(change), exp(change - reach), exp(change + reach), "ratio", level)
    return Whole(ratio, 2 * student_cdf(-abs(change) / error, degrees))


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
        change, error = common[row] - others.mean(), others.std(ddof=1) * sqrt(1 + 1 / others.size)
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
    limit = student_quantile(1 - alpha / cells / 2, runs - 2) * sqrt(1 + 1 / (runs - 1))
    called = 0
    for row in range(runs):
        others = np.delete(logs, row, axis=0)
        called += bool((np.abs(logs[row] - others.mean(axis=0)) > limit * others.std(axis=0, ddof=1)).any())
    return called, runs


def _common(first_ns: Floats, second_ns: Floats) -> tuple[Floats, Floats]:
    """For each run the mean over its cells of log times, each cell taken from its own median over all runs."""
    both = np.log(np.vstack([first_ns, second_ns]))
    moved = both - np.nanmedian(both, axis=0)
    whole = np.nanmean(moved, axis=1)
    return whole[: len(first_ns)], whole[len(first_ns) :]


def _evidence(
    known: Floats, new_ns: float, test: RankTest, known_error: tuple[float, float, int] | None, spread: float,
    rules: Rules,
) -> Evidence:  # fmt: skip
    new = np.array([log(new_ns)])
    wide, narrow = (
        refusal(test.refused or "no interval", "ratio", level) for level in (1 - rules.alpha, 1 - 2 * rules.alpha)
    )
    if known_error:
        change, error, cells = known_error
        wide = _interval(change, error, known.size - 1, rules.alpha / cells, 1 - rules.alpha)
        narrow = _interval(change, error, known.size - 1, 2 * rules.alpha, 1 - 2 * rules.alpha)
    return Evidence(
        launches=(1, known.size), paired=False, test=test, ratio=wide, ratio_tost=narrow, welch=welch(new, known),
        p_faster=superiority(new, known), spread_log=spread,
    )  # fmt: skip


def _interval(change: float, error: float, degrees: int, outside: float, level: float) -> Estimate:
    reach = student_quantile(1 - outside / 2, degrees) * error
    return Estimate(exp(change), exp(change - reach), exp(change + reach), "ratio", level)


def _judged(one: Evidence, cells: int, rules: Rules) -> Verdict:
    same = inside(one.ratio_tost, rules.delta)
    if one.test.p is None:
        missing = max(0, RUNS_MIN - one.launches[1])
        why = f"{one.test.refused}: {missing} more runs of the plan as it was before are wanted" if missing else (
            one.test.refused)  # fmt: skip
        return Verdict(Word.INCONCLUSIVE, one, None, False, missing or None, why)
    p = min(1.0, one.test.p * cells)
    if p <= rules.alpha and one.ratio.value is not None and one.ratio.value != 1:
        return Verdict(Word.FASTER if one.ratio.value < 1 else Word.SLOWER, one, p, same, None)
    if same:
        return Verdict(Word.EQUIVALENT, one, p, False, None)
    finds = least_found(one, cells, rules)
    return Verdict(Word.INCONCLUSIVE, one, p, False, None, f"finds changes from {100 * finds:.2g} % on")


def least_found(one: Evidence, cells: int, rules: Rules) -> float:
    """The smallest change, as a share, that such a cell shows four times of five."""
    low, high = 0.0, 5.0
    for _ in range(24):
        middle = (low + high) / 2
        enough = _power(one.spread_log, one.launches[1], middle, rules.alpha / cells) >= POWER
        low, high = (low, middle) if enough else (middle, high)
    return exp(high) - 1


def _power(spread: float, runs: int, change_log: float, alpha: float) -> float:
    """With which probability such a change of a new run lies outside its prediction interval."""
    limit = student_quantile(1 - alpha / 2, runs - 1)
    return 1 - shifted_student_cdf(limit, runs - 1, change_log / (spread * sqrt(1 + 1 / runs)))
