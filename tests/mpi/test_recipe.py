# SPDX-License-Identifier: BSD-3-Clause
"""The manual's ways to a group of all ranks of an MPI job, or of one with a PMIx, as docs/howto/group.md has them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from vaiven.plan.stack import Stack
from vaiven.run import mpi
from vaiven.run.place import Place

from ..io.engine.conftest import sources
from .test_ends import ended

ROOT = Path(__file__).resolve().parents[2]
USE = """\
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <vaiven/group.h>
struct vv_group *open_group(const char *interface, struct vv_group_problem *problem);
int main(int argc, char **argv) {
  struct vv_group_problem problem;
  char text[32] = "";
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct vv_group *end = open_group(argv[1], &problem);
  if (!end) return puts(problem.text), 1;
  if (rank == 1) strcpy(text, "once for everybody");
  if (vv_group_broadcast(end, 1, text, sizeof text, &problem) != 0) return puts(problem.text), 1;
  printf("rank %d: %s\\n", rank, text);
  vv_group_leave(end);
  MPI_Finalize();
  return 0;
}
"""


USE_PMIX = """\
#include <pmix.h>
#include <stdio.h>
#include <string.h>
#include <vaiven/group.h>
struct vv_group *open_group_pmix(pmix_proc_t *self, const char *address, struct vv_group_problem *problem);
int main(int argc, char **argv) {
  struct vv_group_problem problem = {.text = "no place in a job"};
  char text[32] = "";
  pmix_proc_t self;
  if (argc != 2 || PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS) return puts("no PMIx"), 1;
  struct vv_group *end = open_group_pmix(&self, argv[1], &problem);
  if (!end) return puts(problem.text), 1;
  if (self.rank == 1) strcpy(text, "once for everybody");
  if (vv_group_broadcast(end, 1, text, sizeof text, &problem) != 0) return puts(problem.text), 1;
  printf("rank %u: %s\\n", self.rank, text);
  vv_group_leave(end);
  return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}
"""


def built(place: Path, recipe: str, use: str, *command: str) -> Path:
    """The program of that text over a recipe of the page, in that directory."""
    page = (ROOT / "docs/howto/group.md").read_text()
    (place / recipe).write_text(re.search(rf"<!-- file: {recipe} -->\n```c\n(.*?)^```", page, re.S | re.M)[1])
    (place / "use.c").write_text(use)
    paths = ["-I", str(ROOT / "src"), "-I", str(ROOT / "include")]
    options = ["-std=gnu17", "-Wall", "-Wextra", "-Werror", "-pthread", "-D_GNU_SOURCE", *paths]
    compiler, *flags = command
    subprocess.run([compiler, *options, "use.c", recipe, *sources(), *flags, "-o", "use"], cwd=place, check=True)
    return place / "use"


def built_on_pmix(place: Path) -> Path:
    """The same of a job with a PMIx: its argument is the rank's address."""
    asked = subprocess.run(["pkg-config", "--cflags", "--libs", "pmix"], capture_output=True, text=True, check=True)
    return built(place, "open_group_pmix.c", USE_PMIX, "cc", *asked.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("library", mpi.LIBRARIES)
def test_the_ranks_of_a_job_open_a_group_as_the_manual_says(two: Place, tmp_path: Path, library: str) -> None:
    program = built(tmp_path, "open_group.c", USE, f"mpicc.{library}")
    ranks = [mpi.Rank(host, (str(program), host.interface)) for host in two.hosts.values()] * 2
    lines = ended(library, ranks, mpi.manner(Stack(library), ranks))
    assert lines == [f"rank {n}: once for everybody" for n in range(4)]


@pytest.mark.slow
def test_the_ranks_of_a_job_with_a_pmix_open_a_group_as_the_manual_says(two: Place, tmp_path: Path) -> None:
    program = built_on_pmix(tmp_path)
    ranks = [mpi.Rank(host, (str(program), host.address)) for host in two.hosts.values()] * 2
    lines = ended("openmpi", ranks, mpi.manner(Stack("openmpi"), ranks))
    assert lines == [f"rank {n}: once for everybody" for n in range(4)]
