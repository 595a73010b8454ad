# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven runs`: the runs that there are."""

from __future__ import annotations

from vaiven.cli.parameters import Json, Runs


def runs(*, runs: Runs = None, as_json: Json = False) -> None:
    """List the runs, oldest first: id, how they ended, launches, title.

    Parameters
    ----------
    as_json
        One JSON document instead: schema, runs, their listing, and in `unreadable` why others cannot be read.
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
