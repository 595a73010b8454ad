# SPDX-License-Identifier: BSD-3-Clause
"""The line: known coefficients come back, and what cannot carry a line gets words."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.model.line import fit_cost, fit_line, weighted_line
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.array([0, 1, 64, 512, 1448, 4096, 65536, 1 << 20])


def launches(
    alpha=60e3, beta=80.0, count=12, noise=0.02, seed=0, sizes=SIZES, statistic=Statistic.TYPICAL
) -> LaunchTimes:
    rng = np.random.default_rng(seed)
    ns = (alpha + beta * sizes) * np.exp(noise * rng.standard_normal((count, sizes.size)))
    rows = np.arange(count)
    return LaunchTimes("tcp", Direction.ONE_WAY, statistic, sizes, rows, rows, ns, np.full(ns.shape, 100))


def fit(times, **kw):
    return fit_line(times, np.random.default_rng(1), **kw)


@given(alpha=st.floats(1.0, 1e9), beta=st.floats(1e-3, 1e4))
def test_points_on_a_line_give_the_line(alpha, beta):
    found = weighted_line(SIZES, alpha + beta * SIZES)
    np.testing.assert_allclose(found, (alpha, beta), rtol=1e-6)


def test_weights_are_relative_as_in_numpy():
    rng = np.random.default_rng(3)
    ns = (6e4 + 80.0 * SIZES) * np.exp(0.1 * rng.standard_normal(SIZES.size))
    slope, intercept = np.polyfit(SIZES.astype(float), ns, 1, w=1 / ns)
    np.testing.assert_allclose(weighted_line(SIZES, ns), (intercept, slope), rtol=1e-9)


def test_known_line_is_inside_its_intervals():
    line = fit(launches())
    assert not line.refused
    for estimate, truth in ((line.alpha, 60e3), (line.beta, 80.0)):
        assert estimate.low < truth < estimate.high
        assert estimate.high / estimate.low < 1.1
    assert (line.alpha.unit, line.beta.unit) == ("ns", "ns/byte")
    np.testing.assert_allclose(line.law_ns(), line.alpha.value + line.beta.value * SIZES)
    assert line.misfit < 0.03


def test_one_bad_launch_moves_nothing():
    good = launches()
    ns = good.ns.copy()
    ns[3] *= 5
    bad = LaunchTimes("tcp", good.direction, good.statistic, SIZES, good.launches, good.blocks, ns, good.samples)
    assert fit(bad).alpha.value == pytest.approx(fit(good).alpha.value, rel=0.02)


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-3, 1e3))
def test_another_unit_of_time_scales_everything(factor):
    ours = launches()
    theirs = LaunchTimes(
        "tcp", ours.direction, ours.statistic, SIZES, ours.launches, ours.blocks, ours.ns * factor, ours.samples
    )
    first, second = fit(ours), fit(theirs)
    assert second.alpha.value == pytest.approx(first.alpha.value * factor)
    assert second.beta.high == pytest.approx(first.beta.high * factor)


def stairs(sizes=SIZES):
    """Two links at 100 Mb/s with 1448 B to a frame: the second link takes one more frame, the first them all."""
    frames = np.maximum(1, -(-sizes // 1448))
    return 80.0 * (sizes + 90 * frames + np.minimum(sizes, 1448) + 90)


def test_where_the_wire_is_known_the_line_is_what_software_takes():
    """No straight line follows the frames; with their own time taken off, what is left is one."""
    times = replace(launches(alpha=4e3, beta=2.0), wire_ns=stairs())
    times = replace(times, ns=times.ns + stairs())
    line, whole = fit(times), fit(replace(times, wire_ns=None))
    assert line.alpha.low < 4e3 < line.alpha.high and line.beta.low < 2.0 < line.beta.high
    assert line.misfit < 0.01 and whole.misfit > 0.2
    np.testing.assert_allclose(line.law_ns(), times.centre_ns(), rtol=0.01)


def test_software_that_takes_nothing_more_for_a_byte_is_an_answer():
    times = replace(launches(alpha=4e3, beta=0.0), wire_ns=stairs())
    line = fit(replace(times, ns=times.ns + stairs()))
    assert line.beta.known and line.beta.low <= 0.0 <= line.beta.high


def test_a_cost_has_the_line_that_others_publish_beside_it():
    def of(statistic):
        times = replace(launches(alpha=4e3, beta=2.0, statistic=statistic), wire_ns=stairs())
        return replace(times, ns=times.ns + stairs())

    cost = fit_cost(of(Statistic.TYPICAL), of(Statistic.FLOOR), np.random.default_rng(0))
    assert cost.whole.wire_ns is None and cost.whole.beta.value > 40 * cost.typical.beta.value
    plain = fit_cost(launches(), launches(statistic=Statistic.FLOOR), np.random.default_rng(0))
    assert plain.whole is plain.typical


def test_direction_is_kept():
    both = fit(launches().round_trip())
    assert both.direction is Direction.ROUND_TRIP
    assert both.alpha.value == pytest.approx(2 * fit(launches()).alpha.value)
    framed = replace(launches(), wire_ns=stairs() / 10)
    assert fit(framed.round_trip()).alpha.value == pytest.approx(2 * fit(framed).alpha.value)


def test_too_few_launches_get_words_and_no_number():
    line = fit(launches(count=5))
    assert line.refused == "too few launches: 5 of 8"
    for estimate in (line.alpha, line.beta):
        assert estimate.value is None and "too few launches" in estimate.refused
    with pytest.raises(VaivenError) as caught:
        line.law_ns()
    assert caught.value.code == "refused"


@pytest.mark.parametrize("count", [1, 2])
def test_under_three_sizes_there_is_no_line(count):
    assert f"too few sizes: {count} of 3" in fit(launches(sizes=SIZES[:count])).refused


def test_constant_launches_get_words():
    assert "constant data" in fit(launches(noise=0.0)).refused


def test_times_that_do_not_grow_have_no_slope():
    line = fit(launches(beta=0.0, noise=0.05, seed=1))
    assert "reaches zero" in line.beta.refused
    assert line.alpha.known


def test_a_start_up_lost_in_noise_is_refused():
    line = fit(launches(alpha=1.0, noise=0.3, sizes=np.array([4096, 8192, 16384, 65536])))
    assert "reaches zero" in line.alpha.refused and line.beta.known


def test_all_lost_is_said_not_fitted():
    empty = launches()
    nothing = LaunchTimes(
        "udp",
        empty.direction,
        empty.statistic,
        SIZES,
        empty.launches,
        empty.blocks,
        empty.ns * np.nan,
        empty.samples * 0,
    )
    assert "too few launches: 0" in fit(nothing).refused


def test_a_size_with_few_launches_is_left_out_and_named():
    full = launches()
    ns = full.ns.copy()
    ns[2:, 3] = np.nan
    line = fit(LaunchTimes("udp", full.direction, full.statistic, SIZES, full.launches, full.blocks, ns, full.samples))
    assert 512 not in line.sizes_bytes and line.alpha.known
    assert "512" in line.notes[0]


def test_cost_wants_medians_and_minima():
    typical, floor = launches(), launches(alpha=50e3, statistic=Statistic.FLOOR, seed=1)
    cost = fit_cost(typical, floor, np.random.default_rng(0))
    assert cost.floor.alpha.value < cost.typical.alpha.value
    for wrong in ((floor, typical), (typical, floor.round_trip())):
        with pytest.raises(VaivenError) as caught:
            fit_cost(*wrong, np.random.default_rng(0))
        assert caught.value.code == "different-kind"
