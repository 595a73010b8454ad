# SPDX-License-Identifier: BSD-3-Clause
"""Reading run directories: which there are, what they hold, one row per cell, every raw sample.

Functions that return frames import polars when they are called, not before. Anything that is not a whole run of a
schema known here is refused by name: VaivenError "no-run", "run-newer", "run-damaged".
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from vaiven.errors import VaivenError
from vaiven.store.record import (
    CELLS,
    END,
    END_PART,
    LAUNCHES,
    MANIFEST,
    REFINED,
    SAMPLES,
    SCHEMA,
    SETUP_PART,
    WARNINGS,
    WHOLE_PARTS,
    End,
    LaunchRecord,
    Manifest,
    Refined,
)

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

QUANTILES = {"ns_p95": 0.95, "ns_p99": 0.99}
_CHUNK_BYTES = 8 * 2**20  # of compressed samples read at once: bounds memory, not the run


@dataclass(frozen=True)
class Run:
    """A run directory that can be read. state: "running", "stopped" (can be resumed) or "ended"; end: None before.

    summaries: one row per cell, by the launches that were finished when they were counted: samples are read once.
    """

    path: Path
    manifest: Manifest
    state: str
    end: End | None
    summaries: dict[int, pl.DataFrame] = field(default_factory=dict, repr=False, compare=False)

    @property
    def id(self) -> str:
        return self.manifest.id


def root() -> Path:
    """Where runs are kept: $VAIVEN_RUNS, else ./runs."""
    return Path(os.environ.get("VAIVEN_RUNS") or "runs")


def open_run(path: Path) -> Run:
    """The run in that directory."""
    if not (path / MANIFEST).is_file():
        raise VaivenError(f"{path} is not a run", "`vaiven runs` lists them", code="no-run")
    manifest = _decode(path / MANIFEST, Manifest)
    end = _decode(path / END, End) if (path / END).exists() else None
    return Run(path, manifest, "ended" if end else _state(path), end)


def find(name: str, root: Path) -> Run:
    """The run that `name` means: a directory, an id below `root` or the start of just one, or "last"."""
    if name and (Path(name) / MANIFEST).is_file():
        return open_run(Path(name))
    paths = _paths(root)
    matching = paths[-1:] if name == "last" else [path for path in paths if name and path.name.startswith(name)]
    if len(matching) == 1:
        return open_run(matching[0])
    if matching:
        raise VaivenError(f"{len(matching)} runs begin with {name!r}", "give more of the id", code="no-run")
    remedy = "`vaiven runs` lists them" if paths else "`vaiven measure` makes one"
    raise VaivenError(f"no run {name!r} in {root}", remedy, code="no-run")


def runs(root: Path) -> list[Run | VaivenError]:
    """All runs below `root`, oldest first; in place of one that cannot be read, why."""
    found: list[Run | VaivenError] = []
    for path in _paths(root):
        try:
            found.append(open_run(path))
        except VaivenError as error:
            found.append(error)
    return found


def warnings(run: Run) -> list[dict[str, Any]]:
    """The warnings of a run, in order; a last line that was cut off by a crash is left out."""
    return _lines(run.path / WARNINGS, dict[str, Any])


def refined(run: Run) -> list[Refined]:
    """The sizes that looks added, in order; empty for a plan without [refine]."""
    return _lines(run.path / REFINED, Refined)


def _lines(path: Path, kind: type[T]) -> list[T]:
    """The whole lines of a file that grows; none of a file that is not there."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _damaged(path, error.strerror or "") from error
    try:
        return [msgspec.json.decode(line, type=kind) for line in lines[:-1]]
    except msgspec.DecodeError as error:
        raise _damaged(path, str(error)) from error


def launch_records(run: Run) -> list[LaunchRecord]:
    """What each finished launch said of itself and of its path, by number."""
    return [_decode(path, LaunchRecord) for path in sorted((run.path / LAUNCHES).glob("*.json"))]


def launch_count(run: Run) -> int:
    """How many launches are finished."""
    return len(_names(run))


def cells(run: Run) -> pl.DataFrame:
    """One row per cell of every finished launch, the sentinels among them."""
    return _read(run, CELLS, None)


def samples(run: Run) -> pl.DataFrame:
    """One row per timed exchange of every finished launch, sentinels among them. ns is null where it was lost."""
    return _read(run, SAMPLES, None)


def launches(run: Run) -> pl.DataFrame:
    """One row per (launch, size), without the sentinels: what models and tests are made from.

    Of a prtt these are its single round trips; `trains` has its other parts.

    The columns of `cells`, and ns_min, ns_median, ns_mean, ns_p95, ns_p99 of the cell's samples (f64, in the
    record's own terms: a pingpong is a round trip). Losses count as slower than everything: a quantile that
    falls on one is null, and so are all of a cell without any answer. ns_mean is that of the answers.
    """
    import polars as pl

    return _summaries(run).filter(~pl.col("sentinel") & pl.col("part").is_in(WHOLE_PARTS))


def trains(run: Run) -> pl.DataFrame:
    """The same columns for every part of every prtt: one row per (launch, size, part)."""
    import polars as pl

    return _summaries(run).filter(pl.col("ask") == "prtt")


