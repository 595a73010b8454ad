# SPDX-License-Identifier: BSD-3-Clause
"""Where one stack overtakes the other."""

from dataclasses import replace

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.model.crossover import crossover, meeting_point
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.array([0, 64, 512, 1448, 4096, 16384, 65536])


def stack(name, alpha, beta, seed, count=12, noise=0.01):
    rng = np.random.default_rng(seed)
    ns = (alpha + beta * SIZES) * np.exp(noise * rng.standard_normal((count, SIZES.size)))
    rows = np.arange(count)
    return LaunchTimes(name, Direction.ONE_WAY, Statistic.TYPICAL, SIZES, rows, rows, ns, np.full(ns.shape, 9))


def crossed(first, second):
    return crossover(first, second, np.random.default_rng(0))


def test_the_formula():
    assert meeting_point((np.array(10.0), np.array(2.0)), (np.array(50.0), np.array(1.0))) == 40.0
    assert np.isnan(meeting_point((np.array(10.0), np.array(2.0)), (np.array(50.0), np.array(2.0))))


def test_a_known_crossing():
    found = crossed(stack("udp", 20e3, 90.0, 1), stack("tcp", 60e3, 80.0, 2))
    assert found.size.low < 4000 < found.size.high and found.size.value == pytest.approx(4000, rel=0.15)
    assert (found.below, found.above) == ("udp", "tcp")
    assert found.between == ((1448, 4096),) or found.between == ((4096, 16384),)


def test_sides_do_not_matter():
    a, b = stack("udp", 20e3, 90.0, 1), stack("tcp", 60e3, 80.0, 2)
    assert crossed(a, b).size == crossed(b, a).size


def test_no_crossing_gets_words():
    found = crossed(stack("udp", 20e3, 80.0, 1), stack("tcp", 60e3, 90.0, 2))
    assert "do not cross between 0 and 65536 bytes" in found.size.refused
    assert found.between == () and found.below == found.above == "udp"


def test_parallel_lines_are_undetermined():
    found = crossed(stack("udp", 30e3, 80.0, 1, noise=0.05), stack("tcp", 30.2e3, 80.0, 2, noise=0.05))
    assert not found.size.known


def test_too_few_launches_and_unlike_kinds():
    a, b = stack("udp", 20e3, 90.0, 1, count=4), stack("tcp", 60e3, 80.0, 2, count=4)
    assert "too few launches: 4 of 8" in crossed(a, b).size.refused
    with pytest.raises(VaivenError) as caught:
        crossed(a, b.round_trip())
    assert caught.value.code == "different-kind"
    few = SIZES[:2]
    assert (
        "too few sizes"
        in crossed(*(stack(n, 1e4, 80.0, s).at_sizes(few) for n, s in (("a", 1), ("b", 2)))).size.refused
    )


def test_launches_of_two_runs_are_not_pairs():
    before, after = stack("udp", 20e3, 90.0, 1), stack("tcp", 60e3, 80.0, 2, count=15)
    found = crossover(after, before, np.random.default_rng(0), same_blocks=False)
    assert found.size.low < 4000 < found.size.high
    few = crossover(after, stack("udp", 20e3, 90.0, 1, count=5), np.random.default_rng(0), same_blocks=False)
    assert few.size.refused == "too few launches: 5 of 8"


def test_lines_that_cross_where_the_times_do_not_are_no_crossover():
    bend = 80.0 * np.minimum(SIZES, 1448)  # a second link is passed frame by frame: no one line fits either stack
    first, second = stack("udp", 20e3, 80.0, 1, noise=1e-4), stack("tcp", 40e3, 80.0, 2, noise=1e-4)
    found = crossed(replace(first, ns=first.ns + bend), replace(second, ns=second.ns + bend))
    assert found.between == () and (found.below, found.above) == ("udp", "udp")
    assert "the measured times do not" in found.size.refused


def test_the_interval_stays_inside_the_measured_sizes():
    found = crossed(stack("udp", 20e3, 90.0, 12, noise=0.02), stack("tcp", 20.3e3, 80.0, 112, noise=0.02))
    assert found.size.low == SIZES[0] < found.size.value < found.size.high
