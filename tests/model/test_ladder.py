# SPDX-License-Identifier: BSD-3-Clause
"""The ladder adds up, blames the right layer, and says when it cannot be sure."""

from dataclasses import replace

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.model.ladder import WIRE, blame, ladder
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.array([0, 64, 1448, 65536])
WIRE_NS = 13e3 + 160.0 * SIZES


def stack(name, alpha, beta=0.0, count=12, noise=0.01, seed=0, blocks=None, headers=0.0):
    """A round trip of `alpha` over the wire; every stack of a block shares the block's luck. headers: what they take
    of the wire, ns one way."""
    wire = WIRE_NS + headers
    shared = np.exp(0.05 * np.random.default_rng(99).standard_normal((count, 1)))
    own = np.random.default_rng(seed + len(name))
    ns = 2 * (wire + (alpha + beta * SIZES) * shared) * np.exp(noise * own.standard_normal((count, SIZES.size)) / 10)
    rows = np.arange(count)
    blocks = rows if blocks is None else blocks
    kind = (name, Direction.ROUND_TRIP, Statistic.TYPICAL)
    return LaunchTimes(*kind, SIZES, rows, blocks, ns, np.full(ns.shape, 9), wire_ns=2 * wire)


def three(**kw):
    return [stack("eth", 10e3, **kw), stack("udp", 15e3, **kw), stack("tcp", 40e3, 1.0, **kw)]


def test_rungs_add_up_to_the_whole_exactly():
    found = ladder(three(), np.random.default_rng(0))
    assert found.names == (WIRE, "eth", "udp", "tcp")
    assert [r.over for r in found.rungs] == ["", WIRE, "eth", "udp"]
    np.testing.assert_allclose(sum(r.ns for r in found.rungs), found.total_ns, rtol=1e-12)
    np.testing.assert_allclose(sum(r.share for r in found.rungs), 1.0)
    np.testing.assert_allclose(found.total_ns, three()[-1].one_way().centre_ns())


def test_known_overheads_are_inside_their_intervals_one_way():
    found = ladder(three(), np.random.default_rng(0))
    for rung, truth in zip(found.rungs[1:], (10e3, 5e3, 25e3), strict=True):
        assert rung.low_ns[1] < rung.ns[1] < rung.high_ns[1]
        assert rung.ns[1] == pytest.approx(truth, rel=0.1)
        assert rung.below_zero.size == 0


def test_the_wire_is_that_of_the_top_stack_s_own_frames():
    """Headers that TCP puts on the wire are wire time, not software of TCP."""
    stacks = [stack("eth", 10e3), stack("udp", 15e3, headers=1e3), stack("tcp", 40e3, headers=3e3)]
    found = ladder(stacks, np.random.default_rng(0))
    np.testing.assert_allclose(found.rungs[0].ns, WIRE_NS + 3e3)
    for rung, truth in zip(found.rungs[1:], (10e3, 5e3, 25e3), strict=True):
        assert rung.low_ns[1] < truth < rung.high_ns[1]
    np.testing.assert_allclose(sum(r.ns for r in found.rungs), stacks[-1].one_way().centre_ns())


def test_without_a_rate_there_is_no_wire():
    blind = three()
    blind[1] = replace(blind[1], wire_ns=None)
    found = ladder(blind, np.random.default_rng(0))
    assert found.names == ("eth", "udp", "tcp") and found.rungs[0].over == ""
    np.testing.assert_allclose(sum(r.ns for r in found.rungs), found.total_ns, rtol=1e-12)


def test_blame_in_words():
    found = ladder(three(), np.random.default_rng(0))
    small, large = blame(found, 64), blame(found, 65536)
    assert small.name == "tcp" and small.certain and "tcp adds most" in small.text and "probably" not in small.text
    assert "faster network" in large.text
    with pytest.raises(VaivenError):
        blame(found, 65)


def test_a_close_call_is_only_probable():
    close = [stack("eth", 10e3, noise=1.0), stack("udp", 20e3, noise=1.0, seed=5)]
    found = blame(ladder(close, np.random.default_rng(0)), 1448)
    assert not found.certain and "probably" in found.text


def test_a_stack_faster_than_the_one_below_is_noticed():
    wrong = [stack("tcp", 40e3), stack("udp", 15e3)]
    found = ladder(wrong, np.random.default_rng(0))
    assert 64 in found.rungs[-1].below_zero


def test_cpu_beside_time():
    cpu = np.array([20e3, 20e3, 30e3, 200e3])
    found = ladder(three(), np.random.default_rng(0), cpu_ns=[None, None, cpu])
    np.testing.assert_allclose(found.rungs[-1].cpu_share, cpu / found.total_ns)
    assert np.isnan(found.rungs[1].cpu_share).all()
    assert "the processors work for" in blame(found, 64).text
    assert "processors" not in blame(ladder(three(), np.random.default_rng(0)), 64).text


def test_only_what_all_have_is_on_the_ladder():
    stacks = three()
    stacks[1] = stacks[1].at_sizes(SIZES[1:]).at_launches(np.arange(1, 12))
    found = ladder(stacks, np.random.default_rng(0))
    assert found.sizes_bytes.tolist() == SIZES[1:].tolist() and found.launches == 11
    np.testing.assert_allclose(found.rungs[0].ns, WIRE_NS[1:])


def test_a_size_that_one_stack_lost_is_not_on_the_ladder():
    stacks = three()
    ns = stacks[1].ns.copy()
    ns[:, 3] = np.nan
    ns[2, 0] = np.nan
    found = ladder([stacks[0], replace(stacks[1], ns=ns), stacks[2]], np.random.default_rng(0))
    assert found.sizes_bytes.tolist() == SIZES[:3].tolist()
    assert all(np.isfinite(r.low_ns).all() for r in found.rungs)
    with pytest.raises(VaivenError, match="no size has a time"):
        ladder([stacks[0], replace(stacks[1], ns=ns * np.nan)], np.random.default_rng(0))


def test_few_launches_give_no_intervals_and_say_so():
    found = ladder(three(count=5), np.random.default_rng(0))
    assert "too few launches: 5 of 8" in found.refused and np.isnan(found.rungs[1].low_ns).all()
    verdict = blame(found, 64)
    assert not verdict.certain and "too few launches" in verdict.text


def test_bad_input():
    rng = np.random.default_rng(0)
    with pytest.raises(VaivenError) as caught:
        ladder([], rng)
    assert caught.value.code == "too-few"
    with pytest.raises(VaivenError) as caught:
        ladder([stack("eth", 1e4), stack("udp", 2e4, blocks=np.arange(100, 112))], rng)
    assert caught.value.code == "no-common-block"
