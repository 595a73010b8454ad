# SPDX-License-Identifier: BSD-3-Clause
"""The manual's way to a group of all ranks of an MPI job (docs/howto/group.md), as it stands there."""

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


@pytest.mark.parametrize("library", mpi.LIBRARIES)
def test_the_ranks_of_a_job_open_a_group_as_the_manual_says(two: Place, tmp_path: Path, library: str) -> None:
    page = (ROOT / "docs/howto/group.md").read_text()
    (tmp_path / "open_group.c").write_text(
        re.search(r"<!-- file: open_group.c -->\n```c\n(.*?)^```", page, re.S | re.M)[1]
    )
    (tmp_path / "use.c").write_text(USE)
    paths = ["-I", str(ROOT / "src"), "-I", str(ROOT / "include")]
    command = [f"mpicc.{library}", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-pthread", "-D_GNU_SOURCE", *paths]
    subprocess.run([*command, "use.c", "open_group.c", *sources(), "-o", "use"], cwd=tmp_path, check=True)
    ranks = [mpi.Rank(host, (str(tmp_path / "use"), host.interface)) for host in two.hosts.values()] * 2
    lines = ended(library, ranks, mpi.manner(Stack(library), ranks))
    assert lines == [f"rank {n}: once for everybody" for n in range(4)]
