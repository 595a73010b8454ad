# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven run`, `vaiven stacks` and plans with MPI stacks, as a user gives them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from vaiven.store import query

from ..joined import LAB, until

Vaiven = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char host[64];
  int rank, ranks, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  gethostname(host, sizeof host);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d of %d on %s: %s, sum %d\\n", rank, ranks, host, argv[1], sum);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a lab file, where runs go, and labs that nobody else sees."""
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("VAIVEN_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab.toml").write_text(LAB)
    return tmp_path


@pytest.mark.parametrize(("stack", "compiler"), [("openmpi", "mpicc.openmpi"), ("mpich", "mpicc.mpich")])
def test_a_program_runs_as_it_is_one_rank_on_each_host(vaiven: Vaiven, here: Path, stack: str, compiler: str) -> None:
    (here / "program.c").write_text(PROGRAM)
    subprocess.run([compiler, "program.c", "-o", "program"], check=True)
    done = vaiven("run", "--lab", "./lab.toml", "--stack", stack, "--", "./program", "--word")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {n} of 2 on m{n + 1}: --word, sum 1" for n in (0, 1)]


def test_its_exit_status_is_ours(vaiven: Vaiven, here: Path) -> None:
    done = vaiven("run", "--hosts", "localhost", "--stack", "openmpi", "--", "sh", "-c", "exit 3")
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("words", "told", "status"),
    [
        (["--stack", "openmpi", "-n", "3", "--", "true"], "3 ranks on 2 hosts", 1),
        (["--stack", "opnmpi", "--", "true"], "did you mean openmpi?", 1),
        (["--stack", "openmpi"], "which program?", 2),
    ],
)
def test_what_cannot_be_run_is_refused(vaiven: Vaiven, here: Path, words: list[str], told: str, status: int) -> None:
    done = vaiven("run", "--lab", "./lab.toml", *words)
    assert done.returncode == status and told in done.stderr


COMPILERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}


@pytest.mark.parametrize(("stack", "other", "said"), [
    ("openmpi", "mpich", "built with MPICH: started by the launcher of Open MPI, each of its ranks is alone"),
    ("mpich", "openmpi", "built with Open MPI: started by the launcher of MPICH, each of its ranks is alone"),
])  # fmt: skip
def test_a_program_of_the_other_library_is_refused(
    vaiven: Vaiven, here: Path, stack: str, other: str, said: str
) -> None:
    (here / "program.c").write_text(PROGRAM)
    subprocess.run([COMPILERS[other], "program.c", "-o", "program"], check=True)
    done = vaiven("run", "--hosts", "localhost", "--stack", stack, "--", "./program", "--word")
    assert done.returncode == 1 and done.stdout == ""
    assert said in done.stderr and f"--stack {other}, or build it with the mpicc of" in done.stderr


def test_a_program_of_intel_mpi_is_told_so(vaiven: Vaiven, here: Path) -> None:
    """It has the name that MPICH's library has, and says in itself what it is."""
    (here / "library.c").write_text('const char *MPI_Init(void) { return "Intel(R) MPI Library, MPICH Version"; }')
    (here / "program.c").write_text("extern char *MPI_Init(void);\nint main(void) { return !MPI_Init(); }")
    subprocess.run(["cc", "-shared", "-fPIC", "library.c", "-o", "libmpi.so.12"], check=True)
    subprocess.run(["cc", "program.c", "./libmpi.so.12", "-Wl,-rpath,$ORIGIN", "-o", "program"], check=True)
    done = vaiven("run", "--hosts", "localhost", "--stack", "mpich", "--", "./program")
    assert done.returncode == 1 and "./program is built with Intel MPI" in done.stderr
    assert "build it with the mpicc of MPICH" in done.stderr


@pytest.mark.parametrize(
    ("stack", "hidden", "said"),
    [
        ("openmpi", ("mpirun", "mpiexec", "mpirun.openmpi"), "localhost has no mpirun.openmpi"),
        ("mpich", ("mpirun", "mpiexec", "mpiexec.mpich", "mpiexec.hydra"), "localhost has no mpiexec.hydra"),
        ("pvm", ("pvmd",), "localhost has no pvmd"),
    ],
)
def test_a_launcher_that_is_missing_is_named_with_its_package(
    vaiven: Vaiven, here: Path, monkeypatch: pytest.MonkeyPatch, stack: str, hidden: tuple[str, ...], said: str
) -> None:
    programs = here / "bin"
    programs.mkdir()
    for program in Path("/usr/bin").iterdir():
        if program.name not in hidden:
            (programs / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))
    done = vaiven("run", "--hosts", "localhost", "--stack", stack, "--", "true")
    package = {"openmpi": "openmpi-bin"}.get(stack, stack)
    assert (done.returncode, done.stderr) == (1, f"vaiven: {said}\n  there: apt-get install {package}\n")


