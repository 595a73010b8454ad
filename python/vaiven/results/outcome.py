# SPDX-License-Identifier: BSD-3-Clause
"""How a run ended: how much was done, what was not, and how exactly the rest is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from vaiven import questions
from vaiven.errors import VaivenError
from vaiven.model.numbers import size_text
from vaiven.plan.schema import Plan, Stop
from vaiven.plan.stop import half_width
from vaiven.results.lost import lost_times
from vaiven.results.result import Result, columns, integer, number, text
from vaiven.stats.median import bounds
from vaiven.store import query
from vaiven.store.query import Run

Cell = tuple[str, str, str, str, int]  # stack, question, near, far, bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Width:
    """How exactly a median is known. name: the cell, by no more than what tells it from the others: "tcp at 100 B".
    half_width: relative, of its interval; infinite where it has none."""

    cell: Cell
    name: str
    half_width: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Outcome(Result[Width]):
    """How exactly the medians of a run are known: one row per cell.

    launches: how many were finished, in so many seconds. done_again: how many were thrown away before that, for they
    had lost their time; kept: how many of the finished ones had, too (results.lost). wanted: the relative half-width
    that its plan wants. achieved: whether its stopping rule got what it wanted. unmeasured: stacks, questions and hosts
    of the plan that no finished launch is of, in words.
    """

    kind: ClassVar[str] = "outcome"
    columns: ClassVar = columns(
        text("stack", "the way the message travels", lambda one: one.cell[0]),
        text("ask", "the question", lambda one: one.cell[1]),
        text("near", "the host that keeps the clock", lambda one: one.cell[2]),
        text("far", "the host that answers", lambda one: one.cell[3]),
        integer("size_bytes", "payload of a message", lambda one: one.cell[4]),
        number("half_width", "of its median's interval, relative; null where it has none",
               lambda one: one.half_width if math.isfinite(one.half_width) else None),
    )  # fmt: skip

    launches: int
    seconds: float
    wanted: float
    achieved: bool
    unmeasured: tuple[str, ...]
    done_again: int = 0
    kept: int = 0

    def facts(self) -> dict[str, Any]:
        names = ("launches", "seconds", "wanted", "achieved", "unmeasured", "done_again", "kept")
        return {"ended": {name: getattr(self, name) for name in names}}

    @property
    def complete(self) -> bool:
        """Whether all that the run was to find out is there."""
        return self.achieved and not self.unmeasured


def outcome(run: Run) -> Outcome:
    """Of a run, whether it has ended or not."""
    stop, records, lost = stop_of(run), query.launch_records(run), lost_times(run)
    return Outcome(
        runs=(run.id,),
        items=_widths(run, stop),
        launches=len(records),
        seconds=sum(one.took_s / (1 + len(one.beside)) for one in records),
        wanted=stop.half_width,
        achieved=run.end is not None and run.end.reason == "done",
        unmeasured=tuple(_unmeasured(run)),
        done_again=lost.done_again,
        kept=lost.kept,
    )


def stop_of(run: Run) -> Stop:
    """What its plan wanted of its launches. VaivenError ("bad-run") where the manifest holds no plan."""
    return _plan(run).stop


def cell_names(cells: Sequence[Cell]) -> dict[Cell, str]:
    """Each cell by no more than what tells it from the others: "tcp at 100 B"."""
    asks, pairs = {cell[1] for cell in cells}, {cell[2:4] for cell in cells}
    return {
        (stack, ask, near, far, size): stack
        + (f" {ask}" if len(asks) > 1 else "")
        + (f" at {_plain(size_text(size))}" if questions.ALL[ask].sizes else "")
        + (f" from {near} to {far}" if len(pairs) > 1 else "")
        for stack, ask, near, far, size in cells
    }


def _plain(text: str) -> str:
    """With spaces that a log can show."""
    return " ".join(text.split())


def _plan(run: Run) -> Plan:
    try:
        return msgspec.convert(run.manifest.plan, Plan)
    except msgspec.ValidationError as error:
        what = f"{run.path}: its manifest holds a plan that cannot be: {error}"
        raise VaivenError(what, "measure again", code="bad-run") from error


def _unmeasured(run: Run) -> list[str]:
    there = {(one.stack, one.ask) for one in query.launch_records(run) if not one.sentinel}
    courses = [(course.stack, course.ask) for course in run.manifest.design.courses]
    planned = [stack.name for stack in _plan(run).launched]
    missing = [stack for stack in planned if not any(stack == one for one, _ in there)]
    missing += [f"{stack} {ask}" for stack, ask in courses if (stack, ask) not in there and stack not in missing]
    return missing + sorted({line["host"] for line in query.warnings(run) if line.get("host")})


def _widths(run: Run, stop: Stop) -> tuple[Width, ...]:
    cells: dict[Cell, list[float]] = {}
    for row in query.launches(run).iter_rows(named=True):
        key = row["stack"], row["ask"], row["near"], row["far"], row["size_bytes"]
        ns = row["ns_median"]
        cells.setdefault(key, []).append(math.inf if ns is None else ns)
    names = cell_names(list(cells))
    return tuple(
        Width(cell=cell, name=names[cell], half_width=half_width(values, bounds, stop.level_per_look))
        for cell, values in cells.items()
    )
