# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel's counters say of the path of a launch, and which interface has which address."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaiven.run import addresses, path
from vaiven.run.path import Counters, Grown
from vaiven.store.record import Cell

PROC = """\
Inter-|   Receive                                     |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed
    lo:     100    2    0    0    0     0          0         0      100    2    0    0    0     0       0          0
  eth0: 1234567 8901    0    5    0     0          0         0  7654321 1098    0    7    0     0       0          0
eth0.1:       1    1    0    0    0     0          0         0        1    1    0    0    0     0       0          0
000000f1 00000002 00000000 00000000
00000071 00000010 00000003 00000000
"""


def test_counters_are_read_by_their_place() -> None:
    assert path.counters(PROC, "eth0") == Counters(7654321, 1098, 1234567, 8901, 5, 18)
    assert path.counters(PROC, "eth") is None
    assert path.counters(PROC, "eth0.1") == Counters(1, 1, 1, 1, 0, 18)


def cells(messages: int, frames: int | None = 1, wire_bytes: int | None = 142) -> list[Cell]:
    ns = [1000] * (messages - 2) + [None]
    return [Cell("pingpong", 64, 1, ns, 1, 0, 0, 1, True, 0.0, None, None, frames, wire_bytes, None)]


def grown(tx_bytes: int, softnet: int = 0, rx_bytes: int = 1, far_bytes: int = 0) -> Grown:
    far = Counters(far_bytes, 1, 1, 1, 0, 0) if far_bytes else None
    return Grown(Counters(tx_bytes, 1, rx_bytes, 1, 0, softnet), far)


def test_what_must_have_left_is_every_frame_without_what_no_counter_counts() -> None:
    assert path.expected_tx_bytes(cells(1000)) == 1000 * (142 - 24)
    assert path.expected_tx_bytes(cells(1000, None, None)) is None
    assert path.expected_tx_bytes([]) == 0


@pytest.mark.parametrize(
    ("tx_bytes", "softnet", "codes"),
    [
        (10_000 * 118, 0, []),
        (10_000 * 118 * 3 // 4, 0, []),  # short frames leave unpadded
        (10_000 * 60, 0, []),
        (100_000, 0, ["another-path"]),  # shared memory: only the launch's own chatter crossed
        (10_000 * 118 * 4, 0, ["shared-path"]),
        (10_000 * 118, 3, ["softnet-drops"]),
    ],
)
def test_a_strange_path_is_found(tx_bytes: int, softnet: int, codes: list[str]) -> None:
    assert [code for code, _ in path.findings(cells(10_000), grown(tx_bytes, softnet))] == codes


def test_comparing_clocks_is_traffic_of_our_own() -> None:
    alone, *others = [
        path.own_bytes([replace(one, clock=clock) for one in cells(1000)])
        for clock in ("common", "bounded", "refused", "barrier")
    ]
    assert [own - alone >= 48 * 300 for own in others] == [True] * 3
    assert others[2] - others[0] >= 1000 * (142 - 24)  # a barrier comes after rounds that the clocks did not tell


def test_traffic_of_others_is_seen_in_either_direction_and_at_either_end() -> None:
    own = 10_000 * 118
    assert path.findings(cells(10_000), grown(own, rx_bytes=own)) == []
    assert path.findings(cells(10_000), grown(own, rx_bytes=own, far_bytes=2 * own)) == []
    for other in (grown(own, rx_bytes=3 * own), grown(own, rx_bytes=own, far_bytes=4 * own)):
        (found,) = path.findings(cells(10_000), other)
        assert found[0] == "shared-path"
        recorded = path.facts(other, cells(10_000))
        assert recorded["seen_bytes"] > 1.4 * recorded["own_bytes"] > 2 * own


def test_what_a_library_adds_is_its_own() -> None:
    once = 1000 * 118
    for company, own in ((path.Company(joined=2), 2 * once + 80_000), (path.Company(2, copies=2), 3 * once + 80_000)):
        assert path.findings(cells(1000), grown(once, rx_bytes=own - once), company) == []
        (found,) = path.findings(cells(1000), grown(once, rx_bytes=3 * own), company)
        assert found[0] == "shared-path"
        assert path.facts(grown(once), cells(1000), company)["own_bytes"] > own
    assert path.findings(cells(100), grown(5 * 100 * 118), path.ALONE)[0][0] == "shared-path"


def test_what_is_not_known_is_not_judged() -> None:
    assert path.findings(cells(1000, None, None), grown(0)) == []
    assert path.facts(None, []) == {}


def test_counters_grow() -> None:
    now, then = Counters(9, 8, 7, 6, 5, 4), Counters(1, 2, 3, 4, 5, 0)
    assert now.since(then) == Counters(8, 6, 4, 2, 0, 4)


NET = """\
Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	0102A8C0	0003	0	0	0	00000000	0	0	0
eth0	0002A8C0	00000000	0001	0	0	0	00FFFFFF	0	0	0
eth1	0000010A	00000000	0001	0	0	0	0000FFFF	0	0	0
eth2	0005010A	00000000	0001	0	0	0	00FFFFFF	0	0	0
Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 10.1.0.7
        /32 host LOCAL
     |-- 10.1.5.9
        /32 host LOCAL
        |-- 127.0.0.1
           /32 host LOCAL
     |-- 192.168.2.10
        /32 host LOCAL
     |-- 192.168.2.255
        /32 link BROADCAST
Local:
     |-- 10.1.0.7
        /32 host LOCAL
fe80000000000000020000fffe000001 02 40 20 80     eth1
fd76766169760000000000000000000a 02 40 00 80     eth1
00000000000000000000000000000001 01 80 10 80       lo
"""


@pytest.mark.parametrize(
    ("interface", "address"),
    [("eth0", "192.168.2.10"), ("eth1", "10.1.0.7"), ("eth2", "10.1.5.9"), ("lo", "127.0.0.1")],
)
def test_addresses_and_interfaces_go_together(interface: str, address: str) -> None:
    assert addresses.interface_of(NET, address) == interface
    assert addresses.address_of(NET, interface) == address


def test_ipv6_addresses_have_interfaces() -> None:
    assert addresses.interface_of(NET, "fd76:7661:6976::a") == "eth1"
    assert addresses.interface_of(NET, "::1") == "lo"
    only6 = "fd76766169760000000000000000000a 02 40 00 80     eth9\n"
    assert addresses.address_of(only6, "eth9") == "fd76:7661:6976::a"


def test_strangers_have_none() -> None:
    assert addresses.interface_of(NET, "192.168.2.11") == ""
    assert addresses.interface_of("", "10.0.0.1") == ""
    assert addresses.address_of(NET, "eth7") == ""
    assert addresses.address_of(NET, "$(id)") == ""


def test_a_big_endian_host_is_understood() -> None:
    big = NET.replace("0002A8C0", "C0A80200").replace("00FFFFFF", "FFFFFF00").replace("0102A8C0", "C0A80201")
    assert addresses.address_of(big, "eth0") == "192.168.2.10"
