# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven runs`: the runs that there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from vaiven.cli.parameters import JSON
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.store.query import Run


def runs(*, runs: Path | None = None, as_json: Annotated[bool, JSON] = False) -> None:
    """List the runs, oldest first: id, how they ended, launches, title.

    Parameters
    ----------
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    as_json
        One JSON document: schema, runs, and in `unreadable` why others cannot be read.
    """
    from rich.text import Text

    from vaiven.cli.terminal import open_console
    from vaiven.results.document import document
    from vaiven.store import query

    root = runs or query.root()
    there = query.runs(root)
    if as_json:
        readable = [_facts(one) for one in there if not isinstance(one, VaivenError)]
        broken = [str(one) for one in there if isinstance(one, VaivenError)]
        print(document({"schema": 1, "runs": readable, "unreadable": broken}))
        return
    console = open_console()
    if not there:
        console.print(f"no runs in {root}")
    for found in there:
        if isinstance(found, VaivenError):
            console.print(Text(f"not readable: {found}"))
            continue
        facts = _facts(found)
        counts = f"{facts['launches']} launches, {facts['warnings']} warnings"
        console.print(Text(found.id, style="bold"), soft_wrap=True)  # an id will be copied: it stays in one line
        console.print(Text(f"  {facts['state']}, {counts}: {facts['title']}"))


def _facts(run: Run) -> dict[str, Any]:
    """What the list says of a run. state: how it ended, or that it is running or was stopped."""
    from vaiven.store import query

    return {
        "id": run.id,
        "path": str(run.path),
        "created_utc": run.manifest.created_utc,
        "title": run.manifest.title,
        "state": run.end.reason if run.end else run.state,
        "launches": query.launch_count(run),
        "warnings": len(query.warnings(run)),
    }
