# SPDX-License-Identifier: BSD-3-Clause
"""Every finding of the doctor, on machines that have the trouble and on machines that have not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from vaiven.run import checks, machine
from vaiven.run.checks import Finding, Subject
from vaiven.run.machine import Machine

ANSWERS = Path(__file__).parent / "machines"


def subject(name: str, card: str = "") -> Subject:
    m = machine.read(name, (ANSWERS / f"{name}.txt").read_text())
    return Subject(m, m.link(card))


def codes(findings: list[Finding]) -> set[str]:
    return {f.code for f in findings}


@pytest.fixture
def good() -> Machine:
    return subject("node1").machine


def test_a_node_set_up_for_measuring_has_nothing_to_hear() -> None:
    assert checks.check([subject("node1")]) == []


@pytest.mark.parametrize(
    ("name", "card", "expected"),
    [
        ("notebook", "", {"governor", "c-states", "slow-start-after-idle", "load", "wireless", "no-raw-sockets"}),
        (
            "crowded",
            "eth0",
            {"clock-source", "slow-start-after-idle", "steal", "timer-slack", "half-duplex", "multicast-off"}
            | {"igmp-querier", "coalescing", "offloads"},
        ),
        ("mainframe", "", {"no-raw-sockets", "no-ping", "slow-start-after-idle"}),
    ],
)
def test_each_machine_hears_its_own_troubles(name: str, card: str, expected: set[str]) -> None:
    assert codes(checks.check([subject(name, card)])) == expected


def test_hosts_that_do_not_agree() -> None:
    found = checks.check([subject("node1", "eno2"), subject("node2", "eno2")])
    assert codes(found) == {"mtu-mismatch", "speed-mismatch"}
    mtu = next(f for f in found if f.code == "mtu-mismatch")
    assert mtu.host == "node1" and mtu.remedy == "sudo ip link set dev eno2 mtu 1500" and "node2 1500" in mtu.what
    assert checks.check([subject("node1"), subject("node2")]) == []  # by the other card they agree


def test_hosts_whose_tcp_sends_by_different_rules_are_named(good: Machine) -> None:
    other = replace(good, name="other", congestion_control="bbr; reboot")
    (found,) = checks.check([Subject(good, good.link()), Subject(other, other.link())])
    assert (found.code, found.host) == ("congestion-mismatch", "other")
    assert found.remedy == "sudo sysctl -w net.ipv4.tcp_congestion_control=cubic"
    (found,) = checks.check([Subject(other, other.link()), Subject(good, good.link())])
    assert found.remedy.endswith("='bbr; reboot'")
    silent = replace(good, name="silent", congestion_control=None)
    assert checks.check([Subject(good, good.link()), Subject(silent, silent.link())]) == []


def test_the_gravest_comes_first_and_everything_is_said() -> None:
    found = checks.check([subject(name) for name in ("crowded", "mainframe", "notebook", "node1")])
    order = [checks.SEVERITIES.index(f.severity) for f in found]
    assert order == sorted(order) and order[0] == 0
    assert all(f.what and f.effect and f.remedy and f.host for f in found)


def test_who_may_not_mend_deep_sleep_is_told_what_keeps_the_processors_awake() -> None:
    (found,) = (f for f in checks.check([subject("notebook")]) if f.code == "c-states")
    assert "vaiven measure --awake" in found.effect and found.remedy.startswith("sudo cpupower")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"governors": ("performance", "schedutil")}, "governor"),
        ({"clock_source": "acpi_pm"}, "clock-source"),
        ({"load_1min": 4.1}, "load"),
        ({"steal_share": 0.02}, "steal"),
        ({"timer_slack_ns": 50_001}, "timer-slack"),
        ({"slow_start_after_idle": True}, "slow-start-after-idle"),
        ({"capabilities": 0}, "no-raw-sockets"),
    ],
)
def test_one_change_makes_one_finding(good: Machine, change: dict, code: str) -> None:
    assert codes(checks.check([Subject(replace(good, **change), good.link())])) == {code}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"wireless": True}, "wireless"),
        ({"duplex": "half"}, "half-duplex"),
        ({"multicast": False}, "multicast-off"),
        ({"rx_adaptive": True}, "coalescing"),
        ({"rx_delay_us": 6}, "coalescing"),
        ({"offloads": frozenset({"gro"})}, "offloads"),
    ],
)
def test_one_change_of_the_card_makes_one_finding(good: Machine, change: dict, code: str) -> None:
    assert codes(checks.check([Subject(good, replace(good.link(), **change))])) == {code}


def test_facts_that_a_host_does_not_tell_make_no_finding(good: Machine) -> None:
    silent = machine.read("silent", "@ capabilities\n000001ffffffffff\n")
    assert checks.check([Subject(silent, None), Subject(good, None)]) == []


def test_names_of_cards_are_quoted_in_commands(good: Machine) -> None:
    link = replace(good.link(), name="x;reboot", multicast=False)
    assert "'x;reboot'" in checks.check([Subject(good, link)])[0].remedy


def test_this_machine_is_told_what_it_cannot_raise(good: Machine) -> None:
    assert checks.check_here(replace(good, kernel="Linux 6.12.3-amd64 x86_64")) == []
    assert codes(checks.check_here(replace(good, kernel="Linux 6.1.0-37-amd64 x86_64"))) == {"old-kernel"}
    assert codes(checks.check_here(subject("mainframe").machine)) == {"free-labs-only", "old-kernel", "no-ssh"}
