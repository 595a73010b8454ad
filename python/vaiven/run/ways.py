# SPDX-License-Identifier: BSD-3-Clause
"""Times each way between two hosts apart. Only the hosts of a lab can: they share one clock.

A ping-pong cannot tell its two ways apart, so whoever halves it must know that they cost the same.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping

import msgspec

from vaiven.lab.topology import Topology
from vaiven.plan import stack as stacks
from vaiven.plan.design import Available, Pair
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort, Link
from vaiven.questions import ONEWAY
from vaiven.run import launchers
from vaiven.run.place import Place
from vaiven.store.record import LabPlace

STACK = "udp"
SIZES_BYTES = (64, 15_000)  # what a delay shows in, and what a rate does
_EFFORT = Effort(samples=7, cell_ms=500, launch_s=20)
_NO_WIRE_BPS = 10**9  # of a fabric that has no rate


def comparable(place: Place, pair: Pair) -> bool:
    """Whether both ways of this pair can be timed: hosts of a lab, whose clocks show the same."""
    if not place.is_lab or pair[0] == pair[1]:
        return False
    assert isinstance(place.again, LabPlace), "ways are timed in labs"
    lab = msgspec.convert(place.again.lab, Topology)
    return not any(lab.host(name).clock_offset_ms for name in pair)


def one_way_ns(place: Place, known: Mapping[str, Available], near: str, far: str) -> dict[int, float]:
    """Size -> median time from near to far, of one launch; empty if it failed or nothing came."""
    work = Launch(0, 0, stacks.parse(STACK), ONEWAY.name, near, far, SIZES_BYTES)
    ends = place.hosts[near], place.hosts[far]
    link = place.link or Link(_NO_WIRE_BPS, 2, ends[0].mtu_bytes)
    setting = launchers.Setting(dict(known), _EFFORT, link, time.monotonic(), one_clock=True)
    outcome = launchers.launch(work, ends[0], ends[1:], setting, lambda _cell: None)
    times = {cell.size_bytes: [ns for ns in cell.ns if ns is not None] for cell in outcome.cells}
    return {size: statistics.median(ns) for size, ns in times.items() if ns}
