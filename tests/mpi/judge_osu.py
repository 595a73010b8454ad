# SPDX-License-Identifier: BSD-3-Clause
"""OSU's benchmarks as a judge of what we carry for an MPI: they look at every byte of what came, with us and without.

    python -m tests.mpi.judge_osu group|llc SOURCE [--library LIBRARY] [--loss P] [--only NAME,...]

SOURCE is a tree of their release 7 as it is unpacked, which nobody packages: neither Debian nor PyPI has one. Nothing
is said of their times. Prints a line for each program that differs, and how many there were.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..joined import hosts_of
from .judge import WAYS, Program, judge, lab_of, options_of

# Where programs are, and how many ranks they want.
ROOMS = {
    "group": {"collective/blocking": 4, "collective/non_blocking": 4, "collective/persistent": 4},
    "llc": {"collective/blocking": 4, "pt2pt/standard": 2},
}
FEW = ("-i", "20", "-x", "2")
CHECKED = ("-c", "-m", "1:1048576")  # of all that have messages
EMPTY = ("osu_barrier", "osu_ibarrier", "osu_barrier_persistent")
UNASKED = ("osu_latency_mt", "osu_latency_mp")  # their ends are threads and processes, by options of their own


def built(source: Path, library: str, rooms: Iterable[str], home: Path) -> Path:
    """A copy of it, made for that library; what that library lacks is not made."""
    own = home / library
    subprocess.run(["cp", "-a", source, own], check=True)
    # Where all files are of one moment, nobody makes the files anew that its release brings.
    for path in (own, *own.rglob("*")):
        os.utime(path, (0, 0), follow_symlinks=False)
    compilers = [f"CC=mpicc.{library}", f"CXX=mpicxx.{library}"]
    subprocess.run(["./configure", *compilers], cwd=own, check=True, capture_output=True)
    for room in ("util", *(f"mpi/{room}" for room in rooms)):
        subprocess.run(["make", "-k", "-j2", "-C", f"c/{room}"], cwd=own, capture_output=True, check=False)
    return own / "c/mpi"


def programs(suite: Path, room: str, ranks: int) -> Iterator[Program]:
    """Those of that directory that were made."""
    for path in sorted((suite / room).glob("osu_*")):
        if os.access(path, os.X_OK) and path.suffix == "" and path.name not in UNASKED:
            empty = path.name in EMPTY
            yield Program(room, path.name, ranks, FEW if empty else (*FEW, *CHECKED), "" if empty else "Pass")


def main() -> int:
    options = options_of(__doc__.splitlines()[0])
    options.add_argument("source", type=Path, help="a tree of OSU's benchmarks")
    given = options.parse_args()
    way, rooms, differ = WAYS[given.way], ROOMS[given.way], 0
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        (home / "state").mkdir()
        for library in given.library or way.libraries:
            suite = built(given.source, library, rooms, home)
            listing = [one for room, ranks in rooms.items() for one in programs(suite, room, ranks)]
            listing = [one for one in listing if not given.only or one.name in given.only]
            with hosts_of(lab_of(given.loss), home / "state") as place:
                found = judge(suite, library, place, listing, way)
            found.tell(library, f"{found.passed} of {len(listing)} programs")
            differ += len(found.differ)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
