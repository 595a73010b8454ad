# SPDX-License-Identifier: BSD-3-Clause
"""The first messages of fresh connections: on loopback, and on a lab whose connections begin with one segment."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from vaiven import resources
from vaiven.lab import lab as labs
from vaiven.lab import topology
from vaiven.lab.hosts import LabHost
from vaiven.model.slow_start import Step, bursts

SIZE = 60_000
PARTS = ("connect", "first", "second", "warm", "idled")
LOOKED = 3  # messages of the connection that is looked at
EFFORT = ("--ask", "first", "--sizes", str(SIZE), "--samples", "2", "--samples-min", "2", "--cell-ms", "1")
LAB = """
name = "first"
[fabric]
kind = "switch"
class = "timed"
rate_mbps = 100
[tcp]
congestion_control = "reno"
initial_window_segments = 1
[[hosts]]
prefix = "h"
count = 2
[[faults]]
host = "h2"
kind = "delay"
delay_us = 5000
"""
QUIET = """
name = "quiet"
[fabric]
kind = "switch"
class = "free"
[[hosts]]
prefix = "h"
count = 2
"""


@pytest.mark.native
def test_each_sample_is_a_connection_of_its_own(probe) -> None:
    near, far = probe.pair("tcp", *EFFORT)
    assert (near.status, far.status) == (0, 0)
    (cell,) = near.cells
    assert (cell["ask"], cell["size_bytes"], cell["lost"], cell["corrupt"]) == ("first", SIZE, 0, 0)
    assert all(len(cell[f"{part}_ns"]) == 2 and min(cell[f"{part}_ns"]) > 0 for part in PARTS)
    assert all(len(cell["window_segments"][part]) == 2 and min(cell["window_segments"][part]) > 0 for part in PARTS)
    # One message that warms up, nine of each sample, those that are looked at; the two first ones count.
    assert cell["warmup"] == 1 + 2 * 9 + LOOKED - 2
    assert cell["pause_ns"] > 200_000_000  # Linux waits for 200 ms at least before it sends again


@pytest.mark.native
def test_who_may_not_look_on_measures_all_the_same(probe) -> None:
    weaker = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw"] if os.geteuid() == 0 else []
    program = [*weaker, str(resources.program("vaiven-probe"))]
    far, peer = probe.far("tcp", program=program)
    near = probe.near("tcp", peer, *EFFORT, program=program)
    assert (near.status, far.end().status) == (0, 0)
    (trace,) = near.of("trace")
    assert [record["code"] for record in near.of("warning")] == ["no-trace", "no-trace"]
    for end in ("near", "far"):
        assert trace[end]["segments"] == [] and "CAP_NET_RAW" in trace[end]["why"]
    assert len(near.cells[0]["first_ns"]) == 2


@pytest.mark.parametrize(
    ("stack", "options", "says"),
    [
        ("udp", (), "no TCP connection"),
        ("icmp", (), "no TCP connection"),
        ("tcp", ("--idle-ms", "5"), "as long as TCP wants it"),
        ("udp", ("--acks", "quick"), "--acks means nothing to udp"),
    ],
)
def test_what_makes_no_sense_is_refused(probe, stack: str, options: tuple[str, ...], says: str) -> None:
    ended = probe.alone("near", stack, "--peer", "127.0.0.1:1", "--ask", "first", "--sizes", "8", *options)
    assert ended.status == 2 and says in ended.error["text"]


def test_both_ends_acknowledge_alike(probe) -> None:
    far, peer = probe.far("tcp", "--acks", "quick")
    near = probe.near("tcp", peer, "--acks", "delayed", "--sizes", "8")
    assert near.error["code"] == "peer-options" and "acks" in near.error["text"]
    assert far.end().status == 1
    for acks in ("quick", "delayed"):
        near, _ = probe.pair("tcp", "--sizes", "8", "--samples", "5", both=("--acks", acks))
        assert near.records[0]["options"]["acks"] == acks and len(near.cells[0]["rtt_ns"]) == 5


@contextmanager
def raised(text: str, state: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The hosts of a lab, while it is up."""
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(state))
    lab = labs.up(topology.parse(text))
    try:
        yield lab.hosts
    finally:
        labs.down(lab)


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with raised(LAB, tmp_path, monkeypatch) as found:
        yield found


