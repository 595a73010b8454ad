# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven history`: all runs of one plan in order of time, where they changed for good, and what was changed there."""

from __future__ import annotations

from vaiven.cli.parameters import Json, Runs, stack_names
from vaiven.questions import PLAIN, Compared


def history(
    plan: str,
    /,
    *,
    stacks: str = "",
    ask: Compared = PLAIN,
    as_json: Json = False,
    runs: Runs = None,
) -> None:
    """All runs of a plan in order of time: where they changed for good, by how much, and which settings changed there.

    Parameters
    ----------
    plan
        The plan's name, or its file; of runs without one their title. `vaiven runs` lists them.
    stacks
        Stacks, with commas between; only these.
    ask
        The question whose answers are shown.
    as_json
        One JSON document instead: schema, runs, history and what is told of it.
    """
    from rich.text import Text

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
