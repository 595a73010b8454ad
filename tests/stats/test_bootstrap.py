# SPDX-License-Identifier: BSD-3-Clause
"""Resampling: shapes, neighbours kept together, agreement with arch, refusals."""

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.stats.arrays import medians
from vaiven.stats.bootstrap import (
    block_length,
    by_launch,
    cell_replicates,
    interval,
    launch_draws,
    median_in_launch,
    moving_blocks,
)


def test_blocks_are_neighbours():
    drawn = moving_blocks(np.arange(100.0), 5, 50, np.random.default_rng(0))
    assert drawn.shape == (50, 100)
    steps = np.diff(drawn.reshape(50, 20, 5), axis=2)
    assert (steps == 1).all()


def test_a_block_longer_than_the_samples_is_all_of_them():
    drawn = moving_blocks(np.arange(4.0), 9, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn, np.tile(np.arange(4.0), (3, 1)))


def test_spread_of_block_means_agrees_with_arch():
    arch = pytest.importorskip("arch.bootstrap")
    rng = np.random.default_rng(1)
    x = np.convolve(rng.standard_normal(600), np.ones(10), "valid")
    ours = moving_blocks(x, 15, 3000, rng).mean(axis=1).std()
    theirs = arch.MovingBlockBootstrap(15, x, seed=2).apply(np.mean, 3000).std()
    assert ours == pytest.approx(theirs, rel=0.1)


def test_launch_bootstrap_of_a_mean_has_the_standard_error():
    x = np.random.default_rng(0).standard_normal(40)
    draws = launch_draws(40, 5000, np.random.default_rng(1))
    assert x[draws].mean(axis=1).std() == pytest.approx(x.std() / np.sqrt(40), rel=0.05)
    found = by_launch(x, lambda v: v.mean(axis=-1), "ns", np.random.default_rng(1))
    assert found.low < x.mean() < found.high and found.value == pytest.approx(x.mean())


def test_medians_pass_over_holes():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((5, 9, 4))
    values[rng.random(values.shape) < 0.3] = np.nan
    values[0, :, 0] = np.nan
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        np.testing.assert_array_equal(medians(values), np.nanmedian(values, axis=-2))
    assert np.isnan(medians(np.zeros((0, 3)))).all()


def test_cells_without_samples_stay_empty():
    cells = [[np.arange(1.0, 30.0), np.zeros(0)], [np.ones(5), np.ones(7)]]
    found = cell_replicates(cells, np.median, 20, np.random.default_rng(0))
    assert np.isnan(found[0, 1]).all() and (found[1] == 1).all()
    assert 1 <= found[0, 0].min() <= found[0, 0].max() <= 29


def test_failed_resamples_are_not_hidden():
    assert "no solution" in interval(np.array([1.0, 2.0, np.nan, np.nan]), 1.5, "ns").refused


def test_words():
    rng = np.random.default_rng(0)
    assert "too few launches: 7 of 8" in by_launch(np.ones(7), lambda v: v.mean(axis=-1), "ns", rng).refused
    with pytest.raises(VaivenError):
        by_launch(np.full(9, np.nan), lambda v: v.mean(axis=-1), "ns", rng)


def test_median_in_launch_knows_dependence():
    rng = np.random.default_rng(5)
    noise = rng.standard_normal(2000)
    smooth = np.convolve(noise, np.ones(4) / 2, "same")
    ours = median_in_launch(100 + smooth, rng)
    free = median_in_launch(100 + rng.permutation(smooth), rng)
    assert ours.high - ours.low > 1.3 * (free.high - free.low)
    trend = median_in_launch(np.linspace(1, 2, 300) + 0.01 * rng.standard_normal(300), rng)
    assert "longer than a block" in trend.refused
    assert "too few samples" in median_in_launch(np.ones(5), rng).refused
    assert block_length(1000) == 10
