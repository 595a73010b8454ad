# SPDX-License-Identifier: BSD-3-Clause
"""A host with a TCP defect: its TCP is slow above about 1000 bytes; its UDP, its ICMP and everybody else are not."""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Callable

import pytest

from vaiven import resources
from vaiven.lab.hosts import LabHost
from vaiven.lab.lab import Lab

LAB = """
name = "defects"
[fabric]
kind = "hub"
class = "timed"
rate_mbps = 10
[[hosts]]
name = "near"
[[hosts]]
name = "sound"
[[hosts]]
name = "prited"
tcp_defect = "small-window"
"""
SHORT, LONG = 1000, 6000  # of one segment, and of five


def rtt_ns(near: LabHost, far: LabHost, stack: str) -> dict[int, float]:
    """Size -> the quickest round trip of a few messages: whatever else this machine does can only add to it."""
    program = str(resources.program("vaiven-probe"))
    key = secrets.token_hex(16) + "\n"
    effort = ["--sizes", f"{SHORT},{LONG}", "--samples", "20", "--cell-ms", "3000", "--key-stdin"]
    pipe = subprocess.PIPE
    peer, answers = far.address, None
    if stack != "icmp":
        command = far.argv([program, "far", stack, "--bind", far.address, "--key-stdin"])
        answers = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert answers.stdin and answers.stdout
        answers.stdin.write(key)
        answers.stdin.flush()
        ready = json.loads(answers.stdout.readline())
        peer = f"{ready['address']}:{ready['port']}"
    command = near.argv([program, "near", stack, "--peer", peer, "--ask", "pingpong", *effort])
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert process.stdin and process.stdout
    process.stdin.write(key)
    process.stdin.flush()
    records = [json.loads(line) for line in process.stdout]
    process.communicate()
    if answers:
        answers.communicate(timeout=60)
    assert records[-1]["type"] == "bye", records[-1]
    return {r["size_bytes"]: min(r["rtt_ns"]) for r in records if r["type"] == "cell"}


@pytest.mark.lab
def test_only_tcp_and_only_above_a_segment_is_slow(raise_lab: Callable[..., Lab]) -> None:
    lab = raise_lab(LAB)
    near, sound, prited = lab.hosts
    ratio = {}
    for stack in ("tcp", "udp", "icmp"):
        good, bad = rtt_ns(near, sound, stack), rtt_ns(near, prited, stack)
        ratio |= {(stack, size): bad[size] / good[size] for size in good}
    assert ratio.pop(("tcp", LONG)) > 5  # four delayed acknowledgements of 40 ms, for 10 ms of wire
    assert all(0.8 < value < 1.25 for value in ratio.values()), ratio


@pytest.mark.lab
def test_a_host_without_the_defect_keeps_its_buffers(raise_lab: Callable[..., Lab], on: Callable[..., str]) -> None:
    _, sound, prited = raise_lab(LAB).hosts
    read = ("cat", "/proc/sys/net/ipv4/tcp_wmem")
    assert on(prited, *read).split() == ["1", "1", "1"]
    assert int(on(sound, *read).split()[2]) > 100_000
