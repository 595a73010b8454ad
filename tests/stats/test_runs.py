# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs: one against a history, several on each side. Simulated where the truth is known, and against SciPy."""

from itertools import combinations

import numpy as np
import pytest
import scipy

from vaiven.stats.estimate import Estimate
from vaiven.stats.runs import (
    CHANGES,
    RUNS_MIN,
    found_share,
    judge_run,
    least_found,
    own_alarms,
    p_least,
    standing_out,
    weigh_run,
    whole_run,
    whole_sides,
)
from vaiven.stats.verdict import Rules, Word, judge, weigh

RULES = Rules()
CELLS = 12


def days(count, seed, cells=CELLS, whole=0.02, own=0.01):
    """(count, cells) times of runs: each has something in common in all its cells (correlation 0.8)."""
    rng = np.random.default_rng(seed)
    logs = whole * rng.standard_normal((count, 1)) + own * rng.standard_normal((count, cells))
    return np.geomspace(30e3, 900e3, cells) * np.exp(logs)


def judged(history, new, rules=RULES):
    return judge_run(weigh_run(history, new, rules), whole_run(history, new, rules), rules)


def test_a_prediction_interval_is_students():
    history = days(10, 1, cells=1)[:, 0]
    (one,) = weigh_run(history[:, None], np.array([40e3]), RULES)
    logs = np.log(history)
    reach = scipy.stats.t.ppf(0.995, 9) * logs.std(ddof=1) * np.sqrt(1.1)
    change = np.log(40e3) - logs.mean()
    assert one.test.p == pytest.approx(2 * scipy.stats.t.sf(change / (logs.std(ddof=1) * np.sqrt(1.1)), 9))
    assert (one.ratio.low, one.ratio.value, one.ratio.high) == pytest.approx(
        (np.exp(change - reach), np.exp(change), np.exp(change + reach))
    )
    assert isinstance(one.ratio, Estimate) and one.launches == (1, 10)


def test_one_more_run_of_the_same_kind_is_rarely_called_different_in_any_cell():
    trials = 300
    called = whole = 0
    for seed in range(trials):
        runs = days(RUNS_MIN + 1, seed)
        called += any(verdict.different for verdict in judged(runs[:-1], runs[-1]))
        whole += whole_run(runs[:-1], runs[-1], RULES).word(RULES) is not Word.INCONCLUSIVE
    assert called <= scipy.stats.binom.ppf(0.999, trials, 0.01)
    assert whole <= scipy.stats.binom.ppf(0.999, trials, 0.01)


def test_the_power_that_is_told_is_the_power_that_there_is():
    history = days(12, 3)
    evidence = weigh_run(history, history[0], RULES)
    told = [found_share(evidence, change, RULES) for change in CHANGES]
    assert told == sorted(told)
    rng = np.random.default_rng(5)
    logs = np.log(history)
    for change, share in zip(CHANGES, told, strict=True):
        counted = []
        for cell in np.tile(np.arange(CELLS), 8):
            new = np.exp(logs.mean(0) + logs.std(0, ddof=1) * rng.standard_normal(CELLS))
            new[cell] *= 1 + change
            counted.append(judged(history, new)[cell].different)
        assert np.mean(counted) == pytest.approx(share, abs=0.15)  # of any history that varies so; this is one of them
    least = [least_found(one, CELLS, RULES) for one in evidence]
    assert found_share(evidence, max(least), RULES) >= 0.8 >= found_share(evidence, min(least), RULES)


def test_without_a_history_there_is_no_word_and_it_says_how_many_more():
    verdict = judged(days(5, 1), days(1, 2)[0] * 3)[0]
    assert verdict.word is Word.INCONCLUSIVE and verdict.p_adjusted is None and verdict.more_launches == 3
    assert verdict.why == (
        "one run each cannot tell a change from another day: 3 more runs of the plan as it was before are wanted"
    )
    alike = judged(np.full((9, 2), 5e3), np.array([6e3, 6e3]))[0]
    assert alike.word is Word.INCONCLUSIVE and "do not vary" in alike.why and alike.more_launches is None


