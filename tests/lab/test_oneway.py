# SPDX-License-Identifier: BSD-3-Clause
"""The questions that only a lab can be asked, or only a lab can answer: oneway, and ICMP to a host with a limit."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.lab.hosts import LabHost
from vaiven.lab.lab import Lab

pytestmark = pytest.mark.lab


@pytest.fixture
def lab(raise_lab: Callable[..., Lab]) -> Lab:
    return raise_lab(lab_text("three", 3))


@pytest.fixture
def probe(vaiven_programs: Callable[[str], Path]) -> str:
    return str(vaiven_programs("vaiven-probe"))


@pytest.fixture
def key_file(tmp_path: Path) -> str:
    path = tmp_path / "key"
    path.write_text(secrets.token_hex(16) + "\n")
    return str(path)


@contextmanager
def _far(host: LabHost, probe: str, stack: str, key_file: str, *options: str) -> Iterator[str]:
    """A far end on the host; where its near end finds it. Afterwards it must have ended well, and by itself."""
    command = host.argv((probe, "far", stack, "--bind", host.address, "--key-file", key_file, *options))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as far:
        assert far.stdout is not None
        yield f"{host.address}:{json.loads(far.stdout.readline())['port']}"
        rest = far.communicate(timeout=60)[0]
        assert far.returncode == 0, rest


def _records(host: LabHost, *command: str, status: int = 0) -> list[dict]:
    done = subprocess.run(host.argv(command), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


_WIRE = ("--mtu", "1500", "--rate-bps", "1000000000", "--hops", "2")


def _oneway(
    lab: Lab, probe: str, stack: str, key_file: str, receivers: int, *options: str, shared: bool = True
) -> list[dict]:
    """The cells that the first host gets from asking the next `receivers` ones; shared: who know that they have one
    clock."""
    with ExitStack() as ends:
        first, *others = [
            ends.enter_context(_far(host, probe, stack, key_file)) for host in lab.hosts[1 : 1 + receivers]
        ]
        also = [word for other in others for word in ("--also", other)]
        ask = ("near", stack, "--peer", first, *also, "--key-file", key_file, "--ask", "oneway", *options)
        ask += ("--one-clock",) if shared else ()
        return [r for r in _records(lab.hosts[0], probe, *ask) if r["type"] == "cell"]


@pytest.mark.parametrize("stack", ["udp", "eth"])
def test_trains_arrive_whole_and_in_order(lab: Lab, probe: str, key_file: str, stack: str) -> None:
    sizes = "18,1472" if stack == "udp" else "27,1481"
    cells = _oneway(lab, probe, stack, key_file, 1, *_WIRE, "--sizes", sizes, "--train", "50", "--samples", "5")
    assert [str(c["size_bytes"]) for c in cells] == sizes.split(",")
    for cell in cells:
        assert (cell["train"], cell["broadcast"], cell["lost"]) == (50, False, 0)
        assert len(cell["first_ns"]) == len(cell["last_ns"]) == 5
        assert all(0 < first < last for first, last in zip(cell["first_ns"], cell["last_ns"], strict=True))
    assert [c["wire"]["bytes"] for c in cells] == [50 * 84, 50 * 1538]
    assert cells[1]["wire"] == {"frames": 50, "bytes": 76900, "first_ns": 2 * 12304, "ns": 51 * 12304}


def test_a_train_of_one_is_its_first_and_its_last(lab: Lab, probe: str, key_file: str) -> None:
    (cell,) = _oneway(lab, probe, "eth", key_file, 1, *_WIRE, "--sizes", "0", "--samples", "7")
    assert cell["first_ns"] == cell["last_ns"] and len(cell["first_ns"]) == 7


_FLOOD = """
import socket, sys, time
to, udp = (sys.argv[1], 9), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print("sending", flush=True)
while True:
    for _ in range(6):
        udp.sendto(bytes(1472), to)
    time.sleep(0.01)
