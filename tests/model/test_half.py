# SPDX-License-Identifier: BSD-3-Clause
"""Half the full rate is reached where the measured curve says so, whatever a straight line would say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.model.half import half_rate, half_size
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.array([8, 100, 1448, 4096, 10_000, 32_768, 100_000])


def launches(ns, sizes=SIZES, count=12, noise=0.01):
    rng = np.random.default_rng(3)
    rows = np.arange(count)
    grid = ns * np.exp(noise * rng.standard_normal((count, sizes.size)))
    return LaunchTimes("tcp", Direction.ONE_WAY, Statistic.TYPICAL, sizes, rows, rows, grid, np.full(grid.shape, 9))


def found(ns, **kw):
    return half_rate(launches(ns, **kw), np.random.default_rng(1))


@given(st.floats(1e3, 1e6), st.floats(1.0, 100.0))
def test_on_a_straight_curve_it_is_what_algebra_says(alpha, beta):
    n = SIZES[-1]
    truth = n * alpha / (2 * alpha + beta * n)
    got = half_size(SIZES, (alpha + beta * SIZES)[None])[0]
    assert got == pytest.approx(max(truth, SIZES[0]), rel=1e-6)


def test_it_lies_where_the_rates_pass_the_half_and_not_where_a_line_says():
    """Two links in a row: one frame is sent twice, many are in both at once. A line has alpha/beta = 260 B here."""
    ns = np.array([25.9e3, 43e3, 293e3, 514e3, 1.0e6, 2.95e6, 8.68e6])
    one = found(ns)
    assert one.between == (1448, 4096)
    assert one.size.low < one.size.number() < one.size.high and one.size.low > 1448 and one.size.high < 4096
    assert one.full.low < 1e5 / 8.68e6 * 1e9 < one.full.high


def test_the_interval_holds_the_truth():
    truth = 1e5 * 60e3 / (2 * 60e3 + 80.0 * 1e5)
    one = found(60e3 + 80.0 * SIZES, noise=0.02)
    assert one.size.low < truth < one.size.high and one.size.high / one.size.low < 1.2


def test_what_cannot_be_read_off_gets_words():
    assert found(60e3 + 80.0 * SIZES, count=5).size.refused == "too few launches: 5 of 8"
    fast = found(100.0 + 80.0 * SIZES)
    assert "has more than half of the full rate already" in fast.size.refused and fast.between is None
    assert fast.full.known
    empty = half_rate(launches(np.array([5e3]), sizes=np.array([0])), np.random.default_rng(0))
    assert empty.size.refused == empty.full.refused == "no message has a byte"
