# SPDX-License-Identifier: BSD-3-Clause
"""MPI's own launchers: the command that starts ranks on hosts, one job for each launch of an MPI stack.

Each library has words of its own for the same wishes: use TCP over these interfaces and nothing else, even between
hosts that share a memory (or LLC, by a component of ours, src/mpi/btl); broadcast by multicast (src/mpi/coll); start
on other hosts through this remote shell; do not bind, the probe does that itself.
Hosts of a lab are entered through `rsh`; other hosts must reach each other over ssh, as MPI wants it anyway.
Ranks of MPICH, whatever their program is, preload what ends them well (src/mpi/ends.c).
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.plan.stack import Stack
from vaiven.run import hosts, rsh
from vaiven.run.hosts import Argv, Host

ENDS = "vaiven-mpich-ends.so"
LLC = "mca_btl_llc.so"
GROUP = {"openmpi": "mca_coll_group.so", "mpich": "vaiven-mpich-group.so"}  # what all get goes by multicast
_PLACES = "OMPI_MCA_mca_base_component_path"  # where Open MPI looks for components
RAW = "vaiven-raw"  # starts a rank with CAP_NET_RAW, where root has given that to it
FILES = {"mpich": (ENDS, GROUP["mpich"]), "openmpi": (LLC, GROUP["openmpi"])}  # of ours, for ranks of a library
# Open MPI's broadcast algorithms: their number in the component coll tuned, and whether they cut a message in segments.
BROADCASTS = {
    "default": (0, False), "linear": (1, False), "chain": (2, True), "pipeline": (3, True), "split-binary": (4, True),
    "binary": (5, True), "binomial": (6, False), "knomial": (7, False), "scatter-allgather": (8, False),
    "scatter-ring": (9, False),
}  # fmt: skip
_SEGMENT_BYTES = "8192"  # the best of a search on a 100 Mb/s switch; unsegmented, these are no faster than linear

# Prints the path of the library's launcher and what it says of its version: the one that lies with the library that the
# program $2 holds, if that is none of the system's (a wheel's, a module's), else the first of the others that is one.
_FIND = r"""wanted=$1 program=$(command -v "$2"); shift 2
prefix=$(ldd "$program" 2>/dev/null | sed -n 's|.* => \(/.*\)/lib/libmpi\.so.*|\1|p')
case $prefix in "" | /usr) ;; *) set -- "$prefix/bin/mpirun" "$prefix/bin/mpiexec" "$@" ;; esac
for name in "$@"; do
  said=$("$name" --version 2>&1) || continue
  case $said in *"$wanted"*) command -v "$name"; printf '%s\n' "$said"; exit ;; esac
done
echo none"""

# Prints which of the words behind $1 are in the MPI library that the program $1 holds: none for a script, nor for what
# is linked statically.
_HOLDS = r"""program=$(command -v "$1") || exit 0; shift
library=$(ldd "$program" 2>/dev/null |
  sed -n 's|^\(.* => \)\{0,1\}[[:space:]]*\(.*/libmpi\(ch\)\{0,1\}\.so[.0-9]*\) (0x.*|\2|p' | head -n 1)
