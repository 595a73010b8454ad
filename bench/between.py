# SPDX-License-Identifier: BSD-3-Clause
"""What `vaiven compare` says of runs between which nothing was changed, and of the same made slower: all cells at once.

    python bench/between.py DIRECTORY... [--trials N] [--seed N]

Each directory has whole runs of one plan, such as bench/wolf.py records. Their launches are dealt to two sides, as the
sides of one run; the runs to two sides, as before and after; and each run is held against others as its history.
"False" is what is called different although nothing is, "finds" what is called after one side took 5 % longer: in one
cell, or in all of them ("some": a cell, or the run as a whole). Exits 1 where more than 1 % of the cells or 5 % of the
comparisons are false.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import wolf

from vaiven.stats.arrays import Floats
from vaiven.stats.runs import judge_run, weigh_run, whole_run, whole_sides
from vaiven.stats.verdict import Rules, Word, judge, weigh
from vaiven.store import query
from vaiven.store.query import Run

LEVEL = Rules()
SLOWER = 1.05
CELLS_MOST, COMPARISONS_MOST = 0.01, 0.05
BLOCKS_MIN = 8  # fewer pairs can never reach 1 %
Cell = tuple[str, int]  # stack and size
Sides = tuple[Floats, Floats]  # (launches or runs, cells) of the first and of the second; judged is the first


@dataclass(frozen=True)
class Said:
    """Of one comparison: which cells differ, and whether all of it does as a whole."""

    cells: tuple[bool, ...]
    whole: bool

    @property
    def some(self) -> bool:
        return self.whole or any(self.cells)


@dataclass(frozen=True)
class Way:
    """One way to compare: what it is given of all runs' launch medians, each (launches, cells), and what it says."""

    name: str
    sides: Callable[[Sequence[Floats], np.random.Generator], Iterator[Sides]]
    says: Callable[[Floats, Floats], Said]


@dataclass(frozen=True)
class Tried:
    """Shares: of cells and of comparisons that are falsely called different, and of those that are found."""

    way: Way
    comparisons: int
    false_cells: float
    false_some: float
    finds_one: float
    finds_all: float
    finds_some: float

    @property
    def broken(self) -> bool:
        return self.false_cells > CELLS_MOST or self.false_some > COMPARISONS_MOST


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("directories", nargs="+", type=Path, metavar="DIRECTORY", help="of runs of identical programs")
    options.add_argument("--trials", type=int, default=400, help="comparisons in each way, at most")
    options.add_argument("--seed", type=int, default=1, help="of what is drawn by lot")
    given = options.parse_args()
    found = []
    for directory in given.directories:
        runs = wolf.ended(directory)
        here = tried(medians(runs), given.trials, given.seed)
        print(f"\n{wolf.title(runs)}\n\n{table(here)}")
        found += here
    return int(any(one.broken for one in found))


def medians(runs: Sequence[Run]) -> list[Floats]:
    """For each run the medians of its launches, (launches, cells): of the cells, and as many, as all runs have."""
    whole = [dict(_launches(run)) for run in runs]
    cells = sorted(set.intersection(*(set(run) for run in whole)))
    launches = min(len(run[cell]) for run in whole for cell in cells)
    return [np.array([run[cell][:launches] for cell in cells]).T for run in whole]


def _launches(run: Run) -> Iterator[tuple[Cell, list[float]]]:
    table = query.launches(run).drop_nulls("ns_median").sort("launch")
    for (stack, size), rows in table.group_by(["stack", "size_bytes"]):
        yield (str(stack), int(size)), rows["ns_median"].to_list()


def tried(runs: Sequence[Floats], trials: int, seed: int) -> list[Tried]:
    """Every way for which there are enough runs and launches."""
    return [one for way in WAYS if (one := _try(way, runs, trials, seed))]


def two_sides(runs: Sequence[Floats], seed: int) -> Tried:
    """Of launches that were interleaved: each pair of neighbours is dealt to the sides, eight times for each run."""
    found = _try(WAYS[0], runs, 8 * len(runs), seed)
    assert found, f"fewer than {2 * BLOCKS_MIN} launches"
    return found


