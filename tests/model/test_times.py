# SPDX-License-Identifier: BSD-3-Clause
"""Grids of launch times: built from columns, converted exactly, refused when they cannot be."""

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.model.times import Direction, LaunchTimes, Statistic, common_sizes, paired, same_kind


def times(ns, sizes=(0, 8, 64), stack="tcp", direction=Direction.ROUND_TRIP, statistic=Statistic.TYPICAL, blocks=None):
    ns = np.asarray(ns, dtype=float)
    rows = np.arange(ns.shape[0])
    blocks = rows if blocks is None else np.asarray(blocks)
    return LaunchTimes(stack, direction, statistic, np.array(sizes), rows, blocks, ns, np.full(ns.shape, 10))


def test_columns_in_any_order_become_a_grid_with_holes():
    grid = LaunchTimes.from_columns(
        "udp",
        Direction.ROUND_TRIP,
        Statistic.FLOOR,
        launch=[7, 3, 7],
        block=[1, 0, 1],
        size_bytes=[64, 0, 0],
        ns=[30.0, 10.0, 20.0],
        samples=[5, 6, 7],
    )
    assert grid.sizes_bytes.tolist() == [0, 64]
    assert (grid.launches.tolist(), grid.blocks.tolist()) == ([3, 7], [0, 1])
    np.testing.assert_array_equal(grid.ns, [[10.0, np.nan], [20.0, 30.0]])
    np.testing.assert_array_equal(grid.samples, [[6, 0], [7, 5]])


def test_a_size_twice_in_a_launch_is_refused():
    with pytest.raises(VaivenError, match="twice"):
        LaunchTimes.from_columns(
            "udp", Direction.ROUND_TRIP, Statistic.MEAN, [1, 1], [0, 0], [8, 8], [1.0, 2.0], [1, 1]
        )


def test_halving_and_doubling_are_exact_inverses():
    grid = times(np.random.default_rng(0).uniform(1e3, 1e6, (4, 3)))
    assert np.array_equal(grid.one_way().ns * 2, grid.ns)
    assert np.array_equal(grid.one_way().round_trip().ns, grid.ns)
    assert grid.round_trip() is grid


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf])
def test_impossible_times_are_refused(bad):
    with pytest.raises(VaivenError) as caught:
        times([[1.0, bad, 2.0]])
    assert caught.value.code == "bad-times"


def test_sizes_that_do_not_rise_are_refused():
    with pytest.raises(VaivenError) as caught:
        times([[1.0, 2.0, 3.0]], sizes=(0, 8, 8))
    assert caught.value.code == "bad-sizes"


def test_different_kinds_do_not_meet():
    ours = times([[1.0, 2.0, 3.0]])
    with pytest.raises(VaivenError) as caught:
        same_kind(ours, ours.one_way())
    assert caught.value.code == "different-kind" and "one_way" in caught.value.remedy
    with pytest.raises(VaivenError):
        same_kind(ours, times([[1.0, 2.0, 3.0]], statistic=Statistic.MEAN))
    same_kind(ours, ours)


def test_pairs_are_the_blocks_of_both():
    ours = times([[1.0] * 3, [2.0] * 3, [3.0] * 3], blocks=[5, 6, 7])
    theirs = times([[30.0] * 3, [10.0] * 3], blocks=[7, 5])
    first, second = paired(ours, theirs)
    assert first.ns[:, 0].tolist() == [1.0, 3.0] and second.ns[:, 0].tolist() == [10.0, 30.0]
    with pytest.raises(VaivenError, match="no block"):
        paired(ours, times([[1.0] * 3], blocks=[9]))
    with pytest.raises(VaivenError, match="twice"):
        paired(ours, times([[1.0] * 3] * 2, blocks=[5, 5]))


def test_no_common_size_is_said():
    with pytest.raises(VaivenError) as caught:
        common_sizes(times([[1.0, 2.0, 3.0]]), times([[1.0, 2.0, 3.0]], sizes=(1, 2, 3)))
    assert caught.value.code == "no-common-size"


def test_the_wire_goes_with_the_sizes_and_the_direction():
    wire = np.arange(1.0, 4.0)
    ns = np.full((2, 3), 10.0)
    rows = np.arange(2)
    kind = ("udp", Direction.ONE_WAY, Statistic.TYPICAL)
    times = LaunchTimes(*kind, np.array([0, 8, 64]), rows, rows, ns, ns.astype(int), wire_ns=wire)
    assert times.round_trip().wire_ns.tolist() == [2, 4, 6] and times.at_sizes(np.array([8])).wire_ns.tolist() == [2]
    assert times.above(ns[0]).tolist() == [9, 8, 7]
    with pytest.raises(VaivenError) as caught:
        LaunchTimes(*kind, np.array([0, 8, 64]), rows, rows, ns, ns.astype(int), wire_ns=wire[:2])
    assert caught.value.code == "bad-shape"
