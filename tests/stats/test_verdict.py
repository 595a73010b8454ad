# SPDX-License-Identifier: BSD-3-Clause
"""The words, and what each stands on."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.stats.verdict import Rules, Word, inside, judge, omnibus, weigh

DEFAULT = Rules()


def one(first, second, paired=True, rules=DEFAULT):
    return judge([weigh(np.asarray(first), np.asarray(second), paired, rules)], rules)[0]


def launch_times(ratio=1.0, launches=16, noise=0.02, seed=0):
    rng = np.random.default_rng(seed)
    block = np.exp(0.2 * rng.standard_normal(launches))
    first, second = (30e3 * block * np.exp(noise * rng.standard_normal(launches)) for _ in range(2))
    return first * ratio, second


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(("ratio", "word"), [(0.5, Word.FASTER), (2.0, Word.SLOWER)])
def test_a_clear_difference(paired, ratio, word):
    found = one(*launch_times(ratio), paired)
    assert found.word is word and found.different and found.p_adjusted < 0.01 and not found.negligible
    assert found.evidence.ratio.low < ratio < found.evidence.ratio.high
    assert found.evidence.p_faster > 0.9 if ratio < 1 else found.evidence.p_faster < 0.1


def test_blocks_remove_what_both_share():
    first, second = launch_times(1.05)
    assert one(first, second).word is Word.SLOWER
    assert one(first, second, paired=False).word is Word.INCONCLUSIVE


def test_equivalent_and_inconclusive():
    assert one(*launch_times(1.0, noise=0.003)).word is Word.EQUIVALENT
    open_ = one(*launch_times(1.0, noise=0.2))
    assert open_.word is Word.INCONCLUSIVE and open_.more_launches > 50
    assert str(open_.more_launches) in open_.why


def test_different_and_negligible():
    found = one(*launch_times(1.005, noise=0.0005))
    assert found.word is Word.SLOWER and found.negligible


def test_the_advised_number_of_launches_settles_it():
    advice = one(*launch_times(1.03, launches=10, noise=0.03))
    assert advice.word is Word.INCONCLUSIVE
    total = 10 + advice.more_launches
    settled = [one(*launch_times(1.03, launches=total, noise=0.03, seed=s)).different for s in range(60)]
    assert np.mean(settled) > 0.5


@settings(max_examples=40, deadline=None)
@given(st.floats(0.3, 3.0), st.integers(0, 1000), st.booleans())
def test_swapping_sides_swaps_the_words(ratio, seed, paired):
    first, second = launch_times(ratio, seed=seed)
    ours, theirs = one(first, second, paired), one(second, first, paired)
    swap = {Word.FASTER: Word.SLOWER, Word.SLOWER: Word.FASTER}
    assert theirs.word is swap.get(ours.word, ours.word)
    assert theirs.evidence.ratio.value == pytest.approx(1 / ours.evidence.ratio.value)
    assert theirs.p_adjusted == pytest.approx(ours.p_adjusted)


def test_one_of_many_must_be_clearer():
    rng = np.random.default_rng(0)
    weak = weigh(*launch_times(1.04, launches=9, noise=0.01), True)
    alone = judge([weak])[0]
    assert alone.word is Word.SLOWER
    crowd = [weigh(*launch_times(1.0, launches=9, seed=int(s)), True) for s in rng.integers(1, 9999, 40)]
    assert judge([weak, *crowd])[0].p_adjusted > 0.01
    dependent = judge([weak, *crowd], Rules(dependent=True))[0].p_adjusted
    assert dependent > judge([weak, *crowd])[0].p_adjusted


def test_too_few_launches_say_how_many_more():
    found = one(*launch_times(2.0, launches=5))
    assert found.word is Word.INCONCLUSIVE and "too few: " in found.why
    assert found.more_launches == 3


def test_identical_data_get_words():
    same = np.full(12, 5.0)
    for other in (same, same * 1.2):
        found = one(same, other)
        assert found.p_adjusted is None
        assert found.word is Word.INCONCLUSIVE and "constant data" in found.why
    varied = same + np.arange(12)
    assert "identical" in one(varied, varied).why


def test_welch_stands_beside_and_agrees_with_scipy():
    first, second = launch_times(1.1)
    theirs = scipy.stats.ttest_ind(np.log(first), np.log(second), equal_var=False)
    assert weigh(first, second, True).welch.p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_holes_are_left_out_in_pairs():
    first, second = launch_times(2.0)
    first[3], second[5] = np.nan, np.nan
    assert weigh(first, second, True).launches == (14, 14)
    assert weigh(first, second, False).launches == (15, 15)


def test_bad_data():
    first, second = launch_times()
    for wrong, code in (((first, second[:-1]), "bad-shape"), ((first * np.nan, second), "too-few")):
        with pytest.raises(VaivenError) as caught:
            weigh(*wrong, True)
        assert caught.value.code == code
    with pytest.raises(VaivenError) as caught:
        weigh(-first, second, True)
    assert caught.value.code == "bad-times"


def test_omnibus_over_sizes():
    grids = [np.stack([launch_times(r, seed=s)[i] for s in range(6)], axis=1) for r, i in ((1.03, 0), (1.03, 1))]
    assert omnibus(*grids).p < 0.01
    assert omnibus(grids[1], grids[1]).p is None
    assert omnibus(grids[0] * np.nan, grids[1]).p is None


def test_equivalence_is_symmetric_in_the_ratio():
    ratio = weigh(*launch_times(1.0, noise=0.003), True).ratio_tost
    assert inside(ratio, 0.02) and inside(ratio.inverse("ratio"), 0.02)
