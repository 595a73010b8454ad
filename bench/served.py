# SPDX-License-Identifier: BSD-3-Clause
"""What collective operations of unmodified programs gain by group: bench/served.c over each MPI with and without it.

Both ways of a library are started afresh in each round, in random order, and compared by round. What stays with the MPI
is beside what is served: there is nothing to reach.
"""

from __future__ import annotations

import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import jobs
from ratio import Ratio, anchor, ratio

LIBRARIES = ("openmpi", "mpich")
SLOWER_MOST = 1.05  # of what is served, nothing is slower than so much of the MPI's own
_BEGUN = re.compile(r"vaiven: broadcasts that are only begun among \d+ ranks go by")  # of any size
_WENT = re.compile(r"vaiven: \d+ (broadcast|allgather|allreduce)s.* among \d+ ranks, (\d+) B each")  # VAIVEN_VERBOSE


def served(lab: str, ranks: int, rounds: int) -> list[Ratio]:
    """Every operation and size: by group over the MPI's own."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    order = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        programs = {library: jobs.built(library, jobs.HERE / "served.c", Path(scratch)) for library in LIBRARIES}
        goes = {library: _by_group(lab, ranks, library, program) for library, program in programs.items()}
        for _ in range(rounds):
            for library, program in programs.items():
                ways = [f"{library}:group", library]
                order.shuffle(ways)
                spent = {way: loops(lab, ranks, way, program) for way in ways}
                for what, own in spent[library].items():
                    found[library, what].append((spent[f"{library}:group"][what], own))
    rows = []
    for (library, what), pairs in found.items():
        of = f"{lab}, {ranks} ranks, {library} {what}; MPI's own {_middle(pairs):.0f} us"
        rows.append(
            ratio(of, pairs, SLOWER_MOST) if what in goes[library] else anchor(f"{of}, left to it", pairs, None)
        )
    return rows


def _by_group(lab: str, ranks: int, library: str, program: Path) -> set[str]:
    """What is served, by what a job of the program says of itself."""
    told = _ran(lab, ranks, f"{library}:group", program, {"VAIVEN_VERBOSE": "1"}).stderr
    went = {(name, int(size)) for name, size in _WENT.findall(told)}
    each = {"allgather": ranks}  # what all get of so many
    begun = {f"ibcast {size} B" for name, size in went if name == "broadcast"} if _BEGUN.search(told) else set()
    return begun | {f"{name.replace('broadcast', 'bcast')} {size // each.get(name, 1)} B" for name, size in went}


def _middle(pairs: Sequence[tuple[float, float]]) -> float:
    """us of the MPI's own."""
    return statistics.median(own for _, own in pairs) / 1e3


def loops(lab: str, ranks: int, stack: str, program: Path) -> Mapping[str, float]:
    """What -> ns, of a job of the program."""
    rows = [line.split() for line in _ran(lab, ranks, stack, program).stdout.splitlines()]
    return {f"{name} {size} B": float(ns) for name, size, ns in rows}


def _ran(
    lab: str, ranks: int, stack: str, program: Path, more: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    vaiven = str(Path(sys.executable).parent / "vaiven")
    words = [vaiven, "run", "--lab", lab, "--stack", stack, "-n", str(ranks), "--", str(program)]
    return subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, **more})
