# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven run`: an unmodified program of a message-passing library, on a stack, one rank on each host."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from vaiven.cli.parameters import words
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.run.place import Place


def run(
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    stack: str,
    lab: str = "",
    hosts: str = "",
    ranks: Annotated[int, Parameter(name=["--ranks", "-n"])] = 0,
    iface: str = "",
    awake: bool = False,
) -> None:
    """Run a program as it is: vaiven run --lab lidi --stack openmpi -n 4 -- ./program arguments.

    One rank on each host; its output and its exit status are this command's own. Of PVM a task on each of the first
    hosts: -n 1 for a program that spawns the others, in a virtual machine of all hosts. Of group any number of ranks,
    dealt out to the hosts in turn.

    Parameters
    ----------
    command
        The program and its arguments, after --.
    stack
        The stack by which its messages travel: openmpi, openmpi-nagle, openmpi-llc, mpich (see `vaiven stacks`); pvm
        for programs of PVM, which choose route and encoding themselves; group for programs of libvaiven, which find
        in their environment who they are (vv_group_from_environment).
    lab
        A ready lab's name, a lab file, or a name that `vaiven lab up --as` gave; raised meanwhile unless it is up.
    hosts
        Names that ssh knows, separated by commas; with --lab, hosts of it.
    ranks
        How many ranks; without it one for each host.
    iface
        The interface that messages take; on hosts that are not a lab.
    awake
        Hold the processors of hosts that are not a lab awake meanwhile; a timed lab's are.
    """
    from vaiven.plan import stack as stacks
    from vaiven.run import programs, signals

    if not command:
        raise VaivenError("which program?", "vaiven run --lab lidi --stack openmpi -- ./program", code="usage")
    wanted = stacks.parse(stack)
    library = programs.library_of(wanted)  # or it is refused before anything is raised
    with signals.interruptible(), _place(lab, words(hosts), iface, library, awake) as place:
        if place.missing:
            raise next(iter(place.missing.values()))
        status = programs.run(list(place.hosts.values()), wanted, ranks, command)
    sys.exit(status)


def _place(lab: str, hosts: tuple[str, ...], iface: str, library: str, awake: bool) -> AbstractContextManager[Place]:
    from vaiven.lab import lab as labs
    from vaiven.run import place as places
    from vaiven.store.record import HostsPlace

    if lab and awake:
        raise VaivenError("--awake with a lab", "leave it out: a timed lab runs awake anyway", code="bad-value")
    if lab:
        topology, instance = labs.described(lab)
        return places.in_lab(topology, hosts, instance)
    if hosts:
        return places.on_hosts(HostsPlace(names=hosts, interface=iface, libraries=(library,), awake=awake), None)
    raise VaivenError("run it where?", "--lab NAME, or --hosts A,B", code="usage")
