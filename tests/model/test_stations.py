# SPDX-License-Identifier: BSD-3-Clause
"""What each host adds is found again from the times of pairs, as a serial server at either end makes them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from vaiven.model.stations import stations
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.array([0, 100, 500, 1000, 60_000])
SERVERS = {"a": (5e3, 4.0), "b": (25e3, 10.0), "c": (50e3, 24.0), "d": (9e3, 6.0)}  # ns, ns/byte
WIRE = (20e3, 160.0)


def times(pairs: Sequence[tuple[str, str]], launches: int = 12, sizes: np.ndarray = SIZES) -> list[LaunchTimes]:
    rng = np.random.default_rng(2)
    found = []
    for near, far in pairs:
        alpha, beta = (SERVERS[near][k] + SERVERS[far][k] + WIRE[k] for k in (0, 1))
        ns = 2 * (alpha + beta * np.where(sizes > 1400, 0.1, 1.0) * sizes)  # longer ones overlap
        ns = ns * np.exp(0.002 * rng.standard_normal((launches, sizes.size)))
        numbers = np.arange(launches)
        kind = "tcp", Direction.ROUND_TRIP, Statistic.TYPICAL
        found.append(LaunchTimes(*kind, sizes, numbers, numbers, ns, np.full(ns.shape, 9), near, far))
    return found


def test_servers_are_found_again_with_half_of_the_wire_each() -> None:
    found = {one.host: one for one in stations(times(list(combinations(SERVERS, 2))), np.random.default_rng(0))}
    assert set(found) == set(SERVERS)
    for host, (alpha, beta) in SERVERS.items():
        for part, truth, wire in ((found[host].alpha, alpha, WIRE[0]), (found[host].beta, beta, WIRE[1])):
            assert part.low is not None and part.high is not None and part.low < part.number() < part.high
            assert part.number() == pytest.approx(truth + wire / 2, rel=0.05, abs=300)
    order = sorted(found, key=lambda host: found[host].alpha.number())
    assert order == sorted(SERVERS, key=lambda host: SERVERS[host])


@pytest.mark.parametrize(
    "pairs",
    [[], [("a", "b")], [("a", "b"), ("a", "c"), ("a", "d")], [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]],
)
def test_pairs_that_do_not_tell_hosts_apart_say_nothing(pairs: list[tuple[str, str]]) -> None:
    assert stations(times(pairs), np.random.default_rng(0)) == ()


def test_few_sizes_of_one_frame_and_few_launches_are_refused() -> None:
    ring = list(combinations("abc", 2))
    assert stations(times(ring, sizes=np.array([0, 1000, 5000])), np.random.default_rng(0)) == ()
    few = stations(times(ring, launches=3), np.random.default_rng(0))
    assert {one.alpha.refused for one in few} == {"too few launches: 3 of 8"}
