# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's test suite as a judge of what we carry for an MPI: its programs as they are, with us and without.

    python -m tests.mpi.judge group|llc [--library LIBRARY] [--loss P] [--rooms coll,comm,...] [--only NAME,...]

`group`: collective operations by multicast; `llc`: all messages of Open MPI over LLC, with no TCP among its transports.

Its source comes from Debian (`apt-get source mpich`) when it is wanted, and nothing of it is kept. A program that fails
with us and without us says nothing: what counts is the difference. Prints a line for each program that differs, and how
many there were.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path

from tests.lab.texts import lab_text

from vaiven.run import mpi
from vaiven.run.mpi import Manner
from vaiven.run.place import Place

from ..joined import hosts_of, processes

TIME_S = 60  # of one program
# Of one that passes without us: beside other work a minute may be short, and what hangs does so for five.
PATIENCE_S = 300
_LATE = "the time is up: "
_SOURCES = Path("/etc/apt/sources.list.d/debian.sources")


@dataclass(frozen=True)
class Program:
    """A line of a list of tests: so many ranks of that file with these arguments.

    says: what it prints where nothing is wrong; "": its exit status is all.
    """

    room: str
    name: str
    ranks: int
    arguments: tuple[str, ...] = ()
    says: str = " No Errors"

    def __str__(self) -> str:
        return " ".join((f"{self.room}/{self.name}", str(self.ranks), *self.arguments))


@dataclass(frozen=True)
class Way:
    """What we carry: how a job is told so, under which libraries, and the rooms that put it to the test."""

    manner: Manner
    libraries: tuple[str, ...]
    rooms: tuple[str, ...]


WAYS = {
    "group": Way(
        Manner(yields=True, group=True),
        tuple(mpi.LIBRARIES),
        ("coll", "comm", "datatype", "threads/comm", "threads/coll"),
    ),
    "llc": Way(Manner(yields=True, llc=True), ("openmpi",), ("pt2pt", "coll", "comm", "datatype")),
}


@dataclass
class Judgement:
    """What came of programs, or of tests: how many passed, which fail without us, too, and which with us alone, with
    what they said. served: operations by group."""

    passed: int = 0
    served: int = 0
    failed_without: list[str] = field(default_factory=list)
    differ: list[tuple[str, str]] = field(default_factory=list)

    def count_served(self, said: str) -> None:
        """Adds the operations that the ranks say went by group."""
        self.served += sum(int(count) for count in re.findall(r"vaiven: (\d+) collective operations among", said))

    def tell(self, library: str, passed: str) -> None:
        """Prints it."""
        without = f"{len(self.failed_without)} fail without us, too"
        print(f"{library}: {passed} pass with us, {without}, {len(self.differ)} differ")
        if self.served:
            print(f"{library}: {self.served} operations went by group")
        for name, said in self.differ:
            print(f"{name} differs:\n{said[-3000:]}")
        for name in self.failed_without:
            print(f"{name} fails without us, too")
        sys.stdout.flush()


def lab_of(loss: float = 0.0) -> str:
    """Four hosts, on a network that loses that share of its frames."""
    faults = f'[[faults]]\nhost = "*"\nkind = "loss"\nprobability = {loss}\n' if loss else ""
    return lab_text("judge", 4, prefix="m") + faults


def fetched(home: Path) -> Path:
    """The suite's directory, by Debian's own sources, with lists of our own."""
    sources = home / "own.sources"
    sources.write_text(_SOURCES.read_text().replace("Types: deb\n", "Types: deb-src\n"))
    for name in ("lists/partial", "cache/archives/partial"):
        (home / name).mkdir(parents=True)
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=/dev/null"]
    apt += ["-o", f"Dir::State::Lists={home}/lists", "-o", f"Dir::Cache={home}/cache", "-o", "APT::Sandbox::User=root"]
    subprocess.run([*apt, "update"], cwd=home, check=True)
    subprocess.run([*apt, "source", "--download-only", "mpich"], cwd=home, check=True)
    (archive,) = home.glob("mpich_*.orig.tar.*")
    subprocess.run(["tar", "xf", archive, "--wildcards", "*/test/mpi/*"], cwd=home, check=True)
    return next(home.glob("*/test/mpi"))


def configured(suite: Path, library: str, home: Path) -> Path:
    """A copy of it for that library; its times are kept, or make would want to make its Makefiles anew."""
    own = home / library
    subprocess.run(["cp", "-a", suite, own], check=True)
    compat = ["CPPFLAGS=-DOMPI_OMIT_MPI1_COMPAT_DECLS=1"] * (library == "openmpi")  # functions that MPI-3 has removed
    options = [*compat, "--disable-fortran", "--disable-cxx", "--disable-spawn", "--enable-strictmpi"]
    _quietly(["./configure", f"MPICC=mpicc.{library}", f"CC=mpicc.{library}", *options], own)
    for part in ("dtpools", "util"):
        _quietly(["make", "-j2", "-C", part], own)
    return own


