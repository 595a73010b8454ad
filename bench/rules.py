# SPDX-License-Identifier: BSD-3-Clause
"""How the field decides that one program is slower than another: a rule a function, tried by bench/wolf.py.

A rule gets the times of two sides in ns, as arrays of floats, and says whether it would call them different. What it
is given is what somebody who uses it would have (`Reads`). `nominal` is how often it should be wrong about identical
programs by its own account; None where it gives none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import sqrt

import numpy as np
import scipy

from vaiven.stats.arrays import Floats
from vaiven.stats.ranks import mann_whitney
from vaiven.stats.runs import judge_run, weigh_run, whole_run
from vaiven.stats.verdict import Rules, judge, weigh
from vaiven.stats.welch import welch

HISTORY = 8  # runs before the one that is judged
EACH = 5  # runs on each side
CELLS = 12  # of a run, in bench/wolf.py
LEVEL = Rules(alpha=0.01)


class Reads(Enum):
    """What both sides are, and the shapes of their times."""

    LAUNCH = "a launch each"  # (samples,) and (samples,): the program started once, then once more
    HALVES = "launches, one side after the other"  # (k, samples) twice: all of one, then all of the other
    BLOCKS = "launches in turns"  # (k, samples) twice: row i of both is the same block
    PAIR = "a run each"  # (launches, samples) twice
    HISTORY = "a run and those before it"  # (HISTORY, launches, samples) and (launches, samples)
    WHOLE = "a run and those before it, all cells"  # a list of the same: one of each for every cell
    RUNS = "runs on each side"  # (EACH, launches, samples) twice


@dataclass(frozen=True)
class Rule:
    """differs(first, second): would it call them different? Of all cells at once, which of them. ours: whether vaiven
    decides so."""

    name: str
    reads: Reads
    nominal: float | None
    ours: bool
    differs: Callable[..., bool | list[bool]]


RULES: list[Rule] = []


def _rule(name: str, reads: Reads, nominal: float | None = None, ours: bool = False) -> Callable[..., Callable]:
    def kept(differs: Callable[[Floats, Floats], bool]) -> Callable[[Floats, Floats], bool]:
        RULES.append(Rule(name, reads, nominal, ours, differs))
        return differs

    return kept


@_rule("means more than 5 % apart, by eye", Reads.LAUNCH)
def means_5(first: Floats, second: Floats) -> bool:
    """The averages that OSU's and Intel's benchmarks print, read side by side: osu_latency.c, IMB_pingpong.c."""
    return _apart(first.mean(), second.mean(), 0.05)


@_rule("means more than 10 % apart, by eye", Reads.LAUNCH)
def means_10(first: Floats, second: Floats) -> bool:
    """The same by somebody more careful."""
    return _apart(first.mean(), second.mean(), 0.10)


@_rule("lowest of seven trials more than 5 % apart", Reads.LAUNCH)
def minima_5(first: Floats, second: Floats) -> bool:
    """NetPIPE 3.7.2, netpipe.c: a time is the lowest of seven trials, each the mean of its repetitions."""
    lowest = [_means_of_parts(side, 7).min() for side in (first, second)]
    return _apart(*lowest, 0.05)


@_rule("two 95 % intervals apart", Reads.LAUNCH, 0.006)
def intervals_95(first: Floats, second: Floats) -> bool:
    """PICO (ISC 2026), plot/boxplot.py: mean and 1.96 standard errors of the iterations of a launch, by eye."""
    return _intervals_apart(first, second, 1.96)


@_rule("a mean outside the other's 95 % interval", Reads.LAUNCH, 0.17)
def outside_95(first: Floats, second: Floats) -> bool:
    """PICO's error bars read as many read them: is the other bar's top inside?"""
    return bool(abs(first.mean() - second.mean()) > 1.96 * min(_error(first), _error(second)))


@_rule("two 99 % intervals apart", Reads.LAUNCH, 0.0003)
def intervals_99(first: Floats, second: Floats) -> bool:
    """sockperf since 3.8 (its pull request 144): "99.0% ci", normal, of the round trips of a run."""
    return _intervals_apart(first, second, 2.576)


@_rule("Welch's t of the samples, 1 %", Reads.LAUNCH, 0.01)
def welch_samples(first: Floats, second: Floats) -> bool:
    """What scipy.stats.ttest_ind(a, b, equal_var=False) is asked in most scripts beside a benchmark."""
    return _rejects(welch(first, second).p, 0.01)


@_rule("pooled t of the samples, 5 %", Reads.LAUNCH, 0.05)
def pooled_samples(first: Floats, second: Floats) -> bool:
    """pgchecker (of ReproMPI's authors), its default: Student's t with one variance, at 5 %."""
    return _rejects(_student(first, second), 0.05)


@_rule("Mann and Whitney's test of the samples, 1 %", Reads.LAUNCH, 0.01)
def ranks_samples(first: Floats, second: Floats) -> bool:
    """pgchecker's other test (R's wilcox.test); scipy.stats.mannwhitneyu in scripts."""
    return _rejects(mann_whitney(first, second).p, 0.01)


@_rule("U test of nine repetitions, 5 %", Reads.LAUNCH, 0.05)
def repetitions(first: Floats, second: Floats) -> bool:
    """google-benchmark, tools/gbench/report.py: mannwhitneyu of the repetitions of a process, 9 recommended."""
    return _rejects(mann_whitney(_means_of_parts(first, 9), _means_of_parts(second, 9)).p, 0.05)


@_rule("Mann and Whitney's test of all launches' samples, 1 %", Reads.BLOCKS, 0.01)
def ranks_pooled(first: Floats, second: Floats) -> bool:
    """Launches repeated as they should be, and then thrown together as if their samples knew nothing of each other."""
    return _rejects(mann_whitney(first.ravel(), second.ravel()).p, 0.01)


@_rule("netperf's 99 % intervals apart", Reads.HALVES, 0.0003)
def netperf(first: Floats, second: Floats) -> bool:
    """netperf -I 99,5 -i 30,3 (src/netlib.c): launches until the interval of their mean is within 2.5 %, 3 at least."""
    (low, high), (other_low, other_high) = (_netperf_interval(side.mean(axis=1)) for side in (first, second))
    return low > other_high or other_low > high


@_rule("Welch's t of launch means, 1 %", Reads.HALVES, 0.01)
def paper_e(first: Floats, second: Floats) -> bool:
    """Paper E's t test, with R, at 1 %; of the means of launches, one side measured after the other."""
    return _rejects(welch(first.mean(axis=1), second.mean(axis=1)).p, 0.01)


