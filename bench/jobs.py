# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of programs on hosts of a lab that stays up for a case, and the raw sender between them."""

from __future__ import annotations

import functools
import re
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from vaiven.lab import topology
from vaiven.lab.topology import Topology
from vaiven.plan import ends
from vaiven.plan import stack as stacks
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort
from vaiven.run import group, launchers, mpi, place
from vaiven.run.hosts import Host
from vaiven.run.launchers import Setting
from vaiven.run.place import Place

HERE = Path(__file__).resolve().parent
SECONDS_MAX = 300  # of one job
SERVED = ("openmpi:group", "mpich:group")


def library_of(stack: str) -> str:
    """The library of MPI whose stack that is."""
    return re.split("[:-]", stack)[0]


@contextmanager
def hosts_of(what: Topology, count: int = 0) -> Iterator[Place]:
    """The first hosts of a lab that is raised for them; 0: all of them."""
    names = [host.name for host in what.hosts]
    with place.in_lab(what, names[: count or len(names)]) as where:
        yield where


def hosts(lab: str, count: int = 0) -> AbstractContextManager[Place]:
    """The same of a ready lab."""
    return hosts_of(topology.ready(lab), count)


def built(library: str, source: Path, scratch: Path) -> Path:
    """A program in C, by that library's compiler."""
    program = scratch / f"{source.stem}-{library}"
    subprocess.run([f"mpicc.{library}", "-O2", source, "-o", program], check=True)
    return program


def job(
    where: Place,
    stack: str,
    command: Sequence[str],
    names: Sequence[str] = (),
    settings: Sequence[tuple[str, str]] = (),
) -> str:
    """What a job of MPI prints, a rank of it on each of those hosts, of which one may have several; else on all.

    settings: of Open MPI its MCA parameters, of MPICH its environment.
    """
    ranks = [mpi.Rank(where.hosts[name], tuple(command)) for name in names or where.hosts]
    manner = mpi.manner(stacks.parse(stack), ranks)
    manner = replace(manner, yields=True, settings=(*manner.settings, *settings))
    with mpi.job(library_of(stack), ranks, manner) as words:
        return output(ranks[0].host.argv(words))


def of_group(where: Place, command: Sequence[str]) -> str:
    """What rank 0 of a job of libvaiven prints, a rank of it on each host."""
    members = list(where.hosts.values())
    with group.job(members, len(members), [command] * len(members)) as commands, ExitStack() as others:
        for words in commands[1:]:
            others.enter_context(subprocess.Popen(words, stdin=subprocess.DEVNULL))
        return output(commands[0])


def output(command: Sequence[str]) -> str:
    """What that prints. RuntimeError where it does not end well."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def numbers(said: str) -> Mapping[str, float]:
    """Lines "name number" of a program."""
    return {name: float(number) for name, number in (line.split() for line in said.splitlines())}


@functools.cache
def _known() -> dict:
    return place.known_stacks().stacks


def fanout_ns(where: Place, stack: str, sizes: Sequence[int], samples: int, on_each: int = 1) -> Mapping[int, float]:
    """size -> median ns of a message of the first host to all others, to so many processes on each, by that stack, in
    a launch of the probe."""
    effort = Effort(samples=samples, cell_ms=20_000, timeout_ms=20_000, launch_s=SECONDS_MAX)
    near, *others = where.hosts.values()
    fars = [far for far in others for _ in range(on_each)]
    found = _launched([near, *fars], "fanout", stack, sizes, effort)
    return {size: statistics.median(ns) for size, ns in found.items()}


def pingpong(where: Place, stack: str, sizes: Sequence[int], effort: Effort) -> Mapping[int, Sequence[int]]:
    """size -> ns of each round trip between the first two hosts, by that stack, in a launch of the probe."""
    return _launched(list(where.hosts.values())[:2], "pingpong", stack, sizes, effort)


def _launched(
    members: Sequence[Host], ask: str, stack: str, sizes: Sequence[int], effort: Effort
) -> Mapping[int, Sequence[int]]:
    """size -> what was timed, in ns, by one launch from the first of them."""
    near, *fars = members
    to = ends.join([far.name for far in fars])
    work = Launch(0, 0, stacks.parse(stack), ask, near.name, to, tuple(sizes))
    setting = Setting(_known(), effort, None, 0.0, one_clock=True)
    outcome = launchers.launch(work, near, fars, setting, lambda _cell: None)
    if outcome.failure:
        raise outcome.failure
    return {cell.size_bytes: cell.ns for cell in outcome.cells}