def build(suite: Path, programs: Collection[Program]) -> list[Program]:
    """Those that can be built: of functions of MPI that this library has not got nobody makes one."""
    for room in {program.room for program in programs}:
        names = sorted({program.name for program in programs if program.room == room})
        _quietly(["make", "-k", "-j2", "-C", room, *names], suite, status=None)
    return [program for program in programs if (suite / program.room / program.name).is_file()]


def _quietly(command: Sequence[str], where: Path, status: int | None = 0) -> None:
    done = subprocess.run(command, cwd=where, capture_output=True, text=True)
    if status is not None and done.returncode != status:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def listed(suite: Path, room: str) -> Iterator[Program]:
    """What its list of tests names, but for programs that want an environment of their own."""
    for line in (suite / room / "testlist").read_text().splitlines():
        words = line.partition("#")[0].split()
        if len(words) < 2 or not words[1].isdigit() or any(word.startswith("env=") for word in words):
            continue
        arguments = tuple(word.removeprefix("arg=") for word in words[2:] if word.startswith("arg="))
        if (suite / room / f"{words[0]}.c").is_file():
            says = "" if any(word.startswith("resultTest=") for word in words) else Program.says
            yield Program(room, words[0], int(words[1]), arguments, says)


@dataclass(frozen=True)
class Done:
    """How a job ended. status: None where the time was up."""

    status: int | None
    output: str
    errors: str


def carried(library: str, place: Place, command: Sequence[str], ranks: int, manner: Manner, time_s: float) -> Done:
    """A job of that command, its ranks dealt out to the hosts; of one that is not done in time no rank is left."""
    hosts = list(place.hosts.values())
    members = [mpi.Rank(hosts[n % len(hosts)], tuple(command)) for n in range(ranks)]
    with mpi.job(library, members, manner) as words:
        argv = hosts[0].argv(words)
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=time_s)
        except subprocess.TimeoutExpired as expired:
            _end(place, command)
            return Done(None, "", (expired.stderr or b"").decode(errors="replace"))
    return Done(done.returncode, done.stdout, done.stderr)


def run(
    suite: Path, library: str, place: Place, program: Program, manner: Manner, time_s: float = TIME_S
) -> tuple[bool, str]:
    """(whether it found nothing wrong, what it said)."""
    command = ("env", "VAIVEN_VERBOSE=1", str(suite / program.room / program.name), *program.arguments)
    done = carried(library, place, command, program.ranks, manner, time_s)
    if done.status is None:
        return False, f"{_LATE}{done.errors[-1000:]}"
    sound = done.status == 0 and program.says in done.output
    return sound, done.output[-2000:] + done.errors[-20000:]


def _end(place: Place, command: Sequence[str]) -> None:
    """Ranks whose launcher is gone would take the processors of those that come after them."""
    program = list(dropwhile(lambda word: word == "env" or "=" in word, command))
    for process, words in processes(place).items():
        if words[: len(program)] == program:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def judge(suite: Path, library: str, place: Place, programs: Collection[Program], way: Way) -> Judgement:
    """Each with us, and where it fails without us, too."""
    found = Judgement()
    for program in programs:
        with timed(str(program)):
            sound, said = run(suite, library, place, program, way.manner)
        without = not sound and run(suite, library, place, program, Manner(yields=True))[0]
        if without and said.startswith(_LATE):
            sound, said = run(suite, library, place, program, way.manner, PATIENCE_S)
        found.count_served(said)
        if sound:
            found.passed += 1
        elif without:
            found.differ.append((str(program), said))
        else:
            found.failed_without.append(str(program))
    return found


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Says on standard error how long that took: with losses a judge works for the better part of an hour."""
    start = time.monotonic()
    yield
    print(f"{name}: {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)


def options_of(description: str) -> argparse.ArgumentParser:
    """What every judge is told."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("way", choices=list(WAYS))
    options.add_argument("--library", choices=list(mpi.LIBRARIES), action="append", help="all that know the way")
    options.add_argument("--loss", type=float, default=0.0)
    options.add_argument("--only", type=lambda names: names.split(","), default=[], help="names, with commas between")
    return options


def main() -> int:
    options = options_of(__doc__.splitlines()[0])
    options.add_argument("--rooms", default="", help="of its test suite, with commas between; those of the way")
    given = options.parse_args()
    way = WAYS[given.way]
    rooms = [*filter(None, given.rooms.split(","))] or way.rooms
    differ = 0
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        (home / "state").mkdir()
        suite = fetched(home)
        for library in given.library or way.libraries:
            own = configured(suite, library, home)
            listing = [one for room in rooms for one in listed(own, room)]
            programs = build(own, [one for one in listing if not given.only or one.name in given.only])
            with hosts_of(lab_of(given.loss), home / "state") as place:
                found = judge(own, library, place, programs, way)
            found.tell(library, f"{found.passed} of {len(programs)} programs")
            differ += len(found.differ)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
