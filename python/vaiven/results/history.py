# SPDX-License-Identifier: BSD-3-Clause
"""All runs of one plan in order of time: where they changed for good, and what was changed there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from vaiven.errors import VaivenError
from vaiven.questions import PLAIN, Compared
from vaiven.results import between
from vaiven.results.between import Side
from vaiven.results.result import Result, columns, flag, integer, number, text
from vaiven.stats.arrays import Floats
from vaiven.stats.runs import standing_out
from vaiven.stats.steps import Step, steps
from vaiven.store import history as stored
from vaiven.store.query import Run

HELD_BY = 0.8  # of the runs: a cell that fewer have is left out, and so is a run that lacks one of the others

Cell = tuple[str, str, str, int]  # near, far, stack, bytes


@dataclass(frozen=True, eq=False, kw_only=True)
class Entry:
    """A run of a history. ns: (cells,) the medians of its launches' medians, one way. whole: mean over all cells of its
    time against the median of all runs. changed: settings that are not those of the run before: name -> (was, is).
    after_step: whether the times changed for good before it. outlier: its ratio to the runs of its part, as a whole,
    where it stands out of them; else None.
    """

    id: str
    created_utc: str
    ns: Floats
    whole: float
    changed: dict[str, tuple[str, str]]
    after_step: bool
    outlier: float | None


Row = tuple[Entry, Cell, float]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class History(Result[Entry]):
    """All runs of a plan, oldest first: one row per run and cell.

    cells: (near, far, stack, size), as the times of each run stand. steps: where they changed for good.
    left_out: sentences on runs and cells that are not among them.
    """

    kind: ClassVar[str] = "history"
    columns: ClassVar = columns(
        text("run", "its id", lambda row: row[0].id),
        text("created_utc", "when it was made", lambda row: row[0].created_utc),
        text("near", "the host that keeps the clock", lambda row: row[1][0]),
        text("far", "the host that answers", lambda row: row[1][1]),
        text("stack", "the way the message travels", lambda row: row[1][2]),
        integer("size_bytes", "payload of a message", lambda row: row[1][3]),
        number("ns", "the median over launches of each launch's median; of a connect there and back",
               lambda row: row[2]),
        number("whole", "mean over all cells of the run of its time against the median of all runs",
               lambda row: row[0].whole),
        flag("after_step", "whether the times changed for good before this run", lambda row: row[0].after_step),
        number("outlier", "where the run stands out of those around it: its ratio to them, as a whole",
               lambda row: row[0].outlier),
        text("changed", "names of the settings that are not those of the run before",
             lambda row: "; ".join(row[0].changed)),
    )  # fmt: skip

    plan: str
    ask: Compared
    cells: tuple[Cell, ...]
    steps: tuple[Step, ...]
    left_out: tuple[str, ...]

    def rows(self) -> Iterable[Row]:
        for one in self:
            yield from ((one, cell, float(ns)) for cell, ns in zip(self.cells, one.ns, strict=True))

    def facts(self) -> dict[str, Any]:
        return {
            "plan": self.plan,
            "ask": self.ask,
            "steps": [
                {"before": self[step.at].id, "p": step.p, "after_earliest": self[step.low - 1].id,
                 "before_latest": self[step.high].id, "ratio": step.whole.value, "ratio_low": step.whole.low,
                 "ratio_high": step.whole.high}
                for step in self.steps
            ],
            "settings": {one.id: {name: list(values) for name, values in one.changed.items()}
                         for one in self if one.changed},
            "left_out": self.left_out,
        }  # fmt: skip


def history(plan: str, root: Path, ask: Compared = PLAIN, stacks: Sequence[str] = ()) -> History:
    """The runs of the plan that have the cells of the latest. VaivenError: "no-run", "nothing-measured", "no-stack"."""
    found = stored.of_plan(plan, root)
    whole = between.side(found.runs, "ns_median", found.left_out)
    if not whole.runs:
        raise VaivenError(f"no run of {plan} can be read", "; ".join(whole.notes), code="no-run")
    return _in_order(whole, plan, ask, stacks)


def of_runs(runs: Sequence[Run]) -> History:
    """Those runs, oldest first, of one plan or of several, by their ping-pongs.

    Raises VaivenError ("nothing-measured"): the latest has no cell that most of the others have; and where one of them
    cannot be read.
    """
    plans = dict.fromkeys(map(stored.plan_of, runs))
    return _in_order(between.side(runs, "ns_median", required=runs), ", ".join(plans), PLAIN, ())


def _in_order(whole: Side, plan: str, ask: Compared, stacks: Sequence[str]) -> History:
    kept, cells, ns, lacking = _cells(whole, ask, stacks)
    settings = [stored.settings(run) for run in kept]
    changed = [
        stored.changes(before, after) for before, after in zip(settings[:1] + settings[:-1], settings, strict=True)
    ]
    stepped = tuple(steps(ns, np.random.default_rng(1)))
    ratios = np.exp((np.log(ns) - np.log(np.median(ns, axis=0))).mean(axis=1))
    begins, outliers = {step.at for step in stepped}, dict(_standing_out(ns, stepped))
    entries = tuple(
        Entry(id=run.id, created_utc=run.manifest.created_utc, ns=ns[row], whole=float(ratios[row]),
              changed=changed[row], after_step=row in begins, outlier=outliers.get(row))
        for row, run in enumerate(kept)
    )  # fmt: skip
    return History(
        runs=tuple(run.id for run in kept), items=entries, plan=plan, ask=ask, cells=cells, steps=stepped,
        left_out=(*whole.notes, *lacking),
    )  # fmt: skip


def _cells(side: Side, ask: str, stacks: Sequence[str]) -> tuple[list[Run], tuple[Cell, ...], Floats, list[str]]:
    """(the runs that are kept, the cells, their medians, sentences on what is left out)."""
    runs, table = side.runs, between.table_of(side, ask)
    known = sorted(set(table["stack"]))
    for name in stacks:
        if name not in known:
            raise VaivenError(f"no run has {name}", f"they have {', '.join(known)}", code="no-stack")
    wanted = set(stacks or known)
    times: list[dict[Cell, float]] = [{} for _ in runs]
    columns = ("near", "far", "stack", "size_bytes", "launch", side.column)
    for near, far, stack, size, run, ns in table.select(columns).iter_rows():
        if stack in wanted:
            times[run][near, far, stack, size] = ns
    of_latest = sorted(times[-1])
    cells = [cell for cell in of_latest if sum(cell in one for one in times) >= HELD_BY * len(runs)]
    if not cells:
        what = f"the latest run of the plan, {runs[-1].id}, has no cell that most of the others have"
        raise VaivenError(what, "name the plan otherwise, or keep its runs elsewhere: --runs", code="nothing-measured")
    kept = [row for row, one in enumerate(times) if all(cell in one for cell in cells)]
    notes = []
    if few := len(of_latest) - len(cells):
        notes.append(f"{few} cell{'s' * (few > 1)} of the latest run left out: most runs do not have them")
    if lost := len(runs) - len(kept):
        notes.append(f"{lost} run{'s' * (lost > 1)} left out: other hosts, stacks or sizes than the latest")
    ns = np.array([[times[row][cell] for cell in cells] for row in kept])
    return [runs[row] for row in kept], tuple(cells), ns, notes


def _standing_out(ns: Floats, steps: Sequence[Step]) -> Iterator[tuple[int, float]]:
    """The runs that are unlike the others between the same steps."""
    edges = [0, *(step.at for step in steps), len(ns)]
    for first, end in pairwise(edges):
        yield from ((first + row, ratio) for row, ratio in standing_out(ns[first:end]))
