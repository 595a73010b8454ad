# SPDX-License-Identifier: BSD-3-Clause
"""Where one stack overtakes the other: said where the verdicts turn, and never beside them."""

import numpy as np
import pytest

from vaiven.model.compare import compare_pairs
from vaiven.model.crossover import crossover, meeting_point
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.array([0, 64, 512, 1448, 4096, 16384, 65536])


def stack(name, curve, seed, count=12, noise=0.01):
    rng = np.random.default_rng(seed)
    ns = curve(SIZES.astype(float)) * np.exp(noise * rng.standard_normal((count, SIZES.size)))
    rows = np.arange(count)
    return LaunchTimes(name, Direction.ONE_WAY, Statistic.TYPICAL, SIZES, rows, rows, ns, np.full(ns.shape, 9))


def line(alpha, beta):
    return lambda n: alpha + beta * n


def crossed(first, second, same_blocks=True):
    (compared,) = compare_pairs([(first, second)], same_blocks).pairs
    return crossover(compared, first, second, np.random.default_rng(0))


def test_the_place_where_straight_differences_pass_zero():
    sizes = np.array([0, 10, 30])
    differences = np.array([[10.0, -10.0, -20.0], [3.0, 2.0, -2.0], [1.0, 2.0, 3.0], [-4.0, 0.0, 4.0]])
    np.testing.assert_array_equal(meeting_point(sizes, differences), [5.0, 20.0, np.nan, 10.0])


def test_a_known_crossing():
    found = crossed(stack("udp", line(20e3, 90.0), 1), stack("tcp", line(60e3, 80.0), 2))
    assert found.size.low < 4000 < found.size.high and found.size.value == pytest.approx(4000, rel=0.2)
    ((low, high),) = found.between
    assert low <= found.size.low and found.size.high <= high


def test_sides_do_not_matter():
    a, b = stack("udp", line(20e3, 90.0), 1), stack("tcp", line(60e3, 80.0), 2)
    assert crossed(a, b).size == crossed(b, a).size


def test_where_no_verdict_turns_there_is_no_crossing():
    """Their lines would meet at 1000 bytes, but the noise lets no verdict say that they change places."""
    noisy = [stack("udp", line(30e3, 90.0), 1, noise=0.3), stack("tcp", line(40e3, 80.0), 2, noise=0.3)]
    for first, second in (noisy, [stack("udp", line(20e3, 80.0), 1), stack("tcp", line(60e3, 90.0), 2)]):
        found = crossed(first, second)
        assert found.between == () and found.size.refused == "they change places at no size for certain"


def test_curves_that_bend_cross_where_they_were_measured_to():
    """Straight lines through these would cross far from where the times do, or not at all."""
    first = stack("udp", lambda n: 20e3 + 160.0 * np.minimum(n, 1448) + 84.0 * n, 1, noise=1e-3)
    second = stack("tcp", lambda n: 60e3 + 160.0 * np.minimum(n, 1448) + 80.0 * n, 2, noise=1e-3)
    found = crossed(first, second)
    assert found.between == ((4096, 16384),) and found.size.low < 10_000 < found.size.high


def test_two_that_change_places_twice_have_no_one_crossing():
    found = crossed(
        stack("udp", lambda n: 30e3 + 80.0 * n + 20e3 * ((n > 100) & (n < 4000)), 1),
        stack("tcp", line(38e3, 84.0), 2),
    )
    assert len(found.between) == 2 and found.size.refused == "they change places several times"


def test_launches_of_two_runs_are_not_pairs():
    before, after = stack("udp", line(20e3, 90.0), 1), stack("tcp", line(60e3, 80.0), 2, count=15)
    found = crossed(after, before, same_blocks=False)
    assert found.size.low < 4000 < found.size.high
