# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests as a judge of what we carry for an MPI: each file of them as a job, with us and without.

    python -m tests.mpi.judge_mpi4py group|llc [--library LIBRARY] [--loss P] [--only NAME,...]

The module and its tests come from PyPI when they are wanted, and nothing of them is kept. A test that fails with us and
without us says nothing: what counts is the difference. Prints a line for each that differs, and how many there were.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vaiven.run.mpi import Manner
from vaiven.run.place import Place

from ..joined import hosts_of
from .judge import WAYS, Judgement, Way, carried, lab_of, options_of, timed

RANKS = 4
TIME_S = 240  # of one file
_OTHER_PROCESSES = ("dynproc", "spawn")  # started, or met, where no launcher of ours has a hand
_MPICH = "/usr/lib/x86_64-linux-gnu/libmpich.so.12"  # Debian's own name of libmpi.so.12


@dataclass(frozen=True)
class Tests:
    """python: has the module. main: its tests' program. libraries: a directory for the loader."""

    python: Path
    main: Path
    libraries: Path

    def files(self) -> list[str]:
        """Names of its files of tests, without test_ and .py."""
        found = sorted(path.stem.removeprefix("test_") for path in self.main.parent.glob("test_*.py"))
        return [name for name in found if name not in _OTHER_PROCESSES]

    def command(self, name: str, library: str) -> list[str]:
        """What a rank of that library runs for that file."""
        abi = ["env", "VAIVEN_VERBOSE=1", f"MPI4PY_MPIABI={library}", f"LD_LIBRARY_PATH={self.libraries}"]
        return [*abi, str(self.python), str(self.main), "--no-builddir", "-i", f"^test_{name}[.]py$"]


@dataclass(frozen=True)
class Outcome:
    """Of one file: tests that ran, counted at all ranks; names of those that failed at one; why it did not end well."""

    ran: int
    failed: frozenset[str]
    why: str = ""


def fetched(home: Path) -> Tests:
    """The newest release."""
    subprocess.run([sys.executable, "-m", "venv", home / "v"], check=True)
    pip = [home / "v/bin/python", "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", "mpi4py", "numpy"], check=True)
    subprocess.run([*pip, "download", "-q", "--no-deps", "--no-binary", "mpi4py", "-d", home, "mpi4py"], check=True)
    (archive,) = home.glob("mpi4py-*.tar.gz")
    subprocess.run(["tar", "xf", archive, "-C", home], check=True)
    libraries = home / "libraries"
    libraries.mkdir()
    (libraries / "libmpi.so.12").symlink_to(_MPICH)
    return Tests(home / "v/bin/python", next(home.glob("mpi4py-*/test/main.py")), libraries)


def run(tests: Tests, library: str, place: Place, name: str, manner: Manner) -> tuple[Outcome, str]:
    """(what became of that file, what its ranks said)."""
    done = carried(library, place, tests.command(name, library), RANKS, manner, TIME_S)
    counts = re.findall(r"Ran (\d+) tests? in", done.errors)  # anywhere: lines of several ranks may be run together
    failed = frozenset(re.findall(r"(?:FAIL|ERROR): (\S+ \(\S+\))", done.errors))
    why = "the time is up" if done.status is None else "a rank did not say how it ended" if len(counts) < RANKS else ""
    return Outcome(sum(map(int, counts)), failed, why), done.errors


def judge(tests: Tests, library: str, place: Place, names: Sequence[str], way: Way) -> Judgement:
    """Each file with us, and where it fails without us, too."""
    found = Judgement()
    for name in names:
        with timed(name):
            ours, said = run(tests, library, place, name, way.manner)
        found.count_served(said)
        if not (ours.failed or ours.why):
            found.passed += ours.ran
            continue
        without, _ = run(tests, library, place, name, Manner(yields=True))
        new = sorted(ours.failed - without.failed)
        if new or (ours.why and not without.why):
            found.differ.append((" ".join((name, ours.why, *new)), said))
        else:
            found.failed_without += sorted(ours.failed) or [f"{name}: {ours.why}"]
    return found


def main() -> int:
    options = options_of(__doc__.splitlines()[0])
    given = options.parse_args()
    way, differ = WAYS[given.way], 0
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        (home / "state").mkdir()
        tests = fetched(home)
        names = given.only or tests.files()
        for library in given.library or way.libraries:
            with hosts_of(lab_of(given.loss), home / "state") as place:
                found = judge(tests, library, place, names, way)
            found.tell(library, f"{found.passed} tests of {len(names)} files, counted at each of {RANKS} ranks,")
            differ += len(found.differ)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
