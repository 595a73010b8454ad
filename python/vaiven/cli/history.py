# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven history`: all runs of one plan in order of time, where they changed for good, and what was changed there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from vaiven.cli.parameters import JSON
from vaiven.results.names import Question


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
    from rich.text import Text

    from vaiven.cli.compare import stack_names
    from vaiven.cli.terminal import open_console, rich_table
    from vaiven.report.history import history_table, summary
    from vaiven.results import history as results
    from vaiven.store import query

    found = results.history(plan, runs or query.root(), ask, stack_names(stacks))
    if as_json:
        print(found.to_json())
        return
    console = open_console()
    for line in summary(found):
        console.print(Text(f"• {line}"))
    for note in found.left_out:
        console.print(Text(f"! {note}", style="yellow"))
    console.print()
    console.print(rich_table(history_table(found)))