@_rule("ranks of two runs' launch medians, 1 %", Reads.PAIR, 0.01)
def launches_of_runs(first: Floats, second: Floats) -> bool:
    """What vaiven itself did at first between two runs: right of launches, but those of a run share its day."""
    return _rejects(mann_whitney(np.median(first, axis=1), np.median(second, axis=1)).p, 0.01)


@_rule("z of a run's mean above 5", Reads.HISTORY, 6e-7)
def conbench(first: Floats, second: Floats) -> bool:
    """conbench, docs/pages/lookback_zscore.md: standard deviations from the mean of the runs before, threshold 5."""
    means = first.mean(axis=(1, 2))
    return bool(abs(second.mean() - means.mean()) > 5 * means.std(ddof=1))


@_rule("a change point of the series, 0.1 %", Reads.RUNS)
def otava(first: Floats, second: Floats) -> bool:
    """Apache Otava (Hunter), otava/analysis.py: the likeliest place by E-divisive means, then Student's t at 0.001.

    Its first split alone, which all others need.
    """
    series = np.concatenate([first.mean(axis=(1, 2)), second.mean(axis=(1, 2))])
    place = max(range(1, series.size), key=lambda k: _divergence(series[:k], series[k:]))
    return _rejects(_student(series[:place], series[place:]), 0.001)


