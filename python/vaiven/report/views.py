# SPDX-License-Identifier: BSD-3-Clause
"""Which tables show a result: one place for a terminal and for a notebook."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from vaiven.model.numbers import count_text, percent_text, time_text
from vaiven.report import tables as of_costs
from vaiven.report.first import first_table
from vaiven.report.history import history_table
from vaiven.report.outcome import closing
from vaiven.report.overlap import overlap_table
from vaiven.report.several import audience_table
from vaiven.report.steps import steps_table
from vaiven.report.tables import Column, Table
from vaiven.report.verdicts import matrix_table
from vaiven.results.asymmetries import Asymmetries
from vaiven.results.audiences import Audiences
from vaiven.results.comparison import Comparison
from vaiven.results.costs import Costs, Knees, Sizes
from vaiven.results.first import Openings
from vaiven.results.history import History
from vaiven.results.ladders import Ladders
from vaiven.results.listing import Listing
from vaiven.results.loggp import LogGPs
from vaiven.results.lost import LostTimes
from vaiven.results.outcome import Outcome
from vaiven.results.overlap import Overlaps
from vaiven.results.result import Result
from vaiven.results.steps import StepTimes
from vaiven.results.warnings import Warnings


@singledispatch
def tables(said: Result[Any]) -> tuple[Table, ...]:
    """The tables that say the same in words and rounded numbers."""
    raise NotImplementedError(type(said))


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
def _(said: Costs) -> tuple[Table, ...]:
    return of_costs.measured_table(said), of_costs.cost_table(said)


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
def _(said: LogGPs) -> tuple[Table, ...]:
    return of_costs.loggp_table(said), *map(of_costs.overhead_table, said)


@tables.register
def _(said: Overlaps) -> tuple[Table, ...]:
    return (overlap_table(said),)


@tables.register
def _(said: Openings) -> tuple[Table, ...]:
    return (first_table(said),)


@tables.register
def _(said: StepTimes) -> tuple[Table, ...]:
    return (steps_table(said),)


@tables.register
def _(said: Audiences) -> tuple[Table, ...]:
    asked = dict.fromkeys(one.ask for one in said)
    return tuple(audience_table([one for one in said if one.ask == ask]) for ask in asked)


@tables.register
def _(said: Comparison) -> tuple[Table, ...]:
    return tuple(matrix_table(said, pair) for pair in dict.fromkeys(one.pair for one in said))


@tables.register
def _(said: History) -> tuple[Table, ...]:
    return (history_table(said),)
