# SPDX-License-Identifier: BSD-3-Clause
"""A reader who types the page about `group` as it stands gets a program that runs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.test_commands import run_by, steps

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/howto/group.md"


def free_port() -> int:
    """A port P such that P and P + 1 were free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1] - 1


@pytest.mark.slow
def test_a_program_with_the_library_is_built_and_run_as_the_page_says(tmp_path: Path) -> None:
    venv = tmp_path / "venv"  # as `make` leaves it, without installing anything
    venv.mkdir()
    (venv / "bin").symlink_to(Path(sys.executable).parent)
    (venv / ".meson").touch()
    makeflags = f"-- VENV={venv} LIB={tmp_path / 'build'}"
    environment = os.environ | {"HOME": str(tmp_path), "MAKEFLAGS": makeflags}
    environment.pop("PKG_CONFIG_PATH", None)
    for step in steps(PAGE.read_text()):
        if step.file:
            (tmp_path / step.file).write_text(step.text)
    install, build, ranks = run_by(PAGE.read_text(), Path(__file__).name)
    ranks = ranks.replace("7000", str(free_port()))

    def typed(text: str, where: Path) -> str:
        done = subprocess.run(
            ["bash", "-euc", text], cwd=where, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout

    typed(install, ROOT)
    said = typed(build + ranks, tmp_path)
    assert sorted(said.splitlines()) == [f"rank {rank}: once for everybody" for rank in range(3)]
    meeting = f"127.0.0.1:{free_port()}"
    several = "\n".join(f"./several 3 {rank} 127.0.0.1 {meeting} &" for rank in range(3)) + "\nwait\n"
    said = typed(build.replace("many", "several") + several, tmp_path)
    notes = ["for rank 2", "for rank 1", "for rank 2"]
    assert sorted(said.splitlines()) == [f"rank {rank}: for all, {note}" for rank, note in enumerate(notes)]
    said = typed((build + several).replace("many", "collect").replace("several", "collect"), tmp_path)
    assert sorted(said.splitlines()) == [f"rank {rank}: 3000 and 2" for rank in range(3)]