if [ "$library" ]; then for words; do grep -qaF "$words" "$library" && echo "$words"; done; fi; true"""
# Starts the program with its arguments by vaiven-raw, if that is in PATH.
_RAW = """if command -v "$0" >/dev/null; then exec "$0" "$@"; else exec "$@"; fi"""
_SAYS = {"Intel(R) MPI Library": "Intel MPI", "Open MPI v": "Open MPI", "MPICH Version": "MPICH"}


@dataclass(frozen=True)
class Rank:
    """What runs on a host. command: with its path there."""

    host: Host
    command: tuple[str, ...]


@dataclass(frozen=True)
class Manner:
    """How a job shall send. nagle: with Nagle's algorithm. yields: a rank that waits lets others run. llc: over LLC
    between hosts, through memory on one; spare: over TCP where that cannot be. group: what all get goes by multicast.

    settings: (name, value) of the library's own, of Open MPI its MCA parameters.
    """

    nagle: bool = False
    yields: bool = False
    llc: bool = False
    spare: bool = False
    group: bool = False
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class _Launcher:
    """A launcher that was found. shell: what it starts daemons with on other hosts, None for its own ssh."""

    path: str
    version: int
    shell: Path | None


@dataclass(frozen=True)
class Library:
    """title: its name in words. names: programs that may be its launcher. says: what that one says of itself.

    package: what brings it. command: of a job by that launcher. environment: the same settings for ranks that srun
    starts, slurm: how. preloads: libraries of ours for every rank; components: those that it loads itself.
    """

    title: str
    names: tuple[str, ...]
    says: str
    package: str
    command: Callable[[_Launcher, Sequence[Rank], Manner], list[str]]
    environment: Callable[[Sequence[Rank], Manner], Mapping[str, str]]
    slurm: str
    preloads: Callable[[Manner], Sequence[str]]
    components: Callable[[Manner], Sequence[str]]


def manner(stack: Stack, ranks: Sequence[Rank]) -> Manner:
    """How the ranks of this stack shall send: they yield where they are more than the processors they share."""
    shared = [rank.host.processors for rank in ranks if rank.host.processors]
    yields = bool(shared) and len(shared) > len(shared[0])
    algorithm = stack.id.partition(":")[2]
    llc, group = stack.id == "openmpi-llc", algorithm == "group"
    return Manner(stack.id.endswith("-nagle"), yields, llc, group=group, settings=_broadcast(algorithm))


def _broadcast(algorithm: str) -> tuple[tuple[str, str], ...]:
    """What makes Open MPI broadcast so; "default" leaves it the choice, and "group" is none of its own."""
    if algorithm in ("", "default", "group"):
        return ()
    number, segmented = BROADCASTS[algorithm]
    forced = (("coll_tuned_use_dynamic_rules", "1"), ("coll_tuned_bcast_algorithm", str(number)))
    return (*forced, ("coll_tuned_bcast_algorithm_segmentsize", _SEGMENT_BYTES)) if segmented else forced


@contextmanager
def job(name: str, ranks: Sequence[Rank], manner: Manner) -> Iterator[list[str]]:
    """The command that runs these ranks of that library, on the host of the first; at the end all of it is gone.

    In a Slurm allocation of ours that is srun.

    VaivenError: "no-mpi" (a host has no launcher of this library), "mpi-version" (it has another one), "host-down",
    "bad-path", "no-program" (a component of ours is not installed).
    """
    library = LIBRARIES[name]
    ranks = [_furnished(library, rank, manner) for rank in ranks]
    allocation = os.environ.get("SLURM_JOB_ID")
    if allocation and ranks[0].host.here:
        if not shutil.which("srun"):
            lacks = f"this is a Slurm allocation (SLURM_JOB_ID={allocation}), and there is no srun"
            raise VaivenError(lacks, "apt-get install slurm-client, or unset SLURM_JOB_ID", code="no-mpi")
        with _slurm_files(ranks) as files:
            yield _srun(library, allocation, files, ranks, manner)
        return
    path, version = _agreed(library, ranks)
    members = list({rank.host.name: rank.host for rank in ranks}.values())
    if not all(host.here for host in members):
        yield library.command(_Launcher(path, version, None), ranks, manner)
        return
    with rsh.serving(members, lambda _host, private: {"TMPDIR": str(private)}) as shell:
        words = library.command(_Launcher(path, version, shell), ranks, manner)
        yield ["env", f"TMPDIR={shell.parent}", *words]


def refuse_program_of_another(name: str, rank: Rank) -> None:
    """VaivenError ("another-mpi") if the program of that rank holds another MPI library than the one of that name:
    each of its ranks would be alone."""
    library, program = LIBRARIES[name], rank.command[0]
    said = hosts.call(rank.host.name, rank.host.argv, ["sh", "-c", _HOLDS, "sh", program, *_SAYS]).decode()
    title = next((title for words, title in _SAYS.items() if words in said.splitlines()), library.title)
    if title == library.title:
        return
    stacks = [other for other, one in LIBRARIES.items() if one.title == title]
    remedy = f"--stack {stacks[0]}, or build" if stacks else "build"
    raise VaivenError(
        f"{program} is built with {title}: started by the launcher of {library.title}, each of its ranks is alone",
        f"{remedy} it with the mpicc of {library.title}",
        code="another-mpi",
    )


def _furnished(library: Library, rank: Rank, manner: Manner) -> Rank:
    """The same with what it needs of ours for that manner, and the interface that leads to the others."""
    preloads, components = library.preloads(manner), library.components(manner)
    assigned = [*_preloaded(preloads, rank.host), *_component_path(components, rank.host)]
    if rank.host.interface:
        assigned += [f"OMPI_MCA_btl_llc_if={rank.host.interface}"] * manner.llc
        assigned += [f"VAIVEN_IFACE={rank.host.interface}"] * manner.group
    if manner.group and (verbose := os.environ.get("VAIVEN_VERBOSE")):
        assigned.append(f"VAIVEN_VERBOSE={verbose}")
        assigned += [f"VAIVEN_LINK_MBPS={rank.host.rate_mbps:g}"] * bool(rank.host.rate_mbps)
    raised = _raised(rank.host) if manner.llc else ()
    return replace(rank, command=("env", *assigned, *raised, *rank.command)) if assigned else rank


def _preloaded(names: Sequence[str], host: Host) -> list[str]:
    """What makes its ranks preload these, behind what the user preloads; nothing on a host of another architecture."""
    paths = [path for name in names if (path := _path_of(name, host))]
    for path in paths:
        if " " in path or ":" in path:
            raise VaivenError(
                f"{path} cannot be preloaded: the loader takes spaces and colons for the end of a name",
                "install vaiven in a directory without them",
                code="bad-path",
            )
    users = os.environ.get("LD_PRELOAD", "") if host.here else ""
    return ["LD_PRELOAD=" + ":".join(filter(None, (users, *paths)))] if paths else []


def _component_path(names: Sequence[str], host: Host) -> list[str]:
    """What makes Open MPI find these there. VaivenError ("no-program")."""
    users = os.environ.get(_PLACES, "") if host.here else ""
    directories = []
    for name in names:
        if not (path := _path_of(name, host)):
            raise VaivenError(f"{host.name} has no {name}", "hosts like this machine, or --stack openmpi", "no-program")
        directories.append(str(Path(path).parent))
    return [f"{_PLACES}=" + ":".join((*dict.fromkeys(directories), users or "SYS_DEFAULT:USER_DEFAULT"))] * bool(names)


def _raised(host: Host) -> tuple[str, ...]:
    """The beginning of a command that is started by vaiven-raw, where the host has it: a copy would not have its
    capability."""
    here = resources.find(RAW) if host.here and host.arch == platform.machine() else None
    return (str(here),) if here else ("sh", "-c", _RAW, RAW)


def _path_of(name: str, host: Host) -> str:
    """Where that library of ours is on that host; "" if its architecture is another one."""
    if host.here and host.arch == platform.machine():
        return str(resources.program(name))
    return host.files.get(name, "")


@contextmanager
def _slurm_files(ranks: Sequence[Rank]) -> Iterator[tuple[Path, Path]]:
    """The files that srun wants: which host for each rank, and which command."""
    with tempfile.TemporaryDirectory(prefix="vaiven-srun-") as private:
        hostfile, programs = Path(private) / "hosts", Path(private) / "programs"
        hostfile.write_text("".join(f"{_node(rank.host)}\n" for rank in ranks))
        programs.write_text("".join(f"{n} {shlex.join(rank.command)}\n" for n, rank in enumerate(ranks)))
        yield hostfile, programs


def _node(host: Host) -> str:
    """What Slurm calls it."""
    return platform.node() if host.name in hosts.LOCAL else host.name


def _srun(
    library: Library, allocation: str, files: tuple[Path, Path], ranks: Sequence[Rank], manner: Manner
) -> list[str]:
    """Inside a Slurm allocation its own launcher starts the ranks, and each finds its settings in its environment."""
    hostfile, programs = files
    assigned = {"SLURM_HOSTFILE": str(hostfile), **library.environment(ranks, manner)}
    words = ["srun", f"--jobid={allocation}", f"--mpi={library.slurm}", "--overlap", "--distribution=arbitrary"]
    words += [f"--nodes={len({rank.host.name for rank in ranks})}", f"--ntasks={len(ranks)}", "--kill-on-bad-exit=1"]
    return ["env", *(f"{key}={value}" for key, value in assigned.items()), *words, "--multi-prog", str(programs)]


def _agreed(library: Library, ranks: Sequence[Rank]) -> tuple[str, int]:
    """(path, major version) of the launcher on the host of the first rank, once all hosts have that version: launchers
    start helpers of their own on the others, and what two versions say of each other is no help. Hosts that run here
    have the same files."""
    first, *others = ranks
    path, version = _found(library, first)
    for other in {rank.host.name: rank for rank in others if not (rank.host.here and first.host.here)}.values():
        if (theirs := _found(library, other)[1]) != version:
            raise VaivenError(
                f"{other.host.name} has {library.names[0]} {theirs}, {first.host.name} has {version}",
                f"the same version of {library.package} on every host",
                code="mpi-version",
            )
    return path, version


def _found(library: Library, rank: Rank) -> tuple[str, int]:
    """(path, major version) of the library's launcher on the host of that rank."""
    return launcher(library, rank.host.name, rank.host.argv, rank.command[0])


