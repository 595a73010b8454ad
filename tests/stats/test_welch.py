# SPDX-License-Identifier: BSD-3-Clause
"""Welch's test agrees with SciPy to nine digits, and refuses what has no spread."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.stats.welch import welch


@settings(deadline=None)
@given(st.integers(2, 40), st.integers(2, 40), st.floats(0.01, 100), st.floats(-5, 5), st.integers(0, 9999))
def test_agrees_with_scipy(m, n, ratio, shift, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal(m), shift + ratio * rng.standard_normal(n)
    found, theirs = welch(a, b, 0.99), scipy.stats.ttest_ind(a, b, equal_var=False)
    interval = theirs.confidence_interval(0.99)
    ours = (found.t, found.df, found.p, found.low, found.high)
    np.testing.assert_allclose(
        ours, (theirs.statistic, theirs.df, theirs.pvalue, interval.low, interval.high), rtol=1e-9, atol=1e-12
    )


def test_by_hand():
    found = welch([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    assert found.t == pytest.approx(-2 / np.sqrt(5 / 3))
    assert found.df == pytest.approx((5 / 3) ** 2 / ((1 / 3) ** 2 / 2 + (4 / 3) ** 2 / 2))
    assert found.difference == -2 and found.low < -2 < found.high


def test_words():
    assert "constant" in welch([3.0] * 5, [4.0] * 5).refused
    assert "too few launches: 1 of 2" in welch([3.0], [4.0, 5.0]).refused
    with pytest.raises(VaivenError):
        welch([1.0, np.nan], [1.0, 2.0])
