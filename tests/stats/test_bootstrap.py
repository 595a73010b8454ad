# SPDX-License-Identifier: BSD-3-Clause
"""Resampled launches: the smooth median is SciPy's, varies as its resamples do, and intervals contain the truth."""

import numpy as np
import pytest
import scipy

from vaiven.stats.arrays import medians
from vaiven.stats.bootstrap import (
    band,
    beyond,
    centres,
    freedom,
    interval,
    launch_draws,
    resampled,
    spread_interval,
    tail,
)

SHAPES = {
    "normal": (lambda rng, shape: rng.standard_normal(shape), 0.0),
    "uniform": (lambda rng, shape: rng.random(shape), 0.5),
    "skewed": (lambda rng, shape: rng.gumbel(size=shape), -np.log(np.log(2))),
    "heavy": (lambda rng, shape: rng.standard_t(3, shape), 0.0),
}


def smooth_medians(values):
    """(n, S) -> (S,): of the values as they are, each drawn once."""
    return resampled(values, np.arange(len(values))[None])[0]


@pytest.mark.parametrize("count", [1, 2, 5, 8, 31])
def test_the_smooth_median_is_that_of_harrell_and_davis(count):
    values = np.random.default_rng(count).gumbel(size=(count, 3))
    expected = values[0] if count == 1 else scipy.stats.mstats.hdquantiles(values, [0.5], axis=0)[0]
    np.testing.assert_allclose(smooth_medians(values), expected)


def test_a_draw_has_the_smooth_median_of_what_it_holds():
    rng = np.random.default_rng(6)
    values, draws = rng.gumbel(size=(9, 3)), launch_draws(9, 50, rng)
    for drawn, found in zip(draws, resampled(values, draws), strict=True):
        np.testing.assert_allclose(found, scipy.stats.mstats.hdquantiles(values[drawn], [0.5], axis=0)[0])


def test_holes_are_passed_over():
    rng = np.random.default_rng(0)
    values, draws = rng.standard_normal((9, 4)), launch_draws(9, 200, rng)
    values[rng.random(values.shape) < 0.3] = np.nan
    values[:, 0] = [1.0, *(8 * [np.nan])]
    found = resampled(values, draws)
    for drawn, row in zip(draws, found, strict=True):
        for cell, one in enumerate(row):
            whole = values[drawn, cell]
            whole = whole[np.isfinite(whole)]
            np.testing.assert_allclose(one, smooth_medians(whole[:, None])[0] if whole.size else np.nan)
    assert np.isnan(found[:, 0]).any() and np.isfinite(found[:, 0]).any()
    assert np.isnan(resampled(np.full((3, 1), np.nan), launch_draws(3, 5, rng))).all()


def test_medians_pass_over_holes():
    values = np.random.default_rng(0).standard_normal((5, 9, 4))
    values[values > 1] = np.nan
    values[0, :, 0] = np.nan
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
    drawn = np.mean([resampled(x, launch_draws(12, 150, rng)).var() for x in many])
    assert 0.85 < drawn / np.var([smooth_medians(x) for x in many]) < 1.4


@pytest.mark.parametrize("count", [8, 30])
@pytest.mark.parametrize("name", SHAPES)
def test_a_lone_median_is_in_its_interval_as_often_as_promised(name, count):
    draw, truth = SHAPES[name]
    rng = np.random.default_rng(count)
    trials, hits = 300, 0
    for values in draw(rng, (trials, count, 1)):
        low, high = band(resampled(values, launch_draws(count, 300, rng)), count)
        hits += bool(low[0] <= truth <= high[0])
    assert 0.92 < hits / trials < 0.985


@pytest.mark.parametrize("count", [8, 12])
def test_a_sum_of_many_medians_is_in_its_interval_as_often_as_promised(count):
    rng = np.random.default_rng(count)
    trials, hits = 300, 0
    for values in rng.standard_normal((trials, count, 8)):
        low, high = band(resampled(values, launch_draws(count, 300, rng)).sum(axis=1), count)
        hits += bool(low <= 0 <= high)
    assert 0.92 < hits / trials < 0.985


