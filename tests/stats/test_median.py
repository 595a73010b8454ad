# SPDX-License-Identifier: BSD-3-Clause
"""The median's interval: ranks by hand, coverage by counting, words when it cannot be."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.stats.launches import launches_needed
from vaiven.stats.median import bounds, interval_ranks, median_interval


@pytest.mark.parametrize(
    ("n", "level", "expected"),
    [(5, 0.95, None), (6, 0.95, (1, 6)), (10, 0.95, (2, 9)), (7, 0.99, None), (8, 0.99, (1, 8)), (30, 0.95, (10, 21))],
)
def test_ranks_of_the_tables(n, level, expected):
    assert interval_ranks(n, level) == expected


@given(st.integers(1, 400), st.sampled_from([0.8, 0.9, 0.95, 0.99, 0.998]))
def test_the_interval_has_its_level_and_one_rank_narrower_has_not(n, level):
    def coverage(low):
        return 1 - 2 * scipy.stats.binom.cdf(low - 1, n, 0.5)

    ranks = interval_ranks(n, level)
    if ranks is None:
        assert n < launches_needed(level)
        return
    low, high = ranks
    assert low + high == n + 1 and n >= launches_needed(level)
    assert coverage(low) >= level - 1e-9
    assert 2 * (low + 1) > n + 1 or coverage(low + 1) < level


@pytest.mark.parametrize("n", [6, 8, 16, 31])
@pytest.mark.parametrize(("law", "of"), [("norm", ()), ("expon", ()), ("uniform", ()), ("t", (2,))])
def test_the_median_is_inside_as_often_as_the_level_says(n, law, of):
    """The ranks alone give 96.9, 99.2, 97.9 and 97.1 %."""
    shape = getattr(scipy.stats, law)(*of)
    given = shape.rvs(size=(2000, n), random_state=n)
    found, median = [bounds(values, 0.95) for values in given], shape.median()
    hits = sum(low <= median <= high for low, high in found)
    assert scipy.stats.binom.ppf(0.001, 2000, 0.945) <= hits <= scipy.stats.binom.ppf(0.999, 2000, 0.955)


def test_the_interval_lies_inside_that_of_its_ranks():
    values = np.arange(1.0, 17.0)
    assert interval_ranks(16, 0.95) == (4, 13)
    low, high = bounds(values, 0.95)
    assert 4 < low < 5 and 12 < high < 13
    assert bounds([1.0, 2.0, 3.0], 0.75) == (1.0, 3.0)  # the level of the outermost ranks, to the letter


def test_looks_that_share_alpha_keep_it_together():
    """An interval at 1 - 0.1/5 at each of five looks misses the median at any of them in at most 10 % of runs."""
    looks, runs = (8, 12, 16, 24, 32), 1500
    times = np.exp(0.3 * np.random.default_rng(2).standard_exponential((runs, looks[-1]))) - np.exp(0.3 * np.log(2))
    missed = 0
    for run in times:
        found = [bounds(run[:look], 1 - 0.1 / len(looks)) for look in looks]
        missed += any(not low <= 0 <= high for low, high in found)
    assert missed <= scipy.stats.binom.ppf(0.999, runs, 0.1)


def test_words_instead_of_numbers():
    assert median_interval([1.0] * 3, "ns").refused == "too few launches: 3 of 6"
    assert "constant" in median_interval([7.0] * 12, "ns").refused
    with pytest.raises(VaivenError) as caught:
        median_interval([1.0, np.nan] * 6, "ns")
    assert caught.value.code == "not-a-number"
    assert bounds([], 0.95) is None


def test_a_launch_that_lost_its_messages_took_longer_than_any():
    assert bounds([1.0] * 11 + [np.inf], 0.95) == (1.0, 1.0)
    assert bounds([1.0] * 5 + [np.inf], 0.95) == (1.0, np.inf)


def test_value_and_ends():
    found = median_interval(np.arange(10.0, 0.0, -1), "us")
    assert (found.value, found.unit) == (5.5, "us")
    # ranks 2 and 9 have 97.85 %, 3 and 8 have 89.06 %: by hand, 0.657 of the way
    assert (found.low, found.high) == pytest.approx((2.657, 8.343), abs=1e-3)
