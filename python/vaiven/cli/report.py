# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven report`: a run as one HTML page, and its charts as SVG files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from vaiven.cli.compare import pair_of_hosts
from vaiven.cli.terminal import say

if TYPE_CHECKING:
    pass


def report(
    run: str = "last",
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    pair: str = "",
    svg: Path | None = None,
    link: str = "",
    runs: Path | None = None,
) -> None:
    """Write a run as one HTML page that needs no network: the answer in words, tables, curves, how to repeat it.

    Parameters
    ----------
    run
        A run directory, the start of a run's id, or "last".
    output
        The file to write, its directory made if need be; without it, the run's id with .html in this directory.
    pair
        The two hosts that the answer is about and that come first, NEAR,FAR; without it, the pair in the middle.
    svg
        Also write the time and rate charts, or those of one message for many, as SVG files to this directory, made if
        need be.
    link
        The rate of the link, "100 Mb/s", instead of what the run says: the wire's times are computed again.
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    """
    from vaiven.report.files import write_page
    from vaiven.results.link import read_again
    from vaiven.results.results import Results
    from vaiven.store import query

    found = read_again(query.find(run, runs or query.root()), link)
    about = next(iter(pair_of_hosts(pair)), None)
    page = write_page(Results(found).findings(about), output or Path(f"{found.name}.html"), svg)
    say(str(page))