# The ranks wait for one another, and rank 1 does what it is told, for a message that never comes otherwise.
WAITING = """\
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank;
  char byte;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("begun"), fflush(stdout);
  if (rank == 1) sleep(1); /* a launcher that is told to abort passes no more output on */
  if (rank == 1 && strcmp(argv[1], "killed") == 0) raise(SIGKILL);
  if (rank == 1 && strcmp(argv[1], "aborts") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(argv[1], "fails") != 0) MPI_Recv(&byte, 1, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return rank == 1 ? 7 : 0;
}
"""


@pytest.fixture
def waiting(here: Path) -> Callable[[str], str]:
    """WAITING of a library: where it is. Nothing of it may be left at the end."""
    (here / "waiting.c").write_text(WAITING)

    def call(stack: str) -> str:
        subprocess.run([COMPILERS[stack], "waiting.c", "-o", "waiting"], check=True)
        return str(here / "waiting")

    yield call
    until(lambda: subprocess.run(["pgrep", "-f", str(here / "waiting")], stdout=subprocess.DEVNULL).returncode == 1)


@pytest.mark.parametrize("stack", COMPILERS)
@pytest.mark.parametrize(("what", "status"), [("killed", None), ("aborts", 5), ("fails", 7)])
def test_a_rank_that_fails_ends_the_program_with_its_status(
    vaiven: Vaiven, waiting: Callable[[str], str], stack: str, what: str, status: int | None
) -> None:
    done = vaiven("run", "--lab", "./lab.toml", "--stack", stack, "--", waiting(stack), what)
    assert done.stdout.startswith("begun")
    assert done.returncode == status if status else done.returncode > 128, done.stderr


@pytest.mark.parametrize("stack", COMPILERS)
@pytest.mark.parametrize(("where", "tell"), [(("--lab", "./lab.toml"), os.kill), (("--hosts", "localhost"), os.killpg)])
def test_ctrl_c_ends_the_program_wherever_it_runs(
    waiting: Callable[[str], str], stack: str, where: tuple[str, str], tell: Callable[[int, int], None]
) -> None:
    """A terminal tells all of its processes, `kill` this one alone."""
    command = [sys.executable, "-m", "vaiven", "run", *where, "--stack", stack, "--", waiting(stack), "waits"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as run:
        assert run.stdout.readline() == b"begun\n"
        tell(run.pid, signal.SIGINT)
        assert run.wait(60) == 130


def test_a_slurm_allocation_without_srun_says_so(vaiven: Vaiven, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("PATH", str(here))
    (here / "sh").symlink_to("/bin/sh")
    done = vaiven("run", "--hosts", "localhost", "--stack", "openmpi", "--", "true")
    assert done.returncode == 1 and "SLURM_JOB_ID=7), and there is no srun" in done.stderr


@pytest.mark.slow
def test_one_plan_interleaves_sockets_and_both_libraries(vaiven: Vaiven, here: Path) -> None:
    wanted = ["tcp", "openmpi", "mpich"]
    where = ["--lab", "./lab.toml", "--stacks", ",".join(wanted), "--sizes", "8,1000"]
    done = vaiven("measure", *where, "--quick", "--no-page")
    assert done.returncode == 0, done.stderr
    (run,) = query.runs(here / "runs")
    found = query.launches(run)
    assert set(found["stack"]) == set(wanted) and found.height == 8 * 3 * 2
    assert set(found["corrupt"]) == {0} and found["wire_bytes"].min() > 0


def test_the_stacks_are_listed_with_what_they_need(vaiven: Vaiven) -> None:
    known = json.loads(vaiven("stacks", "--json").stdout)["stacks"]
    assert "mpirun" in known["openmpi"]["needs"] and "mpiexec.hydra" in known["mpich"]["needs"] and "tcp" in known
    listed = " ".join(vaiven("stacks").stdout.split())
    assert all(f"needs {' '.join(known[stack]['needs'].split())}" in listed for stack in ("openmpi", "mpich"))
