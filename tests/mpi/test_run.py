# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven run`, `vaiven stacks` and plans with MPI stacks, as a user gives them."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vaiven.store import query

from ..joined import LAB

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


def ended(vaiven: Vaiven, *words: str) -> subprocess.CompletedProcess[str]:
    """A job that came to its end: one that hangs in MPI_Finalize of MPICH 4.0 (its issue 6596) is given anew, twice."""
    for _ in range(2):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return vaiven(*words, timeout_s=60)
    return vaiven(*words)


@pytest.mark.parametrize(("stack", "compiler"), [("openmpi", "mpicc.openmpi"), ("mpich", "mpicc.mpich")])
def test_a_program_runs_as_it_is_one_rank_on_each_host(vaiven: Vaiven, here: Path, stack: str, compiler: str) -> None:
    (here / "program.c").write_text(PROGRAM)
    subprocess.run([compiler, "program.c", "-o", "program"], check=True)
    done = ended(vaiven, "run", "--lab", "./lab.toml", "--stack", stack, "--", "./program", "--word")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {n} of 2 on m{n + 1}: --word, sum 1" for n in (0, 1)]


def test_its_exit_status_is_ours(vaiven: Vaiven, here: Path) -> None:
    done = vaiven("run", "--hosts", "localhost", "--stack", "openmpi", "--", "sh", "-c", "exit 3")
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--stack", "openmpi", "-n", "3", "--", "true"], "3 ranks on 2 hosts"),
        (["--stack", "opnmpi", "--", "true"], "did you mean openmpi?"),
        (["--stack", "openmpi"], "which program?"),
    ],
)
def test_what_cannot_be_run_is_refused(vaiven: Vaiven, here: Path, words: list[str], told: str) -> None:
    done = vaiven("run", "--lab", "./lab.toml", *words)
    assert done.returncode == 1 and told in done.stderr


def test_one_plan_interleaves_sockets_and_both_libraries(vaiven: Vaiven, here: Path) -> None:
    wanted = ["tcp", "openmpi", "mpich"]
    where = ["--lab", "./lab.toml", "--stacks", ",".join(wanted), "--sizes", "8,1000"]
    done = vaiven("measure", *where, "--quick", "--no-page")
    assert done.returncode == 0, done.stderr
    (run,) = query.runs(here / "runs")
    found = query.launches(run)
    assert set(found["stack"]) == set(wanted) and found.height == 3 * 3 * 2
    assert set(found["corrupt"]) == {0} and found["wire_bytes"].min() > 0


def test_the_stacks_are_listed_with_what_they_need(vaiven: Vaiven) -> None:
    done = vaiven("stacks")
    assert done.returncode == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip() and line[0] != " "}
    assert "mpirun" in lines["openmpi"] and "mpiexec.hydra" in lines["mpich"] and "tcp" in lines
