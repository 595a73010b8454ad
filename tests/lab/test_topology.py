# SPDX-License-Identifier: BSD-3-Clause
"""What a lab file may say, and what is said about one with a mistake. Nothing is raised here."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.lab import fabric, slow, topology

GOOD = """\
name = "x"
title = "An example"
[fabric]
kind = "switch"
class = "timed"
rate_mbps = 100
[[hosts]]
name = "server"
memory_mb = 32
[[hosts]]
prefix = "h"
count = 3
role = "equal ones"
[[faults]]
host = "h2"
kind = "loss"
probability = 0.01
"""


def error_of(text: str) -> VaivenError:
    with pytest.raises(VaivenError) as caught:
        topology.parse(text, "x.toml")
    return caught.value


def edited(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def test_a_lab_file_becomes_a_topology_with_equal_hosts_written_out() -> None:
    lab = topology.parse(GOOD)
    assert [host.name for host in lab.hosts] == ["server", "h1", "h2", "h3"]
    assert lab.host("server").memory_mb == 32
    assert lab.host("h3").role == "equal ones"
    assert (lab.fabric.fabric_class, lab.fabric.rate_mbps, lab.fabric.mtu) == ("timed", 100, 1500)
    assert lab.faults[0].seed == 1 and lab.faults[0].direction == "in"


@pytest.mark.parametrize(
    ("old", "new", "line", "what", "remedy"),
    [
        ('class = "timed"', 'class = "tmed"', 5, "class = 'tmed'", "'timed' or 'paced' or 'free'"),
        ("rate_mbps = 100", "rate_mps = 100", 6, "no key 'rate_mps'", "did you mean 'rate_mbps'"),
        ("rate_mbps = 100", 'rate_mbps = "fast"', 6, "rate_mbps = 'fast'", "a number"),
        ("rate_mbps = 100", "rate_mbps = -1", 6, "rate_mbps = -1", "at least 0.01 and at most 10000"),
        ("rate_mbps = 100", "", 3, "needs a rate", "rate_mbps = 100"),
        ('class = "timed"', 'class = "free"', 6, "no rate", "leave rate_mbps out"),
        ('kind = "switch"\n', "", 3, "needs the key 'kind'", "'hub' or 'switch'"),
        ("rate_mbps = 100", "rate_mbps = 100\nmtu = 9000", 7, "frames of 9000 bytes", "1500 or less"),
        ("memory_mb = 32", "memory_mb = 32.5", 9, "memory_mb = 32.5", "a whole number"),
        ("count = 3", "count = 65", 12, "count = 65", "at most 64"),
        ("count = 3", "count = 64", 7, "65 hosts", "1 to 64"),
        ("count = 3\n", "", 10, "either a name, or a prefix and a count", "count = 8"),
        ("count = 3", 'count = 3\nname = "both"', 10, "either a name, or a prefix and a count", "count = 8"),
        ('prefix = "h"\ncount = 3', 'name = "server"', 11, "two hosts are called 'server'", "a name of its own"),
        ('host = "h2"', 'host = "h9"', 15, "the host 'h9'", "h1, h2, h3, server"),
        ("probability = 0.01", "", 14, "loss needs probability", "add a line probability"),
        ("probability = 0.01", "probability = 1.5", 17, "probability = 1.5", "at most 1"),
        ("probability = 0.01", "probability = 0.01\ndelay_us = 3", 18, "has no delay_us", "leave delay_us out"),
        ("memory_mb = 32", "tcp.offloads = true", 9, "timed fabric carries single segments", "leave offloads out"),
        ("memory_mb = 32", "tcp.quick_ack = true", 9, "no key 'quick_ack'", "did you mean 'quick_acks'"),
        ('kind = "loss"', 'kind = "cut"', 17, "cut has no probability", "leave probability out"),
        ("[fabric]", "[fabric", 3, "not TOML", "toml.io"),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_what_would_be_right(
    old: str, new: str, line: int, what: str, remedy: str
) -> None:
    error = error_of(edited(old, new))
    assert error.where == f"x.toml:{line}"
    assert what in error.what
    assert remedy in error.remedy


def test_a_host_sends_as_its_own_table_says_then_as_that_of_the_lab() -> None:
    text = edited("[[hosts]]", '[tcp]\ncongestion_control = "reno"\nquick_acks = true\n[[hosts]]')
    lab = topology.parse(text.replace("memory_mb = 32", "tcp = { quick_acks = false, initial_window_segments = 2 }"))
    own, like = lab.tcp_of(lab.host("server")), lab.tcp_of(lab.host("h1"))
    assert (own.congestion_control, own.quick_acks, own.initial_window_segments) == ("reno", False, 2)
    assert like == lab.tcp and like.quick_acks


@pytest.mark.parametrize(
    "name", ["a b", "localhost", "$(id)", "a;b", "../a", "A", "-a", "", "a\n", "a" * 33, "<b>", "é", "a'b", 'a"']
)
def test_a_name_is_nothing_but_letters_digits_and_hyphens(name: str) -> None:
    text = edited('"server"', '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"')
    assert "a-z, digits and '-'" in error_of(text).remedy


@given(st.text(max_size=300), st.integers(0, len(GOOD)))
def test_any_text_is_a_lab_or_an_error_of_ours(text: str, at: int) -> None:
    for candidate in (text, GOOD[:at] + text + GOOD[at:]):
        try:
            lab = topology.parse(candidate)
        except VaivenError as error:
            assert error.what and "\n" not in error.where
        else:
            assert 1 <= len(lab.hosts) <= topology.HOSTS_MAX


@pytest.mark.parametrize(
    ("rate_mbps", "hosts", "warned"),
    [(10, 64, False), (50, 16, False), (50, 17, True), (100, 8, False), (100, 9, True), (1000, 3, True)],
)
def test_a_timed_fabric_beyond_two_cores_is_warned_of(rate_mbps: int, hosts: int, warned: bool) -> None:
    text = edited("rate_mbps = 100", f"rate_mbps = {rate_mbps}").replace("count = 3", f"count = {hosts - 1}")
    warnings = topology.parse(text).warnings()
    assert bool(warnings) == warned
    assert all("lab check" in warning for warning in warnings)


EXTREMES = ["inf", "-inf", "nan", "1e308", "1e-308", "1e400", "0", "-1", f"{2**63}", f"{2**64}", f"{10**400}"]
NUMBERS = {
    "rate_mbps": "rate_mbps = 100",
    "mtu": "rate_mbps = 100\nmtu = 1500",
    "queue_frames": "rate_mbps = 100\nqueue_frames = 256",
    "memory_mb": "memory_mb = 32",
    "frame_us": "memory_mb = 32\nframe_us = 1",
    "byte_ns": "memory_mb = 32\nbyte_ns = 1",
    "cpu_share": "memory_mb = 32\ncpu_share = 1",
    "icmp_bytes_max": "memory_mb = 32\nicmp_bytes_max = 1",
    "clock_offset_ms": "memory_mb = 32\nclock_offset_ms = 1",
    "initial_window_segments": "memory_mb = 32\ntcp.initial_window_segments = 1",
    "probability": "probability = 0.01",
    "burst_frames": "probability = 0.01\nburst_frames = 2",
    "delay_us": "probability = 0.01\ndelay_us = 3",
    "seed": "probability = 0.01\nseed = 1",
    "count": "count = 3",
}


@pytest.mark.parametrize("key", NUMBERS)
def test_an_extreme_number_is_refused_by_its_name_or_can_be_worked_with(key: str) -> None:
    old = NUMBERS[key].splitlines()[0]
    kind = {"burst_frames": "burst-loss", "delay_us": "reorder"}.get(key, "loss")
    refused = 0
    for value in EXTREMES:
        new = NUMBERS[key].rpartition("=")[0] + f"= {value}"
        text = edited(old, new).replace('kind = "loss"', f'kind = "{kind}"')
        try:
            lab = topology.parse(text, "x.toml")
        except VaivenError as error:
            assert key in error.what and error.remedy and error.where.startswith("x.toml:")
            refused += 1
        else:
            assert all(exit_.commands(0) for exit_ in (*fabric.wire_exits(lab), *slow.server_exits(lab)))
    assert refused >= 6


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(VaivenError, match=r"cannot read .*nosuch\.toml"):
        topology.find(f"{tmp_path}/nosuch.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(VaivenError, match="not UTF-8"):
        topology.find(f"{tmp_path}/binary.toml")


def test_an_unknown_ready_lab_is_answered_with_the_known_ones() -> None:
    with pytest.raises(VaivenError) as caught:
        topology.find("lidy")
    assert "lidi" in caught.value.remedy and caught.value.code == "no-lab"


def test_every_ready_lab_loads_under_its_own_name() -> None:
    assert topology.names() == sorted(
        [
            "alicante",
            "cetad",
            "cetad-swap",
            "demo",
            "free",
            "hub8",
            "inpe",
            "inpe-first",
            "lidi",
            "lqt",
            "ufpr",
            "ufsm",
            "ufsm-gigabit",
        ]
    )
    for name in topology.names():
        lab = topology.ready(name)
        assert lab.name == name and lab.title and lab.warnings() == ()


@pytest.mark.parametrize(
    ("name", "kind", "fabric_class", "rate_mbps", "hosts"),
    [
        ("alicante", "switch", "timed", 100, 2),
        ("cetad", "hub", "timed", 10, 10),
        ("cetad-swap", "hub", "timed", 10, 2),
        ("demo", "switch", "timed", 100, 4),
        ("free", "switch", "free", None, 4),
        ("hub8", "hub", "timed", 10, 8),
        ("inpe", "switch", "timed", 50, 16),
        ("inpe-first", "switch", "timed", 50, 12),
        ("lidi", "switch", "timed", 100, 8),
        ("lqt", "hub", "timed", 10, 6),
        ("ufpr", "switch", "timed", 50, 16),
        ("ufsm", "switch", "timed", 100, 8),
        ("ufsm-gigabit", "switch", "paced", 1000, 8),
    ],
)
def test_the_ready_labs_stand_for_the_papers(name, kind, fabric_class, rate_mbps, hosts) -> None:
    lab = topology.ready(name)
    fabric = lab.fabric
    assert (fabric.kind, fabric.fabric_class, fabric.rate_mbps) == (kind, fabric_class, rate_mbps)
    assert len(lab.hosts) == hosts
    assert lab.tcp.congestion_control == (None if name in ("demo", "free") else "reno")


def test_cetad_has_the_machines_of_the_paper_and_their_defects() -> None:
    hosts = {host.name: host for host in topology.ready("cetad").hosts}
    assert {name for name, host in hosts.items() if host.byte_order == "big"} == {"prited", "cetad", "sofia", "paris"}
    thirty_two = {"tilcara", "cetadfomec1", "cetadfomec2", "prited"}
    assert {name for name, host in hosts.items() if host.memory_mb == 32} == thirty_two
    assert {name for name, host in hosts.items() if host.icmp_bytes_max == 32768} == {"prited", "cetad"}
    assert {name for name, host in hosts.items() if host.tcp_defect} == {"prited", "sofia"}
    assert not hosts["purmamarca"].is_slow
    frame_ns = 1538 * 800  # a full frame at 10 Mb/s: even the slowest host keeps up with the wire, as in the paper
    assert all(host.frame_us * 1000 + 1514 * host.byte_ns < frame_ns for host in hosts.values())
