# SPDX-License-Identifier: BSD-3-Clause
"""How far lone frames on a timed lab are off: its ping-pongs, beside the same ones where there is no wire.

A ping-pong takes the wire, which is known, and software, which is not, and which differs by 1 or 2 us from one call to
the next and by 3 between ends that sleep and ends that spin. So the same messages are sent over a free lab of this
machine too, in the same state: processors held awake by the caller, ends pinned alike, launches of both labs in turn,
and messages as far apart, because software that waited for 5 ms finds its caches cold: beside a free lab without
pauses frames of 10 Mb/s seem late that are not.
"""

from __future__ import annotations

import contextlib
import math
import random
import secrets
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import sched_getaffinity
from typing import Any, Literal

from vaiven.lab import lab as labs
from vaiven.lab import oneway
from vaiven.lab.hosts import INTERFACE, LabHost
from vaiven.lab.lab import Lab
from vaiven.lab.topology import Fabric, HostSpec, Topology
from vaiven.questions import PLAIN

Wait = Literal["block", "spin"]
WAITS: dict[Wait, str] = {"block": "asleep", "spin": "spinning"}  # how the ends wait, and what that is called
HEADERS = {"icmp": 42, "eth": 33, "udp": 42, "tcp": 66}  # of a frame, without its check sequence, before the message
CELL_MS = 100  # for each size of a launch: on a machine that has other work exchanges may take a hundred times as long
_STEP_NS = 100  # of what is looked for
_PLAIN: Sequence[str] = ()  # how a near end spaces its messages: as they come,
_AS_ON_A_WIRE: Sequence[str] = ("--idle-wire",)  # or as far apart as on the wire that it is told of
LIMIT_NS = 2_000.0  # a launch is in time within that,
LIMIT_SHARE = 0.02  # or within this share of the wire, whichever is more

_Medians = dict[tuple[str, Wait, int], list[float]]  # (stack, wait, bytes) -> a median one way for each launch, in ns


@dataclass(frozen=True, kw_only=True)
class Lone:
    """Messages of one frame of one stack, between ends that wait in one way. All times one way, in ns.

    wire_ns: of the frame, over all hops. launches_ns: half of the median round trip of each launch. free_ns: the same
    where there is no wire.
    """

    stack: str
    wait: Wait
    frame_bytes: int
    wire_ns: int
    launches_ns: tuple[float, ...]
    free_ns: tuple[float, ...]

    @property
    def software_ns(self) -> float:
        """What such a message takes of this machine: the median where there is no wire."""
        return statistics.median(self.free_ns)

    @property
    def expected_ns(self) -> float:
        """What such a message takes on a true wire."""
        return self.wire_ns + self.software_ns

    @property
    def errors_ns(self) -> tuple[float, ...]:
        """How much later than that it came in each launch."""
        return tuple(ns - self.expected_ns for ns in self.launches_ns)

    @property
    def limit_ns(self) -> float:
        """By how much a launch in time is off at most."""
        return max(LIMIT_NS, LIMIT_SHARE * self.wire_ns)

    @property
    def in_time(self) -> int:
        """How many launches are."""
        return sum(abs(error) <= self.limit_ns for error in self.errors_ns)

    @property
    def free_in_time(self) -> int:
        """How many of those without a wire are as near to what they all take: no fabric can do better."""
        return sum(abs(ns - self.software_ns) <= self.limit_ns for ns in self.free_ns)


