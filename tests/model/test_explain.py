# SPDX-License-Identifier: BSD-3-Clause
"""Why there is a knee: every limit that a path can have is planted in a curve, found, and called by its name."""

import numpy as np
import pytest

from vaiven.model.explain import Declared, Limit, explain, limits_of
from vaiven.model.frames import MTUS_BYTES, Path, frame_limits
from vaiven.model.knees import find_knees
from vaiven.model.times import Direction, LaunchTimes, Statistic

KIB = 1024
DECLARED = Declared(
    mtu_bytes=1500,
    send_bytes=16 * KIB,
    send_bytes_max=4096 * KIB,
    receive_bytes=128 * KIB,
    receive_bytes_max=2048 * KIB,
    gso_bytes=64 * KIB,
    eager_bytes=6000,
)
GRID = np.round(2.0 ** np.arange(3, 24, 0.5)).astype(np.int64)


def knee_at(size, sizes=GRID, step=0.5, bend=0.0):
    """The knee of 12 launches whose time jumps by that share after a size, or grows faster from it on, ns/byte."""
    rng = np.random.default_rng(3)
    sizes = np.union1d(sizes[sizes < 30 * size], [round(size * share) for share in (0.8, 0.95, 1.05, 1.2, 1.5)])
    ns = 30e3 + 80.0 * sizes + bend * np.maximum(sizes - size, 0)
    ns = np.where(sizes > size, ns + step * (30e3 + 80.0 * size), ns)
    ns = ns * np.exp(0.002 * rng.standard_normal((12, sizes.size)))
    rows = np.arange(12)
    counts = np.full(ns.shape, 50)
    times = LaunchTimes("tcp", Direction.ONE_WAY, Statistic.TYPICAL, sizes, rows, rows, ns, counts)
    return min(find_knees(times, rng).knees, key=lambda knee: abs(knee.size.value - size))


@pytest.mark.parametrize(
    ("path", "size", "cause"),
    [
        (Path.TCP, 6000, "eager limit"),
        (Path.TCP, 16 * KIB, "the socket's send buffer is full"),
        (Path.TCP, 4096 * KIB, "the largest send buffer is full"),
        (Path.TCP, 64 * KIB, "the first TCP window is full"),
        (Path.TCP, 1024 * KIB, "the largest TCP window is full"),
        (Path.TCP, 45 * 1448, "segmentation offload"),
        (Path.UDP, 16 * KIB, "the socket's send buffer is full"),
        (Path.UDP, 128 * KIB, "the socket's receive buffer is full"),
        (None, 6000, "eager limit"),
    ],
)
def test_what_the_hosts_and_the_library_declare_is_recognised(path, size, cause):
    found = explain(knee_at(size), limits_of(path, DECLARED))
    assert any(cause in limit.cause and limit.size_bytes == size and limit.declared for limit in found.limits), found
    assert "no known limit" not in found.text


@pytest.mark.parametrize("mtu", MTUS_BYTES)
@pytest.mark.parametrize("path", Path)
def test_a_full_frame_is_recognised_at_every_mtu_said_or_usual(path, mtu):
    first = frame_limits(path, mtu).first_bytes
    knee = knee_at(first)
    for declared in (Declared(mtu_bytes=mtu), Declared()):
        found = explain(knee, limits_of(path, declared))
        full = [limit for limit in found.limits if f"full at MTU {mtu}" in limit.cause]
        assert [limit.size_bytes for limit in full] == [first]
        assert full[0].declared == (declared.mtu_bytes is not None)


@pytest.mark.parametrize(("path", "size"), [(Path.UDP, 18), (Path.ICMP, 18), (Path.ETH, 27)])
def test_a_bend_where_padding_ends_is_recognised(path, size):
    """Up to there a longer message costs nothing on the wire; with start-up of the host there is no jump."""
    sizes = np.unique(np.round(2.0 ** np.arange(0, 10, 0.25)).astype(np.int64))
    knee = knee_at(size, sizes, step=0.0, bend=1500.0)
    found = explain(knee, limits_of(path, DECLARED))
    assert found.limits[0] == Limit("shorter messages are padded to the smallest frame", size, True)


def test_tcp_is_never_padded():
    assert not any("padded" in limit.cause for limit in limits_of(Path.TCP, DECLARED))


def test_what_was_declared_comes_first():
    found = explain(knee_at(6000), limits_of(Path.TCP, DECLARED))
    assert found.limits[0].declared and "6000 bytes" in found.text


def test_an_offload_that_is_off_explains_nothing_and_an_unknown_one_perhaps():
    def cuts(gso_bytes):
        limits = limits_of(Path.TCP, Declared(mtu_bytes=1500, gso_bytes=gso_bytes))
        return [limit.declared for limit in limits if "offload" in limit.cause]

    assert (cuts(0), cuts(None), cuts(65536)) == ([], [False], [True])


def test_a_knee_where_nothing_lies_is_left_unexplained():
    found = explain(knee_at(300), limits_of(Path.UDP, DECLARED))
    assert found.limits == () and "no known limit lies there" in found.text
