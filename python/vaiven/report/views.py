# SPDX-License-Identifier: BSD-3-Clause
"""Which tables show a result: one place for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

from vaiven import questions
from vaiven.model.numbers import DASH, count_text, digits, percent_text, rate_text, size_text, time_text
from vaiven.report import costs as of_costs
from vaiven.report.history import history_table
from vaiven.report.outcome import closing
from vaiven.report.table import Column, Table
from vaiven.report.verdicts import matrix_table
from vaiven.results.asymmetries import Asymmetries
from vaiven.results.comparison import Comparison
from vaiven.results.costs import Knees, Sizes
from vaiven.results.history import History
from vaiven.results.ladders import Ladders
from vaiven.results.listing import Listing
from vaiven.results.lost import LostTimes
from vaiven.results.outcome import Outcome
from vaiven.results.result import Column as ResultColumn
from vaiven.results.result import Result
from vaiven.results.warnings import Warnings


@singledispatch
def tables(said: Result[Any]) -> tuple[Table, ...]:
    """The tables that say the same in words and rounded numbers; of what answers a question those of its entry."""
    asked, answer = questions.answered_by(said.kind)
    if not answer.tables:
        return (plain_table(said, asked.says),)
    found: Table | tuple[Table, ...] = questions.loaded(answer.tables)(said)
    return (found,) if isinstance(found, Table) else found


def plain_table(said: Result[Any], caption: str) -> Table:
    """The columns of a result as they are, each with its interval on a second line; lists and reasons left out."""
    by_stem = {_stem(one.name): one for one in said.columns if one.kind in _SHOWN and one.name != "refused"}
    shown = {stem: one for stem, one in by_stem.items() if not stem.endswith(("_low", "_high"))}

    def cell(stem: str, row: object) -> str:
        low, high = (by_stem[end].of(row) if (end := f"{stem}_{word}") in by_stem else None for word in ("low", "high"))
        text = _text(shown[stem], shown[stem].of(row))
        return text if None in (low, high) else f"{text}\n{_text(shown[stem], low)} – {_text(shown[stem], high)}"

    columns = tuple(Column(stem, one.meaning, number=one.kind != "text") for stem, one in shown.items())
    return Table(caption, columns, tuple(tuple(cell(stem, row) for stem in shown) for row in said.rows()))


_SHOWN = ("text", "integer", "number")
_UNITS: dict[str, Callable[[Any], str]] = {"_bytes_per_s": rate_text, "_ns": time_text, "_bytes": size_text}


def _unit(name: str) -> str:
    """The unit that stands last in a name."""
    return next((unit for unit in _UNITS if name.endswith(unit)), "")


def _stem(name: str) -> str:
    return name.removesuffix(_unit(name))


def _text(column: ResultColumn[Any], value: Any) -> str:
    if value is None or value != value:
        return DASH
    if unit := _unit(column.name):
        return _UNITS[unit](value)
    return value if column.kind == "text" else digits(value)


@tables.register
def _(said: Listing) -> tuple[Table, ...]:
    columns = (Column("run", number=False), Column("ended", number=False), Column("launches"), Column("warnings"),
               Column("title", number=False))  # fmt: skip
    rows = ((one.id, one.state, count_text(one.launches), count_text(one.warnings), one.title) for one in said)
    return (Table("Runs, oldest first", columns, tuple(rows), said.unreadable),)


@tables.register
def _(said: Outcome) -> tuple[Table, ...]:
    columns = Column("cell", number=False), Column("known to", "half of its median's interval, relative")
    rows = tuple((one.name, percent_text(one.half_width)) for one in said)
    return (Table(closing(said), columns, rows),)


@tables.register
def _(said: LostTimes) -> tuple[Table, ...]:
    columns = (
        Column("launch"),
        Column("stack", number=False),
        Column("hosts", "near → far", number=False),
        Column("time", "how often that had happened to it"),
        Column("lost", "at the least"),
        Column("of its time"),
        Column("where", number=False),
        Column("witness", number=False),
        Column("what then", number=False),
    )
    rows = tuple(
        (count_text(one.launch + 1), one.stack, f"{one.near} → {one.far}", count_text(one.time),
         time_text(one.loss.lost_ns), percent_text(one.loss.share), one.loss.where, one.loss.witness,
         "kept, and marked" if one.kept else "done again")
        for one in said
    )  # fmt: skip
    return (Table("Launches that lost their time, which the machine took", columns, rows),)


@tables.register
def _(said: Warnings) -> tuple[Table, ...]:
    columns = Column("where", number=False), Column("what must be known", number=False), Column("code", number=False)
    return (Table("Before you believe it", columns, tuple((one.where, one.text, one.code) for one in said)),)


@tables.register
def _(said: Asymmetries) -> tuple[Table, ...]:
    columns = Column("ways", number=False), Column("what they cost", number=False)
    return (Table("Both ways", columns, tuple((f"{one.there}, and {one.back}", one.text) for one in said)),)


@tables.register
def _(said: Sizes) -> tuple[Table, ...]:
    return tuple(map(of_costs.size_table, {id(one.of): one.of for one in said}.values()))


@tables.register
def _(said: Knees) -> tuple[Table, ...]:
    return (of_costs.knee_table(said),)


@tables.register
def _(said: Ladders) -> tuple[Table, ...]:
    several = len(said) > 1
    return tuple(
        of_costs.ladder_table(one.ladder, one.lab_error_ns, " → ".join(one.pair) if several else "") for one in said
    )


@tables.register
def _(said: Comparison) -> tuple[Table, ...]:
    return tuple(matrix_table(said, pair) for pair in dict.fromkeys(one.pair for one in said))


@tables.register
def _(said: History) -> tuple[Table, ...]:
    return (history_table(said),)
