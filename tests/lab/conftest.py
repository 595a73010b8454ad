# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of labs share: a private place for their records, and labs that are taken down at the end."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vaiven.lab import lab as labs
from vaiven.lab import topology
from vaiven.lab.hosts import LabHost
from vaiven.lab.lab import Lab


@pytest.fixture
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state directory of the test's own, so that `down --all` cannot touch anybody's labs; emptied at the end."""
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    yield tmp_path / "state" / "vaiven"
    labs.down_all()


@pytest.fixture
def raise_lab(state_dir: Path) -> Callable[..., Lab]:
    """Raises a lab from the text of its file, or a ready one by name: raise_lab("free", "other")."""

    def call(text: str, instance: str | None = None) -> Lab:
        return labs.up(topology.parse(text) if "\n" in text else topology.ready(text), instance)

    return call


@pytest.fixture
def on() -> Callable[..., str]:
    """Runs a command on a host and answers its output: on(host, "ping", "-c1", "h2"). Fails if the command fails."""

    def call(host: LabHost, *command: str, timeout_s: float = 60) -> str:
        done = subprocess.run(host.argv(command), capture_output=True, text=True, timeout=timeout_s, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    return call
