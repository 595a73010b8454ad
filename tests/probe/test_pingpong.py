# SPDX-License-Identifier: BSD-3-Clause
"""Whole launches of the real probe on loopback: what is printed, and that it is right."""

from __future__ import annotations

import statistics

import pytest

FEW = ("--samples", "20", "--cell-ms", "4000")  # as many as are wanted, however busy the machine is


def test_records_of_a_launch(probe) -> None:
    near, far = probe.pair("tcp", "--sizes", "64,1", *FEW, "--mtu", "1500", "--rate-bps", "100000000", "--hops", "2")
    assert (near.status, far.status) == (0, 0)
    # An emulated clock may be slow to read, and said to be.
    types = [record["type"] for record in near.records if record.get("code") != "coarse-clock"]
    assert types == ["hello", "cell", "cell", "bye"]
    hello = near.records[0]
    assert hello["schema"] == 1 and hello["stack"] == "tcp"
    assert hello["options"] == {
        "write": "one",
        "wait": "block",
        "buffers": "hot",
        "acks": "kernel",
        "idle_ms": 0,
        "cpu": None,
    }
    assert hello["clock"]["source"] == "CLOCK_MONOTONIC" and hello["clock"]["resolution_ns"] >= 1
    assert hello["near"] == hello["far"]
    assert len(hello["connect_ns"]) == 1 and hello["connect_ns"][0] > 0
    cell = near.cells[0]
    assert cell["size_bytes"] == 64 and len(cell["rtt_ns"]) == 20 and cell["batch"] >= 1
    assert all(isinstance(ns, int) and ns > 0 for ns in cell["rtt_ns"])
    assert (cell["lost"], cell["late"], cell["corrupt"]) == (0, 0, 0)
    assert cell["warmup"] >= 1 and cell["cpu_near_ns"] > 0 and cell["cpu_far_ns"] > 0
    assert cell["wire"]["frames"] == 1 and cell["wire"]["ns"] > 0
    assert [record["type"] for record in far.records] == ["ready"]
    assert far.records[0]["schema"] == 1 and "key" not in far.records[0]


@pytest.mark.parametrize("bind", ["127.0.0.1", "::1"])
@pytest.mark.parametrize(
    ("stack", "sizes"),
    [("tcp", "1,7,8,9,1448,1449,65536"), ("tcp-nagle", "1,1448,65536"), ("udp", "0,1,7,8,9,1472,1473,65507")],
)
def test_every_size_both_families(probe, stack: str, sizes: str, bind: str) -> None:
    near, far = probe.pair(stack, "--sizes", sizes, *FEW, bind=bind)
    assert (near.status, far.status) == (0, 0)
    assert ",".join(str(cell["size_bytes"]) for cell in near.cells) == sizes
    assert all(cell["corrupt"] == 0 and len(cell["rtt_ns"]) > 0 for cell in near.cells)


@pytest.mark.parametrize("stack", ["tcp", "udp"])
@pytest.mark.parametrize(
    "both", [("--write", "writev"), ("--wait", "spin"), ("--buffers", "cold"), ("--idle-ms", "2"), ("--cpu", "0")]
)
def test_options_of_a_stack(probe, stack: str, both: tuple[str, str]) -> None:
    near, far = probe.pair(stack, "--sizes", "1,64,3000", "--samples", "5", "--cell-ms", "400", both=both)
    assert (near.status, far.status) == (0, 0), near.records
    name, value = both[0].removeprefix("--").replace("-", "_"), both[1]
    assert str(near.records[0]["options"][name]) == value
    assert all(cell["corrupt"] == 0 and len(cell["rtt_ns"]) > 0 for cell in near.cells)


def test_nagle_punishes_two_writes(probe) -> None:
    """The delayed acknowledgement is 40 ms; without Nagle, or in one gathering write, nothing waits for it."""

    def rtt_ns(stack: str, write: str) -> list[int]:
        near, _ = probe.pair(stack, "--sizes", "64", "--samples", "5", "--cell-ms", "600", both=("--write", write))
        return near.cells[0]["rtt_ns"]

    assert statistics.median(rtt_ns("tcp-nagle", "split")) > 30e6
    assert min(rtt_ns("tcp", "split")) < 30e6
    assert min(rtt_ns("tcp-nagle", "writev")) < 30e6


def test_the_largest_message(probe) -> None:
    near, far = probe.pair(
        "tcp", "--sizes", str(64 << 20), "--samples", "2", "--cell-ms", "2000", "--timeout-ms", "60000"
    )
    assert (near.status, far.status) == (0, 0), near.records
    assert near.cells[0]["corrupt"] == 0 and near.cells[0]["rtt_ns"]


def test_idle_is_kept_between_exchanges(probe) -> None:
    near, _ = probe.pair("udp", "--sizes", "64", "--samples", "10", "--cell-ms", "10000", both=("--idle-ms", "50"))
    assert near.seconds > 10 * 0.050
    assert min(near.cells[0]["rtt_ns"]) < 50e6, "the pause is no part of a round trip"


def test_messages_as_far_apart_as_on_a_wire(probe) -> None:
    """40,000 B at 10 Mb/s over one link take 33 ms, there and back 66, with no wire at all nothing near it."""
    wire = ("--mtu", "1500", "--rate-bps", "10000000", "--hops", "1")
    effort = ("--sizes", "40000", "--samples", "10", "--cell-ms", "10000")
    near, _ = probe.pair("udp", *effort, *wire, "--idle-wire")
    cell = near.cells[0]
    assert near.records[0]["options"]["idle_wire"] is True
    assert near.seconds > 10 * 2 * cell["wire"]["ns"] / 1e9 > 0.6
    assert min(cell["rtt_ns"]) < cell["wire"]["ns"], "the pause is no part of a round trip"


def test_cell_ms_bounds_a_cell(probe) -> None:
    near, _ = probe.pair("udp", "--sizes", "64", "--samples", "10000000", "--cell-ms", "1000")
    *before_last_ns, _ = near.cells[0]["rtt_ns"]
    assert 0 < sum(before_last_ns) < 1e9, "no exchange begins after that"


def test_ports_of_the_range_only(probe) -> None:
    far, peer = probe.far("tcp", "--port", "42100-42119")
    assert 42100 <= int(peer.rsplit(":", 1)[1]) <= 42119
    near = probe.near("tcp", peer, "--sizes", "64", *FEW, "--port", "42120-42129")
    assert (near.status, far.end().status) == (0, 0)


def test_connect(probe) -> None:
    near, far = probe.pair("tcp", "--ask", "connect", "--samples", "50", "--cell-ms", "60000")
    assert (near.status, far.status) == (0, 0)
    cell = near.cells[0]
    assert cell["ask"] == "connect" and cell["size_bytes"] == 0
    assert len(cell["connect_ns"]) == 50 and min(cell["connect_ns"]) > 0
    assert "rtt_ns" not in cell


def test_stacks_are_listed(probe) -> None:
    listed = {record["stack"]: record for record in probe.alone("stacks").records}
    assert {"tcp", "tcp-nagle", "udp", "null"} <= set(listed)
    assert listed["tcp"]["size_bytes_min"] == 1 and listed["tcp"]["size_bytes_max"] == 64 << 20
    assert listed["udp"]["size_bytes_max"] == 65507
    assert listed["null"]["alone"] is True


@pytest.mark.parametrize("size", ["0", "67108865"])
def test_a_size_outside_the_limits_is_an_error(probe, size: str) -> None:
    ended = probe.alone("near", "tcp", "--peer", "127.0.0.1:1", "--sizes", size)
    assert ended.status == 2 and ended.error["remedy"]
