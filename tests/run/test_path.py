# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel's counters say of the path of a launch, and which interface has which address."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from vaiven.plan.design import Available
from vaiven.plan.sweep import Limits
from vaiven.run import addresses, path
from vaiven.run.path import Both, Counters, Crossed, Grown

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


BARE = path.Manner()
HEADER = 66  # Ethernet 14, IPv4 20, TCP with timestamps 32
CONTROL = Both(3000, 20, 2500, 18)


def end(
    messages: int = 1000,
    size: int = 64,
    frames: int = 1,
    role: str = "near",
    more: tuple[int, int] = (0, 0),
    **facts: Any,
) -> Crossed:
    """An end of a ping-pong alone on its network, but for `more`: bytes and frames of others, that it got."""
    own = Both(messages * size, messages * frames, messages * size, messages * frames, messages, messages)
    whole = messages * (size + HEADER * frames)
    seen = Both(
        whole + CONTROL.tx_bytes, messages * frames + CONTROL.tx_frames,
        whole + CONTROL.rx_bytes + more[0], messages * frames + CONTROL.rx_frames + more[1],
    )  # fmt: skip
    usual = {"address": "10.1.0.1", "interface": "eth0", "control": CONTROL, "header_bytes": HEADER, "resent": 0}
    return Crossed(**{"end": role, "seen": seen, "messages": own, **usual, **facts})


def codes(*crossed: Crossed, manner: path.Manner = BARE, **more: Any) -> list[str]:
    return [code for code, _ in path.findings(crossed, manner=manner, **more)]


def added(one: Crossed, more: dict[str, int]) -> Crossed:
    """The same, and so much more seen."""
    grown = {name: getattr(one.seen, name) + count for name, count in more.items()}
    return msgspec.structs.replace(one, seen=msgspec.structs.replace(one.seen, **grown))


def beside(one: Crossed, share: float, frame: int) -> Crossed:
    """The same, and a stranger's frames to it, so many that they are that share of all bytes."""
    count = round(share / (1 - share) * (one.seen.tx_bytes + one.seen.rx_bytes) / frame)
    return added(one, {"rx_bytes": count * frame, "rx_frames": count})


def test_an_end_whose_control_connection_is_not_told_is_not_judged() -> None:
    untold = end(1000, more=(10_000_000, 10_000), control=None)
    assert codes(untold) == []
    other = end(1000, role="far", more=(10_000_000, 10_000), address="10.1.0.2")
    assert codes(untold, other) == ["shared-path"]
    assert codes(untold, other, manner=path.Manner(uncounted=True)) == []  # the far end alone cannot tell


@pytest.mark.parametrize(
    ("stack", "sends_again"),
    [("pvm-default-xdr", True), ("pvm-mcast-default-raw", True), ("pvm-bcast-default-trans", True), ("pvm-bcast", True),
     ("pvm-mcast", False), ("pvm-direct-raw", False), ("llc", True), ("openmpi-llc", True), ("tcp", False)],
)  # fmt: skip
def test_what_is_sent_again_and_nobody_counts_is_no_strangers(stack: str, sends_again: bool) -> None:
    """As a fragment by a daemon of PVM: of 30 messages to each of two one is 2.2 % of all bytes."""
    library = stack.partition("-")[0] if "-" in stack else ""
    known = Available(Limits(0, 1 << 20), ("fanout",), library=library, to_all="cast" in stack)
    way = path.manner(stack, known, 1, 2, real=False)
    assert way.uncounted == sends_again
    again, got = {"tx_bytes": 40_000, "tx_frames": 30}, {"rx_bytes": 40_000, "rx_frames": 30}
    near, far = end(1000), end(1000, role="far", address="10.1.0.2")
    late = [added(near, again), added(far, got)]
    assert codes(*late, manner=way) == ([] if sends_again else ["shared-path"] * 2)
    lost = [added(near, again), far]
    assert codes(*lost, manner=way) == ([] if sends_again else ["shared-path"])
    assert codes(added(near, again), beside(added(far, got), 0.05, 1442), manner=way)[-1:] == ["shared-path"]


