# SPDX-License-Identifier: BSD-3-Clause
"""Whole programs as launches: over each library on hosts of a lab, and programs that fail in every way there is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven import questions, resources
from vaiven.plan import stack as stacks
from vaiven.plan.design import Available
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort, Side
from vaiven.run import jobs, place
from vaiven.run.launchers import Outcome, Setting
from vaiven.run.place import Place

from ..joined import hosts_of

pytestmark = pytest.mark.lab
MPI = pytest.mark.needs("mpirun.openmpi", "mpiexec.hydra")
PROBLEMS = [
    pytest.param("fft", "openmpi", 1 << 12, marks=MPI),
    pytest.param("fft", "openmpi-llc", 1 << 12, marks=MPI),
    pytest.param("fft", "mpich", 1 << 12, marks=MPI),
    pytest.param("matmul", "openmpi:group", 60, marks=MPI),
    pytest.param("matmul", "group", 60),
    pytest.param("matmul", "pvm-direct-raw", 60, marks=pytest.mark.needs("pvmd")),
]
EFFORT = Effort(samples=4, samples_min=2, cell_ms=5000, launch_s=60)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts j1 to j3."""
    with hosts_of(lab_text("jobs-test", 3, prefix="j"), tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="module")
def known() -> dict[str, Available]:
    """The stacks that are here."""
    return place.known_stacks().stacks


@pytest.fixture
def launched(known, three: Place) -> Callable[..., Outcome]:
    """launched("fft", "openmpi", 4096): such a launch on the three hosts; other: of the effort."""

    def call(ask: str, stack: str, *numbers: int, sides: tuple[Side, ...] = (), **other: int) -> Outcome:
        program = questions.ALL[ask].program
        assert program
        sizes = tuple(map(program.size_bytes, numbers))
        side = sides[0].name if sides else ""
        work = Launch(0, 0, replace(stacks.parse(stack), side=side), ask, "j1", "j2+j3", sizes)
        effort = Effort(**{name: getattr(EFFORT, name) for name in EFFORT.__struct_fields__} | other)
        near, *fars = three.hosts.values()
        return jobs.launch(work, near, fars, Setting(known, effort, None, 0.0, sides=sides), lambda cell: None)

    return call


@pytest.mark.parametrize(("ask", "stack", "number"), PROBLEMS)
def test_a_program_becomes_cells(launched: Callable[..., Outcome], ask: str, stack: str, number: int) -> None:
    outcome = launched(ask, stack, number if ask == "matmul" else 9 * number)
    assert outcome.failure is None
    parts = {cell.part: cell for cell in outcome.cells}
    assert list(parts) == ["", "to:0", "to:1", "to:2", "computing", "communicating"]
    assert {(cell.ask, len(cell.ns)) for cell in outcome.cells} == {(ask, 4)}
    assert list(parts[""].ns) == [max(each) for each in zip(*(parts[f"to:{n}"].ns for n in range(3)), strict=True)]
    assert outcome.hello["ranks"] == 3 and outcome.hello["error"] < 1e-4


def test_each_size_is_a_job_of_its_own_and_time_bounds_it(launched: Callable[..., Outcome]) -> None:
    outcome = launched("matmul", "group", 30, 300, samples=1000, cell_ms=1)
    assert outcome.failure is None
    whole = {cell.size_bytes: len(cell.ns) for cell in outcome.cells if cell.whole}
    assert list(whole) == [8 * 30**2, 8 * 300**2] and whole[8 * 300**2] == 2


RECORD = {"type": "matmul", "n": 30, "ranks": 3, "whole_ns": [5], "computing_ns": [2], "communicating_ns": [3],
          "each_ns": [[4], [5], [4]], "error": 0}  # fmt: skip
