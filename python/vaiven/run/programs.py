# SPDX-License-Identifier: BSD-3-Clause
"""Programs of users on a stack: ranks, or tasks of PVM, their output passed through."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vaiven import child
from vaiven.child import Child
from vaiven.errors import VaivenError
from vaiven.plan import stack as stacks
from vaiven.plan.stack import Stack
from vaiven.run import group, libraries, mpi, pvm, signals
from vaiven.run.hosts import Host

PVM = "pvm"  # no stack of a plan: a program of PVM chooses its route and its encoding itself
GROUP = "group"  # of a plan it is a stack, and here programs of libvaiven
_OWN_END_S = 2.0  # for what the same Ctrl-C has reached: a second signal would break off how mpirun ends its ranks
_END_S = 5.0
_POLL_S = 0.02


def run(hosts: Sequence[Host], stack: Stack, ranks: int, command: Sequence[str]) -> int:
    """Runs `command` as so many ranks (0: one for each host) and returns its exit status.

    When this process is interrupted the program is ended. VaivenError: "unknown-stack", "too-few-hosts",
    "another-mpi", those of group.job, of mpi.job and of pvm.machine.
    """
    library = library_of(stack)
    if library == GROUP and ranks >= 0:
        with group.job(hosts, ranks or len(hosts), [command] * len(hosts)) as commands:
            return _passed_through(commands, "rank")
    if not 0 <= ranks <= len(hosts):
        raise VaivenError(f"{ranks} ranks on {len(hosts)} hosts", "one rank on each host", code="too-few-hosts")
    count = ranks or len(hosts)
    if library == PVM:
        return _tasks(hosts, count, command)
    members = [mpi.Rank(host, tuple(command)) for host in hosts[:count]]
    mpi.refuse_program_of_another(library, members[0])
    manner = replace(mpi.manner(stack, members), spare=True)
    with mpi.job(library, members, manner) as words:
        return _passed_through([hosts[0].argv(words)])  # a launcher says itself who failed


def library_of(stack: Stack) -> str:
    """The one that programs on that stack are written for. VaivenError ("unknown-stack")."""
    known = {one: name for name, library in libraries.LIBRARIES.items() if name != PVM for one in library.stacks}
    known |= {PVM: PVM, GROUP: GROUP}
    if stack.id not in known:
        of_pvm = stack.id in libraries.LIBRARIES[PVM].stacks
        remedy = f"{PVM}: its programs choose route and encoding" if of_pvm else stacks.nearest(stack.id, known)
        raise VaivenError(f"no program runs on {stack.id!r}", remedy, code="unknown-stack")
    return known[stack.id]


def _tasks(hosts: Sequence[Host], count: int, command: Sequence[str]) -> int:
    """A task on each of the first hosts, in a virtual machine of all of them; what it spawns by name lies beside it."""
    beside = [str(Path(command[0]).resolve().parent)] if "/" in command[0] else []
    with pvm.machine([replace(host, libraries={}) for host in hosts], beside) as members:
        tasks = [host.argv([*host.libraries[PVM], *command]) for host in members[:count]]
        return _passed_through(tasks, "task")


def _passed_through(commands: Sequence[Sequence[str]], what: str = "") -> int:
    """Runs them with our own streams and terminal, until all end, one fails, or this process is interrupted. What is
    typed is the first one's. what: they are, to say which one failed."""
    processes: list[Child] = []
    own_end_s = _OWN_END_S
    try:
        for argv in commands:
            stdin = child.NOWHERE if processes else child.OURS
            processes.append(Child(argv, stdin=stdin, stdout=child.OURS, stderr=child.OURS, alone=False))
        while True:
            ended = [process.wait(0) for process in processes]
            if failed := next(filter(None, ended), 0):
                own_end_s = 0
                status = failed if failed > 0 else 128 - failed  # as a shell says which signal it was
                if what and len(commands) > 1:
                    print(f"vaiven: {what} {ended.index(failed)} ended with status {status}", file=sys.stderr)
                return status
            if None not in ended:
                return 0
            time.sleep(_POLL_S)
    finally:
        with signals.shielded():
            _end(processes, own_end_s)


def _end(processes: Sequence[Child], own_end_s: float) -> None:
    _wait(processes, own_end_s)
    for process in processes:
        process.terminate()  # what nsenter waits for ends with it
    _wait(processes, _END_S)
    for process in processes:
        process.close(0)


def _wait(processes: Sequence[Child], most_s: float) -> None:
    """Until all have ended, and no longer."""
    deadline_s = time.monotonic() + most_s
    for process in processes:
        process.wait(max(0.0, deadline_s - time.monotonic()))
