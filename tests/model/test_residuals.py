# SPDX-License-Identifier: BSD-3-Clause
"""Points off the line, runs of signs, prediction of a size left out."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaiven.model.residuals import leave_one_out, of_points, points_off, runs_test

SIZES = np.array([0, 1, 16, 64, 128, 256, 512, 1024, 1448, 2048, 4096, 16384, 65536, 262144, 1048576])


@settings(deadline=None)
@given(st.sets(st.integers(0, SIZES.size - 1), max_size=4), st.integers(0, 1000))
def test_planted_outliers_are_found_exactly_and_do_not_bend_the_line(planted, seed):
    rng = np.random.default_rng(seed)
    ns = (60e3 + 80.0 * SIZES) * np.exp(0.001 * rng.uniform(-1, 1, SIZES.size))
    for at in planted:
        ns[at] *= rng.choice([0.5, 1.5, 3.0, 600.0])
    found = of_points("tcp", SIZES, ns)
    assert set(np.flatnonzero(found.off)) == planted
    assert found.alpha_ns == pytest.approx(60e3, rel=0.003)
    assert found.beta_ns_per_byte == pytest.approx(80.0, rel=0.003)


def test_an_exact_line_has_no_points_off_it_and_no_signs():
    found = of_points("null", SIZES, 60e3 + 80.0 * SIZES)
    assert not found.off.any() and found.runs_p is None and not found.bends
    assert found.left_out_max < 1e-9


def test_left_out_sizes_are_predicted_from_the_others():
    ns = (60e3 + 80.0 * SIZES) * np.exp(0.05 * np.random.default_rng(0).standard_normal(SIZES.size))
    expected = []
    for i in range(SIZES.size):
        keep = np.arange(SIZES.size) != i
        slope, intercept = np.polyfit(SIZES[keep].astype(float), ns[keep], 1, w=1 / ns[keep])
        expected.append((intercept + slope * SIZES[i]) / ns[i] - 1)
    np.testing.assert_allclose(leave_one_out(SIZES, ns, np.zeros(ns.size)), expected, rtol=1e-6)


def test_a_bent_curve_is_noticed():
    sizes = np.arange(1, 40) * 256
    ns = 60e3 + 40.0 * sizes + 0.01 * sizes.astype(float) ** 2
    assert of_points("tcp", sizes, ns).bends


@pytest.mark.parametrize(("ups", "downs"), [(3, 4), (5, 2), (1, 6)])
def test_runs_against_enumeration(ups, downs):
    n = ups + downs
    counts = []
    for chosen in combinations(range(n), ups):
        signs = np.isin(np.arange(n), chosen)
        counts.append(1 + int((signs[1:] != signs[:-1]).sum()))
    for runs in sorted(set(counts)):
        signs = next(
            np.isin(np.arange(n), c) for c, r in zip(combinations(range(n), ups), counts, strict=True) if r == runs
        )
        assert runs_test(signs) == (runs, pytest.approx(np.mean(np.array(counts) <= runs)))


def test_three_points_get_words():
    found = of_points("tcp", SIZES[:3], np.array([1.0, 2.0, 3.0]))
    assert "too few sizes" in found.refused and found.left_out_max is None


@settings(deadline=None)
@given(st.integers(4, 15), st.integers(1, 70), st.floats(0.001, 0.3), st.integers(0, 1000))
def test_points_off_many_curves_are_those_of_each(size_count, curves, noise, seed):
    rng = np.random.default_rng(seed)
    ns = (60e3 + 80.0 * SIZES[:size_count]) * np.exp(noise * rng.standard_normal((curves, size_count)))
    ns[rng.random(ns.shape) < 0.15] *= 3
    expected = [of_points("tcp", SIZES[:size_count], one).off for one in ns]
    np.testing.assert_array_equal(points_off(SIZES[:size_count], ns), expected)
