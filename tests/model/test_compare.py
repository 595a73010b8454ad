# SPDX-License-Identifier: BSD-3-Clause
"""The verdict matrix: within a run, between runs, and what is not compared."""

from dataclasses import replace

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.model.compare import compare_pairs, compare_stacks, pp_points
from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.stats.verdict import Rules, Word

SIZES = np.array([0, 64, 1448, 65536])


def stack(name, factor=1.0, seed=0, count=16, noise=0.02, sizes=SIZES):
    block = np.exp(0.1 * np.random.default_rng(77).standard_normal((count, 1)))
    own = np.exp(noise * np.random.default_rng(seed).standard_normal((count, sizes.size)))
    rows = np.arange(count)
    ns = np.broadcast_to(factor, sizes.shape) * (30e3 + 80.0 * sizes) * block * own
    return LaunchTimes(name, Direction.ROUND_TRIP, Statistic.TYPICAL, sizes, rows, rows, ns, np.full(ns.shape, 9))


def test_every_pair_at_every_size_with_the_right_words():
    stacks = [stack("udp", seed=1), stack("tcp", np.array([1.3, 1.3, 1.3, 1.0]), seed=2), stack("nag", seed=3)]
    matrix = compare_stacks(stacks)
    assert [(p.first, p.second) for p in matrix.pairs] == [("udp", "tcp"), ("udp", "nag"), ("tcp", "nag")]
    assert len(matrix.verdicts) == 12
    assert [v.word for v in matrix.pairs[0].verdicts[:3]] == [Word.FASTER] * 3
    assert not matrix.pairs[0].verdicts[3].different
    assert matrix.pairs[2].count(Word.SLOWER) == 3
    assert matrix.pairs[0].whole.p < 0.01 < matrix.pairs[1].whole.p


def test_adjusted_over_the_whole_matrix():
    one = [stack("udp", seed=1), stack("tcp", 1.02, seed=2)]
    crowd = [(stack(f"a{k}", seed=10 + k), stack(f"b{k}", seed=40 + k)) for k in range(10)]
    alone = compare_stacks(one).verdicts[0].p_adjusted
    assert compare_pairs([tuple(one), *crowd], True).verdicts[0].p_adjusted > alone


def test_between_runs_blocks_are_not_pairs():
    matrix = compare_pairs([(stack("tcp"), stack("tcp", 1.5, seed=4, count=12))], same_blocks=False)
    pair = matrix.pairs[0]
    assert not pair.paired and pair.whole is None
    assert pair.verdicts[0].word is Word.FASTER and pair.verdicts[0].evidence.launches == (16, 12)


def test_only_common_sizes_with_times_are_judged():
    lossy = stack("udp", seed=1)
    ns = lossy.ns.copy()
    ns[:, 1] = np.nan
    lossy = replace(lossy, ns=ns)
    matrix = compare_stacks([lossy, stack("tcp", 2.0, seed=2, sizes=np.array([0, 64, 1448]))])
    assert matrix.pairs[0].sizes_bytes.tolist() == [0, 1448]


def test_rules_travel_with_the_matrix():
    rules = Rules(alpha=0.05, delta=0.1)
    matrix = compare_stacks([stack("udp", seed=1), stack("tcp", seed=2)], rules)
    assert matrix.rules == rules and all(v.word is Word.EQUIVALENT for v in matrix.verdicts)


def test_what_is_not_compared():
    for wrong, code in (
        ([stack("udp")], "too-few"),
        ([stack("udp"), stack("tcp").one_way()], "different-kind"),
        ([stack("udp"), stack("tcp", sizes=SIZES + 1)], "no-common-size"),
    ):
        with pytest.raises(VaivenError) as caught:
            compare_stacks(wrong)
        assert caught.value.code == code
    with pytest.raises(VaivenError) as caught:
        compare_pairs([], True)
    assert caught.value.code == "too-few"


def test_pp_curve():
    same = np.array([3.0, 1.0, 2.0])
    first, second = pp_points(same, same)
    np.testing.assert_array_equal(first, second)
    first, second = pp_points(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    np.testing.assert_array_equal(first, [0.5, 1, 1, 1])
    np.testing.assert_array_equal(second, [0, 0, 0.5, 1])
