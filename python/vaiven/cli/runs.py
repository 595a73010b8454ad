# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven runs`: the runs that there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from vaiven.cli.parameters import JSON


def runs(*, runs: Path | None = None, as_json: Annotated[bool, JSON] = False) -> None:
    """List the runs, oldest first: id, how they ended, launches, title.

    Parameters
    ----------
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    as_json
        One JSON document: schema, runs, their listing, and in `unreadable` why others cannot be read.
    """
    from rich.text import Text

    from vaiven.cli.terminal import open_console
    from vaiven.results.listing import listing
    from vaiven.store import query

    root = runs or query.root()
    found = listing(query.runs(root))
    if as_json:
        print(found.to_json())
        return
    console = open_console()
    if not found and not found.unreadable:
        console.print(f"no runs in {root}")
    for one in found:
        console.print(Text(one.id, style="bold"), soft_wrap=True)  # an id will be copied: it stays in one line
        console.print(Text(f"  {one.state}, {one.launches} launches, {one.warnings} warnings: {one.title}"))
    for why in found.unreadable:
        console.print(Text(f"not readable: {why}"))