def test_a_stranger_is_found_beside_a_library_whose_daemons_acknowledge_all() -> None:
    """What its acknowledgements are is known: were each taken for the largest of TCP, a stranger would hide there."""
    acks = {"tx_bytes": 5 * 58_000, "tx_frames": 5000, "rx_bytes": 5 * 58_000, "rx_frames": 5000}
    known = Available(Limits(0, 1 << 20), ("pingpong",), library="pvm")
    near = added(end(1000, size=1000), acks)
    far = added(end(1000, size=1000, role="far", address="10.1.0.2"), acks)
    way = path.manner("pvm-default-trans", known, 1, 2, real=False)
    assert codes(near, far, manner=way) == []
    assert codes(near, beside(far, 0.05, 1442), manner=way) == ["shared-path"]


def test_what_must_have_left_is_every_frame_of_every_message() -> None:
    assert path.expected_tx_bytes([end(role="far", messages=7), end(1000)]) == 1000 * (64 + HEADER)
    assert path.expected_tx_bytes([end(messages=7, role="far")]) is None
    assert path.expected_tx_bytes([]) is None


@pytest.mark.parametrize(
    ("left", "found"),
    [(1.0, []), (0.75, []), (0.55, []), (0.1, ["another-path"])],  # one header for a large piece; shared memory
)
def test_messages_that_left_by_another_way_are_missed(left: float, found: list[str]) -> None:
    one = end(10_000)
    seen = msgspec.structs.replace(one.seen, tx_bytes=round(left * one.seen.tx_bytes))
    one = msgspec.structs.replace(one, seen=seen)
    assert codes(one) == found
    refused = path.refused([one])
    assert (refused.code if refused else None) == (found[0] if found else None)


def test_frames_that_the_machine_had_no_time_for_are_told() -> None:
    lost, none = Counters(0, 0, 0, 0, 0, 3), Counters(0, 0, 0, 0, 0, 0)
    for grown in (Grown(lost), Grown(none, lost)):
        assert [code for code, _ in path.findings([end()], grown)] == ["softnet-drops"]
    assert path.findings([], Grown(none, none)) == []


@pytest.mark.parametrize("role", ["near", "far"])
@pytest.mark.parametrize(("size", "frames"), [(8, 1), (1448, 1), (60_000, 42)])
def test_a_stranger_is_found_at_either_end_and_nobody_is_not(role: str, size: int, frames: int) -> None:
    alone = end(size=size, frames=frames, role=role)
    for manner in (path.Manner(), path.Manner(acknowledged=True), path.Manner(acknowledged=True, copies=3)):
        assert codes(alone, manner=manner) == []
        assert codes(beside(alone, 0.05, 1442), manner=manner) == ["shared-path"]
    assert codes(beside(alone, 0.02, 1442)) == []


def test_many_small_frames_of_a_stranger_are_found_where_nothing_is_acknowledged() -> None:
    assert codes(beside(end(), 0.05, 60)) == ["shared-path"]


def test_a_few_frames_are_no_stranger() -> None:
    assert codes(end(10, more=(1_900, 20))) == []
    assert codes(end(10, more=(4_000, 20))) == ["shared-path"]


def test_a_kernel_that_glues_segments_together_has_fewer_headers() -> None:
    """Large pieces count as one frame each: what they lack in headers is no room for a stranger."""
    frames, size = 42, 60_000
    one = end(500, size, frames)
    pieces = 500 * 2
    seen = Both(500 * size + HEADER * pieces + CONTROL.tx_bytes, pieces + CONTROL.tx_frames,
                500 * size + HEADER * pieces + CONTROL.rx_bytes, pieces + CONTROL.rx_frames)  # fmt: skip
    one = msgspec.structs.replace(one, seen=seen)
    assert codes(one, manner=path.Manner(acknowledged=True)) == []
    assert codes(beside(one, 0.05, 1442), manner=path.Manner(acknowledged=True)) == ["shared-path"]


