# SPDX-License-Identifier: BSD-3-Clause
"""Asks vaiven-probe, on the hosts of one lab, what the wire between them is like. It keeps all times and formulas.

The hosts of a lab share one clock, so a message can be timed one way; and senders that are asked the same at the same
time send at the same beats of that clock.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vaiven import resources
from vaiven.child import Child
from vaiven.errors import VaivenError
from vaiven.lab.hosts import INTERFACE, LabHost
from vaiven.lab.topology import Topology
from vaiven.questions import ONEWAY

_PATIENCE_S = 90.0  # for one probe


@dataclass(frozen=True, kw_only=True)
class Talk:
    """Who sends trains to whom; to several hosts they are broadcasts."""

    near: LabHost
    far: tuple[LabHost, ...]


@dataclass(frozen=True, kw_only=True)
class Trains:
    """What one far host got, in ns from just before the send. first, last: one value per train, in order.

    wire_first_ns, wire_ns: the same on the wire alone, for one sender. lost: messages that did not come, of all trains.
    """

    size_bytes: int
    train: int
    count: int
    first_ns: tuple[int, ...]
    last_ns: tuple[int, ...]
    wire_first_ns: int
    wire_ns: int
    lost: int

    @property
    def frame_ns(self) -> float:
        """The time of one frame on one link: what each message after the first adds. Needs a train of two or more."""
        return (self.wire_ns - self.wire_first_ns) / (self.train - 1)


def ask(
    talks: Sequence[Talk],
    topology: Topology,
    stack: str,
    sizes: Sequence[int],
    *,
    samples: int,
    train: int = 1,
    segment: bool = False,
    idle_ms: int = 0,
) -> list[list[Trains]]:
    """All talks at once; for each the records, by size and then by far host. Raises VaivenError ("check-failed")."""
    effort = ["--ask", ONEWAY.name, "--one-clock", "--samples", str(samples), "--train", str(train), *wire(topology)]
    effort += ["--segment"] if segment else []
    effort += ["--sizes", ",".join(map(str, sizes))]
    both = ["--idle-ms", str(idle_ms), *(["--iface", INTERFACE] if stack == "eth" else [])]
    with contextlib.ExitStack() as ends:
        keys = [secrets.token_hex(16) for _ in talks]
        fars = [
            [(host, start(ends, host, ["far", stack, "--bind", host.address, *both], key)) for host in talk.far]
            for talk, key in zip(talks, keys, strict=True)
        ]
        peers = [[ready(host, process) for host, process in far] for far in fars]
        nears = [
            start(ends, talk.near, ["near", stack, *_peers(far), *both, *effort], key)
            for talk, far, key in zip(talks, peers, keys, strict=True)
        ]
        return [[_trains(cell, samples) for cell in cells(near)] for near in nears]


def ping(near: LabHost, far: LabHost, topology: Topology, size: int, samples: int) -> tuple[list[int], int]:
    """(round trips in ns, what the wire takes one way) of ICMP messages that the kernel answers."""
    with contextlib.ExitStack() as ends:
        command = ["near", "icmp", "--peer", far.address, "--sizes", str(size), "--samples", str(samples)]
        process = start(ends, near, [*command, "--cell-ms", "20000", *wire(topology)], secrets.token_hex(16))
        cell = cells(process)[0]
    return cell["rtt_ns"], cell["wire"]["ns"]


def wire(topology: Topology) -> list[str]:
    rate_mbps = topology.fabric.rate_mbps or 1e6  # of a free fabric: no wire at all
    hops = 1 if topology.fabric.kind == "hub" else 2
    return ["--mtu", str(topology.fabric.mtu), "--rate-bps", str(round(rate_mbps * 1e6)), "--hops", str(hops)]


def _peers(addresses: Sequence[str]) -> list[str]:
    return ["--peer", addresses[0], *(word for address in addresses[1:] for word in ("--also", address))]


def start(ends: contextlib.ExitStack, host: LabHost, words: Sequence[str], key: str) -> Child:
    """A probe with that key; it ends when its standard input closes, which the caller's `with` sees to."""
    probe = ends.enter_context(Child(host.argv([str(resources.program("vaiven-probe")), *words, "--key-stdin"])))
    probe.tell(key)
    return probe


def cells(near: Child) -> list[dict[str, Any]]:
    """What a near end has measured when it ends. Its standard input stays open until then: closing it would end it."""
    try:
        said = [json.loads(line) for line in near.rest(_PATIENCE_S).splitlines()]
    except TimeoutError as error:
        raise VaivenError(f"a probe gives {error}", code="check-failed") from None
    for record in said:
        if record["type"] == "error":
            raise VaivenError(record["text"], record["remedy"], code="check-failed")
    found = [record for record in said if record["type"] == "cell"]
    if near.wait() != 0 or not found:
        raise VaivenError(f"a probe failed: {near.complaint()}", code="check-failed")
    return found


def _trains(cell: dict[str, Any], samples: int) -> Trains:
    return Trains(
        size_bytes=cell["size_bytes"],
        train=cell["train"],
        count=samples,
        first_ns=tuple(cell["first_ns"]),
        last_ns=tuple(cell["last_ns"]),
        wire_first_ns=cell["wire"]["first_ns"],
        wire_ns=cell["wire"]["ns"],
        lost=cell["lost"],
    )


def ready(host: LabHost, far: Child) -> str:
    """Where that far end is."""
    line = far.hear()
    record = json.loads(line) if line else {"type": "error", "text": far.complaint(), "remedy": ""}
    if record["type"] != "ready":
        raise VaivenError(record["text"], record["remedy"], code="check-failed", where=host.full_name)
    return f"{record['address']}:{record['port']}"
