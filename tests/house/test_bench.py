# SPDX-License-Identifier: BSD-3-Clause
"""Every case of the bench makes its rows, from made-up measurements: who changes what they share hears of it here.

Nothing is measured and no lab is raised: only what asks the world is replaced.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace

import msgspec
import numpy as np
import pytest
from tests.store import made

from vaiven.measuring.plans import preview
from vaiven.plan import order, schema
from vaiven.run.remaining import Remaining
from vaiven.store import query
from vaiven.store.record import End, Record

BENCH = Path(__file__).resolve().parents[2] / "bench"
HOST = SimpleNamespace(address="10.1.0.1", argv=list)
LAB = SimpleNamespace(hosts=[HOST] * 4)


class Ranks:
    """A group whose messages take no time."""

    def __init__(self) -> None:
        self._spent_ns = 0

    def cast(self, _size: int) -> float:
        return 0.01

    def groups(self, _many: int) -> float:
        return 0.5

    def processor_ns(self) -> int:
        self._spent_ns += 1000
        return self._spent_ns

    def leave(self) -> None:
        pass


class Flood:
    """A program that floods until it is asked for the second time whether it has ended."""

    def __init__(self, *_, **__) -> None:
        self._asked = 0
        self.stdout = SimpleNamespace(readline=str, read=lambda: "sent 100")

    def poll(self) -> int | None:
        self._asked += 1
        return None if self._asked == 1 else 0


@pytest.fixture(scope="module")
def run() -> ModuleType:
    """bench/run.py, which finds its neighbours as `python bench/run.py` does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        import run

        yield run
    for name in [path.stem for path in BENCH.glob("*.py")]:
        sys.modules.pop(name, None)


def group_made_up(run: ModuleType, monkeypatch: pytest.MonkeyPatch, counter: itertools.count, ranks) -> None:
    """What the cases of `group` would measure."""
    monkeypatch.setattr(run.group, "built", lambda *_, **__: Path("program"))
    monkeypatch.setattr(run.group, "_ranks", ranks)
    monkeypatch.setattr(run.group, "_own_port", lambda *_: "1")
    monkeypatch.setattr(run.exchange, "_taken", lambda *_: [[(100.0 + n, 110.0, n % 3)] for n in range(9)])
    monkeypatch.setattr(run.group, "_total", lambda _counts: 1000 * next(counter))
    monkeypatch.setattr(run.group, "_openings", lambda _lab, _program, rounds: [10.0 + n for n in range(rounds)])
    monkeypatch.setattr(run.group, "_round_trips", lambda *_: [(110.0 + n, 100.0) for n in range(7)])
    monkeypatch.setattr(run.group, "_simulated", lambda *_: ({"busiest_overhead_percent": 1.0}, 1.0, 1.0))
    monkeypatch.setattr(run.group.subprocess, "Popen", Flood)
    monkeypatch.setattr(run.group.faults, "change", lambda *_: None)
    monkeypatch.setattr(run.group.faults, "cure", lambda *_: None)


