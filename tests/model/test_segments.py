# SPDX-License-Identifier: BSD-3-Clause
"""Cuts are exact: against enumeration, against ruptures and pwlf."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaiven.model.segments import PIECE_SIZES_MIN, bic, cut, hinge, piece_costs, pieces_max

SIZES = np.array([0, 1, 8, 64, 128, 200, 400, 800, 1448, 2000, 3000, 4096, 8192, 16384])


def noisy(seed, sizes=SIZES, noise=0.1):
    rng = np.random.default_rng(seed)
    return (30e3 + 80.0 * sizes) * np.exp(noise * rng.standard_normal(sizes.size))


def line_cost(sizes, ns):
    coefficients = np.polyfit(sizes.astype(float), ns, 1, w=1 / ns)
    return float((((np.polyval(coefficients, sizes) - ns) / ns) ** 2).sum())


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_the_best_cut_is_the_best_of_all_cuts(seed, pieces):
    ns = noisy(seed)
    found = cut(piece_costs(SIZES, ns[None]), pieces)[-1]
    best = np.inf
    for inner in combinations(range(1, SIZES.size), pieces - 1):
        edges = [0, *inner, SIZES.size]
        if min(np.diff(edges)) >= PIECE_SIZES_MIN:
            parts = pairwise(edges)
            best = min(best, sum(line_cost(SIZES[a:b], ns[a:b]) for a, b in parts))
    assert found.wrss[0] == pytest.approx(best, rel=1e-6)
    edges = [*found.starts[0], SIZES.size]
    parts = pairwise(edges)
    assert sum(line_cost(SIZES[a:b], ns[a:b]) for a, b in parts) == pytest.approx(best, rel=1e-6)


def test_a_batch_is_its_members():
    ns = np.stack([noisy(s) for s in range(5)])
    together = cut(piece_costs(SIZES, ns), 3)
    for row in range(5):
        alone = cut(piece_costs(SIZES, ns[row : row + 1]), 3)
        for a, b in zip(together, alone, strict=True):
            np.testing.assert_array_equal(a.starts[row], b.starts[0])
            assert a.wrss[row] == pytest.approx(b.wrss[0])


def test_cuts_agree_with_ruptures():
    import ruptures  # here, for it takes a second, as pwlf does, and every worker reads this file

    rng = np.random.default_rng(0)
    sizes = np.arange(100, 4100, 100)
    ns = 30e3 + 8.0 * sizes + 9e3 * (sizes > 1500) + 100 * rng.standard_normal(sizes.size)
    signal = np.stack([ns / ns, 1 / ns, sizes / ns], axis=1)  # relative residuals are their linear model
    theirs = ruptures.Dynp(model="linear", min_size=PIECE_SIZES_MIN, jump=1).fit(signal).predict(n_bkps=1)
    assert cut(piece_costs(sizes, ns[None]), 2)[-1].starts[0, 1] == theirs[0]


def test_a_hinge_agrees_with_pwlf():
    import pwlf

    rng = np.random.default_rng(1)
    sizes = np.arange(1000, 40_000, 1000)
    ns = (30e3 + 80.0 * sizes + 60.0 * np.maximum(sizes - 17_300, 0)) * (1 + 0.01 * rng.standard_normal(sizes.size))
    theirs = pwlf.PiecewiseLinFit(sizes.astype(float), ns, weights=1 / ns)
    expected = theirs.fit(2, seed=0)[1]
    place, wrss = hinge(sizes, ns[None], 1 / ns**2, np.linspace(5000.0, 35_000.0, 600))
    assert place[0] == pytest.approx(expected, rel=0.003)
    assert wrss[0] == pytest.approx((((theirs.predict(sizes.astype(float)) - ns) / ns) ** 2).sum(), rel=1e-3)


def test_more_sizes_are_needed_for_more_pieces():
    assert [pieces_max(n) for n in (1, 11, 12, 18, 24, 100)] == [1, 1, 2, 3, 4, 6]


def test_residuals_below_the_clock_buy_nothing():
    assert bic(np.array([1e-30]), 24, 6)[0] > bic(np.array([1e-12]), 24, 3)[0]
