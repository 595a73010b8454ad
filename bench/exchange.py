# SPDX-License-Identifier: BSD-3-Clause
"""Little of each for all, in a loop: an allgather of `group` against a raw multicast exchange of the same run.

Raw: each rank multicasts one datagram and waits until those of all others are there; what is lost stays so, and rounds
in which any was are thrown away. No link brings the datagrams of all others sooner than one behind the other: the
bound, beside which raw itself is printed.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import group
from ratio import Ratio, ratio

from vaiven.lab import topology
from vaiven.lab.lab import Lab

SIZE, LOOPS = 512, 400
MANY = (4, 8)  # hosts of lidi
MOST = 1.25  # of raw
FRAME_MORE_BYTES = 66  # of a datagram on the wire: UDP 8, IPv4 20, Ethernet with preamble, check sequence and gap 38
RATE_BPS = 100_000_000  # of lidi


def bound_ns(ranks: int) -> float:
    """What a link takes to bring the datagrams of all others."""
    return (ranks - 1) * (SIZE + FRAME_MORE_BYTES) * 8 / RATE_BPS * 1e9


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
                found.append(replace(ratio(told, bound, float("inf")), goal="none"))
    return found


def whole(said: Sequence[Sequence[tuple[float, float, int]]]) -> list[tuple[float, float]]:
    """(raw, ours) in ns of the rounds in which nothing was lost: those of the rank that took longest.

    said: of each round (raw, ours, lost) by rank. RuntimeError where every round lost something.
    """
    kept = [ranks for ranks in said if not any(lost for _, _, lost in ranks)]
    if not kept:
        raise RuntimeError("raw datagrams were lost in every round")
    return [(max(raw for raw, _, _ in ranks), max(ours for _, ours, _ in ranks)) for ranks in kept]


def _taken(lab: Lab, program: Path, many: int, wait: str, rounds: int) -> list[list[tuple[float, float, int]]]:
    """(raw, ours, lost) by rank, round by round."""
    meeting = f"{lab.hosts[0].address}:{group.PORT}"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    taken = []
    with ExitStack() as ending:
        ranks = []
        for rank, host in enumerate(lab.hosts[:many]):
            words = [str(program), str(many), str(rank), host.address, meeting, wait]
            ranks.append(subprocess.Popen(host.argv(words), **pipes))
            ending.callback(ranks[-1].wait)
            ending.callback(ranks[-1].stdin.close)
        for _ in range(rounds):
            for process in ranks:
                process.stdin.write(f"{SIZE} {LOOPS}\n")
                process.stdin.flush()
            said = [process.stdout.readline().split() for process in ranks]
            if any(words[:1] != ["took"] for words in said):
                raise RuntimeError(f"a rank did not exchange: {said}")
            taken.append([(float(raw), float(ours), int(lost)) for _, raw, ours, lost in said])
    return taken