def test_acknowledgements_are_our_own() -> None:
    """Of a long message every segment but the last, which the answer acknowledges; without an answer every one."""
    acks = 41 * 1000
    one = end(1000, 60_000, 42, more=(acks * 66, acks))
    assert codes(one, manner=path.Manner(acknowledged=True)) == []
    cast = Both(1000 * 800, 1000, 0, 0, 1000, 0)
    seen = Both(1000 * (800 + HEADER) + 3000, 1020, 2500 + 1000 * 66, 1018)
    sender = msgspec.structs.replace(end(), messages=cast, seen=seen)
    assert codes(sender, manner=path.Manner(acknowledged=True)) == []
    assert codes(sender) == ["shared-path"]


def test_what_was_sent_again_is_our_own() -> None:
    again = end(more=(100 * 1514, 100))
    assert codes(again) == ["shared-path"]
    assert codes(again, resent=100) == []
    assert codes(msgspec.structs.replace(again, resent=60), end(role="far", address="10.1.0.2", resent=40)) == []


def test_a_library_may_send_from_end_to_end() -> None:
    sends_on = end()
    tx = {"tx_bytes": 3 * sends_on.seen.tx_bytes, "tx_frames": 3 * sends_on.seen.tx_frames}
    seen = msgspec.structs.replace(sends_on.seen, **tx)
    sends_on = msgspec.structs.replace(sends_on, seen=seen)
    assert codes(sends_on) == ["shared-path"]
    assert codes(sends_on, manner=path.Manner(copies=3)) == []


def test_cards_fill_short_frames_and_count_check_sequences() -> None:
    padded = end(1000, 8, header_bytes=34)
    seen = Both(1000 * 64 + 3000, 1020, 1000 * 64 + 2500, 1018)
    padded = msgspec.structs.replace(padded, seen=seen)
    assert codes(padded) == ["shared-path"]
    assert codes(padded, manner=path.Manner(real=True)) == []


def test_records_that_go_home_are_our_own_between_real_hosts() -> None:
    printed = end(more=(20_000, 100), printed_bytes=20_000)
    assert codes(printed) == ["shared-path"]
    assert codes(printed, manner=path.Manner(real=True)) == []


def test_ends_on_one_host_share_its_interface() -> None:
    ends = [end(role="far", address="10.1.0.2") for _ in range(3)]
    ways = [3 * number for number in msgspec.structs.astuple(ends[0].seen)]
    together = [msgspec.structs.replace(one, seen=Both(*ways)) for one in ends]
    assert codes(*together) == [] and codes(together[0]) == ["shared-path"]
    (share,) = path.shares(together, path.Manner())
    assert share.seen_bytes == share.own_bytes and share.foreign_bytes == 0


SCATTER = path.manner(
    "openmpi:scatter-ring", Available(Limits(0, 1 << 20), ("fanout",), library="openmpi", to_all=True), 2, 3, real=False
)


