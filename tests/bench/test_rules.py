# SPDX-License-Identifier: BSD-3-Clause
"""Each rule decides as its source does, on times whose answer is known."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
import scipy

LAUNCHES, SAMPLES = 26, 60


@pytest.fixture(scope="module")
def rules(bench: dict[str, ModuleType]) -> ModuleType:
    return bench["rules"]


def one(rules: ModuleType, name: str):
    """The rule that this function is."""
    (found,) = [rule for rule in rules.RULES if rule.differs.__name__ == name]
    return found


def spread(*shape: int, seed: int = 0) -> np.ndarray:
    """Times around 100 us that vary by 1 %, in every sample, launch and run alike."""
    return 100e3 * (1 + 0.01 * np.random.default_rng(seed).standard_normal(shape))


def shapes(rules: ModuleType, reads) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What a rule that reads so is given."""
    run = (LAUNCHES, SAMPLES)
    return {
        rules.Reads.LAUNCH: ((SAMPLES,), (SAMPLES,)),
        rules.Reads.HALVES: (run, run),
        rules.Reads.BLOCKS: (run, run),
        rules.Reads.PAIR: (run, run),
        rules.Reads.HISTORY: ((rules.HISTORY, *run), run),
        rules.Reads.RUNS: ((rules.EACH, *run), (rules.EACH, *run)),
    }[reads]


def test_there_are_a_dozen_and_each_names_its_source(rules):
    assert len(rules.RULES) >= 12
    assert len({rule.name for rule in rules.RULES}) == len(rules.RULES)
    assert [rule.name for rule in rules.RULES if not rule.differs.__doc__] == []
    assert {rule.reads for rule in rules.RULES if rule.ours} == {
        rules.Reads.BLOCKS, rules.Reads.WHOLE, rules.Reads.RUNS,
    }  # fmt: skip


def test_each_rule_finds_what_takes_twice_as_long_and_nothing_in_the_same_times(rules):
    for rule in rules.RULES:
        if rule.reads is rules.Reads.WHOLE:
            continue  # a history with all cells: below
        first, second = (spread(*shape, seed=seed) for seed, shape in enumerate(shapes(rules, rule.reads)))
        assert rule.differs(first, 2 * second), rule.name
        assert rule.differs(2 * first, second), rule.name
        same = first[0] if rule.reads is rules.Reads.HISTORY else first
        assert not rule.differs(first, same), rule.name


def test_means_and_minima_by_hand(rules):
    base = np.full(14, 100.0)
    assert not one(rules, "means_5").differs(base, base + 5) and one(rules, "means_5").differs(base, base + 5.1)
    assert not one(rules, "means_10").differs(base, base + 10) and one(rules, "means_10").differs(base + 10.1, base)
    slow_but_once = np.array([200.0] * 12 + [100.0, 100.0])  # one trial of seven is as quick
    assert not one(rules, "minima_5").differs(base, slow_but_once)
    assert one(rules, "means_5").differs(base, slow_but_once)


def test_intervals_by_hand(rules):
    first = np.array([9.0, 11.0] * 50)  # its standard error is 0.1005
    assert not one(rules, "intervals_95").differs(first, first + 0.39)
    assert one(rules, "intervals_95").differs(first, first + 0.40)
    assert not one(rules, "outside_95").differs(first, first + 0.19)
    assert one(rules, "outside_95").differs(first, first + 0.20)
    assert not one(rules, "intervals_99").differs(first, first + 0.51)
    assert one(rules, "intervals_99").differs(first, first + 0.52)


@pytest.mark.parametrize("shift", [0.0, 0.003, 0.004, 0.005, 0.006, 0.01])
def test_tests_of_samples_agree_with_scipy(rules, shift):
    first, second = spread(SAMPLES, seed=1), (1 + shift) * spread(SAMPLES, seed=2)
    told = {name: one(rules, name).differs(first, second) for name in ("welch_samples", "pooled_samples",
                                                                       "ranks_samples", "repetitions")}  # fmt: skip
    nine = [[part.mean() for part in np.array_split(side, 9)] for side in (first, second)]
    assert told == {
        "welch_samples": scipy.stats.ttest_ind(first, second, equal_var=False).pvalue <= 0.01,
        "pooled_samples": scipy.stats.ttest_ind(first, second).pvalue <= 0.05,
        "ranks_samples": scipy.stats.mannwhitneyu(first, second).pvalue <= 0.01,
        "repetitions": scipy.stats.mannwhitneyu(*nine).pvalue <= 0.05,
    }


def test_netperf_stops_when_the_interval_is_narrow(rules):
    steady = np.full((13, 4), 100.0) + np.array([0.1, -0.1, 0.0] + [50.0] * 10)[:, None]
    assert one(rules, "netperf").differs(steady, steady + 2)  # what comes after the third launch is not looked at
    restless = np.full((13, 4), 100.0) + 30 * np.array([1, -1] * 6 + [0])[:, None]
    assert not one(rules, "netperf").differs(restless, restless + 2)


def test_a_history_by_hand(rules):
    values = 100.0 + np.array([-3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 3.0])  # standard deviation 2
    history = np.broadcast_to(values[:, None, None], (8, 3, 4))
    run = np.full((3, 4), 100.0)
    assert not one(rules, "conbench").differs(history, run + 9.9)
    assert one(rules, "conbench").differs(history, run + 10.1)
    reach = scipy.stats.t.ppf(0.995, 7) * 2 * np.sqrt(1 + 1 / 8)  # 7.4; of logarithms, so a little more
    assert not one(rules, "prediction").differs(history, run + reach - 0.5)
    assert one(rules, "prediction").differs(history, run + reach + 1)


def test_a_history_of_all_cells_by_hand(rules):
    """Twelve cells, one of which moves: the limit is that of one in twelve, and further where the history moves so."""
    rng = np.random.default_rng(1)
    values = 100.0 * np.exp(0.02 * rng.standard_normal((12, rules.HISTORY)))
    usual = np.exp(np.log(values).mean(axis=1))
    reach = scipy.stats.t.ppf(1 - 0.005 / 12, 7) * np.log(values[3]).std(ddof=1) * np.sqrt(1 + 1 / 8)

    def called(by: float) -> list[int]:
        new = usual * np.where(np.arange(12) == 3, by, 1.0)
        history, run = (
            [np.full((*value.shape, 3, 4), value[..., None, None]) for value in side] for side in (values, new)
        )
        return [cell for cell, differs in enumerate(one(rules, "ours_history").differs(history, run)) if differs]

    assert called(1.0) == [] and called(np.exp(0.9 * reach)) == []
    assert called(np.exp(1.5 * reach)) == [3]
    values[7, 2] *= 2  # a run of the history is as far from the others
    assert called(np.exp(1.5 * reach)) == []


def test_runs_by_hand(rules):
    first, second = (np.broadcast_to(np.arange(start, start + 5.0)[:, None, None], (5, 3, 4)) for start in (100, 105))
    assert one(rules, "ours_runs").differs(first, second)  # no run of one side lies among the others: 2 of 252
    assert not one(rules, "ours_runs").differs(first, second - 1.5)
    assert one(rules, "otava").differs(first, second + 10)


def test_a_change_point_is_looked_for_where_the_series_parts(rules):
    series = np.array([100.0, 101, 100, 101, 150, 151, 150, 151, 150, 151])
    places = [rules._divergence(series[:k], series[k:]) for k in range(1, 10)]
    assert int(np.argmax(places)) + 1 == 4
