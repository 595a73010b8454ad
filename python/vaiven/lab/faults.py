# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong on the links of a lab, the same way in every repetition with the same seed.

Each fault of each host and direction draws from a stream of random numbers of its own, one number per frame, so which
frames are hit depends on the seed and on their count alone. A corrupted frame has a wrong check sequence: a receiver
never sees it, so it is a loss that is counted apart. A frame that is lost was on the wire and took its time there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from vaiven.errors import VaivenError
from vaiven.lab import exits, fabric
from vaiven.lab.topology import Fault, FaultKind

if TYPE_CHECKING:
    from vaiven.lab.hosts import LabHost
    from vaiven.lab.lab import Lab

_CERTAIN = 1 << 32
_KINDS: tuple[FaultKind, ...] = ("cut", "loss", "burst-loss", "corrupt", "duplicate", "reorder", "delay")
_WAITING = ("reorder", "delay")  # what only an exit can do


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """What a fault did so far. host: its name. seen: frames on that link in that direction; hit: of those."""

    host: str
    direction: str
    kind: str
    seen: int
    hit: int


def apply(lab: Lab) -> None:
    """Brings about the faults of the lab file, and the hosts that drop long ICMP messages.

    Raises VaivenError ("bad-fault", "no-fabric", "no-program").
    """
    lines = [line for fault in lab.topology.faults for line in _lines(lab, fault)]
    for host in lab.hosts:
        if host.spec.icmp_bytes_max is not None:
            lines.append(f"link {fabric.link_port(host)} in icmp bytes_max={host.spec.icmp_bytes_max}")
    if lines:
        exits.command(lab, [*_ports(lab), *lines])


def change(lab: Lab, fault: Fault) -> None:
    """Brings about a fault while the lab is up; frames are counted from now on, its random numbers begin anew.

    It replaces one of the same kind on the same host and direction. Raises as `apply` does.
    """
    exits.command(lab, [*_ports(lab), *_lines(lab, fault)])


def cure(lab: Lab, host: str, kind: FaultKind | None = None) -> None:
    """Ends the faults of that kind, or all of them, in both directions, on a host ("*": on all)."""
    lines = [
        f"link {fabric.link_port(member)} {direction} {one}"
        for member in _hosts(lab, host)
        for direction in ("in", "out")
        for one in ([kind] if kind else _KINDS)
    ]
    exits.command(lab, [*_ports(lab), *lines])


def suspend(lab: Lab) -> None:
    """Ends whatever goes wrong, and lets long ICMP messages through, until `apply`."""
    lines = [
        f"link {fabric.link_port(host)} {direction} {kind}"
        for host in lab.hosts
        for direction in ("in", "out")
        for kind in (*_KINDS, "icmp")
    ]
    if lab.topology.faults or any(host.spec.icmp_bytes_max is not None for host in lab.hosts):
        exits.command(lab, [*_ports(lab), *lines])


def hits(lab: Lab) -> list[Hits]:
    """What each fault did since it began."""
    names = {fabric.link_port(host): host.name for host in lab.hosts}
    return [
        Hits(
            host=names[row["interface"]],
            direction=row["direction"],
            kind=row["kind"],
            seen=row["seen"],
            hit=row["hit"],
        )
        for row in exits.tallies(lab)
        if row["type"] == "rule"
    ]


def stream(seed: int, host_number: int, direction: str, kind: str) -> int:
    """The number that tells one fault's random numbers from those of every other."""
    return seed << 32 | host_number << 8 | _KINDS.index(kind) << 1 | (direction == "out")


def _hosts(lab: Lab, name: str) -> list[LabHost]:
    return list(lab.hosts) if name == "*" else [lab.host(name)]


def _lines(lab: Lab, fault: Fault) -> Iterator[str]:
    """What vaiven-fabric is told."""
    _check(lab, fault)
    directions = ("in", "out") if fault.direction == "both" else (fault.direction,)
    probability = 1.0 if fault.probability is None else fault.probability
    for host in _hosts(lab, fault.host):
        for direction in directions:
            yield (
                f"link {fabric.link_port(host)} {direction} {fault.kind} "
                f"stream={stream(fault.seed, host.number, direction, fault.kind)} "
                f"threshold={round(probability * _CERTAIN)} burst_frames={fault.burst_frames or 0} "
                f"delay_ns={round((fault.delay_us or 0) * 1e3)}"
            )


def _check(lab: Lab, fault: Fault) -> None:
    if fault.kind not in _WAITING:
        return
    if lab.topology.fabric.fabric_class != "timed":
        raise VaivenError(
            f"frames of a {lab.topology.fabric.fabric_class} fabric cannot wait: no fault of kind {fault.kind}",
            'use class = "timed", at a high rate if the rate does not matter',
            code="bad-fault",
        )
    longest_us = min(exit_.wait_max_ns for exit_ in fabric.wire_exits(lab.topology)) / 1e3
    if (fault.delay_us or 0) > longest_us:
        raise VaivenError(
            f"a delay of {fault.delay_us:g} us is more than this fabric can make",
            f"at {lab.topology.fabric.rate_mbps:g} Mb/s at most {longest_us:.0f} us",
            code="bad-fault",
        )


def _ports(lab: Lab) -> list[str]:
    """What makes the programs hang on every port of a fabric that has none otherwise: frames go on as they came."""
    if lab.topology.fabric.fabric_class == "timed":
        return []
    return [f"entrance {fabric.link_port(host)} {fabric.HUB if _paced_hub(lab) else '-'}" for host in lab.hosts]


def _paced_hub(lab: Lab) -> bool:
    return lab.topology.fabric.fabric_class == "paced" and lab.topology.fabric.kind == "hub"