def measure(
    near: LabHost, far: LabHost, topology: Topology, stacks: Sequence[str], frames_bytes: Sequence[int],
    *, launches: int, samples: int, within_s: float = math.inf,
) -> list[Lone]:  # fmt: skip
    """Ping-pongs between two hosts of a timed lab of that topology, between ends that sleep and ends that spin.

    within_s: no launch begins later than that, so that there may be fewer, and of what had none nothing is said.

    Raises VaivenError as `vaiven.lab.lab.up` does, "check-failed" (a probe could not measure).
    """
    order, until_s = random.Random(launches), time.monotonic() + within_s
    wires: dict[tuple[str, int], int] = {}
    timed: _Medians = {}
    free: _Medians = {}
    with _without_wire(topology) as wireless:
        one, two = wireless.hosts
        places = {id(timed): (near, far, _PLAIN), id(free): (one, two, _AS_ON_A_WIRE)}
        for _ in range(launches):
            turns = [(stack, wait, where) for stack in stacks for wait in WAITS for where in (timed, free)]
            for stack, wait, where in order.sample(turns, k=len(turns)):
                if time.monotonic() > until_s:
                    break
                sizes = [max(1, n - HEADERS[stack]) for n in order.sample(frames_bytes, k=len(frames_bytes))]
                for cell in _launch(*places[id(where)], topology, stack, wait, sizes, samples):
                    frame_bytes = cell["size_bytes"] + HEADERS[stack]
                    where.setdefault((stack, wait, frame_bytes), []).append(statistics.median(cell["rtt_ns"]) / 2)
                    if where is timed:
                        wires[stack, frame_bytes] = cell["wire"]["ns"]
    return [
        Lone(stack=stack, wait=wait, frame_bytes=size, wire_ns=wires[stack, size], launches_ns=tuple(ns),
             free_ns=tuple(free[stack, wait, size]))
        for (stack, wait, size), ns in sorted(timed.items()) if (stack, wait, size) in free
    ]  # fmt: skip


def best_shift(claims: Sequence[tuple[float, float]]) -> int:
    """How many ns earlier frames must come for the largest error, measured in limits, to be smallest.

    claims: (by how much they are late, how much is allowed) of each kind of frames, in ns.
    """
    low, high = (round(pick(error for error, _ in claims)) for pick in (min, max))
    return min(range(low, high + 1, _STEP_NS), key=lambda shift: max(abs(e - shift) / limit for e, limit in claims))


def p95(values: Sequence[float]) -> float:
    """The one that 19 of 20 do not exceed, the largest of fewer."""
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


@contextlib.contextmanager
def _without_wire(topology: Topology) -> Iterator[Lab]:
    """A free lab of two hosts, with frames as long, which is gone at the end."""
    fabric = Fabric(kind="switch", fabric_class="free", mtu=topology.fabric.mtu)
    both = (HostSpec(name="one"), HostSpec(name="two"))
    described = Topology(name="wireless", title="", fabric=fabric, hosts=both, faults=())
    wireless = labs.up(described, f"wireless-{secrets.token_hex(3)}", bound=True)
    try:
        yield wireless
    finally:
        labs.down(wireless)


def _launch(
    near: LabHost, far: LabHost, pace: Sequence[str], topology: Topology, stack: str, wait: Wait,
    sizes: Sequence[int], samples: int,
) -> list[dict[str, Any]]:  # fmt: skip
    """The cells of fresh processes. Ends that sleep share a processor, those that spin have one each, as in a run."""
    processors = sorted(sched_getaffinity(0))
    cpus = (processors[-1], processors[-2 if wait == "spin" and len(processors) > 1 else -1])
    both = ["--wait", wait, "--iface", INTERFACE]
    key = secrets.token_hex(16)
    effort = ["--ask", PLAIN, "--samples", str(samples), "--samples-min", "8", "--cell-ms", str(CELL_MS)]
    with contextlib.ExitStack() as ends:
        peer = far.address
        if stack != "icmp":
            words = ["far", stack, "--bind", far.address, "--cpu", str(cpus[1]), *both]
            peer = oneway.ready(far, oneway.start(ends, far, words, key))
        words = ["near", stack, "--peer", peer, "--cpu", str(cpus[0]), *both, *effort, *oneway.wire(topology), *pace]
        words += ["--sizes", ",".join(map(str, sizes))]
        return oneway.cells(oneway.start(ends, near, words, key))
