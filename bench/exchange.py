# SPDX-License-Identifier: BSD-3-Clause
"""Little of each for all, in a loop: an allgather of `group` against a raw multicast exchange of the same run.

Raw: each rank multicasts one datagram and waits until those of all others are there; what is lost stays so, and rounds
in which any was are thrown away. No link brings the datagrams of all others sooner than one behind the other: the
bound, beside which raw itself is printed.
"""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Sequence

import group
from ratio import Ratio, anchor, ratio

from vaiven.lab import topology
from vaiven.lab.lab import Lab
from vaiven.model.frames import Path, Wire, wire_ns

SIZE, LOOPS = 512, 400
MANY = (4, 8)  # hosts of lidi
MOST = 1.25  # of raw
LINK = Wire(rate_bps=100_000_000, hops=1, mtu_bytes=1500)  # of lidi, to a host


def bound_ns(ranks: int) -> float:
    """What a link takes to bring the datagrams of all others."""
    return (ranks - 1) * float(wire_ns(Path.UDP, LINK, SIZE))


def exchanges(rounds: int) -> list[Ratio]:
    """Allgathers of 512 B each over raw exchanges, both asleep and both spinning; and raw over the bound."""
    found = []
    with tempfile.TemporaryDirectory() as scratch, group.raised(topology.ready("lidi")) as lab:
        program = group.built(scratch, "exchange", source="bench/exchange.c")
        for many in MANY:
            for wait in ("sleep", "spin"):
                taken = whole(_taken(lab, program, many, wait, rounds))
                what = f"`lidi`, {SIZE} B of each of {many}, {wait}: "
                found.append(ratio(f"{what}allgather / raw exchange", [(ours, raw) for raw, ours in taken], MOST))
                bound = [(raw, bound_ns(many)) for raw, _ in taken]
                told = f"{what}raw / the bound of {bound_ns(many) / 1000:.0f} us"
                found.append(anchor(told, bound, None))
    return found


def whole(said: Sequence[Sequence[tuple[float, float, int]]]) -> list[tuple[float, float]]:
    """(raw, ours) in ns of the rounds in which nothing was lost: those of the rank that took longest.

    said: of each round (raw, ours, lost) by rank. RuntimeError where every round lost something.
    """
    kept = [ranks for ranks in said if not any(lost for _, _, lost in ranks)]
    if not kept:
        raise RuntimeError("raw datagrams were lost in every round")
    return [(max(raw for raw, _, _ in ranks), max(ours for _, ours, _ in ranks)) for ranks in kept]


def _taken(lab: Lab, program: pathlib.Path, many: int, wait: str, rounds: int) -> list[list[tuple[float, float, int]]]:
    """(raw, ours, lost) by rank, round by round."""
    with group.started(lab, program, many, wait) as ranks:
        said = [group.asked(ranks, f"{SIZE} {LOOPS}", "took") for _ in range(rounds)]
    return [[(float(raw), float(ours), int(lost)) for raw, ours, lost in one] for one in said]
