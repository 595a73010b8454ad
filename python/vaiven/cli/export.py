# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven export`: a run in formats that other programs read. (Parquet needs no export: RUN/samples/*.parquet.)"""

from __future__ import annotations

from pathlib import Path

import cyclopts

from vaiven.cli.parameters import Output, RunName, Runs

app = cyclopts.App(name="export", help="Write a run in formats that other programs read.")


@app.command
def schema() -> None:
    """Print the JSON Schema of what `--json` of model, compare and history prints, and to_json() in Python."""
    import json

    from vaiven.results.result import json_schema
    from vaiven.results.results import KINDS

    print(json.dumps(json_schema(KINDS), indent=1, ensure_ascii=False))


@app.command
def markdown(run: RunName = "last", /, *, output: Output = None, runs: Runs = None) -> None:
    """Print a run as Markdown: all its tables, for a wiki or a merge request.

    Parameters
    ----------
    output
        Where to write: a file; without it, standard output.
    """
    from vaiven.cli.terminal import say
    from vaiven.report import markdown as documents
    from vaiven.results.results import Results
    from vaiven.store import query

    text = documents.document(Results(query.find(run, runs or query.root())))
    say(str(documents.write(text, output)) if output else text.rstrip("\n"))


@app.command
def csv(run: RunName = "last", /, *, output: Output = None, runs: Runs = None) -> None:
    """Write samples.csv, cells.csv and launches.csv.

    Parameters
    ----------
    output
        Where to write: a directory; without it, one named after the run, in this directory.
    """
    from vaiven.cli.terminal import say
    from vaiven.store import query

    found = query.find(run, runs or query.root())
    for path in query.export_csv(found, output or Path(found.name)):
        say(str(path))
