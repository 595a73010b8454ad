# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven reproduce`: which published results the runs bear out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from vaiven.cli.parameters import Json, Runs
from vaiven.cli.status import Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vaiven.papers.judge import Candidate, Verdict
    from vaiven.report.tables import Table


def reproduce(
    *wanted: Annotated[str, Parameter(name="CLAIM")],
    run: list[str] | None = None,
    every: bool = False,
    as_json: Json = False,
    runs: Runs = None,
) -> Status:
    """Which published results hold: each as an inequality, with its margin and how sure that is.

    Each is judged on the newest run that has what it needs. Exit status 4 if none can be told.

    Parameters
    ----------
    wanted
        Papers (A to E) and claims (A12); without any, all.
    run
        A run directory, the start of a run's id, or "last"; several times for several runs. Without it, all there are.
    every
        Also those that cannot be told, with what it would take.
    as_json
        One JSON document instead: schema, runs, verdicts.
    """
    from vaiven.cli.terminal import open_console, rich_table
    from vaiven.papers.claims import chosen, published
    from vaiven.papers.judge import TOLD, judge
    from vaiven.results.document import document
    from vaiven.store import query

    claims = published()
    asked = chosen(wanted, claims)
    candidates = _candidates(run, runs or query.root())
    # All claims, whichever are asked for: how many were tested together decides what a p value is worth.
    verdicts = tuple(one for one in judge(claims, candidates) if one.claim in asked)
    told = any(one.word in TOLD for one in verdicts)
    if as_json:
        ids = [one.id for one in candidates]
        print(document({"schema": 2, "runs": ids, "verdicts": verdicts}))
    elif told or every:
        open_console().print(rich_table(verdicts_table(verdicts, every)))
    else:
        of = "one run" if len(candidates) == 1 else f"{len(candidates)} runs"
        print(f"none of {len(verdicts)} published results can be told from {of}; --every says what each would take")
    return Status.OK if told else Status.CANNOT_TELL


def _candidates(names: Sequence[str] | None, root: Path) -> list[Candidate]:
    """The runs that were named, or all; of these one that cannot be read is told and passed over."""
    from vaiven.cli.terminal import say
    from vaiven.errors import VaivenError
    from vaiven.papers.judge import Candidate
    from vaiven.store import query

    if names:
        return [Candidate.of_run(query.find(name, root)) for name in names]
    found = query.runs(root)
    for one in found:
        if isinstance(one, VaivenError):
            say(f"passed over: {one.what}", sys.stderr)
    kept = [one for one in found if not isinstance(one, VaivenError)]
    if not kept:
        raise VaivenError(f"no run in {root}", "`vaiven measure` makes one", code="no-run")
    return [Candidate.of_run(one) for one in kept]


def verdicts_table(verdicts: Sequence[Verdict], every: bool) -> Table:
    """One row per claim; every: those that cannot be told, too."""
    from vaiven.model.numbers import DASH
    from vaiven.papers.judge import TOLD
    from vaiven.report.tables import Column, Table, times_text

    columns = (
        Column("claim", "letter of the paper and number", number=False),
        Column("verdict", number=False),
        Column("margin", "how often the smaller side of its inequality goes into the larger: above 1 it is so"),
        Column("what it says, or what is missing", number=False),
    )
    shown = [one for one in verdicts if every or one.word in TOLD]
    rows = tuple(
        (
            one.claim.id,
            str(one.word),
            DASH if one.margin is None or one.claim.kind == "fact" else times_text(one.margin, one.interval),
            "\n".join((one.claim.says, *_beside(one))),
        )
        for one in shown
    )
    return Table("Published results", columns, rows, tuple(_notes(verdicts, len(shown))))


def _beside(one: Verdict) -> Sequence[str]:
    """What stands under the sentence of a claim."""
    from vaiven.papers.judge import LEVEL, Word

    lines = []
    if one.claim.value:
        printed = f"{one.claim.value} {one.claim.unit}".strip()
        lines.append(f"printed: {printed}{f', meant: {one.claim.corrected}' if one.claim.corrected else ''}")
    if one.interval.refused:
        lines.append(one.interval.refused)
    if one.word is Word.NOT_SETTLED and one.p is not None and one.p <= LEVEL:
        lines.append("alone it would be settled, as one of many tested together it is not")
    if one.models:
        lines.append(f"a model: {', '.join(one.models)}")
    return lines


def _notes(verdicts: Sequence[Verdict], shown: int) -> Sequence[str]:
    """What stands below the table."""
    notes = [
        "A margin above 1 means that the claim is so; its interval (95 %) decides, corrected for how many claims were "
        "tested together."
    ]
    if any(one.models for one in verdicts):
        notes.append(
            "A model: hosts that the lab makes slow or defective. Of them a verdict says how the model is made, not "
            "how machines of that age are."
        )
    if len(verdicts) > shown:
        notes.append(f"{len(verdicts) - shown} others cannot be told from these runs; --every says why.")
    return notes
