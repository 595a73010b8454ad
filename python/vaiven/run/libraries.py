# SPDX-License-Identifier: BSD-3-Clause
"""What stacks need that is not ours.

A library has a probe of its own, which is there if the library was when vaiven was built. A program of others is run by
our own probe, and looked for when it is wanted.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.plan.design import Available
from vaiven.plan.sweep import Limits
from vaiven.run import collect, hosts, mpi


@dataclass(frozen=True)
class Library:
    """stacks: those of its probe. packages: what brings it, on Debian."""

    stacks: tuple[str, ...]
    packages: str


LIBRARIES = {
    "openmpi": Library(
        ("openmpi", "openmpi-nagle", *(f"openmpi:{one}" for one in mpi.BROADCASTS)), "openmpi-bin libopenmpi-dev"
    ),
    "mpich": Library(("mpich", "mpich:default"), "mpich libmpich-dev"),
    "pvm": Library(
        (
            *(f"pvm-{route}-{form}" for route in ("default", "direct") for form in ("xdr", "raw", "inplace", "trans")),
            "pvm-mcast",
            "pvm-bcast",
        ),
        "pvm pvm-dev",
    ),
}


def probes(arch: str = "") -> dict[str, Path]:
    """library -> its probe, of those that are here; arch: that of hosts of this machine that have another one."""
    found: dict[str, Path] = {}
    for name in LIBRARIES:
        try:
            found[name] = resources.program("-".join(filter(None, ("vaiven-probe", name, arch))))
        except VaivenError:
            continue
    return found


def needed(stacks: Iterable[str]) -> tuple[str, ...]:
    """The libraries of these stacks, by their ids."""
    ids = set(stacks)
    return tuple(name for name, library in LIBRARIES.items() if ids & set(library.stacks))


def known(own: collect.Known) -> collect.Known:
    """These stacks and those of every library; one that is not here is `absent`."""
    found = {name: _with_program(name, stack) for name, stack in own.stacks.items()}
    here = probes()
    for name, library in LIBRARIES.items():
        found |= _stacks(name, here) if name in here else _absent(library, f"vaiven-probe-{name} is not installed")
    return replace(own, stacks=found)


def _stacks(name: str, here: Mapping[str, Path]) -> dict[str, Available]:
    """A probe that does not start has lost its library since it was built."""
    try:
        return collect.stacks(hosts.call("here", list, [str(here[name]), "stacks"]), name).stacks
    except VaivenError as error:
        return _absent(LIBRARIES[name], f"vaiven-probe-{name} does not start: {error.what}")


def _with_program(name: str, stack: Available) -> Available:
    """A stack that is programs of others; its Debian package is called as it is."""
    if not stack.program or shutil.which(stack.program):
        return stack
    return replace(stack, absent=f"the program {stack.program} is not installed; apt-get install {name}")


def _absent(library: Library, why: str) -> dict[str, Available]:
    remedy = f"{why}; apt-get install {library.packages}, then install vaiven again"
    return {stack: Available(Limits(0, 0), (), absent=remedy) for stack in library.stacks}
