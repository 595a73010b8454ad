# SPDX-License-Identifier: BSD-3-Clause
"""The launchers of MPI on several machines: found, of one version everywhere, or a host is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaiven.errors import VaivenError
from vaiven.run import mpi
from vaiven.run.hosts import Host


def rank(home: Path, name: str, version: str) -> mpi.Rank:
    """A rank on a machine of its own whose mpirun.openmpi is of that version; without a version it has none."""
    programs = home / name
    programs.mkdir()
    if version:
        (programs / "mpirun.openmpi").write_text(f'#!/bin/sh\necho "mpirun.openmpi (Open MPI) {version}"\n')
        (programs / "mpirun.openmpi").chmod(0o755)
    host = Host(name, "10.0.0.1", "", "", (), lambda words: ["env", f"PATH={programs}", f"/bin/{words[0]}", *words[1:]])
    return mpi.Rank(host, ("probe",))


def test_one_version_everywhere_is_a_job(tmp_path: Path) -> None:
    ranks = [rank(tmp_path, "h1", "4.1.4"), rank(tmp_path, "h2", "4.1.5")]
    with mpi.job("openmpi", ranks, mpi.Manner()) as words:
        assert words[0] == str(tmp_path / "h1" / "mpirun.openmpi")


@pytest.mark.parametrize(
    ("version", "code", "words", "remedy"),
    [
        ("", "no-mpi", "h2 has no mpirun.openmpi", "there: apt-get install openmpi-bin"),
        ("5.0.3", "mpi-version", "h2 has mpirun.openmpi 5, h1 has 4", "the same version of openmpi-bin on every host"),
    ],
)
def test_a_host_without_it_or_with_another_version_is_named(
    tmp_path: Path, version: str, code: str, words: str, remedy: str
) -> None:
    ranks = [rank(tmp_path, "h1", "4.1.4"), rank(tmp_path, "h2", version)]
    with pytest.raises(VaivenError, match=words) as caught, mpi.job("openmpi", ranks, mpi.Manner()):
        pass
    assert (caught.value.code, caught.value.remedy) == (code, remedy)