def _try(way: Way, runs: Sequence[Floats], trials: int, seed: int) -> Tried | None:
    rng = np.random.default_rng(seed)
    sides = list(way.sides(runs, rng))
    chosen = [sides[i] for i in rng.permutation(len(sides))[:trials]]
    if not chosen:
        return None
    same = [way.says(first, second) for first, second in chosen]
    all_slower = [way.says(SLOWER * first, second) for first, second in chosen]
    one_slower = []
    for first, second in chosen:
        cell = int(rng.integers(first.shape[1]))
        longer = np.ones(first.shape[1])
        longer[cell] = SLOWER
        one_slower.append(way.says(first * longer, second).cells[cell])
    return Tried(
        way, len(chosen), float(np.mean([one.cells for one in same])), float(np.mean([one.some for one in same])),
        float(np.mean(one_slower)), float(np.mean([one.cells for one in all_slower])),
        float(np.mean([one.some for one in all_slower])),
    )  # fmt: skip


def _sides_of_a_run(runs: Sequence[Floats], rng: np.random.Generator) -> Iterator[Sides]:
    """Two neighbouring launches are a block, which the lot deals to the sides; several times."""
    for run in runs:
        half = len(run) // 2
        for _ in range(8 if half >= BLOCKS_MIN else 0):
            first = 2 * np.arange(half) + rng.integers(0, 2, half)
            yield run[first], run[first ^ 1]


def _runs_on_each_side(each: int) -> Callable[[Sequence[Floats], np.random.Generator], Iterator[Sides]]:
    def sides(runs: Sequence[Floats], rng: np.random.Generator) -> Iterator[Sides]:
        values = np.array([np.median(run, axis=0) for run in runs])
        for _ in range(400 if len(runs) >= 2 * each else 0):
            drawn = rng.permutation(len(runs))
            yield values[drawn[:each]], values[drawn[each : 2 * each]]

    return sides


def _run_by_lot(before: int) -> Callable[[Sequence[Floats], np.random.Generator], Iterator[Sides]]:
    """Each run against so many of the others, drawn by lot, again and again."""

    def sides(runs: Sequence[Floats], rng: np.random.Generator) -> Iterator[Sides]:
        values = np.array([np.median(run, axis=0) for run in runs])
        for _ in range(400 if len(runs) > before else 0):
            drawn = rng.permutation(len(runs))[: before + 1]
            yield values[drawn[:1]], values[drawn[1:]]

    return sides


def _run_in_time(before: int) -> Callable[[Sequence[Floats], np.random.Generator], Iterator[Sides]]:
    """Each run against those just before it."""

    def sides(runs: Sequence[Floats], _rng: np.random.Generator) -> Iterator[Sides]:
        values = np.array([np.median(run, axis=0) for run in runs])
        for judged in range(before, len(runs)):
            yield values[judged : judged + 1], values[judged - before : judged]

    return sides


def _paired(first: Floats, second: Floats) -> Said:
    found = judge([weigh(a, b, True, LEVEL) for a, b in zip(first.T, second.T, strict=True)], LEVEL)
    return Said(tuple(one.different for one in found), False)


def _permuted(first: Floats, second: Floats) -> Said:
    found = judge([weigh(a, b, False, LEVEL) for a, b in zip(first.T, second.T, strict=True)], LEVEL)
    whole = whole_sides(first, second, LEVEL).word(LEVEL)
    return Said(tuple(one.different for one in found), whole is not Word.INCONCLUSIVE)


def _predicted(first: Floats, second: Floats) -> Said:
    whole = whole_run(second, first[0], LEVEL)
    found = judge_run(weigh_run(second, first[0], LEVEL), whole, LEVEL)
    return Said(tuple(one.different for one in found), whole.word(LEVEL) is not Word.INCONCLUSIVE)


WAYS = (
    Way("two sides of one run", _sides_of_a_run, _paired),
    Way("5 and 5 runs", _runs_on_each_side(5), _permuted),
    Way("8 and 8 runs", _runs_on_each_side(8), _permuted),
    Way("a run against 8 others", _run_by_lot(8), _predicted),
    Way("a run against the 8 before it", _run_in_time(8), _predicted),
    Way("a run against 12 others", _run_by_lot(12), _predicted),
    Way("a run against 19 others", _run_by_lot(19), _predicted),
)


def table(found: Sequence[Tried]) -> str:
    """Markdown, with the bars at the head of their columns."""
    head = f"false cells (<= {CELLS_MOST:.0%}) | false comparisons (<= {COMPARISONS_MOST:.0%})"
    lines = [
        f"| way | comparisons | {head} | finds +5 % in one cell | in all: of the cells | some |", "|---" * 7 + "|",
    ]  # fmt: skip
    for one in found:
        shares = (one.false_cells, one.false_some, one.finds_one, one.finds_all, one.finds_some)
        texts = " | ".join(f"{100 * share:.{2 if n == 0 else 1}f} %" for n, share in enumerate(shares))
        lines.append(f"| {one.way.name} | {one.comparisons} | {texts} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