def ends(run: Run) -> pl.DataFrame:
    """The same columns for each far end of several (part "to:N"): one row per (launch, size, end)."""
    import polars as pl

    return _summaries(run).filter(pl.col("part").str.starts_with(END_PART))


def setups(run: Run) -> pl.DataFrame:
    """The same columns for the sessions that a program sets up, one before each message (part "setup")."""
    import polars as pl

    return _summaries(run).filter(pl.col("part") == SETUP_PART)


def overlaps(run: Run) -> pl.DataFrame:
    """The same columns for an overlap: one row per (launch, size, part), part "" of talk and work at once."""
    import polars as pl

    return _summaries(run).filter(pl.col("ask") == "overlap")


def steps(run: Run) -> pl.DataFrame:
    """The same columns for steps: one row per (launch, size, part), part "" of the whole round trip."""
    import polars as pl

    return _summaries(run).filter(pl.col("ask") == "steps")


def sentinels(run: Run) -> pl.DataFrame:
    """The same columns for the sentinels: one row per block."""
    import polars as pl

    return _summaries(run).filter(pl.col("sentinel"))


def export_csv(run: Run, directory: Path) -> list[Path]:
    """Writes samples.csv, cells.csv and launches.csv to `directory` (made if need be)."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    tables = {"samples.csv": samples, "cells.csv": cells, "launches.csv": launches}
    for name, table in tables.items():
        table(run).write_csv(directory / name)
        written.append(directory / name)
    return written


def _summaries(run: Run) -> pl.DataFrame:
    finished = launch_count(run)
    if finished not in run.summaries:
        run.summaries.clear()
        run.summaries[finished] = _summed_up(run)
    return run.summaries[finished]


def _summed_up(run: Run) -> pl.DataFrame:
    import polars as pl

    key = ["launch", "ask", "part", "size_bytes"]
    ns = pl.col("ns")
    # A lost message took longer than any that was answered.
    censored = ns.cast(pl.Float64).fill_null(float("inf"))
    wanted = {
        "ns_min": ns.min().cast(pl.Float64),
        "ns_median": censored.median(),
        "ns_mean": ns.mean(),
        **{name: censored.quantile(share, "higher") for name, share in QUANTILES.items()},
    }
    found = [_read(run, SAMPLES, [*key, "ns"], chunk).group_by(key).agg(**wanted) for chunk in _chunks(run)]
    table = cells(run)
    if not found:
        return table.with_columns(**{name: pl.lit(None, pl.Float64) for name in wanted})
    summary = pl.concat(found).with_columns(
        pl.when(pl.col(name).is_finite()).then(pl.col(name)).alias(name) for name in wanted
    )
    return table.join(summary, on=key, how="left").sort("launch", "ask", "size_bytes", "part")


def _names(run: Run) -> list[str]:
    return sorted(path.stem for path in (run.path / LAUNCHES).glob("*.json"))


def _chunks(run: Run) -> list[list[str]]:
    """The finished launches in groups whose samples fit in memory."""
    chunks: list[list[str]] = []
    room = 0
    for name in _names(run):
        path = run.path / SAMPLES / f"{name}.parquet"
        size = _guarded(path, lambda path=path: path.stat().st_size)
        if size > room:
            chunks.append([])
            room = _CHUNK_BYTES
        chunks[-1].append(name)
        room -= size
    return chunks


def _read(run: Run, kind: str, columns: list[str] | None, names: Sequence[str] | None = None) -> pl.DataFrame:
    import polars as pl

    from vaiven.store import parts

    schema = parts.SAMPLES_SCHEMA if kind == SAMPLES else parts.CELLS_SCHEMA
    paths = [run.path / kind / f"{name}.parquet" for name in (_names(run) if names is None else names)]
    if not paths:
        return pl.DataFrame(schema=schema).select(columns or list(schema))
    wanted = columns or list(schema)
    try:
        return pl.read_parquet(paths, columns=wanted, schema=schema, missing_columns="insert")
    except (pl.exceptions.PolarsError, OSError):
        for path in paths:  # which one?
            _guarded(
                path, lambda path=path: pl.read_parquet(path, columns=wanted, schema=schema, missing_columns="insert")
            )
        raise


def _guarded(path: Path, read: Callable[[], T]) -> T:
    import polars as pl

    try:
        return read()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(path, str(error).splitlines()[0]) from error


def _decode(path: Path, kind: type[T]) -> T:
    try:
        data = path.read_bytes()
        schema = msgspec.json.decode(data, type=_Versioned).schema
        if schema > SCHEMA:
            raise VaivenError(
                f"{path.parent.name} was written by a newer vaiven (schema {schema}, known here: {SCHEMA})",
                "update vaiven to read it",
                code="run-newer",
            )
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        raise _damaged(path, str(error)) from error


class _Versioned(msgspec.Struct):
    schema: int = SCHEMA


def _damaged(path: Path, why: str) -> VaivenError:
    return VaivenError(
        f"the run is damaged: {path}: {why}", "nothing is guessed; restore it from a copy", code="run-damaged"
    )


def _state(path: Path) -> str:
    """ "running" while somebody holds the lock of the run."""
    descriptor = os.open(path / MANIFEST, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return "running"
    finally:
        os.close(descriptor)
    return "stopped"


def _paths(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.glob(f"*/{MANIFEST}")) if root.is_dir() else []
