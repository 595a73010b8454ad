# SPDX-License-Identifier: BSD-3-Clause
"""One definition of gain, by hand, and its two forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.model.gain import gain, rate_gain, time_gain, time_saved
from vaiven.model.times import Direction, LaunchTimes, Statistic


def stack(name, ns, count=10):
    ns = np.tile(np.asarray(ns, dtype=float), (count, 1)) * np.linspace(1, 1.1, count)[:, None]
    sizes, rows = np.arange(ns.shape[1]) * 100, np.arange(count)
    return LaunchTimes(name, Direction.ONE_WAY, Statistic.TYPICAL, sizes, rows, rows, ns, np.full(ns.shape, 9))


def test_hand_made_table():
    new, old = [80.0, 95.0, 100.0, 120.0], [100.0, 100.0, 100.0, 100.0]
    np.testing.assert_allclose(time_saved(new, old), [0.20, 0.05, 0.0, -0.2])
    np.testing.assert_allclose(rate_gain(time_saved(new, old)), [0.25, 1 / 0.95 - 1, 0.0, 1 / 1.2 - 1])


@given(st.floats(-5, 0.99))
def test_both_forms_convert_exactly(share):
    assert time_gain(rate_gain(share)) == pytest.approx(share, abs=1e-12)


def test_gain_of_launches_with_intervals():
    found = gain(stack("llc", [80.0, 95.0]), stack("tcp", [100.0, 100.0]), np.random.default_rng(0))
    np.testing.assert_allclose(found.time, [0.2, 0.05])
    np.testing.assert_allclose(found.rate, [0.25, 1 / 0.95 - 1])
    assert (found.time_low <= found.time + 1e-12).all() and (found.time <= found.time_high + 1e-12).all()
    assert (found.new, found.old) == ("llc", "tcp")


def test_words_and_errors():
    few = gain(stack("llc", [80.0], 3), stack("tcp", [100.0], 3), np.random.default_rng(0))
    assert "too few launches" in few.refused and np.isnan(few.time_low).all()
    with pytest.raises(VaivenError) as caught:
        time_saved([0.0], [1.0])
    assert caught.value.code == "bad-times"
    with pytest.raises(VaivenError):
        gain(stack("llc", [80.0]).round_trip(), stack("tcp", [100.0]), np.random.default_rng(0))


def test_launches_of_two_runs_are_not_pairs():
    found = gain(stack("new", [80.0], 12), stack("old", [100.0], 10), np.random.default_rng(0), same_blocks=False)
    assert found.time[0] == pytest.approx(0.2) and found.time_low[0] < 0.2 < found.time_high[0]
    few = gain(stack("new", [80.0], 12), stack("old", [100.0], 4), np.random.default_rng(0), same_blocks=False)
    assert few.refused == "too few launches: 4 of 8" and np.isnan(few.time_low).all()
