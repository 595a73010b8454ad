# SPDX-License-Identifier: BSD-3-Clause
"""What a fabric is made of, and what frames meet there. That each takes its time is tested in test_timing.py."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.errors import VaivenError
from vaiven.lab import exits, fabric, oneway, slow, topology
from vaiven.lab.lab import Lab
from vaiven.lab.oneway import Talk

SLOW = '[[hosts]]\nname = "old"\nframe_us = 2000\nbyte_ns = 1000\n'


def text(kind: str, rate: int, more: str = "") -> str:
    return lab_text("wires", 4, kind=kind, class_="timed", rate_mbps=rate) + more


# What is made, without making it


def test_a_switch_has_an_exit_and_a_medium_for_each_direction_of_each_link() -> None:
    wires = fabric.wire_exits(topology.parse(text("switch", 100)))
    assert [wire.interface for wire in wires] == ["u1", "u2", "u3", "u4", "d1", "d2", "d3", "d4"]
    assert [wire.port for wire in wires] == ["", "", "", "", "p1", "p2", "p3", "p4"]
    assert {wire.alone_ns for wire in wires} == {exits.EARLY_NS}
    assert len({wire.medium for wire in wires}) == 8
    assert {(wire.byte_ns, wire.unit_ns, wire.bytes_min, wire.bytes_more) for wire in wires} == {(80.0, 80.0, 60, 24)}
    assert wires[0].queue_ns == 1000 * 1538 * 80
    assert wires[4].queue_ns == 256 * 1538 * 80


def test_a_hub_is_one_medium_and_takes_no_time_on_the_way_down() -> None:
    hub, *down = fabric.wire_exits(topology.parse(text("hub", 10)))
    assert (hub.interface, hub.byte_ns) == ("hub", 800.0)
    assert [(exit_.interface, exit_.byte_ns, exit_.frame_ns) for exit_ in down] == [
        (f"d{n}", 0.0, 0.0) for n in range(1, 5)
    ]
    assert hub.medium not in {exit_.medium for exit_ in down}
    assert [exit_.port for exit_ in (hub, *down)] == ["", "p1", "p2", "p3", "p4"]


def test_a_slow_host_is_one_server_in_both_directions_behind_its_link() -> None:
    lab = topology.parse(text("switch", 100, SLOW))
    servers = slow.server_exits(lab)
    assert [server.interface for server in servers] == ["s5", "p5"]
    assert len({server.medium for server in servers}) == 1
    assert {(server.frame_ns, server.byte_ns) for server in servers} == {(2e6, 1000.0)}
    wires = fabric.wire_exits(lab)
    assert {(wire.interface, wire.port) for wire in wires} >= {("u5", ""), ("d5", "t5")}
    assert servers[0].medium not in {wire.medium for wire in wires}


def test_an_exit_is_told_in_the_native_program_s_words() -> None:
    exit_ = exits.Exit(interface="d1", medium=3, unit_ns=80.0, byte_ns=80.0, queue_ns=5, port="p1")
    line, queue = exit_.commands(door_ns=7)
    assert line.split()[:2] == ["exit", "d1"] and queue == "queue p1 d1"
    assert dict(word.split("=") for word in line.split()[2:]) == {
        "medium": "3", "unit_ns_q16": str(80 << 16), "byte_ns_q16": str(80 << 16), "frame_ns": "0", "bytes_min": "0",
        "bytes_more": "0", "queue_ns": "5", "credit_ns": str(exits.CREDIT_NS), "lead_ns": str(exits.LEAD_NS),
        "alone_ns": str(exits.LEAD_NS), "more_ns": "0", "idle_ns": str(exits.IDLE_NS),
        "idle_more_ns": str(3 * exits.MORE_NS), "door_ns": "7",
    }  # fmt: skip
    assert replace(exit_, port="").commands(door_ns=7) == [line]


def test_a_door_waits_longer_than_a_lone_frame_is_early() -> None:
    header = (Path(__file__).parents[2] / "src/bpf/fabric.h").read_text()
    found = re.search(r"#define VV_DOOR_NS +(\d+)", header)
    assert found and int(found[1]) > exits.EARLY_NS + exits.MORE_NS


# What frames meet


def sent(lab: Lab, near: int, far: int, **effort) -> oneway.Trains:
    talk = Talk(near=lab.hosts[near], far=(lab.hosts[far],))
    return oneway.ask([talk], lab.topology, "udp", [1472], **effort)[0][0]


def crossed(lab: Lab, interface: str) -> dict[str, int]:
    return next(row for row in exits.tallies(lab) if row.get("interface") == interface)


@pytest.mark.lab
def test_frames_are_charged_on_both_links_of_a_switch_and_nowhere_else(raise_lab) -> None:
    lab = raise_lab(text("switch", 100))
    before = {name: crossed(lab, name)["frames"] for name in ("u1", "d2", "d3", "u3", "d4")}
    sent(lab, 0, 1, samples=3, train=20)
    gained = {name: crossed(lab, name)["frames"] - frames for name, frames in before.items()}
    assert gained["u1"] >= 60 and gained["d2"] == gained["u1"]
    assert gained["d3"] == gained["u3"] == gained["d4"] == 0
    assert all(row["oversize"] == row["unshaped"] == 0 for row in exits.tallies(lab) if row["type"] == "exit")


@pytest.mark.lab
def test_tcp_and_segmented_udp_cross_as_single_frames(raise_lab) -> None:
    lab = raise_lab(text("switch", 100))
    got = sent(lab, 0, 1, samples=3, train=40, segment=True)
    assert got.lost == 0
    assert crossed(lab, "u1")["oversize"] == 0
    full = (1472 + 66) * (5 * 40)  # two trains warm up
    assert crossed(lab, "u1")["bytes"] >= full


@pytest.mark.lab
@pytest.mark.parametrize(("kind", "rate", "last"), [("switch", 100, "d2"), ("hub", 10, "d2")])
def test_what_is_alone_waits_at_the_door_and_a_train_does_not(raise_lab, kind: str, rate: int, last: str) -> None:
    lab = raise_lab(text(kind, rate))
    counts = [crossed(lab, last)]
    for train in (1, 20):
        sent(lab, 0, 1, samples=20, train=train)
        counts.append(crossed(lab, last))
    single, trains = ({what: after[what] - before[what] for what in ("frames", "alone", "late")}
                      for before, after in pairwise(counts))  # fmt: skip
    assert single["alone"] >= 20
    assert trains["frames"] >= 400 and trains["alone"] < trains["frames"] / 2, "a train of 20 has one that is alone"
    assert all(row["late"] <= row["alone"] <= row["frames"] for row in (single, trains))


@pytest.mark.lab
@pytest.mark.parametrize(("kind", "rate", "last"), [("switch", 100, "d2"), ("hub", 10, "d2")])
def test_frames_leave_earlier_where_timers_are_late(raise_lab, kind: str, rate: int, last: str) -> None:
    """No timer comes at its instant, so frames that may not leave before it are late, until that is learned."""
    lab = raise_lab(text(kind, rate))

    def late(more_ns: int) -> float:
        """The share of lone frames that come late to their door, if no more than that may be learned."""
        told = (f"exit {wire.interface} alone_ns=0 more_ns={more_ns}" for wire in fabric.wire_exits(lab.topology))
        exits.command(lab, told)
        before = crossed(lab, last)
        sent(lab, 0, 1, samples=40)
        after = crossed(lab, last)
        return (after["late"] - before["late"]) / (after["alone"] - before["alone"])

    def learned_ns() -> int:
        return next(row["more_ns"] for row in exits.tallies(lab) if row["type"] == "timers")

    assert late(0) > 0.8 and learned_ns() == 0
    assert min(late(exits.MORE_NS) for _ in range(6)) < 0.5
    assert 0 < learned_ns() <= exits.MORE_NS


# Datagrams to 10.1.0.ARGV[1], port 7: full ones and short ones, alone and one right after the other.
_SENDER = """
import random, socket, sys, time
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.connect((f"10.1.0.{sys.argv[1]}", 7))
for number in range(3000):
    out.send(number.to_bytes(4, "big") + bytes(random.choice((0, 0, 0, 1400))))
    if number % 4 == 3: time.sleep(random.uniform(0, 1e-3))
