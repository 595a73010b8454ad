# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven report`: a run as one HTML page, and its charts as SVG files."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from vaiven.cli.compare import pair_of_hosts
from vaiven.cli.terminal import say
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.results.results import Results

_PAGE, _PICTURE = b'<meta name="generator" content="vaiven', b"<svg"  # what a file has that may be replaced


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
    from vaiven.results.link import read_again
    from vaiven.results.results import Results
    from vaiven.store import query

    found = read_again(query.find(run, runs or query.root()), link)
    about = next(iter(pair_of_hosts(pair)), None)
    page = write_page(Results(found), output or Path(f"{found.name}.html"), svg, about)
    say(str(page))


def write_page(said: Results, output: Path, svg: Path | None = None, about: tuple[str, str] | None = None) -> Path:
    """Writes the page of a run whole or not at all, and the SVG files beside it if asked. Returns `output`.

    about: the (near, far) hosts that come first. Raises VaivenError: "nothing-measured", "no-pair", "cannot-write".
    """
    from vaiven.report import page

    found = said.findings(about)
    if svg is not None:
        for name, text in page.pictures(found).items():
            _write(svg / name, text, _PICTURE)
    _write(output, page.page(found), _PAGE)
    return output


def _write(path: Path, text: str, mark: bytes) -> None:
    """A reader never sees half a page. VaivenError ("cannot-write"), also where what is there has no such mark."""
    from vaiven.store import files

    files.require_replaceable(path, mark)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("x", encoding="utf-8") as file:  # "x" follows no link that waits there
            file.write(text)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise VaivenError(
            f"cannot write {path}: {error.strerror}", "choose another place with -o", "cannot-write"
        ) from error
