# SPDX-License-Identifier: BSD-3-Clause
"""Rank tests against enumeration and SciPy; shifts against brute force."""

from itertools import combinations, product

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.stats.ranks import mann_whitney, shift_paired, shift_unpaired, sign_flip, superiority

VALUES = st.integers(-6, 6).map(float)


def flips(weights):
    """Enumerated: the share of flips with a sum at least as far from zero."""
    sums = np.array([np.dot(signs, np.abs(weights)) for signs in product((-1, 1), repeat=len(weights))])
    return float(np.mean(np.abs(sums) >= abs(np.sum(weights)) - 1e-9))


@settings(max_examples=60, deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=9), st.sampled_from(["ranks", "mean"]))
def test_sign_flip_is_the_enumeration_ties_and_zeros_included(differences, statistic):
    d = np.array(differences)
    found = sign_flip(d, statistic)
    if not d.any():
        assert found.p is None and "identical" in found.refused
        return
    weights = d
    if statistic == "ranks":
        weights = np.zeros(d.size)
        weights[d != 0] = np.sign(d[d != 0]) * scipy.stats.rankdata(np.abs(d[d != 0]))
    assert found.p == pytest.approx(flips(weights)) and found.exact


@pytest.mark.parametrize("n", [8, 13, 25, 39])
def test_sign_flip_of_ranks_is_the_exact_wilcoxon_of_scipy(n):
    d = np.random.default_rng(n).standard_normal(n) + 0.3
    assert sign_flip(d).p == pytest.approx(scipy.stats.wilcoxon(d, method="exact").pvalue, rel=1e-9)


def test_beyond_forty_pairs_the_normal_is_close():
    d = np.random.default_rng(0).standard_normal(41) + 0.3
    found = sign_flip(d)
    assert not found.exact
    assert found.p == pytest.approx(scipy.stats.wilcoxon(d, method="exact").pvalue, rel=0.1)


@pytest.mark.parametrize("n", [1, 5, 8])
def test_the_smallest_p_is_said_and_reached(n):
    found = sign_flip(np.arange(1.0, n + 1))
    assert found.p == found.p_least == 2.0 ** (1 - n)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(2, 12), st.integers(0, 10_000))
def test_mann_whitney_is_scipys_exact(m, n, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal(m), rng.standard_normal(n) + 0.5
    found = mann_whitney(a, b)
    assert found.exact
    assert found.p == pytest.approx(scipy.stats.mannwhitneyu(a, b, method="exact").pvalue, rel=1e-9)
    assert found.p >= found.p_least * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_mann_whitney_with_ties_counts_every_choice(seed):
    rng = np.random.default_rng(seed)
    both = np.round(rng.normal(0, 2, 9))
    ranks = scipy.stats.rankdata(both)
    away = [abs(ranks[list(choice)].sum() - 4 * ranks.mean()) for choice in combinations(range(9), 4)]
    expected = np.mean(np.array(away) >= away[0] - 1e-9)  # the first choice is the first four
    found = mann_whitney(both[:4], both[4:])
    assert found.exact and found.p == pytest.approx(expected)


def test_identical_groups_have_no_p():
    assert mann_whitney([1.0] * 5, [1.0] * 5).p is None


@settings(max_examples=40, deadline=None)
@given(st.integers(8, 30), st.integers(0, 10_000))
def test_paired_shift_inverts_its_test(n, seed):
    """A shift inside the interval is not rejected, one just outside is."""
    d = np.random.default_rng(seed).standard_normal(n)
    found = shift_paired(d, 0.95)
    assert found.low < found.value < found.high
    walsh = [(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)]
    assert found.value == pytest.approx(np.median(walsh))
    for end, outward in ((found.low, -1e-7), (found.high, 1e-7)):
        assert sign_flip(d - (end - outward)).p > 0.05 > sign_flip(d - (end + outward)).p - 1e-12


@settings(max_examples=40, deadline=None)
@given(st.integers(21, 60), st.integers(21, 60), st.integers(1, 30), st.integers(0, 10_000))
def test_mann_whitney_of_many_is_scipys_normal_one(m, n, kinds, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, kinds + 1, m), rng.integers(0, kinds + 1, n) + 0.5 * rng.integers(0, 2)
    found = mann_whitney(a, b)
    assert not found.exact
    assert found.p == pytest.approx(scipy.stats.mannwhitneyu(a, b, method="asymptotic").pvalue, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(5, 14), st.integers(5, 14), st.integers(0, 10_000))
def test_unpaired_shift_inverts_its_test(m, n, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal(m), rng.standard_normal(n)
    found = shift_unpaired(a, b, 0.95)
    assert found.value == pytest.approx(np.median(a[:, None] - b))
    for end, outward in ((found.low, -1e-7), (found.high, 1e-7)):
        assert mann_whitney(a - (end - outward), b).p > 0.05 > mann_whitney(a - (end + outward), b).p - 1e-12


def test_large_groups_take_the_normal_interval():
    rng = np.random.default_rng(0)
    a = rng.standard_normal(60)
    b = rng.standard_normal(60) - 1
    found = shift_unpaired(a, b, 0.99)
    assert found.low < 1 < found.high and found.high - found.low < 1.3


def test_too_few_for_the_level_is_said():
    assert "too few: 7" in shift_paired(np.arange(1.0, 8.0), 0.99).refused
    assert shift_paired(np.arange(1.0, 9.0), 0.99).known
    assert "too few" in shift_unpaired([1.0, 2.0], [3.0, 4.0], 0.95).refused


def test_superiority_counts_pairs():
    assert superiority([1.0, 2.0], [2.0, 3.0]) == (3 + 0.5) / 4


def test_not_a_number_is_refused():
    for test in (lambda x: sign_flip(x), lambda x: mann_whitney(x, x), lambda x: shift_paired(x, 0.95)):
        with pytest.raises(VaivenError) as caught:
            test([1.0, float("nan")])
        assert caught.value.code == "not-a-number"
