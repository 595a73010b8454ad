# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven report`: a run, or several over each other, as one HTML page, and its charts as SVG files."""

from __future__ import annotations

from pathlib import Path

from vaiven.cli.parameters import Json, Output, Runs, pair_of_hosts
from vaiven.cli.terminal import say


def report(
    *names: str,
    output: Output = None,
    pair: str = "",
    svg: Path | None = None,
    link: str = "",
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Write a run, or several, as one HTML page that needs no network: the answer in words, tables, curves.

    Parameters
    ----------
    names
        A run (a directory, the start of an id, or "last", which is also meant without one). Or several: the page has
        their curves over each other, stack by stack, and how each message went from run to run, by date.
    output
        Where to write: a file, its directory made if need be; without it, the run's id with .html in this directory (of
        several the last one's, and how many more).
    pair
        Two hosts, NEAR,FAR; the answer is about them, and they come first; without it, the pair in the middle.
    svg
        Also write the time and rate charts, or those of one message for many, as SVG files to this directory, made if
        need be.
    link
        The rate of the link, "100 Mb/s" or 1G; instead of what the run says: the wire's times are computed again.
    as_json
        One JSON document instead: schema, page (the file that was written), runs.
    """
    from vaiven.report.files import write_overlay, write_page
    from vaiven.results.document import document
    from vaiven.results.link import read_again
    from vaiven.results.overlay import overlay
    from vaiven.results.results import Results
    from vaiven.store import query

    found = [read_again(query.find(name, runs or query.root()), link) for name in names or ("last",)]
    about = next(iter(pair_of_hosts(pair)), None)
    if len(found) == 1:
        page = write_page(Results(found[0]).findings(about), output or Path(f"{found[0].name}.html"), svg)
    else:
        name = f"{found[-1].name}-and-{len(found) - 1}-more.html"
        page = write_overlay(overlay(found, about), output or Path(name), svg)
    say(document({"schema": 1, "page": str(page), "runs": [run.id for run in found]}) if as_json else str(page))