def scattered(rounds: int = 30, more: dict[str, int] | None = None) -> list[Crossed]:
    """A broadcast to two in thirds, one to each, then round a ring: the near end gets back what it gave. more:
    bytes and frames of others, at the first far end."""
    third, sizes = rounds * 3000, {"near": (rounds * 9000, 0), "far": (0, rounds * 9000)}
    crossed = []
    for number, role in enumerate(("near", "far", "far"), 1):
        sent, got = ((4, 2), (2, 3), (2, 3))[number - 1]
        frames = rounds * 3
        seen = Both(sent * (third + frames * HEADER), sent * frames, got * (third + frames * HEADER), got * frames)
        tx, rx = sizes[role]
        messages = Both(tx, tx // 1000, rx, rx // 1000, tx // 9000, rx // 9000)
        usual = {"interface": "eth0", "control": Both(0, 0, 0, 0), "header_bytes": HEADER, "resent": 0}
        crossed.append(Crossed(role, f"10.1.0.{number}", seen=seen, messages=messages, **usual))
    crossed[1] = added(crossed[1], more or {})
    return crossed


def strange(count: int, frame: int = 1442) -> dict[str, int]:
    """So many frames of a stranger that come."""
    return {"rx_bytes": count * frame, "rx_frames": count}


def test_what_comes_to_hosts_of_a_launch_and_none_of_them_has_sent_is_a_strangers() -> None:
    """However much of what an end gets it may send on, and its library acknowledge."""
    assert codes(*scattered(), manner=SCATTER) == []
    beside = scattered(more=strange(20))
    assert not any(share.shared for share in path.shares(beside, SCATTER))
    assert codes(*beside, manner=SCATTER) == ["shared-path"]
    for count, found in ((8, []), (9, ["shared-path"])):  # 2.5 % of what a far end saw, whose share is the smallest
        assert codes(*scattered(more=strange(count)), manner=SCATTER) == found
    assert codes(*scattered(more={"tx_bytes": 20_000, "tx_frames": 20}), manner=SCATTER) == []  # was lost


def test_what_may_come_to_several_is_counted_once_and_not_looked_for_at_all_ends_together() -> None:
    known = Available(Limits(0, 1 << 20), ("fanout",), to_all=True)
    mpi = Available(Limits(0, 1 << 20), ("fanout",), library="openmpi", to_all=True)
    for stack, one in (("raw", known), ("group", known), ("openmpi:group", mpi)):
        assert path.unsent_bytes(scattered(more=strange(20)), path.manner(stack, one, 2, 3, real=False)) == 0
    assert path.unsent_bytes(scattered(more=strange(20)), SCATTER) > 20 * 1300


def test_ends_that_are_not_all_known_are_not_judged_together() -> None:
    beside = scattered(more=strange(100))
    loopback = msgspec.structs.replace(beside[2], interface="lo")
    late = msgspec.structs.replace(beside[2], seen=msgspec.structs.replace(beside[2].seen, rx_bytes=80_000))
    for other in ([], [loopback], [late]):  # a card that tells its counters once a second lacks some
        assert path.unsent_bytes([*beside[:2], *other], SCATTER) == 0
    assert path.unsent_bytes(beside, SCATTER) > 0


def test_what_is_cut_on_its_way_has_more_headers() -> None:
    cut = [added(one, {"rx_bytes": 1000 * HEADER, "rx_frames": 1000}) for one in scattered()]
    assert path.unsent_bytes(cut, SCATTER) == 0
    assert path.unsent_bytes([added(cut[0], strange(20)), *cut[1:]], SCATTER) > 20 * 1300


def test_between_real_hosts_records_go_home_and_what_comes_has_check_sequences() -> None:
    counted = [added(one, {"rx_bytes": 4 * one.seen.rx_frames + 2_500}) for one in scattered(300)]
    assert path.unsent_bytes(counted, SCATTER) > 0
    assert path.unsent_bytes(counted, replace(SCATTER, real=True)) == 0
    found = [counted[0], added(counted[1], strange(200)), counted[2]]
    assert codes(*found, manner=replace(SCATTER, real=True)) == ["shared-path"]


def test_ends_on_one_host_are_one_of_those_that_send() -> None:
    beside = scattered(more=strange(20))
    doubled = [*beside, msgspec.structs.replace(beside[2])]
    assert path.unsent_bytes(doubled, SCATTER) == path.unsent_bytes(beside, SCATTER) > 0


def test_what_none_has_sent_stands_in_the_record() -> None:
    assert "unsent_bytes" not in path.facts(scattered(), manner=SCATTER)
    found = path.facts(scattered(more=strange(20)), manner=SCATTER)
    assert found["unsent_bytes"] == path.unsent_bytes(scattered(more=strange(20)), SCATTER)


def test_what_is_not_known_is_not_judged() -> None:
    unknown = msgspec.structs.replace(beside(end(), 0.5, 1442), messages=None)
    loopback = msgspec.structs.replace(beside(end(), 0.5, 1442), interface="lo")
    assert codes(unknown) == [] and codes(loopback) == [] and path.facts([]) == {}


def test_the_record_says_what_was_seen_and_what_was_ours() -> None:
    near = Counters(9, 8, 7, 6, 5, 4)
    found = path.facts([beside(end(), 0.05, 1442)], Grown(near, None))
    assert found["tx_bytes"] == 9 and found["expected_tx_bytes"] == 1000 * (64 + HEADER)
    (told,) = found["ends"]
    assert told["address"] == "10.1.0.1" and told["interface"] == "eth0"
    assert told["foreign_bytes"] == told["seen_bytes"] - told["own_bytes"] > 0


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
