# SPDX-License-Identifier: BSD-3-Clause
"""What others would have said of broadcasts, computed from times that are known."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.store import query
from vaiven.store.record import Cell, DesignRecord, HostsPlace, LaunchRecord, Manifest, Record


@pytest.fixture(scope="module")
def said(bench: dict[str, ModuleType]) -> ModuleType:
    return bench["said"]


def test_a_sender_that_returns_early_makes_all_but_the_last_too_small(said):
    # The sender is gone after 2 ms, the second rank has it after 6, the third, which came 1 ms late, after 10.
    began = np.tile([0.0, 0.0, 1e6], (14, 1))
    ended = np.tile([2e6, 6e6, 10e6], (14, 1))
    numbers = {name: said.SAID[name](said.Broadcasts(began, ended)) / 1e6 for name in said.SAID}
    assert list(numbers.values()) == pytest.approx([10, (2 + 6 + 9) / 3, 2, 9, 2, 10])


def test_the_lowest_trial_is_lower_than_the_median(said):
    ended = np.array([[0.0, ns] for ns in (5, 5, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9)])
    told = said.Broadcasts(np.zeros_like(ended), ended)
    assert said.lowest(told) == 5 and said.until_last(told) == 9


def test_a_recorded_fanout_knows_its_receivers_but_not_its_sender(said, tmp_path: Path):
    with Record.create(tmp_path, manifest()) as record:
        for launch, size in enumerate((1000, 2000)):
            times = {"": [30, 50], "to:1": [10, 20], "to:2": [30, 50]}
            cells = [Cell(ask="fanout", size_bytes=size, ns=[launch + ns for ns in each], part=part)
                     for part, each in times.items()]  # fmt: skip
            record.add(LaunchRecord(launch=launch, block=launch, stack="udp", near="a", far="b", ask="fanout"), cells)
    run = query.open_run(record.path)
    told = said.of_run(run)
    assert told.ended_ns[:, 1:].tolist() == [[11, 31], [21, 51]]  # of the larger message
    assert said.until_last(told) == 41 and said.average(told) == 28.5 and np.isnan(said.sender(told))
    assert said.of_run(run, size_bytes=1000).ended_ns[:, 1:].tolist() == [[10, 30], [20, 50]]
    assert "| the sender's own stopwatch | - |" in said.table(told)
    with pytest.raises(VaivenError, match="no such fanout"):
        said.of_run(run, stack="tcp")


def test_lines_of_the_program_are_read(said):
    began = 5 * 10**17  # a clock of many digits: what counts is not lost in a float
    lines = [f"{i} {rank} {began + i} {began + i + 7 + rank}" for i in range(3) for rank in range(2)]
    told = said.of_lines("\n".join(lines))
    assert told.last_ns.tolist() == [8, 8, 8] and told.own_ns.tolist() == [7, 8]


@pytest.mark.needs("mpicc.openmpi", "mpirun.openmpi")
def test_every_rank_of_the_program_tells_its_times(said, tmp_path: Path):
    program = tmp_path / "said"
    subprocess.run(["mpicc.openmpi", "-o", program, said.HERE / "said.c"], check=True)
    command = [shutil.which("mpirun.openmpi") or "", "--allow-run-as-root", "--oversubscribe", "-n", "3"]
    done = subprocess.run([*command, program, "1000", "4"], check=True, capture_output=True, text=True)
    told = said.of_lines(done.stdout)
    assert told.began_ns.shape == (4, 3) and (told.own_ns > 0).all()
    assert said.least(told) <= said.average(told) <= said.most(told)


def manifest() -> Manifest:
    return Manifest(
        title="one for many", plan_name="", plan_text="", plan={}, design=DesignRecord(), place=HostsPlace(),
        hosts={}, link=None, versions={}, environment={},
    )  # fmt: skip
