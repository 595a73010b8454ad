# SPDX-License-Identifier: BSD-3-Clause
"""The commands that need no other end: wire and inventory."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vaiven.model.frames import Path as WirePath
from vaiven.model.frames import Wire, wire_ns


@pytest.fixture
def records(vaiven_programs: Callable[[str], Path]) -> Callable[..., list[dict]]:
    """What vaiven-probe prints: records("wire", "udp", ..., status=2)."""

    def call(*args: str, status: int = 0) -> list[dict]:
        command = [str(vaiven_programs("vaiven-probe")), *args]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        assert done.returncode == status, done.stdout
        return [json.loads(line) for line in done.stdout.splitlines()]

    return call


def test_wire_tells_frames_bytes_time_and_ceiling(records: Callable[..., list[dict]]) -> None:
    (record,) = records("wire", "icmp", "--mtu", "1500", "--sizes", "60000", "--rate-bps", "10000000", "--hops", "1")
    assert (record["frames"], record["bytes"]) == (41, 40 * 1538 + 866)
    assert record["ns"] == record["bytes"] * 800
    assert record["ceiling_bps"] == 10_000_000 * 1472 // 1538


@pytest.mark.parametrize("stack", ["icmp", "eth", "llc", "llc-jumbo", "llc-kernel", "udp", "tcp", "raw"])
@pytest.mark.parametrize("mtu", [576, 1500, 9000])
def test_the_model_draws_the_same_wire(records: Callable[..., list[dict]], stack: str, mtu: int) -> None:
    """The staircase on a page is a formula of its own, in Python: it must be the probe's, at every kind of size."""
    sizes = [1, 2, 17, 18, 19, 27, 28, 43, 100, 531, 549, 1448, 1449, 1472, 1473, 1481, 1483, 2953, 8983, 60_000, 10**6]
    known = {record["stack"]: record for record in records("stacks")}[stack]
    sizes = [size for size in sizes if size <= known["size_bytes_max"]]
    asked = ",".join(map(str, sizes))
    found = records("wire", stack, "--mtu", str(mtu), "--rate-bps", "100000000", "--hops", "3", "--sizes", asked)
    times = wire_ns(WirePath(stack), Wire(10**8, 3, mtu), sizes)
    assert [record["ns"] for record in found] == [round(float(ns)) for ns in times]


def test_wire_leaves_out_what_it_cannot_know(records: Callable[..., list[dict]]) -> None:
    one, two = records("wire", "tcp", "--mtu", "1500", "--sizes", "1448,1449")
    assert (one["frames"], two["frames"]) == (1, 2)
    assert one["ns"] is one["ceiling_bps"] is None


@pytest.mark.parametrize(("rate_bps", "ceiling_bps"), [(10**7, 9414824), (10**8, 94148244), (10**9, 941482444)])
def test_the_ceilings_of_tcp(records: Callable[..., list[dict]], rate_bps: int, ceiling_bps: int) -> None:
    (record,) = records("wire", "tcp", "--mtu", "1500", "--sizes", "1", "--rate-bps", str(rate_bps), "--hops", "1")
    assert record["ceiling_bps"] == ceiling_bps


def test_wire_survives_the_largest_numbers(records: Callable[..., list[dict]]) -> None:
    largest = ("--rate-bps", str(10**15), "--hops", "64", "--mtu", "68", "--sizes", str(64 << 20))
    (record,) = records("wire", "tcp", *largest)
    assert record["frames"] == (64 << 20) // 16


def test_null_is_on_no_wire(records: Callable[..., list[dict]]) -> None:
    (record,) = records("wire", "null", "--mtu", "1500", "--sizes", "1", status=1)
    assert (record["type"], record["code"]) == ("error", "no-wire")


@pytest.mark.native
def test_the_inventory_is_of_this_host(records: Callable[..., list[dict]]) -> None:
    (record,) = records("inventory")
    assert record["kernel"] == platform.release()
    assert record["hostname"] == platform.node()
    assert record["arch"] == platform.machine()
    assert record["cpu"]["threads"] == os.cpu_count()
    assert 0 < record["sockets"]["tcp_send_bytes"] <= record["sockets"]["tcp_send_bytes_max"]
    nics = {path.name for path in Path("/sys/class/net").iterdir() if (path / "type").read_text() == "1\n"}
    assert {nic["name"] for nic in record["nics"]} <= nics


def test_the_inventory_of_another_host_from_its_files(records: Callable[..., list[dict]], tmp_path: Path) -> None:
    files = {
        "proc/sys/kernel/hostname": "tilcara\n",
        "proc/cpuinfo": "model name\t: Pentium MMX <b>&\ncpu MHz\t\t: 199.9\n",
        "proc/meminfo": "MemTotal:  32768 kB\n",
        "sys/class/net/eth0/type": "1\n",
        "sys/class/net/eth0/speed": "10\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (record,) = records("inventory", "--root", str(tmp_path))
    assert record["hostname"] == "tilcara"
    assert (record["cpu"]["model"], record["cpu"]["hz"]) == ("Pentium MMX <b>&", 199_900_000)
    assert record["memory_bytes"] == 32 << 20
    assert record["nics"][0]["speed_bps"] == 10_000_000
    assert record["kernel"] is None and set(record["nics"][0]["offloads"].values()) == {None}
