# SPDX-License-Identifier: BSD-3-Clause
"""Who cries wolf: the decision rules of bench/rules.py on identical programs, and on programs made slower.

    python bench/wolf.py [DIRECTORY...] [--page] [--lab NAME] [--runs N] [--loaded] [--trials N] [--seed N]

Each directory is given as many runs as it lacks, all of one plan with nothing changed between them, and then judged:
two launches or runs that differ by nothing are compared by every rule, and the same with every time of one of them
made 5, 10 and 20 % longer. With --loaded another program comes and goes while the missing runs are measured. Without
a directory the launches are made up (selftest), which needs no lab. `make bench-aa` prints these tables; with --page
all of them are one, as on docs/wolf.md, made-up launches last.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import repeat
from selftest import NOISY, sampled

from rules import EACH, HISTORY, RULES, Reads, Rule
from vaiven.errors import VaivenError
from vaiven.stats.arrays import Floats
from vaiven.store import query
from vaiven.store.query import Run

RUNS = 12  # eight of them are a history, and twelve times one of the others is the run that is judged
LAUNCHES = 26  # of each stack in a run: 13 blocks of two sides
SAMPLES = 60
SLOWER = (1.05, 1.10, 1.20)
OURS_MOST = 0.02  # false alarms of a rule of ours that promises 1 %
BLOCKS_MIN = 8  # fewer pairs can never reach 1 %
MADE_UP_CELLS = 60
MADE_UP_DAY = 0.02  # by how much whole runs differ
_DRAWS = 8  # ways of dealing the same launches, or runs, to two sides

_PLAN = """
title = "identical programs, {beside}"
lab = "{lab}"
stacks = ["udp", "tcp", "eth"]
sizes = [8, 1448, 4096, 10000]
pairs = [["{lab}1", "{lab}2"]]
seed = 1
[effort]
samples = {samples}
cell_ms = 1000
[stop]
launches_min = {launches}
launches_max = {launches}
level = 0.5
"""
_ALONE, _BESIDE = "nothing of ours beside them", "beside a load that comes and goes"
_LOAD = """
import os, random, sys, time
draw, parent = random.Random(1), int(sys.argv[1])
while os.getppid() == parent:
    until = time.monotonic() + draw.uniform(0, 2)
    while time.monotonic() < until:
        pass
    time.sleep(draw.uniform(0, 2))
