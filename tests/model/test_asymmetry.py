# SPDX-License-Identifier: BSD-3-Clause
"""Ways that cost differently are noticed; equal ways may be halved."""

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.model.asymmetry import asymmetry
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.array([64, 1448, 14480])


def way(near, far, rate_mbps, seed, count=14, ask="oneway", noise=0.01):
    rng = np.random.default_rng(seed)
    ns = (20e3 + 8e3 * SIZES / rate_mbps) * np.exp(noise * rng.standard_normal((count, 3)))
    rows = np.arange(count)
    return LaunchTimes(
        "udp", Direction.ONE_WAY, Statistic.TYPICAL, SIZES, rows, rows, ns, np.full(ns.shape, 9), near, far, ask
    )


def test_ten_megabits_there_and_five_back():
    found = asymmetry(way("a", "b", 10, 1), way("b", "a", 5, 2))
    assert not found.halving_safe and 14480 in found.asymmetric_bytes
    assert found.ratio[-1] == pytest.approx(0.5, abs=0.03)
    assert "b to a takes" in found.text and "halving a round trip is wrong" in found.text


def test_equal_ways_may_be_halved():
    found = asymmetry(way("a", "b", 10, 1), way("b", "a", 10, 2))
    assert found.halving_safe and found.asymmetric_bytes.size == 0


def test_too_little_is_not_called_safe():
    found = asymmetry(way("a", "b", 10, 1, count=4), way("b", "a", 10, 2, count=4))
    assert not found.halving_safe and "not enough launches" in found.text


def test_a_ping_pong_cannot_tell():
    with pytest.raises(VaivenError) as caught:
        asymmetry(way("a", "b", 10, 1, ask="pingpong"), way("b", "a", 10, 2, ask="pingpong"))
    assert caught.value.code == "round-trip"
