# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven history`: all runs of one plan in order of time, where they changed for good, and what was changed there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from vaiven.cli.model import Question
from vaiven.cli.parameters import JSON
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.cli.between import Side
    from vaiven.stats.arrays import Floats
    from vaiven.stats.steps import Step
    from vaiven.store.query import Run

HELD_BY = 0.8  # of the runs: a cell that fewer have is left out, and so is a run that lacks one of the others


@dataclass(frozen=True, eq=False)
class Series:
    """runs: oldest first. cells: (near, far, stack, size). ns: (runs, cells) medians. changed: for each run the
    settings that are not those of the run before. standing_out: (which run, its ratio to the others of its part)."""

    plan: str
    ask: str
    runs: tuple[Run, ...]
    cells: tuple[tuple[str, str, str, int], ...]
    ns: Floats
    changed: tuple[dict[str, tuple[str, str]], ...]
    steps: tuple[Step, ...]
    standing_out: tuple[tuple[int, float], ...]
    left_out: tuple[str, ...]


def history(
    plan: str,
    /,
    *,
    stacks: Annotated[str, Parameter(name=["--stacks", "--stack"])] = "",
    ask: Question = "pingpong",
    as_json: Annotated[bool, JSON] = False,
    runs: Path | None = None,
) -> None:
    """All runs of a plan in order of time: where they changed for good, by how much, and which settings changed there.

    Parameters
    ----------
    plan
        The plan's name, or its file; of runs without one their title. `vaiven runs` lists them.
    stacks
        Only these, with commas between.
    ask
        Which question's times.
    as_json
        One JSON document instead.
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    """
    from vaiven.cli.compare import stack_names
    from vaiven.cli.document import document
    from vaiven.cli.terminal import open_console, rich_table
    from vaiven.store import query

    found = series(plan, runs or query.root(), ask, stack_names(stacks))
    if as_json:
        print(document(_facts(found)))
        return
    from rich.text import Text

    console = open_console()
    for line in summary(found):
        console.print(Text(f"• {line}"))
    for note in found.left_out:
        console.print(Text(f"! {note}", style="yellow"))
    console.print()
    console.print(rich_table(_table(found)))


def series(plan: str, root: Path, ask: str = "pingpong", stacks: Sequence[str] = ()) -> Series:
    """The runs of the plan that have the cells of the latest. VaivenError: "no-run", "nothing-measured", "no-stack"."""
    import numpy as np

    from vaiven.cli.between import side
    from vaiven.stats.steps import steps
    from vaiven.store import history

    found = history.of_plan(plan, root)
    whole = side(found.runs, "ns_median", found.left_out)
    if not whole.runs:
        raise VaivenError(f"no run of {plan} can be read", "; ".join(whole.notes), code="no-run")
    kept, cells, ns, lacking = _cells(whole, ask, stacks)
    settings = [history.settings(run) for run in kept]
    changed = [
        history.changes(before, after) for before, after in zip(settings[:1] + settings[:-1], settings, strict=True)
    ]
    stepped = tuple(steps(ns, np.random.default_rng(1)))
    return Series(plan, ask, tuple(kept), cells, ns, tuple(changed), stepped, tuple(_standing_out(ns, stepped)),
                  (*whole.notes, *lacking))  # fmt: skip


def _cells(side: Side, ask: str, stacks: Sequence[str]) -> tuple[list[Run], Any, Floats, list[str]]:
    """(the runs that are kept, the cells, their medians, sentences on what is left out)."""
    import numpy as np

    from vaiven.cli.between import table_of

    runs, table = side.runs, table_of(side, ask)
    table = table.filter(table["claimed"])
    known = sorted(set(table["stack"]))
    for name in stacks:
        if name not in known:
            raise VaivenError(f"no run has {name}", f"they have {', '.join(known)}", code="no-stack")
    wanted = set(stacks or known)
    times: list[dict[Any, float]] = [{} for _ in runs]
    for near, far, stack, size, number, ns in table.select(
        "near", "far", "stack", "size_bytes", "launch", side.column
    ).iter_rows():
        if stack in wanted:
            times[number][near, far, stack, size] = ns
    of_latest = sorted(times[-1])
    cells = [cell for cell in of_latest if sum(cell in run for run in times) >= HELD_BY * len(runs)]
    if not cells:
        what = f"the latest run of the plan, {runs[-1].id}, has no cell that most of the others have"
        raise VaivenError(what, "name the plan otherwise, or keep its runs elsewhere: --runs", code="nothing-measured")
    kept = [number for number, run in enumerate(times) if all(cell in run for cell in cells)]
    notes = []
    if few := len(of_latest) - len(cells):
        notes.append(f"{few} cell{'s' * (few > 1)} of the latest run left out: most runs do not have them")
    if lost := len(runs) - len(kept):
        notes.append(f"{lost} run{'s' * (lost > 1)} left out: other hosts, stacks or sizes than the latest")
    ns = np.array([[times[number][cell] for cell in cells] for number in kept])
    return [runs[number] for number in kept], tuple(cells), ns, notes


