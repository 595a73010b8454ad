# SPDX-License-Identifier: BSD-3-Clause
"""Several runs as one page: their curves over each other, stack by stack, and their history by date."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vaiven.model.numbers import (
    DASH,
    change_text,
    count_text,
    minute_text,
    rate_text,
    several_text,
    size_text,
    time_text,
)
from vaiven.plot.curves import Trend
from vaiven.plot.interactive import NO_WIRE, change_figure, trend_figure
from vaiven.report.history import history_table, summary
from vaiven.report.html import document, picture
from vaiven.report.page import WIRE_SWITCH, time_choices, times_said, wire_times
from vaiven.report.staircase import staircase
from vaiven.report.table import Column, Table, value_text
from vaiven.report.widget import SIZES_DRAWN_MAX, Choice, Widget
from vaiven.report.words import Answer, Tile, where
from vaiven.results.costs import StackCost
from vaiven.results.facts import Facts
from vaiven.results.history import History
from vaiven.results.overlay import Overlay, RunCosts
from vaiven.stats.arrays import spread_out

STACKS_DRAWN_MAX = 8  # each is a figure of its own: more would make a page that no mail carries
_MADE = Column("run", "when it was made, UTC", number=False)
_STARTED_LETTERS = (10, 16, 19)  # of "2026-01-02 03:04:05 UTC": the day, the minute, the second
_ID_LETTERS = 6  # at the end of a run's id, which are random


@dataclass(frozen=True, slots=True)
class Alarm:
    """What must be read before any number. where: the run and what of it."""

    where: str
    text: str
    code: str


def overlay_page(found: Overlay) -> str:
    """The whole document as text."""
    stacks, history = stack_widgets(found), history_widget(found)
    said = answer(found)
    return document(
        "overlay.html",
        [*stacks, *([history] if history else [])],
        question=said.question,
        about=f"{len(found.runs)} runs",
        answer=said,
        where=where_text(found),
        alarms=tuple(_alarms(found)),
        notes=(*found.notes, *_not_drawn(found)),
        runs_table=runs_table(found),
        stacks=stacks,
        history=history,
        history_table=history_table(found.history) if found.history else None,
        commands=_commands(found),
    )


def overlay_pictures(found: Overlay) -> dict[str, str]:
    """File name -> SVG document: of each stack all runs, in each way that the page shows them; and their history."""
    history = history_widget(found)
    return {
        f"{widget.id}-{number}.svg": picture(choice.figure, f"{widget.title}, {choice.label}")
        for widget in (*stack_widgets(found), *([history] if history else []))
        for number, choice in enumerate(widget.choices, start=1)
    }


def labels(runs: Sequence[Facts]) -> tuple[str, ...]:
    """What tells each run from the others: the day on which it was made, or more of its time, or of its id."""
    for letters in _STARTED_LETTERS:
        found = tuple(run.started[:letters] for run in runs)
        if len({*found}) == len(found):
            return found
    return tuple(f"{run.started[: _STARTED_LETTERS[-1]]} {run.id[-_ID_LETTERS:]}" for run in runs)


def answer(found: Overlay) -> Answer:
    """What the same message costs in each of the runs."""
    points = tuple(f"{line[:1].upper()}{line[1:]}." for line in summary(found.history)) if found.history else ()
    pairs = dict.fromkeys(one.pair for one in found.drawn)
    between = " between {} and {}".format(*next(iter(pairs))) if len(pairs) == 1 else ""
    question = f"What did a message cost{between}, in {len(found.runs)} runs?"
    if found.headline is None:
        return Answer(question, "No message of one stack and size was measured in all of these runs.", (), points)
    stack, size = found.headline
    named = [(name, point.typical_ns) for name, one in _named(found) if (point := one.point(stack, size))]
    (first, before), (last, after) = named[0], named[-1]
    lead = (
        f"A message of {size_text(size)} over {stack} took {time_text(before)} one way in the first of these runs "
        f"({first}) and {time_text(after)} in the last ({last}): {change_text(after / before)}."
    )
    ends = {first: "first", last: "last"}
    by_time = sorted(named, key=lambda one: one[1])
    for name, word in ((by_time[0][0], "quickest"), (by_time[-1][0], "slowest")):
        ends[name] = f"{ends[name]}, {word}" if name in ends else word
    tiles = tuple(Tile(name, time_text(ns), f"{ends[name]}; {stack}, {size_text(size)}") for name, ns in named
                  if name in ends)  # fmt: skip
    return Answer(question, lead, tiles, points)


def where_text(found: Overlay) -> str:
    """Which runs were on no real network, where there are such."""
    said = dict.fromkeys(where(one.run) for one in found.drawn)
    virtual = [name for name, one in _named(found) if one.run.virtual]
    if len(said) == 1 or not virtual:
        return next(iter(said))
    whose = "All runs" if len(virtual) == len(found.drawn) else f"The runs {', '.join(virtual)}"
    return f"{whose} are on virtual LANs of one machine, not on a real network; the table of the runs says which."


def runs_table(found: Overlay) -> Table:
    """One row per run that is drawn: where and how it was made, and what the headline message took."""
    stack, size = found.headline or ("", 0)
    what = f"{size_text(size)} over {stack}" if stack else "smallest"
    columns = (
        _MADE,
        Column("id", "the name of its directory", number=False),
        Column("plan", number=False),
        Column("where", "a lab, which is virtual, or real hosts", number=False),
        Column("hosts", "near → far: those that are compared", number=False),
        Column("launches", "fresh processes and connections of one stack"),
        Column(what, "the median over launches of each launch's median, one way, with its 95 % interval"),
        Column("largest", f"rate of the largest message over {stack}" if stack else "rate of the largest message"),
    )
    rows = tuple(
        (
            name,
            one.run.id,
            one.plan,
            one.run.fabric,
            " → ".join(one.pair),
            count_text(one.run.launches),
            *_headline_cells(one, stack, size),
        )
        for name, one in _named(found)
    )
    return Table("The runs, oldest first", columns, rows)


def stack_widgets(found: Overlay) -> tuple[Widget, ...]:
    """A figure for each stack that several runs have, with a line for each of them."""
    return tuple(_stack_widget(f"stack-{n}", found, stack) for n, stack in enumerate(_drawn(found), start=1))


def history_widget(found: Overlay) -> Widget | None:
    """All runs by date: as a whole, and some sizes; None where they have no history."""
    history = found.history
    if history is None:
        return None
    made = tuple(datetime.fromisoformat(one.created_utc) for one in history)
    whole = Trend("all of it", made, tuple(one.whole for one in history))
    choices = [Choice("as a whole", change_figure([whole]), _whole_table(history, made))]
    pairs = [(near, far) for near, far, _, _ in history.cells]
    pair = found.drawn[-1].pair if found.drawn[-1].pair in pairs else pairs[0]
    sizes = sorted({size for *hosts, _, size in history.cells if tuple(hosts) == pair})
    for size in (sizes[index] for index in spread_out(len(sizes), SIZES_DRAWN_MAX - 1)):
        cells = {stack: at for at, (*hosts, stack, own) in enumerate(history.cells)
                 if (*hosts, own) == (*pair, size)}  # fmt: skip
        trends = [Trend(stack, made, tuple(float(one.ns[at]) for one in history)) for stack, at in cells.items()]
        choices.append(Choice(size_text(size), trend_figure(trends), _size_table(history, made, size, cells)))
    says = (
        "Each run against the date on which it was made: as a whole, its times over those of the median run, and the "
        f"time of a message of one size from {pair[0]} to {pair[1]}, one line per stack."
    )
    return Widget("by-date", "How it went from run to run", says, tuple(choices), "what to show")


def _stack_widget(name: str, found: Overlay, stack: str) -> Widget:
    shown = [(replace(cost, stack=name), one.run) for name, one in _named(found) if (cost := one.cost(stack))]
    costs, runs = [cost for cost, _ in shown], [run for _, run in shown]
    alike = found.one_link
    wire = staircase(runs[0], map(wire_times, costs)) if alike else NO_WIRE
    choices = time_choices(costs, costs if alike else list(map(_without_wire, costs)), runs, wire, floors=False)
    says = f"Time of a message over {stack}, one way, against its size, one line per run{times_said(costs)}"
    return Widget(name, stack, says, choices, "show" if len(choices) > 1 else "", (WIRE_SWITCH,))


def _without_wire(cost: StackCost) -> StackCost:
    """The wires of unlike links have no place in one figure of times."""
    return replace(cost, points=tuple(replace(point, wire_ns=None) for point in cost.points))


def _whole_table(history: History, made: Sequence[datetime]) -> Table:
    columns = (_MADE, Column("as a whole"))
    rows = tuple((minute_text(day), change_text(one.whole)) for day, one in zip(made, history, strict=True))
    return Table("Times of all cells against those of the median run", columns, rows)


def _size_table(history: History, made: Sequence[datetime], size: int, cells: dict[str, int]) -> Table:
    columns = (_MADE, *(Column(stack) for stack in cells))
    rows = tuple(
        (minute_text(day), *(time_text(float(one.ns[at])) for at in cells.values()))
        for day, one in zip(made, history, strict=True)
    )
    return Table(f"Messages of {size_text(size)}, one way, run by run", columns, rows)


def _headline_cells(one: RunCosts, stack: str, size: int) -> tuple[str, str]:
    cost, point = one.cost(stack), one.point(stack, size)
    if cost is None or point is None:
        return DASH, DASH
    last = cost.points[-1]
    largest = f"{rate_text(last.rate_bytes_per_s)}\n{size_text(last.size_bytes)}"
    return value_text(point.typical_ns, point.typical), largest


def _named(found: Overlay) -> list[tuple[str, RunCosts]]:
    """The runs that are drawn, each with its label."""
    return list(zip(labels([one.run for one in found.drawn]), found.drawn, strict=True))


def _drawn(found: Overlay) -> tuple[str, ...]:
    return found.stacks[:STACKS_DRAWN_MAX]


def _not_drawn(found: Overlay) -> Iterator[str]:
    if left := found.stacks[STACKS_DRAWN_MAX:]:
        yield f"curves of {STACKS_DRAWN_MAX} stacks are drawn, not of {several_text(left, 8)}"


def _alarms(found: Overlay) -> Iterator[Alarm]:
    for name, one in _named(found):
        yield from (Alarm(", ".join(filter(None, (name, alarm.where))), alarm.text, alarm.code) for alarm in one.alarms)


def _commands(found: Overlay) -> tuple[str, ...]:
    """What to type to get this page again, that of each run, and whether they differ."""
    ids = [shlex.quote(one) for one in found.runs]
    compare = (f"vaiven compare {' '.join(ids)}",) if len(ids) == 2 else ()
    return (f"vaiven report {' '.join(ids)}", *(f"vaiven report {one}" for one in ids), *compare)
