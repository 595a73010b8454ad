# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a message goes, layer by layer: asks the probe on two hosts of a lab, which share one clock."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, quantiles
from typing import Any

from vaiven.lab import oneway
from vaiven.lab.hosts import LabHost
from vaiven.lab.topology import Topology

TOLERANCE = 0.10  # of the whole, within which the layers must add up to it

# What ends with a mark (src/io/os/marks.h). A stack that has fewer marks has longer layers.
_NAMES = {
    "queued": "send: the message is copied",
    "made": "protocol: its frame is made",
    "device": "call, driver, wire and switch",
    "taken": "receive ring: filter, copy, wake-up",
    "ready": "protocol: the frame is understood",
    "got": "receive: the message is handed over",
}
_NAMES_OF_KERNEL = {
    "device": "TCP, IP, driver, wire, switch",
    "got": "IP, TCP, wake-up",
}
_UNTIMED = "device"  # the kernel's stamp: no reading of a clock delays it


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One layer: what the message takes in it on its way there, and its answer on its way back."""

    name: str
    there_ns: float
    back_ns: float


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a connection of a stack can do as it runs. 0: unknown.

    sequence: so many bytes or frames are numbered before the numbers begin anew. window: so many may be unacknowledged.
    services, free_services: addresses that a host has, and those that any program may take. unit_bytes: of a message in
    a frame.
    """

    sequence: int
    window: int
    services: int
    free_services: int
    unit_bytes: int


@dataclass(frozen=True, kw_only=True)
class Layers:
    """One size of one stack. whole_ns: the round trip, measured apart, without marks. far_ns: the far program's.

    All are means over those exchanges whose round trip is in the middle half of all: medians would not add up. wire_ns:
    what the wire alone takes one way, None on a free lab. Readings of the clock are taken off the layers.
    """

    stack: str
    size_bytes: int
    whole_ns: float
    layers: tuple[Layer, ...]
    far_ns: float
    wire_ns: int | None
    limits: Limits

    @property
    def sum_ns(self) -> float:
        """What the layers add up to."""
        return sum(layer.there_ns + layer.back_ns for layer in self.layers) + self.far_ns

    @property
    def error(self) -> float:
        """By how much of the whole they miss it."""
        return self.sum_ns / self.whole_ns - 1


def ask(
    near: LabHost, far: LabHost, topology: Topology, stack: str, sizes: Sequence[int], *, samples: int, wait: str
) -> list[Layers]:
    """One launch, all sizes in it. Ends that spin have a processor each. Raises VaivenError."""
    key, both = secrets.token_hex(16), ["--wait", wait]
    cpus = ("0", "1") if wait == "spin" else ("0", "0")
    timed = oneway.wire(topology) if topology.fabric.rate_mbps else []
    with contextlib.ExitStack() as ends:
        process = oneway.start(ends, far, ["far", stack, "--bind", far.address, "--cpu", cpus[1], *both], key)
        place = ["near", stack, "--peer", oneway.ready(far, process), "--cpu", cpus[0], *both]
        effort = ["--samples", str(samples), "--cell-ms", "5000", "--sizes", ",".join(map(str, sizes))]
        words = [*place, *effort, "--ask", "layers", "--one-clock", *timed]
        hello, *rest = oneway.records(oneway.start(ends, near, words, key))
    return [_layers(stack, cell, hello["clock"]["cost_ns"]) for cell in rest if cell["type"] == "cell"]


def _layers(stack: str, cell: Mapping[str, Any], clock_ns: int) -> Layers:
    names = _NAMES if "made" in cell["there_ns"] else _NAMES_OF_KERNEL
    middle = _middle(cell["marked_ns"])

    def alone(mark: str, ns: Sequence[int]) -> float:
        return fmean(ns[i] for i in middle) - (0 if mark == _UNTIMED else clock_ns)

    return Layers(
        stack=stack,
        size_bytes=cell["size_bytes"],
        whole_ns=fmean(cell["rtt_ns"][i] for i in _middle(cell["rtt_ns"])),
        layers=tuple(
            Layer(name=names[mark], there_ns=alone(mark, there), back_ns=alone(mark, cell["back_ns"][mark]))
            for mark, there in cell["there_ns"].items()
        ),
        far_ns=alone("far", cell["far_ns"]),
        wire_ns=cell["wire"]["ns"] if cell["wire"] else None,
        limits=Limits(**cell["limits"]),
    )


def _middle(ns: Sequence[int]) -> list[int]:
    """Which of them are neither among the shortest quarter nor among the longest."""
    if len(ns) < 4:
        return list(range(len(ns)))
    low, _, high = quantiles(ns, n=4, method="inclusive")
    return [i for i, one in enumerate(ns) if low <= one <= high]
