# SPDX-License-Identifier: BSD-3-Clause
"""A host that is unlike the others, and the layer that makes it so, found by going through the layers.

One host sends to several others over several stacks. A host is odd over a stack where a message takes it ODD_LEAST
times what the middle one of the others takes in the same block, for certain. Stacks are made of parts, so that what all
stacks have in common over which it is odd, and none over which it is as quick as the others, is to blame: a host that
is slow over TCP and PVM's direct route, and not over ICMP nor through PVM's daemons, which speak UDP, has something
wrong with its TCP. Nothing is known of how hosts were set up: only times are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from vaiven.model.frames import stack_id
from vaiven.model.times import LaunchTimes
from vaiven.stats.estimate import Estimate
from vaiven.stats.median import median_interval

ODD_LEAST = 1.5  # unlike machines differ by less on one network, seen from the outside
OTHERS_MIN = 2  # hosts beside one that is odd: of two nobody knows which

MACHINE = "the machine or its card"
_PARTS = {
    "icmp": ("IP", "ICMP"),
    "eth": ("frames",),
    "llc": ("frames", "LLC"),
    "udp": ("IP", "UDP"),
    "tcp": ("IP", "TCP"),
    "openmpi": ("IP", "TCP", "MPI"),
    "mpich": ("IP", "TCP", "MPI"),
    "pvm-default": ("IP", "UDP", "PVM", "PVM's daemons"),
    "pvm-direct": ("IP", "TCP", "PVM"),
}
_ENCODINGS = {"xdr": "encoding", "raw": "copying", "inplace": "data in place", "trans": "translation"}


@dataclass(frozen=True, slots=True)
class Seen:
    """A stack between the first host and an odd one. ratio: to the middle of the others, at the size where it is
    largest. odd: above ODD_LEAST for certain there; sound: below it for certain at every size; neither where it is not
    known."""

    stack: str
    size_bytes: int
    ratio: Estimate
    odd: bool
    sound: bool


@dataclass(frozen=True, slots=True)
class OddHost:
    """seen: every stack, from the least ratio to the largest. suspects: parts that only odd stacks have, the lowest
    first; () where no single part explains it."""

    near: str
    far: str
    seen: tuple[Seen, ...]
    suspects: tuple[str, ...]


def parts_of(stack: str) -> tuple[str, ...]:
    """What a stack is made of, from the machine up; of one that nobody knows the machine alone."""
    name = stack_id(stack)
    kind = next((kind for kind in sorted(_PARTS, key=len, reverse=True) if name.startswith(kind)), "")
    encoding = _ENCODINGS.get(name.removeprefix(f"{kind}-"), "") if kind.startswith("pvm") else ""
    return (MACHINE, *_PARTS.get(kind, ()), *([encoding] if encoding else []))


def odd_hosts(times: Mapping[tuple[str, str], LaunchTimes]) -> tuple[OddHost, ...]:
    """Of the times, one way, from one host by (stack, far host): those that are odd over some stack."""
    found: dict[str, list[Seen]] = {}
    for stack in dict.fromkeys(stack for stack, _ in times):
        of_stack = {far: one for (name, far), one in times.items() if name == stack}
        for far in of_stack:
            if (seen := _seen(stack, far, of_stack)) is not None:
                found.setdefault(far, []).append(seen)
    near = next(iter(times.values())).near if times else ""
    odd = {far: seen for far, seen in found.items() if any(one.odd for one in seen)}
    return tuple(
        OddHost(near, far, tuple(sorted(seen, key=lambda one: one.ratio.value or 0.0)), suspects(seen))
        for far, seen in odd.items()
    )


def suspects(seen: Iterable[Seen]) -> tuple[str, ...]:
    """The parts that all odd stacks have, and no sound one; where that is the machine, nothing above it is."""
    several = list(seen)
    odd = [parts_of(one.stack) for one in several if one.odd]
    sound = {part for one in several if one.sound for part in parts_of(one.stack)}
    common = [part for part in odd[0] if part not in sound and all(part in parts for parts in odd)] if odd else []
    return (MACHINE,) if MACHINE in common else tuple(common)


def _seen(stack: str, far: str, times: Mapping[str, LaunchTimes]) -> Seen | None:
    """How much longer that host takes than the others over a stack; None where it cannot be compared with any."""
    others = [one for name, one in times.items() if name != far]
    if len(others) < OTHERS_MIN:
        return None
    ratios = dict(_ratios(times[far], others))
    known = {size: one for size, one in ratios.items() if one.value is not None}
    if not known:
        return None
    size = max(known, key=lambda size: known[size].number())
    sound = all(one.high is not None and one.high < ODD_LEAST for one in known.values())
    worst = known[size]
    return Seen(stack, size, worst, bool(worst.low is not None and worst.low > ODD_LEAST), sound)


def _ratios(mine: LaunchTimes, others: list[LaunchTimes]) -> Iterable[tuple[int, Estimate]]:
    """(size, time over the middle one of the others, block by block)."""
    for place, size in enumerate(mine.sizes_bytes.tolist()):
        by_block = [_by_block(one, size) for one in others]
        ratios = [
            ns / float(np.median(rest))
            for block, ns in zip(mine.blocks.tolist(), mine.ns[:, place].tolist(), strict=True)
            if len(rest := [one[block] for one in by_block if block in one]) >= OTHERS_MIN and np.isfinite(ns)
        ]
        yield size, median_interval(ratios, "")


def _by_block(times: LaunchTimes, size_bytes: int) -> dict[int, float]:
    at = np.flatnonzero(times.sizes_bytes == size_bytes)
    if not at.size:
        return {}
    pairs = zip(times.blocks.tolist(), times.ns[:, at[0]].tolist(), strict=True)
    return {block: ns for block, ns in pairs if np.isfinite(ns)}
