# SPDX-License-Identifier: BSD-3-Clause
"""Runs against runs: sides with what each run says, as tables of one row a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from vaiven.errors import VaivenError
from vaiven.model.numbers import percent_text, several_text
from vaiven.results import pairing, rows
from vaiven.stats import runs as statistics
from vaiven.stats.arrays import Floats
from vaiven.stats.runs import RUNS_ADVISED, p_least
from vaiven.stats.verdict import Rules
from vaiven.store import history, query
from vaiven.store.medians import medians, stacked
from vaiven.store.query import Run


@dataclass(frozen=True, eq=False)
class Side:
    """runs: oldest first, each of them whole. column: the statistic of a launch that is looked at. tables: for each run
    its medians of that (store.medians), read once. notes: a sentence for each run that is not among them."""

    runs: tuple[Run, ...]
    column: str
    tables: tuple[pl.DataFrame, ...]
    notes: tuple[str, ...] = ()


def named(names: Sequence[str], root: Path, column: str) -> Side:
    """The side of the runs that were named for it, without those that cannot be read.

    Raises VaivenError ("same-run"): one is named twice; of a name that means no run what query.find says.
    """
    runs: list[Run] = []
    notes = []
    for name in names:
        try:
            runs.append(query.find(name, root))
        except VaivenError as error:
            if error.code not in ("run-damaged", "run-older", "run-newer"):
                raise
            notes.append(f"not compared: {error.what}")
    for run in runs:
        if [one.id for one in runs].count(run.id) > 1:
            raise VaivenError(f"{run.id} is named twice", "name each run once", code="same-run")
    return side(sorted(runs, key=history.made_at), column, notes)


def side(runs: Sequence[Run], column: str, notes: Sequence[str] = (), required: Sequence[Run] = ()) -> Side:
    """Those runs with what they say, but for those whose cells cannot be read, which are notes after the others.

    Raises VaivenError where a run of `required` cannot be read.
    """
    kept, tables, left_out = [], [], list(notes)
    for run in runs:
        try:
            tables.append(medians(run, column))
            kept.append(run)
        except VaivenError as error:
            if run in required:
                raise
            left_out.append(f"not compared: {error.what}")
    return Side(tuple(kept), column, tuple(tables), tuple(left_out))


def require_sides(before: Sequence[Run], after: Sequence[Run], rules: Rules) -> None:
    """VaivenError: "same-run" on both sides; "too-few-runs" to reach alpha, whatever they hold."""
    both = {run.id for run in before} & {run.id for run in after}
    if both:
        raise VaivenError(f"{min(both)} is on both sides", "name each run once", code="same-run")
    least = p_least(len(before), len(after)) if before and after else 1.0
    if least > rules.alpha:
        needed = next(n for n in range(1, 1000) if p_least(n, n) <= rules.alpha)
        raise VaivenError(
            f"{len(before)} and {len(after)} runs can never reach {100 * rules.alpha:g} %: were all times of one side "
            f"longer, chance alone would do that in {100 * least:.2g} % of cases",
            f"{needed} and {needed} runs at the least, {RUNS_ADVISED} and {RUNS_ADVISED} to find a change of 5 %; "
            "of one run each `vaiven compare EARLIER LATER` says what their history allows",
            code="too-few-runs",
        )


def table_of(side: Side, ask: str) -> pl.DataFrame:
    """One row per (run, cell), as `rows.launches` has one per launch: `launch` and `block` are the number of the run.

    The cells that a run lacks, or of which it has no such statistic, are not there. Raises VaivenError
    ("nothing-measured"): no run has that question.
    """
    whole = stacked(side.tables, side.column)
    return rows.one_way(pairing.require_asked(side.runs[-1], whole, ask)).drop_nulls(side.column)


def history_of(earlier: Run, later: Run, root: Path) -> tuple[list[Run], list[str]]:
    """The runs like the earlier one up to it, and it, oldest first; and sentences on what was left out."""
    found = history.like(earlier, root)
    return [run for run in found.runs if run.id != later.id], list(found.left_out)


def notes(before: Side, after: Side, table: pl.DataFrame) -> Iterator[str]:
    """What must be known of the sides: what differs in each of them, and which runs stand out before, by that table."""
    for name, one in (("before", before), ("after", after)):
        *others, last = map(history.settings, one.runs)
        if unlike := dict.fromkeys(setting for other in others for setting in history.changes(other, last)):
            yield f"the runs {name} are not alike: they differ in {several_text(list(unlike), 5)}"
    yield from standing_out(before, table)


def standing_out(side: Side, table: pl.DataFrame) -> Iterator[str]:
    """The runs that are unlike the others of their side as a whole, by the table of that side."""
    for row, ratio in statistics.standing_out(grid(table, len(side.runs), side.column)):
        word = "slower" if ratio > 1 else "faster"
        yield f"{side.runs[row].id} stands out: {percent_text(abs(ratio - 1))} {word} than the others as a whole"


def grid(table: pl.DataFrame, runs: int, column: str) -> Floats:
    """(runs, cells) of a table of runs: the cells that all of them have."""
    key = ["near", "far", "fars", "stack", "size_bytes"]
    whole = table.select(*key, "launch", column).pivot("launch", index=key, values=column).drop_nulls()
    columns = [str(number) for number in range(runs)]
    return whole.select(columns).to_numpy().T if set(columns) <= set(whole.columns) else np.empty((runs, 0))
