# SPDX-License-Identifier: BSD-3-Clause
"""Which layer takes the time: what each adds to the one below it, between every two hosts that were measured so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vaiven.errors import VaivenError
from vaiven.model.ladder import WIRE, Ladder, Rung, ladder
from vaiven.model.times import LaunchTimes, Statistic
from vaiven.questions import PLAIN
from vaiven.results import rows
from vaiven.results.costs import StackCost
from vaiven.results.link import believed
from vaiven.results.result import Result, columns, integer, number, text
from vaiven.results.warnings import Notice
from vaiven.stats.arrays import Floats
from vaiven.store.query import Run

# Each stands on the one before it; other stacks stand beside the ladder. ICMP is answered by the far kernel, so that a
# frame adds to it what a program takes at either end. Then a library: MPI, or PVM where both its encoding and a way
# without one were measured, so that the encoding is a rung of its own.
LAYERS = ("icmp", "eth", "udp", "tcp")
PVM, XDR = ("pvm-direct-inplace", "pvm-direct-raw", "pvm-direct-trans"), "pvm-direct-xdr"
LIBRARIES = ("openmpi", "mpich", *PVM, XDR)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLadder:
    """What each layer adds between two hosts.

    lab_error_ns: by size, what of the lowest stack's rung may be the lab's, from which the wire was taken off; the
    others are differences, in which that cancels. Empty where nobody knows.
    """

    near: str
    far: str
    ladder: Ladder
    lab_error_ns: tuple[int | None, ...] = ()

    @property
    def pair(self) -> tuple[str, str]:
        return (self.near, self.far)

    def error_ns(self, rung: Rung, place: int) -> int | None:
        """That of a rung, at the size of that place."""
        return self.lab_error_ns[place] if self.lab_error_ns and rung.over == WIRE else None


Row = tuple[PairLadder, Rung, int]  # of a size, by its place among the sizes


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ladders(Result[PairLadder]):
    """What each layer adds to the one below it, from the wire up: one row per pair of hosts, size and layer.

    missing: why other pairs have no ladder.
    """

    kind: ClassVar[str] = "ladders"
    columns: ClassVar = columns(
        text("near", "the host that keeps the clock", lambda row: row[0].near),
        text("far", "the host that answers", lambda row: row[0].far),
        integer("size_bytes", "payload of a message", lambda row: row[0].ladder.sizes_bytes[row[2]]),
        text("layer", "what adds it: the wire, or a stack", lambda row: row[1].name),
        text("over", "what it stands on; empty for the lowest", lambda row: row[1].over),
        number("ns", "what it adds", lambda row: row[1].ns[row[2]]),
        number("low_ns", "the low end of its interval", lambda row: row[1].low_ns[row[2]]),
        number("high_ns", "the high end of its interval", lambda row: row[1].high_ns[row[2]]),
        number("lab_error_ns", "so much of that may be the lab's own error: of the layer on the wire; in the others, "
               "which are differences, it cancels", lambda row: row[0].error_ns(row[1], row[2])),
        number("share", "of the whole time of the highest layer", lambda row: row[1].share[row[2]]),
        number("cpu_share", "of the whole, processor time of both ends for a message of this layer's stack",
               lambda row: row[1].cpu_share[row[2]]),
        text("interval_refused", "why there are no intervals", lambda row: row[0].ladder.refused),
    )  # fmt: skip

    missing: tuple[Notice, ...] = ()

    def rows(self) -> Iterable[Row]:
        for one in self:
            for place in range(one.ladder.sizes_bytes.size):
                yield from ((one, rung, place) for rung in one.ladder.rungs)


def ladders(run: Run, costs: Sequence[StackCost]) -> Ladders:
    """Of every pair of hosts that has two or more of the layers."""
    each = times_of(run, costs)
    rng = np.random.default_rng(rows.seed_of(run))
    found: list[PairLadder] = []
    missing: list[Notice] = []
    for near, far in dict.fromkeys(cost.pair for cost in costs):
        here = {cost.stack: cost for cost in costs if cost.pair == (near, far)}
        layers = [here[layer] for layer in layers_of(tuple(here))]
        if len(layers) < 2:
            continue
        times = [each[near, far, cost.stack] for cost in layers]
        cpu = [_cpu_ns(cost, one) for cost, one in zip(layers, times, strict=True)]
        try:
            made = ladder(times, rng, cpu)
            lowest = [layers[0].point(int(size)) for size in made.sizes_bytes]
            errors = tuple(point.lab_error_ns if point else None for point in lowest)
            found.append(PairLadder(near=near, far=far, ladder=made, lab_error_ns=errors))
        except VaivenError as error:
            missing.append(Notice(code="no-ladder", text=f"no ladder of layers: {error.what}", where=f"{near} → {far}"))
    return Ladders(runs=(run.id,), items=tuple(found), missing=tuple(missing))


def times_of(run: Run, costs: Sequence[StackCost]) -> dict[rows.Key, LaunchTimes]:
    """The round trips of all these, one way, launch by launch."""
    table = believed(run, rows.launches(run)).filter(ask=PLAIN)
    keys = [(cost.near, cost.far, cost.stack) for cost in costs]
    return {key: rows.launch_times(rows.of_key(table, key), key, Statistic.TYPICAL) for key in keys}


def layers_of(stacks: Sequence[str]) -> tuple[str, ...]:
    """Those of the stacks that stand on each other, the leanest first."""
    layers = [one for one in LAYERS if one in stacks]
    plain = [one for one in PVM if one in stacks]
    if plain and XDR in stacks:
        return (*layers, plain[0], XDR)
    return (*layers, *[one for one in LIBRARIES if one in stacks][:1])


def _cpu_ns(cost: StackCost, times: LaunchTimes) -> Floats:
    """CPU time of both ends for each message, by the sizes of `times`; NaN where an end is not known."""
    both = {
        point.size_bytes: point.cpu_near_ns + point.cpu_far_ns
        for point in cost.points
        if point.cpu_near_ns is not None and point.cpu_far_ns is not None
    }
    return np.array([both.get(int(size), np.nan) for size in times.sizes_bytes])
