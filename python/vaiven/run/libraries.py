# SPDX-License-Identifier: BSD-3-Clause
"""What stacks need that is not ours.

A library has a probe of its own, which is there if the library was when vaiven was built. A program of others is run by
our own probe, and looked for when it is wanted.
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from vaiven import child, questions, resources
from vaiven.errors import VaivenError
from vaiven.plan.design import Available
from vaiven.plan.sweep import Limits
from vaiven.run import collect, hosts, mpi, pvm
from vaiven.run.hosts import Argv, Host


@dataclass(frozen=True)
class Library:
    """stacks: those of its probe. package: what runs it, on Debian; headers: what vaiven is built with."""

    stacks: tuple[str, ...]
    package: str
    headers: str


HERE = "this machine"
LIBRARIES = {
    "openmpi": Library(
        ("openmpi", "openmpi-nagle", "openmpi-llc", "openmpi:group", *(f"openmpi:{one}" for one in mpi.BROADCASTS)),
        "openmpi-bin",
        "libopenmpi-dev",
    ),
    "mpich": Library(("mpich", "mpich:default", "mpich:group"), "mpich", "libmpich-dev"),
    "pvm": Library(
        (*(f"pvm-{mode}" for mode in pvm.MODES), *(f"pvm-{call}" for call in pvm.BROADCASTS)), "pvm", "pvm-dev"
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
        if name not in here:
            brings = f"apt-get install {library.package} {library.headers}, then install vaiven again"
            found |= _absent(library, f"vaiven-probe-{name} is not installed; {brings}")
            continue
        starters = mpi.LIBRARIES[name].names if name in mpi.LIBRARIES else ("pvmd",)
        why = "" if any(map(shutil.which, starters)) else _unstartable(name, HERE, list, str(here[name]))
        found |= {stack: replace(one, absent=one.absent or why) for stack, one in _stacks(name, here).items()}
    return replace(own, stacks=_with_programs(found))


def programs(stacks: Iterable[str], asked: Iterable[str]) -> tuple[str, ...]:
    """The executables of whole programs (questions.Program) that these questions launch on stacks with these ids."""
    wanted = [program for ask in asked if (program := questions.ALL[ask].program)]
    names = [program.executable(stack) for stack in stacks for program in wanted]
    return tuple(dict.fromkeys(filter(None, names)))


def at_hosts(own: collect.Known, members: Collection[Host], wanted: Iterable[str]) -> collect.Known:
    """The same, but what the stacks with these ids need of others is looked for on these hosts, not here.

    A program of others is needed on each of them; what starts the ends of a library on one at least, for the pairs
    without it say so themselves. VaivenError ("host-down").
    """
    own = replace(own, stacks=own.stacks | _startable(own, members, wanted))
    stacks = {name: own.stacks[name] for name in wanted if name in own.stacks and own.stacks[name].program}
    lacking: dict[str, str] = {}
    for host in members if stacks else ():
        found = _programs_of(host, [stack.program for stack in stacks.values()])
        lacking |= {name: host.name for name, stack in stacks.items() if stack.program not in found}
    judged = {
        name: replace(stack, absent=_no_program(lacking[name], stack.program, name) if name in lacking else "")
        for name, stack in stacks.items()
    }
    return replace(own, stacks=own.stacks | judged)


def _startable(own: collect.Known, members: Collection[Host], wanted: Iterable[str]) -> dict[str, Available]:
    """The stacks of libraries among these, as the hosts can start them."""
    found = {}
    native = [host for host in members if not host.here or host.arch in ("", platform.machine())]
    asked = [*filter(lambda host: not host.here, native), *[host for host in native if host.here][:1]]  # here: one disk
    for name in needed(wanted) if asked else ():
        whys = [_unstartable(name, host.name, host.argv, _probe_there(host, name)) for host in asked]
        for stack in LIBRARIES[name].stacks:
            if own.stacks[stack].questions:  # its probe is here
                found[stack] = replace(own.stacks[stack], absent=whys[0] if all(whys) else "")
    return found


def _with_programs(stacks: Mapping[str, Available]) -> dict[str, Available]:
    """The same, which know how to find out what of a whole program is not here: that takes a process for each."""
    why = functools.cache(_why_not)
    return {name: replace(stack, lacking=functools.partial(_lacking, why, name)) for name, stack in stacks.items()}


def _lacking(why: Callable[[str, str], str], stack: str, ask: str) -> str:
    return "".join(why(executable, ask) for executable in programs([stack], [ask]))


def _why_not(executable: str, ask: str) -> str:
    """Why that executable cannot be started on this machine; "" if it can."""
    program, path = questions.ALL[ask].program, resources.find(executable)
    assert program
    if not path:
        return f"{executable} is not installed; apt-get install {program.package}, then install vaiven again"
    if not shutil.which("ldd"):
        return ""  # what it needs the launch will tell
    needs = child.call(["ldd", str(path)], within_s=20).output.decode(errors="replace")
    missing = [line.split()[0] for line in needs.splitlines() if line.endswith("not found")]
    return f"{executable} needs {', '.join(missing)}; apt-get install {program.package}" if missing else ""


def _probe_there(host: Host, library: str) -> str:
    return (host.libraries.get(library) or (f"vaiven-probe-{library}",))[0]


def _unstartable(library: str, name: str, argv: Argv, probe: str) -> str:
    """Why nobody can start the ends of that library on the host called `name`; "" if somebody can."""
    if library == "pvm":
        missing = not hosts.call(name, argv, ["sh", "-c", "command -v pvmd || true"]).strip()
        return f"{name} has no pvmd; there: apt-get install pvm" if missing else ""
    if "SLURM_JOB_ID" in os.environ:
        return ""  # srun starts them
    try:
        mpi.launcher(mpi.LIBRARIES[library], name, argv, probe)
    except VaivenError as error:
        if error.code != "no-mpi":
            raise
        return f"{error.what}; {error.remedy}"
    return ""


def that_do_not_start(name: str, argv: Argv, found: Mapping[str, tuple[str, ...]]) -> dict[str, VaivenError]:
    """Of these probes on the host of that name: library -> why its one does not start there."""
    errors: dict[str, VaivenError] = {}
    for library, probe in found.items():
        try:
            hosts.call(name, argv, [*probe, "stacks"])
        except VaivenError as error:
            why = f"vaiven-probe-{library} does not start on {name}: {_last_words(error)}"
            errors[library] = VaivenError(why, f"there: apt-get install {LIBRARIES[library].package}", "no-probe")
    return errors


def _last_words(error: VaivenError) -> str:
    """What a command said that failed, without the host's name (hosts.down)."""
    return error.what.partition(": ")[2]


