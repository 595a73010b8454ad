# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven reproduce`: which published results the runs bear out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from vaiven.cli.parameters import Json, Output, Runs
from vaiven.cli.status import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from vaiven.papers.judge import Candidate, Verdict
    from vaiven.plan.schema import LengthName
    from vaiven.report.table import Table


def reproduce(
    *wanted: Annotated[str, Parameter(name="CLAIM")],
    run: list[str] | None = None,
    every: bool = False,
    output: Output = None,
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
        Also those that cannot be told, with what it would take, and the ready plan that settles each soonest; all of
        them where there is no run yet.
    output
        Where to write: an HTML page beside the table, its directory made if need be; of each result it has what was
        printed, what was measured, the verdict and what it means today, and the figures of the papers, drawn again.
    as_json
        One JSON document instead: schema, runs, verdicts, and with --every plans.
    """
    from vaiven.cli import lengths
    from vaiven.cli import published as words
    from vaiven.cli.terminal import open_console, rich_table, say
    from vaiven.errors import VaivenError
    from vaiven.papers.claims import chosen, published
    from vaiven.papers.judge import TOLD, judge
    from vaiven.report.files import write_page_text
    from vaiven.results.document import document
    from vaiven.store import query

    claims = published()
    asked = chosen(wanted, claims)
    root = runs or query.root()
    candidates = _candidates(run, root)
    if not candidates and not every:
        raise VaivenError(f"no run in {root}", "`vaiven measure` makes one", code="no-run")
    # All claims, whichever are asked for: how many were tested together decides what a p value is worth.
    verdicts = tuple(one for one in judge(claims, candidates) if one.claim in asked)
    told = any(one.word in TOLD for one in verdicts)
    plans = lengths.settling() if every or output else {}
    if as_json:
        ids = [one.id for one in candidates]
        named = {one.claim.id: plans[one.claim.id] for one in verdicts if one.claim.id in plans}
        print(document({"schema": 2, "runs": ids, "verdicts": verdicts} | ({"plans": named} if every else {})))
    elif told or every:
        open_console().print(rich_table(verdicts_table(verdicts, plans, every)))
    else:
        of = "one run" if len(candidates) == 1 else f"{len(candidates)} runs"
        print(f"none of {len(verdicts)} published results can be told from {of}; --every says what each would take")
    if output:
        say(
            str(write_page_text(words.page(verdicts, candidates, plans), output)), sys.stderr if as_json else sys.stdout
        )
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
    return [Candidate.of_run(one) for one in found if not isinstance(one, VaivenError)]


def verdicts_table(verdicts: Sequence[Verdict], plans: Mapping[str, tuple[str, LengthName]], every: bool) -> Table:
    """One row per claim; every: those that cannot be told, too, with their plans."""
    from vaiven.cli.published import word_text
    from vaiven.model.numbers import DASH
    from vaiven.papers.judge import TOLD
    from vaiven.report.table import Column, Table, times_text

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
            word_text(one).replace(" (", "\n("),
            DASH if one.margin is None or one.claim.kind == "fact" else times_text(one.margin, one.interval),
            "\n".join((one.claim.says, *_beside(one, plans))),
        )
        for one in shown
    )
    return Table("Published results", columns, rows, tuple(_notes(verdicts, len(shown))))


def _beside(one: Verdict, plans: Mapping[str, tuple[str, LengthName]]) -> Sequence[str]:
    """What stands under the sentence of a claim."""
    from vaiven.cli.published import measured_text, plan_text, printed_text
    from vaiven.papers.judge import LEVEL, Word

    lines = []
    if printed := printed_text(one):
        lines.append(f"printed: {printed}")
    if measured := measured_text(one.closest):
        lines.append(f"measured: {measured}")
    if one.interval.refused:
        lines.append(one.interval.refused)
    if one.word is Word.NOT_SETTLED and one.p is not None and one.p <= LEVEL:
        lines.append("alone it would be settled, as one of many tested together it is not")
    if one.models:
        lines.append(f"a model: {', '.join(one.models)}")
    if plan := plan_text(one.claim.id, plans):
        lines.append(plan)
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