def launcher(library: Library, name: str, argv: Argv, program: str) -> tuple[str, int]:
    """(path, major version) of the launcher for that program on the host called `name`. VaivenError ("no-mpi")."""
    command = ["sh", "-c", _FIND, "sh", library.says, program, *library.names]
    said = hosts.call(name, argv, command).decode(errors="replace")
    path, _, version = said.partition("\n")
    number = re.search(r"(\d+)\.\d+", version)
    if path == "none" or not number:
        raise VaivenError(
            f"{name} has no {library.names[0]}", f"there: apt-get install {library.package}", code="no-mpi"
        )
    return path, int(number[1])


def _openmpi(launcher: _Launcher, ranks: Sequence[Rank], manner: Manner) -> list[str]:
    """Open MPI 4 calls its run-time ORTE, from 5 on PRRTE. A rank more than there are slots is no reason to refuse."""
    run, tree, shell = ("mca", "oob_tcp", "rsh") if launcher.version < 5 else ("prtemca", "prte", "ssh")
    interfaces = ",".join(sorted({rank.host.interface for rank in ranks}))
    words = [launcher.path, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    if launcher.shell:
        words += ["--leave-session-attached", f"--{run}", f"plm_{shell}_agent", str(launcher.shell)]
        words += [f"--{run}", f"plm_{shell}_no_tree_spawn", "1", f"--{run}", f"{tree}_if_include", interfaces]
    for name, value in _parameters(ranks, manner).items():
        words += ["--mca", name, value]
    if launcher.version < 5:
        return [*words, *_contexts(ranks, lambda rank: ["-n", "1", "--host", rank.host.name])]
    return [*words, "--map-by", "seq", "--host", ",".join(rank.host.name for rank in ranks), *_by_rank(ranks)]


def _by_rank(ranks: Sequence[Rank]) -> list[str]:
    """A command that is each rank's own: of several contexts Open MPI 5.0.7 dies with PMIx 5.0.7, that of Debian 13."""
    whose: dict[str, list[str]] = {}
    for number, rank in enumerate(ranks):
        whose.setdefault(shlex.join(rank.command), []).append(str(number))
    if len(whose) == 1:
        return list(ranks[0].command)
    cases = " ".join(f"{'|'.join(numbers)}) exec {words};;" for words, numbers in whose.items())
    return ["sh", "-c", f"case $PMIX_RANK in {cases} esac"]


def _parameters(ranks: Sequence[Rank], manner: Manner) -> dict[str, str]:
    """Open MPI's MCA parameters for these wishes."""
    transports = ["llc"] * manner.llc + ["tcp"] * (manner.spare or not manner.llc) + ["vader"] * manner.llc + ["self"]
    found = {"pml": "ob1", "btl": ",".join(transports), **({} if manner.group else {"coll": "^group"})}
    if all(rank.host.interface for rank in ranks):
        found["btl_tcp_if_include"] = ",".join(sorted({rank.host.interface for rank in ranks}))
    found |= {"btl_tcp_use_nagle": str(int(manner.nagle)), "mpi_yield_when_idle": str(int(manner.yields))}
    return found | dict(manner.settings)


def _parameters_as_environment(ranks: Sequence[Rank], manner: Manner) -> dict[str, str]:
    return {f"OMPI_MCA_{name}": value for name, value in _parameters(ranks, manner).items()}


def _mpich(launcher: _Launcher, ranks: Sequence[Rank], manner: Manner) -> list[str]:
    """UCX and OFI are told by the environment, whichever of them this MPICH was built with."""
    names = [rank.host.name if launcher.shell else rank.host.name_elsewhere for rank in ranks]
    words = [launcher.path, "-hosts", ",".join(names)]
    if launcher.shell:
        words += ["-launcher", "rsh", "-launcher-exec", str(launcher.shell)]

    def context(rank: Rank) -> list[str]:
        return ["-n", "1", *(word for pair in _tcp_only(rank.host, manner).items() for word in ("-env", *pair))]

    return [*words, *_contexts(ranks, context)]


def _tcp_only(host: Host, manner: Manner) -> Mapping[str, str]:
    own = {"UCX_NET_DEVICES": host.interface, "FI_TCP_IFACE": host.interface} if host.interface else {}
    yields = {"VAIVEN_YIELD_WHEN_IDLE": "1"} if manner.yields else {}
    wanted = {"UCX_TLS": "tcp,self", "FI_PROVIDER": "tcp", "MPIR_CVAR_NOLOCAL": "1"}
    return {**wanted, **own, **yields, **dict(manner.settings)}


def _contexts(ranks: Sequence[Rank], before: Callable[[Rank], list[str]]) -> list[str]:
    """The ranks' commands, each with its own words before it, as all launchers want them: with colons between."""
    words: list[str] = []
    for rank in ranks:
        words += [":", *before(rank), *rank.command]
    return words[1:]


def _first_of_all(ranks: Sequence[Rank], manner: Manner) -> Mapping[str, str]:
    """One environment for all ranks: their interfaces are called alike."""
    return _tcp_only(ranks[0].host, manner)


LIBRARIES = {
    "openmpi": Library(
        "Open MPI", ("mpirun.openmpi", "mpirun", "mpiexec"), "Open", "openmpi-bin", _openmpi,
        _parameters_as_environment, "pmix", lambda _manner: (),
        lambda manner: (*(LLC,) * manner.llc, *(GROUP["openmpi"],) * manner.group),
    ),
    "mpich": Library(
        "MPICH", ("mpiexec.hydra", "mpiexec.mpich", "mpiexec", "mpirun"), "HYDRA", "mpich", _mpich, _first_of_all,
        "pmi2", lambda manner: (ENDS, *(GROUP["mpich"],) * manner.group), lambda _manner: (),
    ),
}  # fmt: skip
