# SPDX-License-Identifier: BSD-3-Clause
"""Frames of a message, by hand; the staircase recovered."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vaiven.model.frames import (
    MTUS_BYTES,
    Path,
    Wire,
    bends_bytes,
    frame_limits,
    padded_bytes,
    usual_limits,
    wire_ns,
)


@pytest.mark.parametrize(
    ("path", "mtu", "size", "frames"),
    [
        (Path.UDP, 1500, 0, 1),
        (Path.UDP, 1500, 1472, 1),
        (Path.UDP, 1500, 1473, 2),
        (Path.UDP, 1500, 2952, 2),
        (Path.UDP, 1500, 2953, 3),
        (Path.ICMP, 1500, 60000, 41),
        (Path.UDP, 576, 548, 1),
        (Path.UDP, 576, 549, 2),
        (Path.UDP, 576, 1100, 2),
        (Path.UDP, 576, 1101, 3),
        (Path.TCP, 1500, 1448, 1),
        (Path.TCP, 1500, 1449, 2),
        (Path.TCP, 9000, 17896, 2),
        (Path.ETH, 1500, 1481, 1),
        (Path.ETH, 1500, 2962, 2),
        (Path.ETH, 1500, 2963, 3),
        (Path.LLC, 9000, 1483, 2),
        (Path.LLC_JUMBO, 9000, 8982, 1),
        (Path.LLC_JUMBO, 9000, 8983, 2),
        (Path.LLC_JUMBO, 65000, 9198, 1),
    ],
)
def test_by_hand(path, mtu, size, frames):
    assert frame_limits(path, mtu).frames(size) == frames


@given(st.sampled_from(list(Path)), st.sampled_from(MTUS_BYTES))
def test_every_edge_is_the_last_of_its_count(path, mtu):
    limits = frame_limits(path, mtu)
    edges = limits.edges_bytes(100_000)
    np.testing.assert_array_equal(limits.frames(edges), np.arange(1, edges.size + 1))
    np.testing.assert_array_equal(limits.frames(edges + 1), np.arange(2, edges.size + 2))


def test_usual_mtus_are_tried():
    assert [limits.first_bytes for limits in usual_limits(Path.TCP)] == [524, 1448, 8948]


def test_small_messages_are_padded():
    expected = {
        Path.ICMP: 18,
        Path.ETH: 27,
        Path.LLC: 28,
        Path.LLC_JUMBO: 28,
        Path.LLC_KERNEL: 42,
        Path.UDP: 18,
        Path.TCP: 0,
        Path.RAW: 2,
    }
    assert {path: padded_bytes(path) for path in Path} == expected


def test_the_wire_by_hand():
    """84 bytes are the least that a frame takes; of two links the second takes the largest frame once more."""
    assert wire_ns(Path.UDP, Wire(10**8, 1, 1500), 1) == 84 * 80
    assert wire_ns(Path.ICMP, Wire(10**7, 1, 1500), 60_000) == (40 * 1538 + 866) * 800
    assert wire_ns(Path.TCP, Wire(10**8, 2, 1500), 1449) == (1538 + 52 + 1 + 38 + 1538) * 80


@given(st.sampled_from(list(Path)), st.sampled_from(MTUS_BYTES), st.integers(1, 3), st.integers(1, 60_000))
@example(Path.ICMP, 9000, 3, 17005)  # the last fragment of 9000 B is the largest
def test_between_bends_the_wire_is_straight(path, mtu, hops, size):
    link = Wire(10**8, hops, mtu)
    bends = bends_bytes(path, mtu, 1, 60_000)
    drawn = np.interp(size, bends, wire_ns(path, link, bends))
    few = frame_limits(path, mtu).frames(60_000) <= 64
    assert drawn == pytest.approx(float(wire_ns(path, link, size)), rel=1e-4 if few else 0.02)