"""
_RECEIVER = """
import socket
into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
into.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
into.bind(("", 7))
print("ready", flush=True)
into.settimeout(60)
numbers = [int.from_bytes(into.recv(2000)[:4], "big") for _ in range(3000)]
print(numbers == list(range(3000)))
"""


@pytest.mark.lab
@pytest.mark.parametrize(("kind", "rate"), [("switch", 100), ("hub", 100)])
def test_nothing_overtakes_what_waits_at_a_door(raise_lab, kind: str, rate: int) -> None:
    lab = raise_lab(text(kind, rate))
    argv = [sys.executable, "-IS", "-c"]
    receiver = subprocess.Popen(lab.hosts[1].argv([*argv, _RECEIVER]), stdout=subprocess.PIPE, text=True)
    assert receiver.stdout and receiver.stdout.readline() == "ready\n"
    subprocess.run(lab.hosts[0].argv([*argv, _SENDER, "2"]), check=True)
    assert receiver.communicate(timeout=120)[0] == "True\n"


@pytest.mark.lab
def test_what_overflows_an_output_is_dropped_and_counted(raise_lab) -> None:
    lab = raise_lab(text("switch", 100).replace("rate_mbps = 100", "rate_mbps = 100\nqueue_frames = 20"))
    talks = [Talk(near=near, far=(lab.hosts[0],)) for near in lab.hosts[1:]]
    # Three seconds of trains: on a busy machine one sender may begin long before the next.
    asked = oneway.ask(talks, lab.topology, "udp", [1472], samples=90, train=100, idle_ms=10)
    lost = sum(cells[0].lost for cells in asked)
    assert lost > 0
    assert crossed(lab, "d1")["full"] >= lost


@pytest.mark.lab
def test_a_sender_is_held_back_by_its_own_link_and_loses_nothing(raise_lab) -> None:
    got = sent(raise_lab(text("hub", 10)), 0, 1, samples=2, train=300)
    assert got.lost == 0
    assert min(got.last_ns) > 0.95 * got.wire_ns


@pytest.mark.lab
def test_a_slow_host_serves_one_frame_after_the_other(raise_lab) -> None:
    """By the smallest times: whatever else this machine does can only add to them."""
    lab = raise_lab(text("switch", 100, SLOW))
    cost_ns = 2_000_000 + 1514 * 1000
    single = sent(lab, 0, 4, samples=10)
    assert min(single.last_ns) - single.wire_ns == pytest.approx(cost_ns, rel=0.05)
    train = sent(lab, 0, 4, samples=20, train=10, idle_ms=50)
    assert min(train.last_ns) == pytest.approx(10 * cost_ns + single.wire_ns, rel=0.05)


@pytest.mark.lab
def test_both_directions_of_a_slow_host_queue_for_one_server(raise_lab) -> None:
    """The train that ends last waits for both, but for how far they begin apart, which is little beside a long one."""
    lab = raise_lab(text("switch", 100, SLOW))
    cost_ns = 2_000_000 + 1514 * 1000
    old = lab.host("old")
    talks = [Talk(near=lab.hosts[0], far=(old,)), Talk(near=old, far=(lab.hosts[1],))]
    (one,), (other,) = oneway.ask(talks, lab.topology, "udp", [1472], samples=6, train=40, idle_ms=300)
    ends = map(max, one.last_ns, other.last_ns)
    assert statistics.median(ends) == pytest.approx(80 * cost_ns, rel=0.1)


@pytest.mark.lab
def test_a_timed_lab_refuses_an_unknown_word_and_says_which(raise_lab) -> None:
    lab = raise_lab(text("hub", 10))
    for line, complaint in (
        ("exit p1 speed=3", "speed=3"),
        ("exit p1 lead_ns=-3", "lead_ns=-3"),
        ("exit p9 lead_ns=3", "p9"),
        ("queue p1 p9", "p9"),
        ("queue p1 br0", "not an exit"),
        ("queue p1", "one queue"),
        ("link p1 in gremlins threshold=1", "in or out"),
        ("sing p1", "sing"),
    ):
        with pytest.raises(VaivenError, match=complaint):
            exits.command(lab, [line])


@pytest.mark.lab
def test_the_hosts_of_a_timed_lab_send_nothing_by_themselves_into_each_other_s_time(raise_lab) -> None:
    lab = raise_lab(text("hub", 10))
    before = crossed(lab, "hub")["frames"]
    subprocess.run(lab.hosts[0].argv(["ping", "-c", "3", "-i", "0.2", "-q", lab.hosts[1].address]), check=True)
    extra = crossed(lab, "hub")["frames"] - before - 6
    assert extra <= 8, "no ARP, at most one group report of each host"


@pytest.mark.lab
@pytest.mark.parametrize("class_", ["timed", "paced"])
@pytest.mark.parametrize("rate_mbps", [0.01, 10_000])
def test_the_slowest_and_the_fastest_rates_can_be_raised(raise_lab, class_, rate_mbps) -> None:
    more = "mtu = 1500\nqueue_frames = 65536\n" if class_ == "timed" else "mtu = 65535\nqueue_frames = 65536\n"
    wire = lab_text("extreme", 2, kind="hub", class_=class_, rate_mbps=rate_mbps)
    slow_host = '[[hosts]]\nname = "old"\nframe_us = 1e6\nbyte_ns = 1e6\n' if class_ == "timed" else ""
    assert raise_lab(wire.replace("[fabric]\n", f"[fabric]\n{more}") + slow_host).problems() == ()
