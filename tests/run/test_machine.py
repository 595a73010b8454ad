# SPDX-License-Identifier: BSD-3-Clause
"""What machines said, read again: tests/run/machines holds their answers, this machine gives one now."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from vaiven.run import machine
from vaiven.run.machine import CAP_NET_ADMIN, CAP_NET_RAW, IdleState, Machine

ANSWERS = Path(__file__).parent / "machines"


def recorded(name: str) -> Machine:
    return machine.read(name, (ANSWERS / f"{name}.txt").read_text())


def test_a_notebook() -> None:
    m = recorded("notebook")
    assert (m.name, m.hostname, m.kernel, m.cpus) == ("notebook", "notebook", "Linux 6.1.0-18-amd64 x86_64", 8)
    assert m.congestion_control == "cubic"
    assert m.governors == ("powersave",) and m.clock_source == "tsc" and m.clock_sources[1] == "hpet"
    assert m.idle_states[3] == IdleState("C6", 133, True)
    assert m.load_1min == 2.31 and m.steal_share == 0 and m.timer_slack_ns == 50_000 and m.slow_start_after_idle
    assert not m.can(CAP_NET_RAW) and not m.may_ping and m.programs == {"ping", "ssh"}
    link = m.link()
    assert link and link.name == "wlan0" and link.wireless and link.speed_mbps is None


def test_a_node_with_two_cards() -> None:
    m = recorded("node1")
    assert m.can(CAP_NET_RAW) and m.can(CAP_NET_ADMIN) and m.slow_start_after_idle is False
    assert m.way_out == "eno1" and m.link() == m.interface("eno1")
    link = m.link("eno2")
    assert link and link.mtu_bytes == 9000 and link.speed_mbps == 10_000


def test_steal_is_a_share_of_the_time_between_two_readings() -> None:
    assert recorded("crowded").steal_share == pytest.approx(30 / 200)


def test_a_bridge_tells_whether_it_filters_and_asks() -> None:
    bridge = recorded("crowded").interface("br0")
    assert bridge and bridge.snooping is True and bridge.querier is False
    assert recorded("crowded").interface("eth0").snooping is None


def test_what_a_card_does_by_itself() -> None:
    card = recorded("crowded").interface("eth0")
    assert card and card.offloads == {"tso", "gso", "gro"} and card.rx_delay_us == 50 and card.rx_adaptive is None
    assert recorded("notebook").interface("enp0s31f6").rx_adaptive is True
    assert recorded("notebook").interface("wlan0").offloads is None


def test_without_a_way_out_the_only_card_is_the_link() -> None:
    only = machine.read("lone", "@ /sys/class/net/eth0/mtu\n1500\n@ /sys/class/net/eth0/flags\n0x1003\n")
    assert only.way_out is None and only.link() == only.interface("eth0") is not None
    assert recorded("crowded").link() is None  # a bridge and a card


def test_a_host_that_says_nothing_is_read_without_an_error() -> None:
    m = machine.read("mute", "")
    assert m.cpus == 1 and m.load_1min is None and m.steal_share is None and m.interfaces == () and m.link() is None


def test_what_was_said_before_an_answer_was_cut_short_is_kept() -> None:
    text, whole = (ANSWERS / "node1.txt").read_text(), recorded("node1")
    facts = {"hostname": "hostname", "uname": "kernel", "/proc/loadavg": "load_1min", "/proc/net/route": "way_out"}
    order = list(machine.sections(text))
    assert set(facts) <= set(order)
    for cut in range(0, len(text), 97):
        begun = list(machine.sections(text[:cut]))
        m = machine.read("node1", text[:cut])
        for key in set(facts) & set(begun[:-1]):
            assert getattr(m, facts[key]) == getattr(whole, facts[key]), (cut, key)
        assert begun[:-1] == order[: max(len(begun) - 1, 0)]
        assert not any(getattr(m, facts[key]) for key in set(facts) - set(begun)), cut


def test_this_machine_answers() -> None:
    done = subprocess.run(["sh", "-c", machine.QUESTIONS], capture_output=True, text=True, check=True, timeout=30)
    m = machine.read("here", done.stdout)
    assert done.stderr == ""
    assert m.hostname == platform.node() and m.kernel == f"Linux {platform.release()} {platform.machine()}"
    assert m.load_1min is not None and m.steal_share is not None and m.interface("lo") is not None