def _standing_out(ns: Floats, steps: Sequence[Step]) -> Iterator[tuple[int, float]]:
    """The runs that are unlike the others between the same steps."""
    from vaiven.stats.runs import standing_out

    edges = [0, *(step.at for step in steps), len(ns)]
    for first, end in pairwise(edges):
        yield from ((first + row, ratio) for row, ratio in standing_out(ns[first:end]))


def summary(found: Series) -> Iterator[str]:
    """What a reader takes away: how many runs, each step, and what stands out."""
    from vaiven.model.numbers import change_text
    from vaiven.stats.steps import SIDE_MIN

    first, last = found.runs[0], found.runs[-1]
    days = f"{_day(first)} to {_day(last)}"
    yield f"{len(found.runs)} runs of {found.plan}, {days}; {len(found.cells)} cells ({found.ask})"
    if len(found.runs) < 2 * SIDE_MIN:
        yield f"a step takes {SIDE_MIN} runs on each side: {2 * SIDE_MIN - len(found.runs)} more are wanted"
    elif not found.steps:
        yield "no step: nothing changed for good that so many runs would show"
    for step in found.steps:
        yield _step_text(found, step)
    for number, ratio in found.standing_out:
        yield f"{found.runs[number].id} stands out: {change_text(ratio)} as a whole against the runs around it"


def _step_text(found: Series, step: Step) -> str:
    """One step: where, by how much, in which cells, and what was changed there."""
    from vaiven.model.numbers import change_interval_text

    where = f"between {found.runs[step.at - 1].id} and {found.runs[step.at].id}"
    if (step.low, step.high) != (step.at, step.at):
        where += f" (95 %: after {_day(found.runs[step.low - 1])}, before {_day(found.runs[step.high])})"
    cells = [
        (cell, ratio) for cell, ratio, certain in zip(found.cells, step.ratios, step.cells, strict=True) if certain
    ]
    cells.sort(key=lambda one: -abs((one[1].value or 1.0) - 1))
    several = len({cell[:2] for cell in found.cells}) > 1
    shown = ", ".join(f"{_cell_text(cell, several)} {change_interval_text(ratio)}" for cell, ratio in cells[:4])
    which = f"{len(cells)} of {len(found.cells)} cells changed{', most of all ' + shown if shown else ''}"
    names = dict.fromkeys(name for number in range(step.low, step.high + 1) for name in found.changed[number].items())
    settings = "; ".join(f"{name}: {old or 'none'}, then {new or 'none'}" for name, (old, new) in list(names)[:5])
    more = f"; and {len(names) - 5} more" if len(names) > 5 else ""
    why = f"settings that changed there: {settings}{more}" if names else "no setting that is recorded changed there"
    return f"step {where}: as a whole {change_interval_text(step.whole)}; {which}; {why}"


def _table(found: Series) -> Any:
    """One row per run."""
    import numpy as np

    from vaiven.model.numbers import change_text
    from vaiven.report.tables import Column, Table

    whole = np.exp((np.log(found.ns) - np.log(np.median(found.ns, axis=0))).mean(axis=1))
    columns = (
        Column("run", number=False),
        Column("as a whole", "mean over all cells of its time against the median of all runs"),
        Column("what happened", "before it: steps, and settings that are not those of the run before", number=False),
    )
    rows = tuple(
        (run.id, change_text(float(ratio)), "; ".join(_happened(found, number)))
        for number, (run, ratio) in enumerate(zip(found.runs, whole, strict=True))
    )
    return Table(f"Runs of {found.plan}, oldest first", columns, rows)


def _happened(found: Series, number: int) -> Iterator[str]:
    """What there is to say of a run of the series."""
    from vaiven.cli.between import several

    if any(step.at == number for step in found.steps):
        yield "step"
    if any(row == number for row, _ in found.standing_out):
        yield "stands out"
    if found.changed[number]:
        yield f"changed: {several(list(found.changed[number]), 2)}"


def _facts(found: Series) -> dict[str, Any]:
    """The document of --json. ns: the medians of the launches' medians, as recorded (a pingpong is a round trip)."""
    return {
        "schema": 1,
        "plan": found.plan,
        "ask": found.ask,
        "cells": [dict(zip(("near", "far", "stack", "size_bytes"), cell, strict=True)) for cell in found.cells],
        "runs": [
            {"id": run.id, "created_utc": run.manifest.created_utc, "ns": times, "changed": changed}
            for run, times, changed in zip(found.runs, found.ns, found.changed, strict=True)
        ],
        "steps": found.steps,
        "standing_out": [{"id": found.runs[number].id, "ratio": ratio} for number, ratio in found.standing_out],
        "left_out": found.left_out,
    }


def _day(run: Run) -> str:
    return run.manifest.created_utc[:16].replace("T", " ")


def _cell_text(cell: tuple[str, str, str, int], several: bool) -> str:
    from vaiven.model.numbers import size_text

    near, far, stack, size = cell
    return f"{stack} at {size_text(size)}{f' {near} → {far}' if several else ''}"
