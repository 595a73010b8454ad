# SPDX-License-Identifier: BSD-3-Clause
"""Drift and blocks that are off, by the sentinel."""

import numpy as np
import pytest
import scipy

from vaiven.errors import VaivenError
from vaiven.stats.drift import drift


def sentinel(trend=0.0, blocks=20, seed=0):
    rng = np.random.default_rng(seed)
    x = np.arange(blocks)
    return x, 30e3 * np.exp(trend * x + 0.01 * rng.standard_normal(blocks))


def test_a_steady_network_is_steady():
    wrong = [drift(*sentinel(seed=s)).drifting for s in range(100)]
    assert sum(wrong) <= 5  # 99.9 % bound of a binomial at 1 %


def test_a_trend_is_found_with_its_size():
    found = drift(*sentinel(trend=0.01))
    assert found.drifting and found.change.low < np.exp(0.19) < found.change.high
    assert "drifted by +2" in found.text


@pytest.mark.parametrize("seed", range(5))
def test_the_trend_is_the_oracle_s(seed):
    x, y = sentinel(trend=0.003, blocks=8 + 5 * seed, seed=seed)
    y = np.round(y, -2)  # some are equal
    slope, _, low, high = scipy.stats.theilslopes(np.log(y), x, alpha=0.99)
    change = drift(x, y).change
    whole = np.exp(np.array([slope, low, high]) * (x[-1] - x[0]))
    assert [change.value, change.low, change.high] == pytest.approx(whole)


def test_a_disturbed_block_is_named_and_makes_no_trend():
    x, y = sentinel()
    y[7] *= 1.5  # within the 1 % that it moves by itself
    found = drift(x + 100, y)
    assert found.outside[107] == pytest.approx(0.5, abs=0.05) and not found.drifting and "107" in found.text


def test_words():
    found = drift(*sentinel(blocks=5))
    assert "too few blocks: 5 of 8" in found.change.refused and "unknown" in found.text
    for wrong in (([1, 1, 2], [1.0, 1.0, 1.0]), ([1, 2], [1.0])):
        with pytest.raises(VaivenError):
            drift(*wrong)
    with pytest.raises(VaivenError) as caught:
        drift(np.arange(9), np.zeros(9))
    assert caught.value.code == "bad-times"
