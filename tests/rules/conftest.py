# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the rules share: a directory of the test's own, labs that nobody else sees, one run measured."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from vaiven.cli.status import Status
from vaiven.lab import lab as labs
from vaiven.lab import topology
from vaiven.lab.lab import Lab
from vaiven.store import query


@dataclass(frozen=True)
class Bench:
    """A directory with lab.toml in it, where `vaiven measure` leaves its runs."""

    path: Path
    vaiven: Callable[..., subprocess.CompletedProcess[str]]

    def write(self, text: str) -> None:
        """The lab that is measured."""
        (self.path / "lab.toml").write_text(text)

    def up(self) -> Lab:
        """Raises it, so that a test can change it; `measure` uses it as it is."""
        return labs.up(topology.load(self.path / "lab.toml"))

    def measure(self, *options: str) -> query.Run:
        """The run of that lab. Fails unless it is carried out, however exactly."""
        done = self.vaiven("measure", "--lab", "./lab.toml", "--no-page", *options)
        assert done.returncode in (Status.OK, Status.CANNOT_TELL), done.stderr
        return query.find("last", self.path / "runs")


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vaiven: Callable[..., subprocess.CompletedProcess[str]]
) -> Iterator[Bench]:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("VAIVEN_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)
    yield Bench(tmp_path, vaiven)
    labs.down_all()


def codes(run: query.Run) -> set[str]:
    """What the run warns of."""
    return {line["code"] for line in query.warnings(run)}