"""


@contextmanager
def _flood(near: LabHost, far: LabHost) -> Iterator[None]:
    """Full frames from near to far, in bursts, two thirds of 10 Mb/s."""
    with subprocess.Popen(near.argv((sys.executable, "-c", _FLOOD, far.address)), stdout=subprocess.PIPE) as flood:
        assert flood.stdout is not None and flood.stdout.readline() == b"sending\n"
        yield
        flood.kill()


def test_clocks_that_are_compared_are_bounded_though_one_way_is_loaded(raise_lab, probe: str, key_file: str) -> None:
    """The hosts' clocks are one, so no host is ahead of another, and none drifts; only the probe does not know it."""
    lab = raise_lab(lab_text("loaded", 3, class_="timed", rate_mbps=10))
    wire = ("--mtu", "1500", "--rate-bps", "10000000", "--hops", "2")
    options = (*wire, "--sizes", "1472", "--train", "40", "--samples", "20")
    with _flood(lab.hosts[2], lab.hosts[1]):
        (cell,) = _oneway(lab, probe, "udp", key_file, 1, *options, shared=False)
    assert cell["clock"]["kind"] == "bounded"  # a train takes 50 ms, a question and its answer a hundredth of it
    (end,) = cell["clock"]["ends"]
    assert all(low <= 0 <= high for low, high in zip(end["low_ns"], end["high_ns"], strict=True))
    assert end["drift_ppb"][0] <= 0 <= end["drift_ppb"][1]
    assert all(ns + cell["clock"]["error_ns"] >= 40 * 1538 * 800 for ns in cell["last_ns"])


def test_the_kernel_may_cut_the_train(lab: Lab, probe: str, key_file: str) -> None:
    options = (*_WIRE, "--sizes", "700,1472", "--train", "100", "--samples", "3", "--segment")
    for cell in _oneway(lab, probe, "udp", key_file, 1, *options):
        assert (cell["segment"], cell["lost"], len(cell["last_ns"])) == (True, 0, 3)


@pytest.mark.parametrize("stack", ["udp", "eth"])
def test_one_train_reaches_all(lab: Lab, probe: str, key_file: str, stack: str) -> None:
    cells = _oneway(lab, probe, stack, key_file, 2, *_WIRE, "--sizes", "500,1000", "--train", "20", "--samples", "4")
    assert [c["far"] for c in cells] == [lab.hosts[1].address, lab.hosts[2].address] * 2
    for cell in cells:
        assert (cell["broadcast"], cell["lost"], len(cell["first_ns"])) == (True, 0, 4)


@pytest.mark.parametrize(
    ("stack", "options", "code"),
    [
        ("tcp", ("--sizes", "100", *_WIRE), "usage"),
        ("udp", ("--sizes", "100"), "usage"),
        ("eth", ("--sizes", "100", "--segment", *_WIRE), "usage"),
        ("udp", ("--sizes", "15", *_WIRE), "size-limit"),
        ("eth", ("--sizes", "1482", *_WIRE), "size-limit"),
        ("eth", ("--sizes", "100", "--train", "65536", *_WIRE), "usage"),
    ],
)
def test_what_makes_no_sense_is_refused(probe: str, stack: str, options: tuple[str, ...], code: str) -> None:
    command = [probe, "near", stack, "--peer", "10.1.0.2:1", "--ask", "oneway", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["code"]) == (2, code)


def test_icmp_above_32_kb_is_measured_by_halves(lab: Lab, probe: str, on: Callable[..., str]) -> None:
    """A host whose memory for fragments holds 30000 bytes but not 60000. (S31)"""
    near, far = lab.hosts[:2]
    limits = "echo 1000 > ipfrag_low_thresh && echo 70000 > ipfrag_high_thresh && echo 1 > ipfrag_time"
    on(far, "sh", "-c", f"cd /proc/sys/net/ipv4 && {limits}")
    ask = ("near", "icmp", "--peer", far.address, "--sizes", "1000,60000", "--samples", "5", "--cell-ms", "50")
    records = _records(near, probe, *ask, *_WIRE)
    small, large = (r for r in records if r["type"] == "cell")
    assert "parts" not in small
    assert (large["size_bytes"], large["parts"], large["wire"]["frames"]) == (60000, 2, 2 * 21)
    assert large["rtt_ns"] == [2 * ns for ns in large["part_rtt_ns"]]
    (warning,) = (r for r in records if r["type"] == "warning")
    assert warning["code"] == "measured-in-parts" and "latency" in warning["text"]