def served_made_up(run: ModuleType, monkeypatch: pytest.MonkeyPatch, counter: itertools.count) -> None:
    """What the cases of programs that are served would measure."""
    where = SimpleNamespace(hosts={f"host{n}": HOST for n in range(8)})

    @contextmanager
    def hosts(_lab, _count=0):
        yield where

    @contextmanager
    def installed():
        yield SimpleNamespace(mpich=Path("mpich"), intel=Path("intel"), script=Path("script"), lengths=Path("lengths"))

    def job(_where, _stack, command, *_):
        if command[0] == "matmul":
            tokens = f'{{"wrong": 0, "token_ns": [9, 8, 9], "whole_ns": [{next(counter)}, 9, 999], '
            return tokens + f'"communicating_ns": [900, {500 + next(counter)}], "predicted_ns": 500}}'
        if command[0] == "env":
            return "".join(f"{size} {100 + next(counter)}\n" for size in run.wheels.SIZES)
        if command[0] == "osu_bcast":
            return f"{command[-1].partition(':')[0]} 99 9 {100 + next(counter)} 20\n"
        return f"{command[1]} {100 + next(counter)}"

    monkeypatch.setattr(run.manners.jobs, "hosts", hosts)
    monkeypatch.setattr(run.manners.jobs, "hosts_of", hosts)
    monkeypatch.setattr(
        run.manners.jobs, "pingpong", lambda _where, _stack, sizes, _: {n: [50 + n + next(counter)] for n in sizes}
    )
    monkeypatch.setattr(run.manners.jobs, "built", lambda *_: Path("program"))
    monkeypatch.setattr(run.manners.jobs, "job", job)
    monkeypatch.setattr(run.manners.jobs, "of_group", lambda *words: job(words[0], "group", words[1]))
    monkeypatch.setattr(run.manners.jobs, "fanout_ns", lambda _where, _stack, sizes, *_: {n: 50.0 + n for n in sizes})
    monkeypatch.setattr(run.matmul.resources, "program", lambda _name: Path("matmul"))
    monkeypatch.setattr(run.wheels, "installed", installed)
    monkeypatch.setattr(run.wheels, "imb", lambda *_, **__: {n: 100.0 + next(counter) for n in run.wheels.SIZES})


