# SPDX-License-Identifier: BSD-3-Clause
"""What of a message is the hosts' and what the wire's, and the size at which the wire takes over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vaiven.model.shares import shares
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.array([8, 1000, 2000, 4000])
WIRE_NS = 80.0 * SIZES
RNG = np.random.default_rng(1)


def times(start_ns: float, launches: int = 12) -> LaunchTimes:
    """Half of the time is the wire's where that takes start_ns: at start_ns/80 bytes."""
    noise = np.exp(0.01 * np.random.default_rng(5).standard_normal((launches, 1)))
    ns = 2 * (WIRE_NS + start_ns * noise)
    numbers = np.arange(launches)
    kind = "tcp", Direction.ROUND_TRIP, Statistic.TYPICAL
    return LaunchTimes(*kind, SIZES, numbers, numbers, ns, np.full(ns.shape, 9), "a", "b", wire_ns=2 * WIRE_NS)


def test_shares_are_one_way_and_add_up() -> None:
    found = shares(times(160e3), RNG)
    assert found is not None
    np.testing.assert_allclose(found.hosts + found.wire, 1)
    assert found.hosts[1] == pytest.approx(160 / 240, rel=0.01)


def test_the_wire_takes_over_where_both_are_as_long() -> None:
    found = shares(times(160e3), RNG)
    assert found is not None and found.takes_over.unit == "byte"
    assert found.takes_over.low is not None and found.takes_over.high is not None
    assert found.takes_over.low <= found.takes_over.number() <= found.takes_over.high
    assert found.takes_over.number() == pytest.approx(2000, rel=0.02)


@pytest.mark.parametrize(("start_ns", "who"), [(1.0, "the wire leads"), (1e9, "the hosts lead")])
def test_where_one_leads_at_all_sizes_there_is_no_such_size(start_ns: float, who: str) -> None:
    found = shares(times(start_ns), RNG)
    assert found is not None and found.takes_over.refused == f"{who} at every size"


def test_few_launches_and_an_unknown_wire_are_refused() -> None:
    few = shares(times(160e3, launches=3), RNG)
    assert few is not None and few.takes_over.refused == "too few launches: 3 of 8"
    assert shares(replace(times(160e3), wire_ns=None), RNG) is None
