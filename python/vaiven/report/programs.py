# SPDX-License-Identifier: BSD-3-Clause
"""What whole programs take, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from vaiven import questions
from vaiven.model.numbers import DASH, count_text, digits, percent_text, time_text
from vaiven.model.programs import ProgramTime
from vaiven.report.table import Column, Table, block_ratio_text, share_text, value_text


def program_tables(found: Sequence[ProgramTime]) -> tuple[Table, ...]:
    """One for each program."""
    return tuple(_table([one for one in found if one.ask == ask]) for ask in dict.fromkeys(one.ask for one in found))


def _table(found: Sequence[ProgramTime]) -> Table:
    """One row per problem, stack and number of processes."""
    program = questions.ALL[found[0].ask].program
    assert program
    columns = (
        Column(program.counted, "how large the problem is"),
        Column("stack", "the way its messages travel", number=False),
        Column("processes", "one on each host"),
        Column("time", "from a barrier until the slowest process is done: the median of launch medians"),
        Column("over fewest", "over the time of the fewest processes that solve the same"),
        Column("over first", "over the time on the plan's first stack, block by block"),
        Column("computing", "of the slowest process"),
        Column("communicating", "of the slowest process, waiting for others among it"),
        Column("share", "of communicating in the whole"),
        Column("predicted", "of the communication, by what its messages took by themselves in the same run"),
        Column("over predicted", "the communication over that"),
        Column("differ", "the standard deviation of the processes' times, over their mean"),
    )
    rows = tuple(
        (
            count_text(one.number),
            one.stack,
            count_text(one.processes),
            value_text(one.typical_ns, one.time),
            block_ratio_text(one.to_fewest),
            block_ratio_text(one.to_first),
            time_text(one.computing_ns),
            time_text(one.communicating_ns),
            share_text(one.typical_share, one.share),
            DASH if one.predicted_ns is None else time_text(one.predicted_ns),
            f"{digits(one.to_predicted)} ×" if one.to_predicted else DASH,
            percent_text(one.deviation),
        )
        for one in found
    )
    return Table(questions.ALL[found[0].ask].says, columns, rows, labels=3)
