# SPDX-License-Identifier: BSD-3-Clause
"""Resampled launches: the smooth median is SciPy's, varies as its resamples do, and intervals contain the truth."""

import numpy as np
import pytest
from arch.bootstrap import IIDBootstrap
from scipy import stats
from scipy.stats import mstats

from vaiven.stats.arrays import medians
from vaiven.stats.bootstrap import band, centres, interval, launch_draws, smooth_medians, tail

SHAPES = {
    "normal": (lambda rng, shape: rng.standard_normal(shape), 0.0),
    "uniform": (lambda rng, shape: rng.random(shape), 0.5),
    "skewed": (lambda rng, shape: rng.gumbel(size=shape), -np.log(np.log(2))),
    "heavy": (lambda rng, shape: rng.standard_t(3, shape), 0.0),
}


@pytest.mark.parametrize("count", [1, 2, 5, 8, 31])
def test_the_smooth_median_is_that_of_harrell_and_davis(count):
    values = np.random.default_rng(count).gumbel(size=(count, 3))
    expected = values[0] if count == 1 else mstats.hdquantiles(values, [0.5], axis=0)[0]
    np.testing.assert_allclose(smooth_medians(values), expected)


def test_holes_are_passed_over():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((5, 9, 4))
    values[rng.random(values.shape) < 0.3] = np.nan
    values[0, :, 0] = np.nan
    found = smooth_medians(values)
    assert np.isnan(found[0, 0]) and np.isfinite(found).sum() == found.size - 1
    for i, j in zip(*np.nonzero(np.isfinite(found)), strict=True):
        whole = values[i, np.isfinite(values[i, :, j]), j]
        np.testing.assert_allclose(found[i, j], smooth_medians(whole[:, None])[0])
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        np.testing.assert_array_equal(medians(values), np.nanmedian(values, axis=-2))
    assert np.isnan(medians(np.zeros((0, 3)))).all()


def test_the_smooth_median_is_the_mean_of_all_bootstrap_medians():
    values = np.random.default_rng(2).standard_normal((9, 1))
    draws = launch_draws(9, 40_000, np.random.default_rng(3))
    assert smooth_medians(values)[0] == pytest.approx(np.median(values[draws], axis=1).mean(), abs=0.01)


@pytest.mark.parametrize("name", SHAPES)
def test_resamples_vary_as_the_smooth_median_does(name):
    """The variance of plain medians of 12 normal values is overstated by 1.3."""
    rng = np.random.default_rng(4)
    many = SHAPES[name][0](rng, (1500, 12, 1))
    resampled = np.mean([smooth_medians(x[launch_draws(12, 150, rng)]).var() for x in many])
    assert 0.85 < resampled / smooth_medians(many).var() < 1.4


@pytest.mark.parametrize("count", [8, 30])
@pytest.mark.parametrize("name", SHAPES)
def test_a_lone_median_is_in_its_interval_as_often_as_promised(name, count):
    draw, truth = SHAPES[name]
    rng = np.random.default_rng(count)
    trials, hits = 300, 0
    for values in draw(rng, (trials, count, 1)):
        low, high = band(smooth_medians(values[launch_draws(count, 300, rng)]), count)
        hits += bool(low[0] <= truth <= high[0])
    assert 0.92 < hits / trials < 0.985


@pytest.mark.parametrize("count", [8, 12])
def test_a_sum_of_many_medians_is_in_its_interval_as_often_as_promised(count):
    rng = np.random.default_rng(count)
    trials, hits = 300, 0
    for values in rng.standard_normal((trials, count, 8)):
        low, high = band(smooth_medians(values[launch_draws(count, 300, rng)]).sum(axis=1), count)
        hits += bool(low <= 0 <= high)
    assert 0.92 < hits / trials < 0.985


def test_quantiles_of_resamples_agree_with_arch():
    values = np.random.default_rng(1).gumbel(size=(40, 1)) + 10
    ours = band(centres(values, launch_draws(40, 2000, np.random.default_rng(2)))[:, 0], 40)
    theirs = IIDBootstrap(values, seed=3).conf_int(
        lambda x: np.exp(smooth_medians(np.log(x))), 500, method="percentile", size=1 - 2 * tail(40, 0.95)
    )
    np.testing.assert_allclose(ours, theirs[:, 0], rtol=0.01)


def test_the_tail_is_where_students_quantile_lies():
    assert tail(12, 0.95) == pytest.approx(stats.norm.cdf(stats.t.ppf(0.025, 11)))
    assert tail(8, 0.95) < tail(30, 0.95) < 0.025


def test_one_slow_launch_hardly_moves_a_centre():
    times = np.full((12, 1), 100.0)
    times[3] = 40_000.0
    assert np.median(centres(times, launch_draws(12, 2000, np.random.default_rng(0)))) < 101


def test_an_interval_contains_its_value_and_failed_resamples_are_not_hidden():
    found = interval(np.linspace(1.0, 2.0, 100), 0.5, "ns", 12)
    assert (found.low, found.value, found.unit) == (0.5, 0.5, "ns") and 1.9 < found.high < 2
    assert "no solution" in interval(np.array([1.0, 2.0, np.nan, np.nan]), 1.5, "ns", 12).refused
