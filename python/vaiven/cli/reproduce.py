# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven reproduce`: which published results a run bears out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vaiven.papers.claims import Verdict
    from vaiven.report.tables import Table


def reproduce(
    run: str = "last",
    /,
    *,
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Which published results hold on a run: each as an inequality, with its margin and how sure that is.

    Parameters
    ----------
    run
        A run directory, the start of a run's id, or "last".
    every
        Also those that this run cannot tell, with what it would take.
    as_json
        All of it as one JSON document instead.
    """
    from rich.console import Console

    from vaiven.cli.model import plain_json
    from vaiven.cli.terminal import rich_table
    from vaiven.papers.claims import judge, published
    from vaiven.papers.measured import Measured
    from vaiven.store import query

    found = query.find(run, query.root())
    measured = Measured.of_run(found)
    verdicts = tuple(judge(claim, measured) for claim in published())
    if as_json:
        print(plain_json({"schema": 1, "run": found.id, "verdicts": verdicts}))
    else:
        Console(highlight=False, markup=False).print(rich_table(verdicts_table(verdicts, every)))


def verdicts_table(verdicts: Sequence[Verdict], every: bool) -> Table:
    """One row per claim; every: those that cannot be told, too."""
    from vaiven.papers.claims import Word
    from vaiven.plot.units import DASH
    from vaiven.report.tables import Column, Table, times_text

    columns = (
        Column("claim", "letter of the paper and number", number=False),
        Column("verdict", number=False),
        Column("margin", "how often the smaller side of its inequality goes into the larger: above 1 it is so"),
        Column("what it says, or what is missing", number=False),
    )
    told = [one for one in verdicts if every or one.word is not Word.NOT_MEASURABLE]
    rows = tuple(
        (
            one.claim.id,
            str(one.word),
            DASH if one.margin is None else times_text(one.margin, one.interval),
            one.claim.says if one.interval.known else f"{one.claim.says}\n{one.interval.refused}",
        )
        for one in told
    )
    left = len(verdicts) - len(told)
    notes = ["A margin above 1 means that the claim is so; the interval (95 %) decides."]
    if left:
        notes.append(f"{left} others cannot be told from this run; --all says why.")
    return Table("Published results", columns, rows, tuple(notes))