@_rule("vaiven: launches paired in blocks", Reads.BLOCKS, 0.01, ours=True)
def ours_blocks(first: Floats, second: Floats) -> bool:
    """vaiven.stats.verdict: signed ranks of the launch medians of each block, all flips counted, 1 %."""
    return judge([weigh(np.median(first, axis=1), np.median(second, axis=1), True, LEVEL)], LEVEL)[0].different


@_rule("prediction interval of eight runs, 99 %", Reads.HISTORY, 0.01)
def prediction(first: Floats, second: Floats) -> bool:
    """Of textbooks (Hahn and Meeker 1991): where the next value of normal ones lies; of the logarithms of runs."""
    known, new = np.log(run_values(first)), float(np.log(run_values(second)))
    error = known.std(ddof=1) * sqrt(1 + 1 / known.size)
    return bool(abs(new - known.mean()) > scipy.special.stdtrit(known.size - 1, 1 - LEVEL.alpha / 2) * error)


@_rule("vaiven: a run against its history", Reads.WHOLE, LEVEL.alpha / CELLS, ours=True)
def ours_history(first: list[Floats], second: list[Floats]) -> list[bool]:
    """vaiven.stats.runs: the same interval, 99 % for all cells together, wider where its own runs stand out."""
    history, run = (np.array([run_values(cell) for cell in side]).T for side in (first, second))
    whole = whole_run(history, run, LEVEL)
    return [one.different for one in judge_run(weigh_run(history, run, LEVEL), whole, LEVEL)]


@_rule("vaiven: runs on each side", Reads.RUNS, 0.01, ours=True)
def ours_runs(first: Floats, second: Floats) -> bool:
    """vaiven.stats.verdict: Mann and Whitney's test of whole runs, all ways of dealing them counted, 1 %."""
    return judge([weigh(run_values(first), run_values(second), False, LEVEL)], LEVEL)[0].different


def run_values(ns: Floats) -> Floats:
    """(..., launches, samples) -> (...): the median of launch medians, vaiven's one value of a run."""
    return np.median(np.median(ns, axis=-1), axis=-1)


def _means_of_parts(values: Floats, parts: int) -> Floats:
    """Of so many parts in a row, or of single values where there are fewer."""
    return np.array([part.mean() for part in np.array_split(values, min(parts, values.size))])


def _apart(first: float, second: float, share: float) -> bool:
    return bool(abs(first - second) > share * min(first, second))


def _error(values: Floats) -> float:
    """The standard error of the mean of values that know nothing of each other."""
    return float(values.std(ddof=1)) / sqrt(values.size)


def _intervals_apart(first: Floats, second: Floats, errors: float) -> bool:
    return bool(abs(first.mean() - second.mean()) > errors * (_error(first) + _error(second)))


def _rejects(p: float | None, alpha: float) -> bool:
    return p is not None and p <= alpha


def _student(first: Floats, second: Floats) -> float | None:
    """Two-sided p of the t test with one variance for both; None where nothing varies."""
    degrees = first.size + second.size - 2
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in (first, second))
    if degrees < 1 or not squares:
        return None
    error = sqrt(squares / degrees * (1 / first.size + 1 / second.size))
    return float(2 * scipy.special.stdtr(degrees, -abs(first.mean() - second.mean()) / error))


def _netperf_interval(means: Floats) -> tuple[float, float]:
    """(low, high) after as many launches as it takes, or after all of them."""
    for count in range(3, means.size + 1):
        some = means[:count]
        half = float(scipy.special.stdtrit(count - 1, 0.995)) * _error(some)
        if half <= 0.025 * some.mean():
            break
    return float(some.mean() - half), float(some.mean() + half)


def _divergence(left: Floats, right: Floats) -> float:
    """Matteson and James (2014): how far two parts of a series are apart, by the distances between their values."""
    between = np.abs(left[:, None] - right).mean()
    within = [np.abs(part[:, None] - part).sum() / max(part.size * (part.size - 1), 1) for part in (left, right)]
    return float(left.size * right.size / (left.size + right.size) * (2 * between - sum(within)))