def test_quantiles_of_resamples_agree_with_arch():
    values = np.random.default_rng(1).gumbel(size=(40, 1)) + 10
    ours = band(centres(values, launch_draws(40, 2000, np.random.default_rng(2)))[:, 0], 40)
    from arch.bootstrap import IIDBootstrap  # a second that each worker else spends before its first test

    theirs = IIDBootstrap(values, seed=3).conf_int(
        lambda x: np.exp(smooth_medians(np.log(x))), 500, method="percentile", size=1 - 2 * tail(40, 0.95)
    )
    np.testing.assert_allclose(ours, theirs[:, 0], rtol=0.01)


def test_the_tail_is_where_students_quantile_lies():
    assert tail(12, 0.95) == pytest.approx(scipy.stats.norm.cdf(scipy.stats.t.ppf(0.025, 11)))
    assert tail(8, 0.95) < tail(30, 0.95) < 0.025


def test_one_slow_launch_hardly_moves_a_centre():
    times = np.full((12, 1), 100.0)
    times[3] = 40_000.0
    assert np.median(centres(times, launch_draws(12, 2000, np.random.default_rng(0)))) < 101


def test_an_interval_contains_its_value_and_failed_resamples_are_not_hidden():
    found = interval(np.linspace(1.0, 2.0, 100), 0.5, "ns", 12)
    assert (found.low, found.value, found.unit) == (0.5, 0.5, "ns") and 1.9 < found.high < 2
    assert "no solution" in interval(np.array([1.0, 2.0, np.nan, np.nan]), 1.5, "ns", 12).refused


def test_a_spread_is_as_wide_on_both_sides_of_the_value_and_of_a_ratio_in_proportion():
    replicates = np.random.default_rng(5).normal(10.0, 0.5, 20_000)
    reach = scipy.stats.t.ppf(0.975, 7) * replicates.std()
    found = spread_interval(replicates, 9.0, "ns", 8)
    assert (found.low, found.value, found.high) == pytest.approx((9 - reach, 9, 9 + reach))
    ratio = spread_interval(replicates, 9.0, "byte", 8, ratio=True)
    assert ratio.high / 9 == pytest.approx(9 / ratio.low) == pytest.approx(np.exp(reach / 10), rel=0.01)
    assert "no solution" in spread_interval(np.array([1.0, 2.0, -1.0, np.nan]), 1.5, "byte", 8, ratio=True).refused


def test_the_freedom_of_a_deviation_grows_as_the_root_of_the_launches():
    assert [freedom(count) for count in (2, 6, 8)] == [1, 5, 7]
    assert freedom(16) == 10 and freedom(64) == 20


@pytest.mark.parametrize("count", [8, 12])
def test_a_sum_of_skewed_medians_is_in_its_spread_as_often_as_promised(count):
    """Quantiles of the same replicates lean to the tail: of 8 they hold the truth in nine of ten trials."""
    rng = np.random.default_rng(count)
    trials, hits, by_quantiles = 400, 0, 0
    for values in rng.exponential(size=(trials, count, 13)):
        drawn = resampled(values, launch_draws(count, 300, rng)).sum(axis=1)
        found = spread_interval(drawn, float(np.median(values, axis=0).sum()), "", count)
        hits += found.low <= 13 * np.log(2) <= found.high
        low, high = band(drawn, count)
        by_quantiles += bool(low <= 13 * np.log(2) <= high)
    assert 0.93 < hits / trials < 0.985 and by_quantiles < hits


@pytest.mark.parametrize("value", [1.05, 0.95])
def test_a_p_value_says_whether_the_interval_reaches_1(value):
    replicates = value * np.exp(0.02 * np.random.default_rng(3).standard_normal(2000))
    for factor in np.linspace(0.93, 1.07, 60):
        found = interval(replicates * factor, value * factor, "", 8)
        assert (beyond(replicates * factor, value * factor, 8) < 0.05) == (found.low > 1 or found.high < 1)


def test_a_p_value_beyond_all_resamples_goes_on_falling():
    replicates = np.exp(0.02 * np.random.default_rng(3).standard_normal(2000))
    far = [beyond(replicates * factor, factor, 8) for factor in (1.1, 1.3, 2.0, 0.5)]
    assert far[0] > far[1] > far[2] > 0 and far[2] == pytest.approx(far[3]) and far[2] < 1e-6
    assert beyond(np.ones(2000), 1.0, 8) == 1 and beyond(np.full(2000, 3.0), 3.0, 8) < 1e-9
