# SPDX-License-Identifier: BSD-3-Clause
"""What a path does to a measurement is either without effect, as it must be, or noticed. With real labs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.rules.conftest import Bench, codes

from vaiven.lab.hosts import LabHost
from vaiven.store import query

CLOCKS = """
name = "clocks"
[fabric]
kind = "switch"
class = "free"
[[hosts]]
name = "a"
[[hosts]]
name = "same"
[[hosts]]
name = "ahead"
clock_offset_ms = 50
[[hosts]]
name = "behind"
clock_offset_ms = -10000
"""
TWO = """
name = "two"
[fabric]
kind = "switch"
class = "free"
[[hosts]]
name = "a"
[[hosts]]
name = "b"
"""
HUB = """
name = "shared"
[fabric]
kind = "hub"
class = "timed"
rate_mbps = 10
[[hosts]]
prefix = "h"
count = 3
"""
DELAY_US = 4_000
FAR_AWAY = f"""
name = "far-away"
[fabric]
kind = "switch"
class = "timed"
rate_mbps = 100
[[hosts]]
name = "a"
[[hosts]]
name = "b"
[[faults]]
host = "b"
kind = "delay"
delay_us = {DELAY_US}
"""
# Sends datagrams of 1400 bytes to argv[1], 500 a second, until it is ended; says so. It goes before everything else
# that this machine does, so that they are 500.
SENDER = """
import os, socket, sys, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    print("sending", flush=True)
    while True:
        out.sendto(bytes(1400), (sys.argv[1], 9))
        time.sleep(0.002)
"""


def floors_ns(run: query.Run) -> dict[str, float]:
    """Far host -> the smallest time of all launches."""
    found = query.launches(run)
    return {far: rows["ns_min"].min() for (far,), rows in found.group_by("far")}


@pytest.mark.lab
def test_a_clock_that_is_off_changes_no_ping_pong(bench: Bench) -> None:
    bench.write(CLOCKS)
    run = bench.measure("--stacks", "udp", "--sizes", "64", "--quick")
    floors = floors_ns(run)
    assert floors.keys() == {"same", "ahead", "behind"}
    for name in ("ahead", "behind"):  # 50 ms would make it a thousand times as long
        assert 0.1 < floors[name] / floors["same"] < 10, floors
    assert "asymmetric" not in codes(run)  # its ways cannot be timed apart, and are not


def shape(on: LabHost, rate: str) -> None:
    command = ["tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "2k", "latency", "1s"]
    subprocess.run(on.argv(command), check=True)


@pytest.mark.lab
@pytest.mark.parametrize(("back", "noticed"), [("5mbit", True), ("10mbit", False)])
def test_a_path_of_ten_megabits_there_and_five_back_is_noticed(bench: Bench, back: str, noticed: bool) -> None:
    bench.write(TWO)
    lab = bench.up()
    shape(lab.host("a"), "10mbit")
    shape(lab.host("b"), back)
    run = bench.measure("--stacks", "udp", "--sizes", "64", "--quick")
    told = [line["text"] for line in query.warnings(run) if line["code"] == "asymmetric"]
    assert bool(told) == noticed
    assert all("b to a takes" in text and "halving a round trip is wrong" in text for text in told)


@pytest.mark.lab
@pytest.mark.parametrize("busy", [True, False])
def test_the_traffic_of_others_marks_the_run(bench: Bench, busy: bool) -> None:
    bench.write(HUB)
    lab = bench.up()
    words = lab.host("h3").argv([sys.executable, "-IS", "-c", SENDER, lab.host("h2").address])
    sender = subprocess.Popen(words, stdout=subprocess.PIPE, text=True) if busy else None
    try:
        assert sender is None or (sender.stdout and sender.stdout.readline() == "sending\n")
        run = bench.measure("--hosts", "h1,h2", "--stacks", "udp", "--sizes", "64,1000", "--quick")
    finally:
        if sender:
            sender.terminate()
            sender.wait()
    of_traffic = {"busy-network", "shared-path", "traffic"}  # before the run, in a launch, over all launches
    assert of_traffic & codes(run) == (of_traffic if busy else set()), query.warnings(run)


@pytest.mark.lab
def test_a_connection_costs_the_round_trip_of_its_link(bench: Bench) -> None:
    bench.write(FAR_AWAY)
    run = bench.measure("--stacks", "tcp", "--questions", "pingpong,connect", "--sizes", "1,64", "--quick")
    found = query.launches(run)
    connect_ns = found.filter(found["ask"] == "connect")["ns_min"].min()
    empty_ns = found.filter((found["ask"] == "pingpong") & (found["size_bytes"] == 64))["ns_min"].min()
    assert 1.0 < connect_ns / (1e3 * DELAY_US) < 1.3
    assert 0.85 < connect_ns / empty_ns < 1.15
    assert "asymmetric" in codes(run)  # the delay is on one way only