def _programs_of(host: Host, names: Iterable[str]) -> set[str]:
    """Those of these programs that it has."""
    command = ["sh", "-c", 'for p; do command -v "$p" >/dev/null && echo "$p"; done; true', "sh", *names]
    return set(hosts.call(host.name, host.argv, command).decode(errors="replace").split())


def _stacks(name: str, here: Mapping[str, Path]) -> dict[str, Available]:
    """A probe that does not start has no library here: it came ready-made, or the library went."""
    try:
        return collect.stacks(hosts.call("here", list, [str(here[name]), "stacks"]), name).stacks
    except VaivenError as error:
        brings = f"apt-get install {LIBRARIES[name].package}"
        return _absent(LIBRARIES[name], f"vaiven-probe-{name} does not start: {_last_words(error)}; {brings}")


def _with_program(name: str, stack: Available) -> Available:
    """A stack that is programs of others; its Debian package is called as it is."""
    if not stack.program or shutil.which(stack.program):
        return stack
    return replace(stack, absent=_no_program(HERE, stack.program, name))


def _no_program(where: str, program: str, package: str) -> str:
    return f"{where} has no program {program}; there: apt-get install {package}"


def _absent(library: Library, why: str) -> dict[str, Available]:
    return {stack: Available(Limits(0, 0), (), absent=why) for stack in library.stacks}