def stray(runs, seed, shape, often, by):
    """The same, some of them by so much longer: whole runs, or cells."""
    return runs * np.where(np.random.default_rng(seed + 1).random((len(runs), *shape)) < often, by, 1.0)


def close(count, seed, whole=0.008):
    return days(count, seed, whole=whole, own=0.004)


def drifting(count, seed):
    return close(count, seed, 0.0) * np.exp(
        0.004 * np.random.default_rng(seed + 1).standard_normal((count, 1)).cumsum(0)
    )


MODES = {  # how runs are in truth, now and then
    "another mode of a cell": lambda count, seed: stray(close(count, seed), seed, (CELLS,), 0.05, 1.15),
    "slow as a whole": lambda count, seed: stray(close(count, seed), seed, (1,), 0.1, 1.1),
    "long tails": lambda count, seed: 1e5 * np.exp(0.005 * np.random.default_rng(seed).standard_t(3, (count, CELLS))),
    "a drift": drifting,
}


@pytest.mark.parametrize("kind", MODES)
@pytest.mark.parametrize("known", [RUNS_MIN, 19])
def test_runs_that_are_not_normal_are_rarely_called_different(kind, known):
    """Of identical runs at most 1 % of the cells and 5 % of the runs, cells and whole together."""
    trials = 120
    cells = some = 0
    for seed in range(trials):
        runs = MODES[kind](known + 1, 2 * seed)
        called = [verdict.different for verdict in judged(runs[:-1], runs[-1])]
        whole = whole_run(runs[:-1], runs[-1], RULES).word(RULES) is not Word.INCONCLUSIVE
        cells, some = cells + sum(called), some + (whole or any(called))
    assert some <= scipy.stats.binom.ppf(0.999, trials, 0.05) and cells <= 0.02 * trials * CELLS


def test_normal_runs_pay_nothing_for_that():
    """What a prediction interval of normal values would find is found."""
    trials, limit = 100, scipy.stats.t.ppf(1 - 0.01 / CELLS / 2, RUNS_MIN - 1)
    found = students = 0
    for seed in range(trials):
        runs = days(RUNS_MIN + 1, seed)
        runs[-1, 5] *= 1.2
        logs = np.log(runs[:, 5])
        error = logs[:-1].std(ddof=1) * np.sqrt(1 + 1 / RUNS_MIN)
        students += abs(logs[-1] - logs[:-1].mean()) > limit * error
        found += judged(runs[:-1], runs[-1])[5].different
    assert 0.4 * trials < students and found >= 0.9 * students


def test_a_run_that_is_slow_as_a_whole_is_said_so_on_its_own():
    history = days(20, 7, whole=0.01, own=0.05)
    usual = np.exp(np.log(history).mean(0))
    whole = whole_run(history, usual * 1.12, RULES)
    assert whole.word(RULES) is Word.SLOWER and whole.ratio.low < 1.12 < whole.ratio.high
    assert not any(verdict.different for verdict in judged(history, usual * 1.12))


def test_in_a_run_that_is_slow_as_a_whole_a_cell_counts_by_what_it_is_beyond_that():
    history = days(20, 7, whole=0.002, own=0.004)
    usual = np.exp(np.log(history).mean(0))
    words = [verdict.word for verdict in judged(history, usual * 1.1)]
    assert words == [Word.INCONCLUSIVE] * CELLS
    assert "as a whole" in judged(history, usual * 1.1)[0].why
    new = usual * 1.1
    new[3], new[4] = 1.3 * usual[3], 0.9 * usual[4]
    verdicts = judged(history, new)
    assert [number for number, verdict in enumerate(verdicts) if verdict.different] == [3, 4]
    assert verdicts[3].word is Word.SLOWER and verdicts[4].word is Word.FASTER
    assert verdicts[3].evidence.ratio.value == pytest.approx(1.3)


