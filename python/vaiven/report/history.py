# SPDX-License-Identifier: BSD-3-Clause
"""The runs of a plan in order of time, as sentences and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from vaiven.model.numbers import change_interval_text, change_text, minute_text, several_text, size_text
from vaiven.report.table import Column, Table
from vaiven.results.history import Cell, Entry, History
from vaiven.stats.steps import SIDE_MIN, Step


def summary(found: History) -> Iterator[str]:
    """What a reader takes away: how many runs, each step, and what stands out."""
    days = f"{_day(found[0])} to {_day(found[-1])}"
    yield f"{len(found)} runs of {found.plan}, {days}; {len(found.cells)} cells ({found.ask})"
    if len(found) < 2 * SIDE_MIN:
        yield f"a step takes {SIDE_MIN} runs on each side: {2 * SIDE_MIN - len(found)} more are wanted"
    elif not found.steps:
        yield "no step: nothing changed for good that so many runs would show"
    for step in found.steps:
        yield _step_text(found, step)
    for one in found:
        if one.outlier is not None:
            yield f"{one.id} stands out: {change_text(one.outlier)} as a whole against the runs around it"


def _step_text(found: History, step: Step) -> str:
    """One step: where, by how much, in which cells, and what was changed there."""
    where = f"between {found[step.at - 1].id} and {found[step.at].id}"
    if (step.low, step.high) != (step.at, step.at):
        where += f" (95 %: after {_day(found[step.low - 1])}, before {_day(found[step.high])})"
    cells = [
        (cell, ratio) for cell, ratio, certain in zip(found.cells, step.ratios, step.cells, strict=True) if certain
    ]
    cells.sort(key=lambda one: -abs((one[1].value or 1.0) - 1))
    several = len({cell[:2] for cell in found.cells}) > 1
    shown = ", ".join(f"{_cell_text(cell, several)} {change_interval_text(ratio)}" for cell, ratio in cells[:4])
    which = f"{len(cells)} of {len(found.cells)} cells changed{', most of all ' + shown if shown else ''}"
    names = dict.fromkeys(setting for one in found[step.low : step.high + 1] for setting in one.changed.items())
    settings = "; ".join(f"{name}: {old or 'none'}, then {new or 'none'}" for name, (old, new) in list(names)[:5])
    more = f"; and {len(names) - 5} more" if len(names) > 5 else ""
    why = f"settings that changed there: {settings}{more}" if names else "no setting that is recorded changed there"
    return f"step {where}: as a whole {change_interval_text(step.whole)}; {which}; {why}"


def history_table(found: History) -> Table:
    """One row per run."""
    columns = (
        Column("run", number=False),
        Column("as a whole", "mean over all cells of its time against the median of all runs"),
        Column("what happened", "before it: steps, and settings that are not those of the run before", number=False),
    )
    rows = tuple((one.id, change_text(one.whole), "; ".join(_happened(one))) for one in found)
    return Table(f"Runs of {found.plan}, oldest first", columns, rows)


def _happened(one: Entry) -> Iterator[str]:
    """What there is to say of a run."""
    if one.after_step:
        yield "step"
    if one.outlier is not None:
        yield "stands out"
    if one.changed:
        yield f"changed: {several_text(list(one.changed), 2)}"


def _day(one: Entry) -> str:
    return minute_text(datetime.fromisoformat(one.created_utc))


def _cell_text(cell: Cell, several: bool) -> str:
    near, far, stack, size = cell
    return f"{stack} at {size_text(size)}{f' {near} → {far}' if several else ''}"