WRONG = [
    ({}, "exit 3", "probe-gone", "vaiven-matmul-group on j[123] ended with status 3"),
    ({}, "echo vaiven-matmul: the result is wrong >&2; exit 1", "probe-gone", "the result is wrong"),
    ({}, "exit 0", "no-cell", "no cell for 7200 bytes"),
    ({"n": 31}, "exit 0", "no-cell", "no cell for 7200 bytes"),
    ({"ranks": 1, "each_ns": [[5]]}, "exit 0", "another-mpi", "3 processes were started, .* that they are 1"),
    ({"whole_ns": None}, "exit 0", "bad-record", "without times"),
    ({"whole_ns": ["5"]}, "exit 0", "bad-record", "is not one"),
    ({"n": "thirty"}, "exit 0", "bad-record", "without what it should say"),
    ({"n": 30}, "sleep 60", "too-long", "longer than launch_s = 1"),
]


@pytest.mark.parametrize(("said", "then", "code", "words"), WRONG)
def test_what_goes_wrong_is_told_and_nothing_is_left(
    launched: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    said: dict[str, object], then: str, code: str, words: str,
) -> None:  # fmt: skip
    """By a program that prints a record, or none, and ends in some way."""
    line = f"echo '{json.dumps(RECORD | said)}'" if said else "true"
    program = tmp_path / "vaiven-matmul-group"
    program.write_text(f'#!/bin/sh\necho "$VAIVEN_KEY_FILE" >>"$0.keys"\n[ "$VAIVEN_RANK" != 0 ] || {line}\n{then}\n')
    program.chmod(0o755)
    monkeypatch.setenv("VAIVEN_NATIVE", str(tmp_path))
    outcome = launched("matmul", "group", 30, launch_s=1)
    assert outcome.failure is not None and outcome.failure.code == code
    with pytest.raises(type(outcome.failure), match=words):
        raise outcome.failure
    keys = (tmp_path / "vaiven-matmul-group.keys").read_text().split()
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(program).encode() in _read(path)]
    assert left == [] and keys and not Path(keys[0]).exists()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_its_side_is_around_it(
    launched: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "vaiven-matmul-group"
    record = json.dumps(RECORD | {"color": "COLOR"}).replace('"COLOR"', "'\"$COLOR\"'")
    program.write_text(f"#!/bin/sh\n[ $VAIVEN_RANK != 0 ] || echo '{record}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("VAIVEN_NATIVE", str(tmp_path))
    outcome = launched("matmul", "group", 30, sides=(Side("red", environment={"COLOR": '"red"'}), Side("blue")))
    assert outcome.failure is None and outcome.hello["color"] == "red"


def test_a_program_is_told_how_much_is_wanted() -> None:
    size_bytes = questions.FFT_PROGRAM.size_bytes(4096)
    work = Launch(0, 0, stacks.parse("mpich"), "fft", "a", "b", (size_bytes,))
    (command,) = jobs.commands(work, Effort(samples=5000, samples_min=2000, cell_ms=70))
    assert command == ["vaiven-fft-mpich", "--points", "4096", "--times", "1000", "--times-min", "1000",
                       "--within-ms", "70"]  # fmt: skip


def test_a_host_of_another_machine_has_none(launched: Callable[..., Outcome], known, three: Place) -> None:
    near, *fars = (replace(host, arch="s390x") for host in three.hosts.values())
    work = Launch(0, 0, stacks.parse("group"), "matmul", "j1", "j2+j3", (7200,))
    outcome = jobs.launch(work, near, fars, Setting(known, EFFORT, None, 0.0), lambda cell: None)
    assert outcome.failure is not None and outcome.failure.code == "no-program"


def test_what_it_is_called_is_what_is_installed() -> None:
    """Where this machine can build them all."""
    names = {one.executable(stack) for ask in questions.PROGRAMS if (one := questions.ALL[ask].program)
             for stack in ("openmpi-llc", "mpich", "group", "pvm-direct-raw", "pvm-mcast", "tcp")}  # fmt: skip
    assert names == {"", "vaiven-fft-openmpi", "vaiven-fft-mpich", "vaiven-matmul-openmpi", "vaiven-matmul-mpich",
                     "vaiven-matmul-group", "vaiven-matmul-pvm"}  # fmt: skip
    if "CI" in os.environ:
        assert [name for name in names if name and not resources.find(name)] == []
