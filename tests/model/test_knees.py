# SPDX-License-Identifier: BSD-3-Clause
"""Knees: planted ones are found and explained, frames are not taken for protocols, straight lines stay straight."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.model.explain import Declared, explain, limits_of
from vaiven.model.frames import MTUS_BYTES, Path, frame_limits, usual_limits
from vaiven.model.knees import Kind, find_knees, step_between
from vaiven.model.refine import around, bisect, interpolation_error, place, sure_error
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.unique(np.concatenate(([0, 1, 3], np.round(2.0 ** np.arange(2, 18.1, 0.5)))).astype(np.int64))


def launches(curve, sizes=SIZES, count=12, noise=0.01, seed=0):
    rng = np.random.default_rng(seed)
    factor = np.exp(0.1 * rng.standard_normal((count, 1)))
    ns = curve(sizes.astype(float)) * factor * np.exp(noise * rng.standard_normal((count, sizes.size)))
    rows = np.arange(count)
    return LaunchTimes("tcp", Direction.ONE_WAY, Statistic.TYPICAL, sizes, rows, rows, ns, np.full(ns.shape, 50))


def knees(curve, frames=(), **kw):
    return find_knees(launches(curve, **kw), np.random.default_rng(1), frames)


def line(n):
    return 30e3 + 80.0 * n


def test_a_straight_line_has_none():
    found = knees(line)
    assert found.knees == () == found.doubtful and len(found.pieces) == 1
    assert found.pieces[0][2:] == pytest.approx((30e3, 80.0), rel=0.1)


def test_a_jump_is_found_between_its_sizes():
    found = knees(lambda n: line(n) + 150e3 * (n > 5000))
    (knee,) = found.knees
    assert knee.kind is Kind.JUMP and (knee.before_bytes, knee.after_bytes) == (4096, 5793)
    assert knee.size.low <= 5000 <= knee.size.high
    assert knee.step.low < 150e3 < knee.step.high
    assert knee.presence >= 0.9 and knee.bic_gain >= 10


def test_a_bend_is_found_with_its_place_and_slopes():
    (knee,) = knees(lambda n: line(n) + 60 * np.maximum(n - 10_000, 0)).knees
    assert knee.kind is Kind.BEND
    assert knee.size.low < 10_000 < knee.size.high and knee.size.high / knee.size.low < 1.3
    assert knee.slope_after / knee.slope_before == pytest.approx(140 / 80, rel=0.1)


def test_two_knees_at_once():
    found = knees(lambda n: line(n) + 60e3 * (n > 700) + 2e6 * (n > 30_000))
    assert [k.kind for k in found.knees] == [Kind.JUMP, Kind.JUMP]
    for knee, truth in zip(found.knees, (700, 30_000), strict=True):
        assert knee.size.low <= truth <= knee.size.high


@pytest.mark.parametrize("mtu", MTUS_BYTES)
def test_the_step_at_the_frame_limit_is_found_at_the_mtu_of_the_link(mtu):
    limits = frame_limits(Path.UDP, mtu)
    around_edge = limits.first_bytes + np.array([-200, -100, -50, -20, -1, 0, 1, 20, 50, 100, 200])
    sizes = np.union1d(SIZES[4 * mtu > SIZES], around_edge)
    curve = lambda n: line(n) + (20e3 + 10.0 * mtu) * (limits.frames(n) - 1)  # noqa: E731
    by_name = knees(curve, usual_limits(Path.UDP), sizes=sizes, seed=1)
    assert by_name.staircase.limits == limits
    assert by_name.staircase.step.low < 20e3 + 10.0 * mtu < by_name.staircase.step.high
    assert by_name.knees == ()
    unnamed = knees(curve, sizes=sizes, seed=1)
    explained = [explain(knee, limits_of(Path.UDP, Declared(mtu_bytes=mtu))) for knee in unnamed.knees]
    assert any(e.limits and e.limits[0].size_bytes == limits.first_bytes for e in explained)


def test_frames_do_not_hide_another_knee():
    limits = frame_limits(Path.TCP, 1500)
    sizes = np.union1d(SIZES, np.arange(1200, 9000, 300))
    found = knees(
        lambda n: line(n) + 15e3 * (limits.frames(n) - 1) + 3e6 * (n > 32_768), usual_limits(Path.TCP), sizes=sizes
    )
    assert found.staircase.limits == limits
    (knee,) = found.knees
    assert knee.size.low <= 32_768 <= knee.size.high


@given(st.floats(1e3, 1e6), st.floats(1.0, 100.0), st.floats(0.0, 5e4))
def test_a_step_comes_back_through_any_pieces(alpha, beta, step):
    sizes = np.arange(0, 20_000, 400)
    up = frame_limits(Path.UDP, 1500).frames(sizes) - 1.0
    ns = alpha + beta * sizes + step * up + 5e5 * (sizes > 9000)
    pieces = np.array([0, np.searchsorted(sizes, 9001)])
    found = step_between(sizes, ns[None], 1 / ns**2, up, pieces)
    np.testing.assert_allclose(found, step, rtol=1e-6, atol=1e-3)


def test_with_the_wire_taken_off_its_staircase_is_no_knee():
    """Of two links in a row the slope changes at the limit of one frame, which no step of the frames explains."""
    sizes = np.union1d(SIZES, np.arange(1200, 9000, 300))
    frames = frame_limits(Path.TCP, 1500).frames(sizes)
    wire = 80.0 * (sizes + 90 * frames + np.minimum(sizes, 1448) + 90)
    software = launches(lambda n: 8e3 + 1.0 * n, sizes=sizes)
    times = replace(software, ns=software.ns + wire)
    blind = find_knees(times, np.random.default_rng(1), usual_limits(Path.TCP))
    assert any(knee.before_bytes <= 1448 <= knee.after_bytes for knee in blind.knees)
    seeing = find_knees(replace(times, wire_ns=wire), np.random.default_rng(1), usual_limits(Path.TCP))
    assert seeing.knees == () == seeing.doubtful
    jump = replace(times, ns=times.ns + 60e3 * (sizes > 5000), wire_ns=wire)
    (knee,) = find_knees(jump, np.random.default_rng(1), usual_limits(Path.TCP)).knees
    assert knee.size.low <= 5000 <= knee.size.high and knee.step.low < 60e3 < knee.step.high


def test_a_frame_edge_that_nobody_pays_is_no_staircase():
    assert knees(line, usual_limits(Path.UDP)).staircase is None


def test_words():
    assert knees(line, count=5).refused == "too few launches: 5 of 8"
    assert "too few sizes: 8 of 12" in knees(line, sizes=SIZES[:8]).refused
    assert knees(line, noise=0.0).knees == ()


def test_dense_sizes_around_a_knee():
    (knee,) = knees(lambda n: line(n) + 150e3 * (n > 5000)).knees
    sizes = around(knee, SIZES)
    assert sizes.size == 8 and sizes.min() > 4096 and sizes.max() < 5793
    assert place(knee, SIZES) == (4096, 5793)


def test_the_dense_sizes_narrow_the_knee():
    curve = lambda n: line(n) + 150e3 * (n > 5000)  # noqa: E731
    (first,) = knees(curve).knees
    denser = np.union1d(SIZES, around(first, SIZES))
    (second,) = knees(curve, sizes=denser).knees
    assert second.size.low <= 5000 <= second.size.high
    assert second.size.high - second.size.low < 0.5 * (first.size.high - first.size.low)


def test_bisecting_closes_in_on_a_step_and_then_stops():
    curve = lambda n: line(n) + 50e3 * (n > 1448)  # noqa: E731
    sizes = np.array([0, 512, 1024, 2048, 4096, 65_536])
    for _ in range(12):
        new = bisect(sizes, interpolation_error(sizes, curve(sizes.astype(float))), at_most=6)
        assert np.intersect1d(new, sizes).size == 0
        sizes = np.union1d(sizes, new)
    assert {1448, 1449} <= set(sizes.tolist())
    straight = interpolation_error(SIZES, line(SIZES.astype(float)))
    assert straight.max() < 1e-9
    assert bisect(SIZES, straight, at_most=6).size == 0


def test_gaps_that_are_known_already_are_not_halved():
    sizes = np.array([0, 512, 1024, 2048, 4096, 65_536])
    miss = interpolation_error(sizes, line(sizes.astype(float)) + 50e3 * (sizes > 1448))
    assert bisect(sizes, miss, at_most=6).tolist() == [768, 1536, 3072]
    assert bisect(sizes, miss, at_most=6, closed=[(2048.0, 4000.0)]).tolist() == [768, 1536]
    assert bisect(sizes, miss, at_most=6, closed=[(600.0, 4000.0)]).size == 0
    assert bisect(sizes, miss, at_most=0).size == 0


def test_noise_is_not_chased():
    """Launches that miss by far more than the tolerance, but in no common direction, ask for no size."""
    rng = np.random.default_rng(5)
    noisy = line(SIZES.astype(float)) * (1 + 0.1 * rng.standard_normal((8, SIZES.size)))
    assert np.mean(interpolation_error(SIZES, np.median(noisy, axis=0)) > 0.02) > 0.3
    assert np.mean(sure_error(SIZES, noisy) > 0.02) < 0.1
    stepped = noisy * np.where(SIZES > 5000, 2.0, 1.0)
    assert sure_error(SIZES, stepped).max() > 0.1
    stepped[0] = np.nan
    assert sure_error(SIZES, stepped[:6]).max() == 0.0  # five launches settle nothing at 95 %
    assert sure_error(SIZES[:2], noisy[:, :2]).size == 0
