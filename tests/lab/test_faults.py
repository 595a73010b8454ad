# SPDX-License-Identifier: BSD-3-Clause
"""Faults hit the frames that their seed says, the same ones each time, until they are cured."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.errors import VaivenError
from vaiven.lab import faults, oneway
from vaiven.lab.hosts import LabHost
from vaiven.lab.oneway import Talk
from vaiven.lab.topology import Fault

pytestmark = pytest.mark.lab

NUMBERED = Path(__file__).with_name("numbered.py")
COUNT = 200
ALL = list(range(COUNT))
TIMED = lab_text("faulty", 3, class_="timed", rate_mbps=100)
HUB = lab_text("faulty", 3, kind="hub", class_="timed", rate_mbps=50)
FREE = lab_text("faulty", 3)
PACED_HUB = lab_text("faulty", 3, kind="hub", class_="paced", rate_mbps=100)
FABRICS = {"switch": TIMED, "hub": HUB, "free": FREE, "paced hub": PACED_HUB}


def send(near: LabHost, far: LabHost, count: int = COUNT, size: int = 200) -> list[int]:
    """Which of the datagrams 0 to count - 1 arrive, in which order."""
    script = [sys.executable, "-IS", str(NUMBERED)]
    pipe = subprocess.PIPE
    with subprocess.Popen(far.argv([*script, "receive"]), stdin=pipe, stdout=pipe, text=True) as receiver:
        assert receiver.stdin and receiver.stdout and receiver.stdout.readline() == "ready\n"
        subprocess.run(near.argv([*script, "send", far.address, str(count), str(size)]), check=True)
        receiver.stdin.close()
        return json.loads(receiver.stdout.read())


def drawn(stream: int, number: int) -> float:
    """The number in [0, 1) that decides about a frame: splitmix64 of the frame's number, seeded with the stream."""
    mask = 2**64 - 1
    z = (stream + (number + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return ((z ^ (z >> 31)) >> 32) / 2**32


def predicted(fault: Fault, host: LabHost, direction: str) -> set[int]:
    stream = faults.stream(fault.seed, host.number, direction, fault.kind)
    return {number for number in range(COUNT) if drawn(stream, number) < fault.probability}


@pytest.mark.parametrize(
    ("kind", "fabric", "direction"),
    [
        *itertools.product(["loss"], FABRICS, ["in", "out"]),
        ("corrupt", "switch", "in"),
        ("corrupt", "hub", "out"),
        ("corrupt", "free", "in"),
    ],
)
def test_a_seed_says_which_frames_are_lost(raise_lab, fabric: str, direction: str, kind) -> None:
    lab = raise_lab(FABRICS[fabric])
    one, two, three = lab.hosts
    near, far = (three, one) if direction == "in" else (one, three)
    fault = Fault(host=one.name, kind=kind, direction=direction, probability=0.2, seed=7)
    faults.change(lab, fault)
    hit = predicted(fault, one, direction)
    assert 10 < len(hit) < 80
    assert sorted(send(near, far)) == [number for number in range(COUNT) if number not in hit]
    assert [(row.host, row.direction, row.kind, row.seen, row.hit) for row in faults.hits(lab)] == [
        (one.name, direction, kind, COUNT, len(hit))
    ]
    assert sorted(send(far, near)) == ALL, "the other direction is whole"
    assert sorted(send(two, three)) == ALL, "the other hosts too"


def test_the_same_seed_hits_the_same_frames_another_others(raise_lab) -> None:
    lab = raise_lab(TIMED)
    one, two, _ = lab.hosts
    arrived = []
    for seed in (1, 2, 1):
        faults.change(lab, Fault(host="*", kind="loss", probability=0.3, seed=seed))
        arrived.append((set(send(one, two)), set(send(two, one))))
    assert arrived[0] == arrived[2] != arrived[1]
    assert arrived[0][0] != arrived[0][1], "hosts with the same fault are not hit alike"


def test_bursts_are_as_long_as_they_say(raise_lab) -> None:
    lab = raise_lab(TIMED)
    one, two, _ = lab.hosts
    faults.change(lab, Fault(host="h2", kind="burst-loss", probability=0.03, burst_frames=5, seed=3))
    missing = sorted(set(range(COUNT)) - set(send(one, two)))
    assert missing
    runs, length = [], 1
    for before, after in zip(missing, [*missing[1:], COUNT * 2], strict=True):
        if after == before + 1:
            length += 1
        else:
            runs.append(length)
            length = 1
    assert all(run % 5 == 0 for run in runs[:-1]), runs


@pytest.mark.parametrize("fabric", [TIMED, HUB, FREE], ids=["switch", "hub", "free"])
@pytest.mark.parametrize("direction", ["in", "out"])
def test_duplicates_arrive_twice(raise_lab, fabric: str, direction: str) -> None:
    lab = raise_lab(fabric)
    one, two, _ = lab.hosts
    near, far = (two, one) if direction == "in" else (one, two)
    fault = Fault(host=one.name, kind="duplicate", direction=direction, probability=0.25, seed=11)
    faults.change(lab, fault)
    twice = predicted(fault, one, direction)
    assert sorted(send(near, far)) == sorted([*range(COUNT), *twice])


@pytest.mark.parametrize("fabric", [TIMED, HUB], ids=["switch", "hub"])
@pytest.mark.parametrize("direction", ["in", "out"])
def test_late_frames_are_overtaken(raise_lab, fabric: str, direction: str) -> None:
    lab = raise_lab(fabric)
    one, two, _ = lab.hosts
    near, far = (two, one) if direction == "in" else (one, two)
    # So long that a sender which has to wait for a processor still sends the next frame in time.
    fault = Fault(host=one.name, kind="reorder", direction=direction, probability=0.1, delay_us=100_000, seed=5)
    faults.change(lab, fault)
    late = predicted(fault, one, direction) - set(range(COUNT - 5, COUNT))  # nothing may be left to overtake the last
    order = send(near, far)
    assert sorted(order) == list(range(COUNT))
    assert late
    place = {number: index for index, number in enumerate(order)}
    assert all(any(place[after] < place[number] for after in range(number + 1, COUNT)) for number in late)
    on_time = [number for number in order if number not in predicted(fault, one, direction)]
    assert on_time == sorted(on_time), "the others keep their order"


@pytest.mark.parametrize(
    ("fabric", "direction", "delay_us"),
    [("switch", "in", 3000), ("switch", "out", 50_000), ("hub", "in", 50_000), ("hub", "out", 3000)],
)
def test_a_delay_is_added_and_can_be_cured(raise_lab, fabric: str, direction: str, delay_us: int) -> None:
    lab = raise_lab(FABRICS[fabric])
    one, two, _ = lab.hosts
    near, far = (two, one) if direction == "in" else (one, two)
    faults.change(lab, Fault(host=one.name, kind="delay", direction=direction, delay_us=delay_us))

    def floor_ns() -> int:
        asked = oneway.ask([Talk(near=near, far=(far,))], lab.topology, "udp", [1000], samples=10, idle_ms=60)
        return min(asked[0][0].last_ns) - asked[0][0].wire_ns

    assert abs(floor_ns() - delay_us * 1000) < 500_000
    faults.cure(lab, one.name)
    assert abs(floor_ns()) < 500_000


@pytest.mark.parametrize("fabric", [TIMED, HUB, FREE], ids=["switch", "hub", "free"])
def test_a_cut_link_carries_nothing_until_it_is_mended(raise_lab, fabric: str) -> None:
    lab = raise_lab(fabric)
    one, two, three = lab.hosts
    faults.change(lab, Fault(host="h1", kind="cut", direction="both"))
    assert send(one, two) == send(two, one) == []
    assert sorted(send(two, three)) == ALL
    faults.cure(lab, "h1", "cut")
    assert sorted(send(one, two)) == sorted(send(two, one)) == ALL


def test_faults_of_the_lab_file_are_there_from_the_start(raise_lab) -> None:
    lab = raise_lab(TIMED + '[[faults]]\nhost = "h2"\nkind = "loss"\nprobability = 1.0\n')
    one, two, three = lab.hosts
    assert send(one, two) == []
    assert sorted(send(one, three)) == ALL


def test_a_host_drops_long_icmp_and_nothing_else(raise_lab) -> None:
    lab = raise_lab(TIMED + '[[hosts]]\nname = "old"\nicmp_bytes_max = 20000\n')
    one, old = lab.hosts[0], lab.host("old")

    def answered(size: int) -> bool:
        ping = ["ping", "-c", "1", "-W", "1", "-s", str(size), old.address]
        return subprocess.run(one.argv(ping), capture_output=True, check=False).returncode == 0

    assert answered(20000)
    assert not answered(20001)
    assert not answered(60000)
    assert send(one, old, count=5, size=30000) == list(range(5))


@pytest.mark.parametrize("kind", ["delay", "reorder"])
def test_frames_cannot_wait_on_a_fabric_without_time(raise_lab, kind) -> None:
    lab = raise_lab(FREE)
    probability = 0.5 if kind == "reorder" else None
    with pytest.raises(VaivenError, match="cannot wait") as refused:
        faults.change(lab, Fault(host="*", kind=kind, delay_us=100, probability=probability))
    assert refused.value.code == "bad-fault"


def test_a_delay_beyond_the_fabric_is_refused(raise_lab) -> None:
    lab = raise_lab(TIMED)
    with pytest.raises(VaivenError, match="more than this fabric can make") as refused:
        faults.change(lab, Fault(host="*", kind="delay", delay_us=1e6))
    assert refused.value.code == "bad-fault"