def test_of_few_cells_each_is_judged_by_itself():
    history = days(20, 7, cells=2, whole=0.002, own=0.004)
    assert [verdict.word for verdict in judged(history, history[0] * 1.2)] == [Word.SLOWER] * 2


def test_a_history_with_a_run_that_stands_out_finds_less_and_says_so():
    history = days(20, 7)
    plain = found_share(weigh_run(history, history[0], RULES), 0.1, RULES)
    history[4, 2] *= 1.5
    told = weigh_run(history, history[0], RULES)
    assert found_share(told, 0.1, RULES) < 0.5 * plain
    history[4, 2] = np.inf  # nothing is too far
    assert all(np.isfinite(one.ratio.high) for one in weigh_run(np.minimum(history, 1e300), history[0], RULES))


def test_runs_that_stand_out_are_found_and_others_are_not():
    runs = days(20, 11)
    assert standing_out(runs) == []
    runs[4] *= 1.3
    ((row, ratio),) = standing_out(runs)
    assert row == 4 and ratio == pytest.approx(1.3, rel=0.05)
    assert standing_out(runs[:RUNS_MIN]) == []


def test_a_history_tells_its_own_false_alarms_as_its_runs_would_be_judged():
    runs = days(20, 12)
    runs[7, 3] *= 1.4
    rest = [(np.delete(runs, row, axis=0), runs[row]) for row in range(20)]
    called = sum(any(verdict.different for verdict in judged(*one)) for one in rest)
    assert called >= 1 and own_alarms(runs) == (called, 20)
    runs[0, 5] = np.nan  # a cell that is not in all of them
    assert own_alarms(runs) == (called, 20)
    assert own_alarms(runs[:RUNS_MIN]) == (0, 0)


def test_false_alarms_of_a_history_are_rare_where_its_runs_are_alike():
    told = [own_alarms(days(12, seed)) for seed in range(60)]
    assert sum(called for called, _ in told) <= 0.03 * sum(runs for _, runs in told)


def test_cells_that_a_run_lacks_do_not_move_it():
    runs = days(10, 13)
    runs[3, 6:] = np.nan  # the long ones
    assert standing_out(runs) == []
    assert judged(runs, days(1, 14)[0])[7].evidence.launches == (1, 9)


def test_four_runs_on_each_side_can_never_reach_one_per_cent():
    for count in (4, 5):
        rows = np.arange(2.0 * count)
        first = [set(choice) for choice in combinations(range(2 * count), count)]
        extreme = sum(choice in (set(range(count)), set(range(count, 2 * count))) for choice in first)
        assert p_least(count, count) == pytest.approx(extreme / len(first))
        assert weigh(1 + rows[:count], 1 + rows[count:], False, RULES).test.p == pytest.approx(p_least(count, count))
    assert p_least(4, 4) > 0.01 > p_least(5, 5)


@pytest.mark.parametrize("count", [5, 8])
def test_sides_that_are_alike_are_rarely_told_apart_and_others_are(count):
    trials = 60
    alike = other = whole = 0
    for seed in range(trials):
        runs = days(2 * count, 10_000 + seed)
        first, second = runs[:count], runs[count:]
        for factor in (1.0, 1.1):
            found = judge([weigh(a * factor, b, False, RULES) for a, b in zip(first.T, second.T, strict=True)], RULES)
            called = any(verdict.different for verdict in found)
            alike, other = (alike + called, other) if factor == 1.0 else (alike, other + called)
        whole += whole_sides(first, second, RULES).word(RULES) is not Word.INCONCLUSIVE
    assert alike <= scipy.stats.binom.ppf(0.999, trials, 0.01) and whole <= scipy.stats.binom.ppf(0.999, trials, 0.01)
    assert other > 0.9 * trials


def test_what_two_sides_have_in_common_has_its_interval():
    runs = days(16, 21)
    found = whole_sides(runs[:8] * 1.08, runs[8:], RULES)
    assert found.word(RULES) is Word.SLOWER and found.ratio.low < 1.08 < found.ratio.high and found.p <= 0.01
