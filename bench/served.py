# SPDX-License-Identifier: BSD-3-Clause
"""What collective operations of unmodified programs gain by group: bench/served.c over each MPI with and without it.

Both ways of a library are started afresh in each round, in random order, and compared by round.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import jobs
from ratio import Ratio, ratio

LIBRARIES = ("openmpi", "mpich")
SLOWER_MOST = 1.05  # of what is served, nothing is slower than so much of the MPI's own


def served(lab: str, ranks: int, rounds: int) -> list[Ratio]:
    """Every operation and size: by group over the MPI's own."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    order = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        programs = {library: jobs.built(library, jobs.HERE / "served.c", Path(scratch)) for library in LIBRARIES}
        for _ in range(rounds):
            for library, program in programs.items():
                ways = [f"{library}:group", library]
                order.shuffle(ways)
                spent = {way: loops(lab, ranks, way, program) for way in ways}
                for what, own in spent[library].items():
                    found[f"{library} {what}"].append((spent[f"{library}:group"][what], own))
    return [
        ratio(f"{lab}, {ranks} ranks, {what}; MPI's own {_middle(pairs):.0f} us", pairs, SLOWER_MOST)
        for what, pairs in found.items()
    ]


def _middle(pairs: Sequence[tuple[float, float]]) -> float:
    """us of the MPI's own."""
    return statistics.median(own for _, own in pairs) / 1e3


def loops(lab: str, ranks: int, stack: str, program: Path) -> Mapping[str, float]:
    """What -> ns, of a job of the program."""
    vaiven = str(Path(sys.executable).parent / "vaiven")
    words = [vaiven, "run", "--lab", lab, "--stack", stack, "-n", str(ranks), "--", str(program)]
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in said.splitlines()]
    return {f"{name} {size} B": float(ns) for name, size, ns in rows}
