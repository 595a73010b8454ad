# SPDX-License-Identifier: BSD-3-Clause
"""What a fabric is made of, and what frames meet there. That each takes its time is tested in test_timing.py."""

from __future__ import annotations

import statistics
import subprocess

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
    assert [wire.interface for wire in wires] == ["u1", "u2", "u3", "u4", "p1", "p2", "p3", "p4"]
    assert len({wire.medium for wire in wires}) == 8
    assert {(wire.byte_ns, wire.unit_ns, wire.bytes_min, wire.bytes_more) for wire in wires} == {(80.0, 80.0, 60, 24)}
    assert wires[0].queue_ns == 1000 * 1538 * 80
    assert wires[4].queue_ns == 256 * 1538 * 80


def test_a_hub_is_one_medium_and_takes_no_time_on_the_way_down() -> None:
    hub, *down = fabric.wire_exits(topology.parse(text("hub", 10)))
    assert (hub.interface, hub.byte_ns) == ("hub", 800.0)
    assert [(exit_.interface, exit_.byte_ns, exit_.frame_ns) for exit_ in down] == [
        (f"p{n}", 0.0, 0.0) for n in range(1, 5)
    ]
    assert hub.medium not in {exit_.medium for exit_ in down}


def test_a_slow_host_is_one_server_in_both_directions_behind_its_link() -> None:
    lab = topology.parse(text("switch", 100, SLOW))
    servers = slow.server_exits(lab)
    assert [server.interface for server in servers] == ["s5", "p5"]
    assert len({server.medium for server in servers}) == 1
    assert {(server.frame_ns, server.byte_ns) for server in servers} == {(2e6, 1000.0)}
    wires = fabric.wire_exits(lab)
    assert {wire.interface for wire in wires} >= {"u5", "t5"}
    assert servers[0].medium not in {wire.medium for wire in wires}


def test_an_exit_is_told_in_the_native_program_s_words() -> None:
    line = exits.Exit(interface="p1", medium=3, unit_ns=80.0, byte_ns=80.0, queue_ns=5).command(lead_ns=7)
    assert line.split()[:2] == ["exit", "p1"]
    assert dict(word.split("=") for word in line.split()[2:]) == {
        "medium": "3", "unit_ns_q16": str(80 << 16), "byte_ns_q16": str(80 << 16), "frame_ns": "0", "bytes_min": "0",
        "bytes_more": "0", "queue_ns": "5", "credit_ns": str(exits.CREDIT_NS), "lead_ns": "7",
    }  # fmt: skip


# What frames meet


def sent(lab: Lab, near: int, far: int, **effort) -> oneway.Trains:
    talk = Talk(near=lab.hosts[near], far=(lab.hosts[far],))
    return oneway.ask([talk], lab.topology, "udp", [1472], **effort)[0][0]


def crossed(lab: Lab, interface: str) -> dict[str, int]:
    return next(row for row in exits.tallies(lab) if row["interface"] == interface)


@pytest.mark.lab
def test_frames_are_charged_on_both_links_of_a_switch_and_nowhere_else(raise_lab) -> None:
    lab = raise_lab(text("switch", 100))
    before = {name: crossed(lab, name)["frames"] for name in ("u1", "p2", "p3", "u3", "p4")}
    sent(lab, 0, 1, samples=3, train=20)
    gained = {name: crossed(lab, name)["frames"] - frames for name, frames in before.items()}
    assert gained["u1"] >= 60 and gained["p2"] == gained["u1"]
    assert gained["p3"] == gained["u3"] == gained["p4"] == 0
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
def test_what_overflows_an_output_is_dropped_and_counted(raise_lab) -> None:
    lab = raise_lab(text("switch", 100).replace("rate_mbps = 100", "rate_mbps = 100\nqueue_frames = 20"))
    talks = [Talk(near=near, far=(lab.hosts[0],)) for near in lab.hosts[1:]]
    # Three seconds of trains: on a busy machine one sender may begin long before the next.
    asked = oneway.ask(talks, lab.topology, "udp", [1472], samples=90, train=100, idle_ms=10)
    lost = sum(cells[0].lost for cells in asked)
    assert lost > 0
    assert crossed(lab, "p1")["full"] >= lost


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
    train = sent(lab, 0, 4, samples=3, train=10, idle_ms=50)
    assert min(train.last_ns) == pytest.approx(10 * cost_ns + single.wire_ns, rel=0.05)


@pytest.mark.lab
def test_both_directions_of_a_slow_host_queue_for_one_server(raise_lab) -> None:
    lab = raise_lab(text("switch", 100, SLOW))
    cost_ns = 2_000_000 + 1514 * 1000
    old = lab.host("old")
    talks = [Talk(near=lab.hosts[0], far=(old,)), Talk(near=old, far=(lab.hosts[1],))]
    asked = oneway.ask(talks, lab.topology, "udp", [1472], samples=6, train=10, idle_ms=300)
    ends = sorted(ns for cells in asked for ns in cells[0].last_ns)
    assert statistics.median(ends[-6:]) == pytest.approx(20 * cost_ns, rel=0.1)


@pytest.mark.lab
def test_a_timed_lab_refuses_an_unknown_word_and_says_which(raise_lab) -> None:
    lab = raise_lab(text("hub", 10))
    for line, complaint in (
        ("exit p1 speed=3", "speed=3"),
        ("exit p1 lead_ns=-3", "lead_ns=-3"),
        ("exit p9 lead_ns=3", "p9"),
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