"""
_GIVEN = {
    Reads.LAUNCH: "two launches", Reads.HALVES: "launches, halves", Reads.BLOCKS: "launches, in turns",
    Reads.PAIR: "two runs", Reads.HISTORY: "a run, 8 before", Reads.WHOLE: "a run, 8 before",
    Reads.RUNS: "5 and 5 runs",
}  # fmt: skip
Sides = tuple[Any, Any]  # what a rule reads
Cells = Sequence[Floats] | Floats  # (runs, launches, samples) each


@dataclass(frozen=True)
class Cried:
    """Of `trials` comparisons of a cell the rule called so many different: of identical programs, and of those made
    SLOWER."""

    rule: Rule
    trials: int
    false: int
    found: tuple[int, ...]

    @property
    def share(self) -> float:
        return self.false / self.trials


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("directories", nargs="*", type=Path, metavar="DIRECTORY", help="of runs of identical programs")
    options.add_argument("--lab", default="free", help="where missing runs are measured: free or demo")
    options.add_argument("--runs", type=int, default=RUNS, help=f"that a directory shall have, at least {HISTORY + 2}")
    options.add_argument("--loaded", action="store_true", help="measure beside a load that comes and goes")
    options.add_argument("--trials", type=int, default=1000, help="comparisons by each rule, at most")
    options.add_argument("--seed", type=int, default=1, help="of what is drawn by lot")
    options.add_argument("--page", action="store_true", help="one table of all, and of made-up launches")
    given = options.parse_args()
    if given.runs < HISTORY + 2:
        options.error(f"{HISTORY} runs are a history, and {EACH} and {EACH} are two sides: at least {HISTORY + 2}")
    found: dict[str, list[Cried]] = {}
    for directory in given.directories:
        record(directory, given.lab, given.runs, given.loaded)
        runs = ended(directory)
        found[directory.name] = tried(times(runs), given.trials, given.seed)
        print(f"\n{title(runs)}\n" if given.page else f"\n{title(runs)}\n\n{table(found[directory.name])}")
    if given.page or not given.directories:
        found["made up"] = tried(made_up(given.seed), given.trials, given.seed)
        print(page(found) if given.page else f"made-up launches\n\n{table(found['made up'])}")
    return 0


def record(directory: Path, lab: str, wanted: int, loaded: bool) -> None:
    """Measures as many identical runs as the directory lacks. Each is a whole `vaiven measure`."""
    plan = _PLAN.format(lab=lab, beside=_BESIDE if loaded else _ALONE, samples=SAMPLES, launches=LAUNCHES)
    directory.mkdir(parents=True, exist_ok=True)
    with load(loaded):
        for number in range(len(ended(directory)), wanted):
            spent_s, made = repeat.measure(plan, directory)
            print(f"run {number + 1} of {wanted}: {made.name}, {spent_s:.0f} s", file=sys.stderr)


@contextmanager
def load(wanted: bool) -> Iterator[None]:
    """While it lasts another program works and rests for up to 2 s each, if that is wanted; it ends with this one."""
    if not wanted:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", _LOAD, str(os.getpid())]) as busy:
        try:
            yield
        finally:
            busy.kill()


def ended(directory: Path) -> list[Run]:
    """The whole runs of a directory, oldest first."""
    found = query.runs(directory / "runs")
    return [run for run in found if not isinstance(run, VaivenError) and run.end is not None]


def times(runs: Sequence[Run]) -> list[Floats]:
    """For each cell (runs, launches, samples) round trips in ns, of the first so many that every launch has."""
    whole = [_launches(run) for run in runs]
    return [_even([run[cell] for run in whole]) for cell in sorted(set.intersection(*(set(run) for run in whole)))]


def _even(runs: Sequence[Sequence[Sequence[int]]]) -> Floats:
    """Runs of launches of samples, each cut to the shortest."""
    launches = min(len(run) for run in runs)
    samples = min(len(ns) for run in runs for ns in run)
    return np.array([[ns[:samples] for ns in run[:launches]] for run in runs], dtype=float)


def _launches(run: Run) -> dict[tuple[str, int], list[list[int]]]:
    """(stack, size) -> the samples of each launch, in order."""
    key = ["launch", "stack", "size_bytes"]
    known = query.launches(run).select(key)
    table = query.samples(run).filter(sentinel=False).drop_nulls("ns").join(known, on=key, how="semi").sort("seq")
    found: dict[tuple[str, int], list[list[int]]] = {}
    for _, stack, size, ns in table.group_by(key).agg("ns").sort(key).iter_rows():
        found.setdefault((stack, size), []).append(ns)
    return found


def made_up(seed: int, cells: int = MADE_UP_CELLS, runs: int = RUNS) -> Floats:
    """The same of launches that are made up to be as unpleasant as real ones, in runs that differ as days do."""
    rng = np.random.default_rng(seed)
    machine = replace(NOISY, sizes_bytes=np.array([64]))
    ns = sampled(machine, cells * runs * LAUNCHES, SAMPLES, rng).reshape(cells, runs, LAUNCHES, SAMPLES)
    return ns * np.exp(MADE_UP_DAY * rng.standard_normal((cells, runs, 1, 1)))


def tried(cells: Cells, trials: int, seed: int) -> list[Cried]:
    """Every rule on those times, (runs, launches, samples) of each cell."""
    found = []
    for rule in RULES:
        rng = np.random.default_rng(seed)
        sides = list(_SIDES[rule.reads](cells, rng))
        at_once = len(cells) if rule.reads is Reads.WHOLE else 1
        chosen = [sides[i] for i in rng.permutation(len(sides))[: -(-trials // at_once)]]
        called = [sum(_called(rule, first, second, by) for first, second in chosen) for by in (1.0, *SLOWER)]
        found.append(Cried(rule, at_once * len(chosen), called[0], tuple(called[1:])))
    return found


def _called(rule: Rule, first: Any, second: Any, by: float) -> int:
    """How often that rule says "different" when the second side is slower. One cell at a time is slower where it judges
    all at once, for what they have in common it says of the run."""
    if rule.reads is not Reads.WHOLE:
        return int(rule.differs(first, by * second))
    if by == 1:
        return int(np.sum(rule.differs(first, second)))
    slowed = ([by * cell if this == n else cell for this, cell in enumerate(second)] for n in range(len(second)))
    return sum(bool(rule.differs(first, cells)[n]) for n, cells in enumerate(slowed))


def _launch_each(cells: Cells, _rng: np.random.Generator) -> Iterator[Sides]:
    for run in _runs(cells):
        yield from zip(run[0:-1:2], run[1::2], strict=True)


def _halves(cells: Cells, _rng: np.random.Generator) -> Iterator[Sides]:
    for run in _runs(cells):
        half = len(run) // 2
        yield run[:half], run[half : 2 * half]


def _blocks(cells: Cells, rng: np.random.Generator) -> Iterator[Sides]:
    """Two neighbours are a block; the lot says which of them is of which side. None where there are too few blocks."""
    for run in _runs(cells):
        half = len(run) // 2
        for _ in range(_DRAWS if half >= BLOCKS_MIN else 0):
            first = 2 * np.arange(half) + rng.integers(0, 2, half)
            yield run[first], run[first ^ 1]


def _run_each(cells: Cells, _rng: np.random.Generator) -> Iterator[Sides]:
    for cell in cells:
        yield from pairwise(cell)


def _history(cells: Cells, rng: np.random.Generator) -> Iterator[Sides]:
    """Each run is judged once by HISTORY of the others, drawn by lot: not in order of time."""
    for cell in cells:
        for judged in range(len(cell)):
            others = rng.permutation(np.delete(np.arange(len(cell)), judged))
            yield cell[others[:HISTORY]], cell[judged]


def _whole(cells: Cells, rng: np.random.Generator) -> Iterator[Sides]:
    """The same of all cells at once."""
    runs = len(cells[0])
    for judged in range(runs):
        others = rng.permutation(np.delete(np.arange(runs), judged))[:HISTORY]
        yield [cell[others] for cell in cells], [cell[judged] for cell in cells]


def _runs_each(cells: Cells, rng: np.random.Generator) -> Iterator[Sides]:
    for cell in cells:
        for _ in range(_DRAWS):
            drawn = rng.permutation(len(cell))
            yield cell[drawn[:EACH]], cell[drawn[EACH : 2 * EACH]]


_SIDES: dict[Reads, Callable[[Cells, np.random.Generator], Iterator[Sides]]] = {
    Reads.LAUNCH: _launch_each, Reads.HALVES: _halves, Reads.BLOCKS: _blocks, Reads.PAIR: _run_each,
    Reads.HISTORY: _history, Reads.WHOLE: _whole, Reads.RUNS: _runs_each,
}  # fmt: skip


def _runs(cells: Cells) -> Iterator[Floats]:
    """(launches, samples) of every cell of every run."""
    for cell in cells:
        yield from cell


def title(runs: Sequence[Run]) -> str:
    """What was measured where, and how busy the machine was when each run began."""
    first = runs[0].manifest
    loads = [host.get("load_milli", 0) / 1000 for run in runs for host in run.manifest.hosts.values()]
    where, host = first.plan.get("lab", "hosts"), next(iter(first.hosts.values()), {})
    processor = (host.get("cpu") or {}).get("model", "unknown processor")
    return (
        f"{len(runs)} runs on `{where}`, {first.title}: {processor}, {os.cpu_count()} "
        f"processors, load {min(loads, default=0):.1f} to {max(loads, default=0):.1f}"
    )


def table(found: Sequence[Cried]) -> str:
    """Markdown: false alarms, those that the rule should have, and what it finds of slowed programs."""
    slower = " | ".join(f"finds +{100 * (by - 1):.0f} %" for by in SLOWER)
    lines = [f"| rule | reads | should | cries wolf | {slower} |", "|---" * (4 + len(SLOWER)) + "|"]
    for one in found:
        should = "-" if one.rule.nominal is None else f"{100 * one.rule.nominal:.2g} %"
        shares = " | ".join(f"{100 * count / one.trials:.0f} %" if one.trials else "-" for count in one.found)
        false = f"**{100 * one.share:.1f} %** of {one.trials}" if one.trials else "too few launches"
        lines.append(f"| {one.rule.name} | {one.rule.reads.value} | {should} | {false} | {shares} |")
    return "\n".join(lines)


def page(found: Mapping[str, Sequence[Cried]]) -> str:
    """The same of several, side by side, by what they are called: as docs/wolf.md has them."""
    slower = ", ".join(f"+{100 * (by - 1):.0f}" for by in SLOWER)
    head = "".join(f" {name}: cries wolf | finds {slower} % |" for name in found)
    lines = [f"| rule | is given | should |{head}", "|---" * (3 + 2 * len(found)) + "|"]
    for row in zip(*found.values(), strict=True):
        rule = row[0].rule
        should = "-" if rule.nominal is None else f"{100 * rule.nominal:.2g} %"
        lines.append(f"| {rule.name} | {_GIVEN[rule.reads]} | {should} | {' | '.join(map(_told, row))} |")
    return "\n".join(lines)


def _told(one: Cried) -> str:
    """Two fields: how often it cries wolf, and what it finds."""
    if not one.trials:
        return "too few launches | -"
    return f"**{100 * one.share:.1f} %** | {', '.join(f'{100 * count / one.trials:.0f}' for count in one.found)}"


if __name__ == "__main__":
    sys.exit(main())