@pytest.fixture
def quiet_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two on whose network nobody else has a connection, as others have on loopback."""
    with raised(QUIET, tmp_path, monkeypatch) as found:
        yield found


def started(host: LabHost, key: str, *words: str) -> subprocess.Popen[str]:
    """An end on that host, whose standard input stays open: its end is the end of the launch."""
    command = host.argv([str(resources.program("vaiven-probe")), *words, "--key-stdin"])
    end = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert end.stdin and end.stdout
    end.stdin.write(key + "\n")
    end.stdin.flush()
    return end


def launch(near: LabHost, far: LabHost, *options: str, stack: str = "tcp") -> list[dict[str, Any]]:
    """What the near end of a launch between two hosts of a lab prints."""
    key = secrets.token_hex(16)
    with started(far, key, "far", stack, "--bind", far.address, *options) as answering:
        assert answering.stdout
        peer = f"{far.address}:{json.loads(answering.stdout.readline())['port']}"
        with started(near, key, "near", stack, "--peer", peer, *EFFORT, *options) as asking:
            assert asking.stdout
            return [json.loads(line) for line in asking.stdout]


@pytest.mark.lab
@pytest.mark.native
def test_both_ends_see_every_byte_of_one_connection(quiet_hosts: tuple[LabHost, LabHost]) -> None:
    records = launch(*quiet_hosts, stack="tcp-nagle")
    (trace,) = (record for record in records if record["type"] == "trace")
    assert "warning" not in {record["type"] for record in records} and len(trace["began_ns"]) == LOOKED
    for end in ("near", "far"):
        seen = trace[end]
        assert (seen["dropped"], seen["why"]) == (0, None)
        for out in (0, 1):
            ranges = sorted((seq, seq + count) for _, way, _, seq, _, count in seen["segments"] if way == out and count)
            reached = 0
            for begin, until in ranges:
                assert begin <= reached
                reached = max(reached, until)
            assert reached == LOOKED * SIZE
    _, out, syn, seq, ack, count = trace["near"]["segments"][0]
    assert (out, syn, seq, ack, count) == (1, 1, -1, -1, 0)
    times = [at_ns for at_ns, *_ in trace["near"]["segments"]]
    assert times == sorted(times) and times[0] < trace["began_ns"][0] < times[-1]


@pytest.mark.lab
@pytest.mark.slow
def test_a_window_of_one_segment_doubles_in_each_round(hosts: tuple[LabHost, LabHost]) -> None:
    records = {record["type"]: record for record in launch(*hosts)}
    windows = records["cell"]["window_segments"]
    assert windows["connect"] == [1, 1] and min(windows["first"]) > 16 and max(windows["idled"]) < max(windows["warm"])
    trace = records["trace"]
    steps = []
    for at_ns, out, _, seq, ack, count in trace["near"]["segments"]:
        if out and count and seq < SIZE:
            steps.append(Step(at_ns, sent_bytes=seq + count))
        elif not out and not count and 0 < ack <= SIZE:
            steps.append(Step(at_ns, acked_bytes=ack))
    assert trace["segment_bytes"] == 1448 and bursts(steps, 1448)[:4] == (1, 2, 4, 8)


@pytest.mark.lab
@pytest.mark.slow
def test_a_delayed_acknowledgement_holds_up_a_window_of_one_segment(hosts: tuple[LabHost, LabHost]) -> None:
    quick, delayed = (
        min(next(one for one in launch(*hosts, "--acks", acks) if one["type"] == "cell")["first_ns"])
        for acks in ("quick", "delayed")
    )
    assert delayed > 2 * 40_000_000 > quick  # 40 ms in each direction
