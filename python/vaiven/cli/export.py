# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven export`: a run in formats that other programs read. (Parquet needs no export: RUN/samples/*.parquet.)"""

from __future__ import annotations

from pathlib import Path

import cyclopts

app = cyclopts.App(name="export", help="Write a run in formats that other programs read.")


@app.command
def schema() -> None:
    """Print the JSON Schema of what `--json` of model, compare and history prints, and to_json() in Python."""
    import json

    from vaiven.results.result import json_schema
    from vaiven.results.results import KINDS

    print(json.dumps(json_schema(KINDS), indent=1, ensure_ascii=False))


@app.command
def csv(run: str = "last", /, *, output: Path | None = None, runs: Path | None = None) -> None:
    """Write samples.csv, cells.csv and launches.csv.

    Parameters
    ----------
    run
        A run directory, the start of a run's id, or "last".
    output
        The directory to write to; without it, one named after the run, in this directory.
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    """
    from vaiven.cli.terminal import say
    from vaiven.store import query

    found = query.find(run, runs or query.root())
    for path in query.export_csv(found, output or Path(found.name)):
        say(str(path))
