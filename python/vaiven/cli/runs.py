# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven runs`: the runs that there are."""

from __future__ import annotations

from pathlib import Path


def runs(*, runs: Path | None = None) -> None:
    """List the runs, oldest first: id, how they ended, launches, title.

    Parameters
    ----------
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    """
    from rich.console import Console
    from rich.text import Text

    from vaiven.errors import VaivenError
    from vaiven.store import query

    root = runs or query.root()
    console = Console(highlight=False, markup=False)
    there = query.runs(root)
    if not there:
        console.print(f"no runs in {root}")
    for found in there:
        if isinstance(found, VaivenError):
            console.print(Text(f"not readable: {found}"))
            continue
        state = found.end.reason if found.end else found.state
        counts = f"{query.launch_count(found)} launches, {len(query.warnings(found))} warnings"
        console.print(Text(found.id, style="bold"), soft_wrap=True)  # an id will be copied: it stays in one line
        console.print(Text(f"  {state}, {counts}: {found.manifest.title}"))