@pytest.fixture
def made_up(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """What each case would measure."""
    counter = itertools.count()

    @contextmanager
    def raised(_name):
        yield LAB

    def samples(_lab, _size):
        return np.linspace(100.0, 110.0, run.latency.EXCHANGES)

    def cells(_lab, _stack, question, *_):
        sizes = question[question.index("--sizes") + 1].split(",")
        times = {"rtt_ns": [100, 110], "cpu_near_ns": 5, "cpu_far_ns": 6}
        return [{"size_bytes": int(size), **times} for size in sizes]

    def measure(_plan, scratch):
        (scratch / "end.json").write_text("{}")
        return 10.0, scratch

    def medians(what, _seed):
        keys = itertools.product(what.stacks, what.receivers or (1,), what.sizes)
        return {key: {block: 100.0 + block for block in range(what.launches)} for key in keys}

    def points(*_):
        return np.array([8.0, 100.0, 1000.0]), np.array([50.0, 60.0, 150.0]) + next(counter)

    def program(command, **_):
        return subprocess.CompletedProcess(command, 0, "one\t1.0\t1.0\n" * 7)

    @contextmanager
    def ranks(*_):
        yield Ranks()

    def launch_medians(_runs):
        return [np.random.default_rng(next(counter)).normal(100, 1, (2 * run.sides.LAUNCHES, 12))]

    def strangers(asks, launches, share):
        return [run.strangers.Warned(ask, "udp", launches, launches if share else 0) for ask in asks]

    for name in ("vaiven_ns", "netpipe_ns", "vaiven_openmpi_ns", "netpipe_openmpi_ns", "sockperf_ns"):
        monkeypatch.setattr(run.latency, name, samples)
    monkeypatch.setattr(run, "raised", raised)
    monkeypatch.setattr(run.labs, "up", lambda *_, **__: LAB)
    monkeypatch.setattr(run.labs, "down", lambda _lab: None)
    group_made_up(run, monkeypatch, counter, ranks)
    served_made_up(run, monkeypatch, counter)
    monkeypatch.setattr(run, "_seconds", lambda _command: 0.1)
    monkeypatch.setattr(run.check, "run", lambda _lab: SimpleNamespace(rows=[]))
    monkeypatch.setattr(run, "worst", lambda _report: 0.5)
    monkeypatch.setattr(run.llc.ends, "cells", cells)
    monkeypatch.setattr(run.repeat, "measure", measure)
    monkeypatch.setattr(run.repeat, "_points", points)
    monkeypatch.setattr(run.repeat, "_netpipe", lambda _lab: (1.0, *points()))
    monkeypatch.setattr(run.broadcast, "medians", medians)
    monkeypatch.setattr(run.data.subprocess, "run", program)
    monkeypatch.setattr(run.days, "recorded", lambda scratch, _seed: (scratch, ["first", "second"]))
    monkeypatch.setattr(run.days, "_seconds", lambda _command: 1.0)
    monkeypatch.setattr(run.foretold, "_timed", lambda *_: (10.0, 12.0))
    monkeypatch.setattr(run.served, "loops", lambda *_: {"bcast 8 B": 100.0 + next(counter), "barrier 0 B": 9.0})
    monkeypatch.setattr(run.served, "_by_group", lambda *_: {"bcast 8 B"})
    monkeypatch.setattr(run.sides.query, "open_run", lambda path: path)
    monkeypatch.setattr(run.sides.between, "medians", launch_medians)
    monkeypatch.setattr(run.strangers, "counted", strangers)
    monkeypatch.setattr(run.witness, "Witnesses", lambda: SimpleNamespace(end=lambda: None))


IMB = """\
# Bcast
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0           20         0.02         0.04         0.03
         1000           20       101.50       202.25       151.00

# All processes entering MPI_Finalize
"""


def test_what_intels_benchmark_prints_is_read(run: ModuleType) -> None:
    """Its t_max, in ns; headings and what stands around them is none of it."""
    assert run.wheels.of_table(IMB) == {0: pytest.approx(40), 1000: pytest.approx(202_250)}


OSU = """\
# HOST/POSIX_MEMALIGN: allocated 1000 bytes at 0x7f4f0c4fe000

# OSU MPI Broadcast Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1000                   58.26              9.10             60.25          20
"""


def test_what_osus_benchmark_prints_is_read(run: ModuleType) -> None:
    """Its Max Latency, in ns, of whichever library somebody has it."""
    assert run.wheels.of_table(OSU) == {1000: pytest.approx(60_250)}
    given = run.parser().parse_args(["--osu", "mpich=/opt/a=b/osu_bcast"])
    assert given.osu == [("mpich", Path("/opt/a=b/osu_bcast"))]
    for wrong in ("osu_bcast", "lam=osu_bcast", "mpich="):
        with pytest.raises(SystemExit):
            run.parser().parse_args(["--osu", wrong])


def test_every_rank_of_a_job_of_the_library_is_started_by_the_whole_command(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def job(_members, count, commands):
        yield [list(commands[rank]) for rank in range(count)]

    monkeypatch.setattr(run.manners.jobs.group, "job", job)
    where = SimpleNamespace(hosts={"a": HOST, "b": HOST})
    assert run.manners.jobs.of_group(where, ["echo", "two words"]) == "two words\n"


def test_every_case_makes_its_rows(run: ModuleType, made_up: None) -> None:
    for name, case in run.CASES.items():
        rows = case(run.parser().parse_args([name, "--rounds", "7", "--osu", "mpich=osu_bcast"]))
        assert rows and all(isinstance(row, run.Ratio) for row in rows), name
        assert run.table(rows).count("\n") == len(rows) + 1
        assert [row.what for row in rows if not np.isfinite([row.middle, row.low, row.high]).all()] == []


def test_launches_that_never_worked_are_not_foretold(run: ModuleType, tmp_path: Path) -> None:
    """Their time was promised, and nobody spent it."""
    plan = schema.parse(
        'title = "A"\nlab = "free"\nhosts = ["free1", "free2"]\nstacks = ["tcp", "udp"]\nseed = 1\nsizes = [8]\n'
    )
    design, ground = preview(plan)
    block = order.block(design, 0)
    left_s = Remaining(design, plan, ground).left_s([one for one in block if one.stack.id == "tcp"])
    said = {}
    for name in ("all", "udp"):
        manifest = msgspec.structs.replace(made.manifest(), plan=msgspec.to_builtins(plan))
        with Record.create(tmp_path / name, manifest) as record:
            for one in block:
                if name == "all" or one.stack.id == "udp":
                    record.add(made.launch(one.number, one.stack.name), [made.cell(8, [1000] * 3)])
            record.end(End(reason="done", blocks=1, launches=len(record.finished), failed=0, half_width=None, cell=""))
        said[name] = run.foretold.of_launches(query.open_run(record.path), 80.0, 80.0)
    assert said["all"] == 80.0 and said["udp"] == pytest.approx(80.0 - left_s) and left_s > 0
