# SPDX-License-Identifier: BSD-3-Clause
"""Reading run directories: which there are, what they hold, one row per cell, every raw sample.

Functions that return frames import polars when they are called, not before. Anything that is not a whole run of the
schema known here, as it was written to the last bit, is refused by name: VaivenError "no-run", "run-older",
"run-newer", "run-damaged". What is read is checked when it is read, so a run costs no more than what is asked of it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from vaiven import outputs, questions
from vaiven.errors import VaivenError
from vaiven.questions import WHOLE_PARTS, named
from vaiven.stats.launches import messages_needed
from vaiven.store import digest, files
from vaiven.store.record import (
    CELLS,
    DOCUMENT,
    END,
    END_PART,
    LAUNCHES,
    LOOKED,
    LOST,
    MANIFEST,
    PART,
    REFINED,
    SAMPLES,
    SCHEMA,
    SETUP_PART,
    TRACES,
    WARNINGS,
    End,
    LaunchRecord,
    LinkRecord,
    LostLaunch,
    Manifest,
    Refined,
)

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

QUANTILES = {"ns_p95": 0.95, "ns_p99": 0.99}
_AROUND_BYTES = 38  # of a frame, beside its packet: addresses and type 14, preamble 8, check sequence 4, gap 12
_CHUNK_BYTES = 8 * 2**20  # of compressed samples read at once: bounds memory, not the run


@dataclass(frozen=True)
class Run:
    """A run directory that can be read. state: "running", "stopped" (can be resumed) or "ended"; end: None before.

    summaries: one row per cell, by the launches that were finished when they were counted: samples are read once.
    measured_link: what was said of the link when it was measured, where `manifest` says another one (with_link).
    """

    path: Path
    manifest: Manifest
    state: str
    end: End | None
    summaries: dict[int, pl.DataFrame] = field(default_factory=dict, repr=False, compare=False)
    measured_link: LinkRecord | None = None

    @property
    def id(self) -> str:
        return self.manifest.id

    @property
    def name(self) -> str:
        """What its directory is called: a plain name for files, whatever its manifest says."""
        return self.path.resolve().name


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
    if name and os.path.isfile(Path(name) / MANIFEST):  # no name is too long for it
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
    return _lines(run, WARNINGS, dict[str, Any])


def refined(run: Run) -> list[Refined]:
    """The sizes that looks added, in order; empty for a plan without [refine]."""
    return _lines(run, REFINED, Refined)


def lost(run: Run) -> list[LostLaunch]:
    """The launches that lost their time and were done again, in order; those that are kept say so themselves."""
    return _lines(run, LOST, LostLaunch)


def _lines(run: Run, name: str, kind: type[T]) -> list[T]:
    """What the lines of a file that grows hold; of an ended run it must be the file that was there then."""
    path = run.path / name
    found = files.read_lines(path)
    if run.end:
        now = digest.of(path.read_bytes()) if path.exists() else None
        if now != run.end.digests.get(name):
            raise files.damaged(path, "it is not the file that was there when the run ended")
    try:
        return [msgspec.json.decode(line, type=kind) for line in found]
    except (ValueError, RecursionError) as error:
        raise files.damaged(path, error) from error


def launch_records(run: Run) -> list[LaunchRecord]:
    """What each finished launch said of itself and of its path, by number."""
    return [_launch_record(run, number) for number in _numbers(run)]


def _launch_record(run: Run, number: int) -> LaunchRecord:
    path = run.path / LAUNCHES / files.numbered(number, DOCUMENT)
    found = _decode(path, LaunchRecord)
    if found.launch != number:
        raise files.damaged(path, f"it tells of launch {found.launch}")
    return found


def launch_count(run: Run) -> int:
    """How many launches are finished."""
    return len(_numbers(run))


def cells(run: Run) -> pl.DataFrame:
    """One row per cell of every finished launch, the sentinels among them.

    VaivenError ("run-newer") where one asks what nobody knows here.
    """
    found = _read(run, CELLS, None)
    unknown = sorted(set(found["ask"].unique().to_list()) - set(questions.ALL))
    if unknown:
        what = f"the run {run.id} asks {unknown[0]!r}, which this vaiven does not know"
        raise VaivenError(what, "update vaiven to read it", code="run-newer")
    return found


def samples(run: Run) -> pl.DataFrame:
    """One row per timed exchange of every finished launch, sentinels among them. ns is null where it was lost."""
    return _read(run, SAMPLES, None)


def traces(run: Run) -> pl.DataFrame:
    """One row per segment that an end of a launch saw of a connection that was looked at, in order."""
    looked_at = [one.launch for one in launch_records(run) if TRACES in one.digests]
    return _read(run, TRACES, None, looked_at)


def looked_at(run: Run, ask: str) -> Iterator[tuple[tuple[str, str, str, int, int], list[dict[str, Any]]]]:
    """((near, far, stack, bytes, block), rows of `traces`) of the first message of each connection, in order."""
    table = traces(run).filter(ask=ask, message=LOOKED[0])
    key = ["near", "far", "stack", "size_bytes", "block"]
    for of, rows in table.group_by(key, maintain_order=True):
        yield of, rows.rows(named=True)


def launches(run: Run) -> pl.DataFrame:
    """One row per (launch, size), without the sentinels: what models and tests are made from.

    Of a prtt these are its single round trips; `of_question` has its other parts.

    The columns of `cells`, and ns_min, ns_median, ns_mean, ns_p95, ns_p99 of the cell's samples (f64, in the
    record's own terms: a pingpong is a round trip). Losses count as slower than everything: a quantile that
    falls on one is null, and so are all of a cell without any answer. ns_p95 and ns_p99 are null in a cell with fewer
    samples than carry them (stats.launches.messages_needed). ns_mean is that of the answers.
    """
    import polars as pl

    return summaries(run).filter(~pl.col("sentinel") & pl.col("part").is_in(WHOLE_PARTS))


def of_question(run: Run, ask: str) -> pl.DataFrame:
    """The same columns for every part of one question: one row per (launch, size, part)."""
    import polars as pl

    return summaries(run).filter(pl.col("ask") == ask)


def ends(run: Run) -> pl.DataFrame:
    """The same columns for each far end of several (part "to:N"): one row per (launch, size, end)."""
    import polars as pl

    return summaries(run).filter(pl.col("part").str.starts_with(END_PART))


def setups(run: Run) -> pl.DataFrame:
    """The same columns for the sessions that a program sets up, one before each message (part "setup")."""
    import polars as pl

    return summaries(run).filter(pl.col("part") == SETUP_PART)


def first_column(count: int) -> str:
    """The column that `with_first` adds for so many messages."""
    return f"ns_first_{count}"


def with_first(run: Run, cells: pl.DataFrame, counts: Sequence[int]) -> pl.DataFrame:
    """Rows of `launches` with the means of the first so many samples of each cell, null where there are fewer."""
    import polars as pl

    key = ["launch", "ask", "part", "size_bytes"]
    if cells.filter(pl.col("count") >= min(counts)).is_empty():
        return cells
    timed = samples(run)
    for count in counts:
        first = timed.filter(pl.col("seq") < count).group_by(key).agg(pl.col("ns").mean().alias("mean"), pl.len())
        whole = first.filter(pl.col("len") == count).select(*key, pl.col("mean").alias(first_column(count)))
        cells = cells.join(whole, on=key, how="left")
    return cells


def payloads(run: Run, ask: str) -> dict[int, int]:
    """launch -> bytes of all messages that it sent for that question, warm-up among them."""
    import polars as pl

    messages = pl.col("count").cast(pl.Int64) + pl.col("lost") + pl.col("warmup")
    asked = launches(run).filter(ask=ask).group_by("launch").agg((messages * pl.col("size_bytes")).sum().alias("bytes"))
    return dict(asked.select("launch", "bytes").iter_rows())


def sentinels(run: Run) -> pl.DataFrame:
    """The same columns for the sentinels: one row per block."""
    import polars as pl

    return summaries(run).filter(pl.col("sentinel"))


def export_csv(run: Run, directory: Path) -> list[Path]:
    """Writes samples.csv, cells.csv and launches.csv to `directory` (made if need be), each whole or not at all."""
    mark = b"launch,"  # their first column
    tables = {"samples.csv": samples, "cells.csv": cells, "launches.csv": launches}
    for name in tables:
        outputs.require_replaceable(directory / name, mark)
    return [outputs.write(directory / name, table(run).write_csv(), mark) for name, table in tables.items()]


def summaries(run: Run) -> pl.DataFrame:
    """The same columns for every row of `cells`."""
    finished = launch_count(run)
    if finished not in run.summaries:
        run.summaries.clear()
        run.summaries[finished] = _with_wire(_summed_up(run), run)
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
        **{
            name: pl.when(pl.len() >= messages_needed(share)).then(censored.quantile(share, "higher"))
            for name, share in QUANTILES.items()
        },
    }
    found = [_read(run, SAMPLES, [*key, "ns"], chunk).group_by(key).agg(**wanted) for chunk in _chunks(run)]
    table = cells(run)
    if not found:
        return table.with_columns(**{name: pl.lit(None, pl.Float64) for name in wanted})
    summary = pl.concat(found).with_columns(
        pl.when(pl.col(name).is_finite()).then(pl.col(name)).alias(name) for name in wanted
    )
    return table.join(summary, on=key, how="left").sort("launch", "ask", "size_bytes", "part")


def _numbers(run: Run) -> list[int]:
    """The finished launches, in order: all that an ended run had."""
    found = files.numbers(run.path / LAUNCHES, DOCUMENT)
    if run.end and len(found) != run.end.launches:
        raise files.damaged(
            run.path / LAUNCHES, f"{len(found)} launches are here, and {run.end.launches} were recorded"
        )
    return found


def _chunks(run: Run) -> list[list[int]]:
    """The finished launches in groups whose samples fit in memory."""
    chunks: list[list[int]] = []
    room = 0
    for number in _numbers(run):
        path = run.path / SAMPLES / files.numbered(number, PART)
        try:
            size = path.stat().st_size
        except OSError as error:
            raise files.damaged(path, error.strerror) from error
        if size > room:
            chunks.append([])
            room = _CHUNK_BYTES
        chunks[-1].append(number)
        room -= size
    return chunks


def _read(run: Run, kind: str, columns: list[str] | None, numbers: Sequence[int] | None = None) -> pl.DataFrame:
    """These columns (None: all) of the parts of these launches (None: all)."""
    import polars as pl

    from vaiven.store import parts

    schemas = {SAMPLES: parts.SAMPLES_SCHEMA, CELLS: parts.CELLS_SCHEMA, TRACES: parts.TRACES_SCHEMA}
    schema = schemas[kind]
    wanted = columns or list(schema)
    whole = {number: _part(run, kind, number) for number in (_numbers(run) if numbers is None else numbers)}
    if not whole:
        return pl.DataFrame(schema=schema).select(wanted)

    def frame(*data: bytes) -> pl.DataFrame:
        return pl.read_parquet(list(data), columns=wanted, schema=schema, missing_columns="insert")

    unreadable = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
    try:
        return frame(*whole.values())
    except unreadable:
        for number, data in whole.items():  # which one?
            try:
                frame(data)
            except unreadable as error:
                raise files.damaged(run.path / kind / files.numbered(number, PART), error) from error
        raise


def _part(run: Run, kind: str, number: int) -> bytes:
    """A part of a launch, as its record says that it was written."""
    path = run.path / kind / files.numbered(number, PART)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise files.damaged(path, error.strerror) from error
    if digest.of(data) != _launch_record(run, number).digests.get(kind):
        raise files.damaged(path, "its digest is not the one in the record of its launch")
    return data


def _decode(path: Path, kind: type[T]) -> T:
    """The document of a file. VaivenError ("run-damaged", "run-older", "run-newer")."""
    try:
        data = path.read_bytes()
        if not digest.is_sealed(data):
            _require_ours(path, data)
            _require_schema(path, data)
        document = digest.opened(data)
        _require_schema(path, document)
        return msgspec.json.decode(document, type=kind)
    except (ValueError, OSError, RecursionError) as error:
        raise files.damaged(path, error) from error


def _require_ours(path: Path, document: bytes) -> None:
    """VaivenError ("no-run") if it is a document of another program: of ours every version names its schema."""
    found = msgspec.json.decode(document)
    if path.name == MANIFEST and isinstance(found, dict) and "schema" not in found:
        what = f"{path.parent} is not a run: {path.name} is of another program"
        raise VaivenError(what, "`vaiven runs` lists the runs", code="no-run")


def _require_schema(path: Path, document: bytes) -> None:
    """VaivenError ("run-older", "run-newer") if the document says that it is of another schema than ours."""
    schema = msgspec.json.decode(document, type=_Versioned).schema
    if schema < SCHEMA:
        raise VaivenError(
            f"{path.parent.name} was written by an older vaiven (schema {schema}, known here: {SCHEMA})",
            "measure again, or read it with the vaiven that wrote it: its manifest names the version",
            code="run-older",
        )
    if schema > SCHEMA:
        raise VaivenError(
            f"{path.parent.name} was written by a newer vaiven (schema {schema}, known here: {SCHEMA})",
            "update vaiven to read it",
            code="run-newer",
        )


class _Versioned(msgspec.Struct):
    schema: int = SCHEMA


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
    if root.exists() and not root.is_dir():
        raise VaivenError(f"{root} is no directory of runs", "--runs DIRECTORY", code="no-run")
    return sorted(path.parent for path in root.glob(f"*/{MANIFEST}")) if root.is_dir() else []


def with_link(run: Run, rate_bps: int) -> Run:
    """The run as if that had been said of its link: only its wire times change, which are a formula of the frames."""
    link = msgspec.structs.replace(run.manifest.link or LinkRecord(hops=2, mtu_bytes=1500), rate_bps=rate_bps)
    plan = {**run.manifest.plan, "link": msgspec.to_builtins(link)}
    manifest = msgspec.structs.replace(run.manifest, link=link, plan=plan)
    return replace(run, manifest=manifest, measured_link=run.manifest.link or LinkRecord(), summaries={})


def without_wire(table: pl.DataFrame, pairs: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """Such rows, as if nobody knew what the wire takes between those (near, far)."""
    import polars as pl

    wrong = pl.any_horizontal(
        pl.lit(False), *((pl.col("near") == near) & (pl.col("far") == far) for near, far in pairs)
    )
    return table.with_columns(wire_ns=pl.when(~wrong).then(pl.col("wire_ns")))


def _with_wire(table: pl.DataFrame, run: Run) -> pl.DataFrame:
    """With the wire times of the run's link, where that is not the one it was measured with.

    Times go with the rate. Where none was known, that of one message: its frames, and on each further link the largest.
    """
    import polars as pl

    if run.measured_link is None or run.manifest.link is None:
        return table
    rate, hops, mtu = run.manifest.link.rate_bps, run.manifest.link.hops, run.manifest.link.mtu_bytes
    assert rate and hops and mtu, "of a link that was said all is known"
    frame = pl.when(pl.col("wire_frames") > 1).then(mtu + _AROUND_BYTES).otherwise(pl.col("wire_bytes"))
    of_one = pl.col("ask").is_in(named(lambda one: one.one_message))
    first = pl.when(of_one).then(pl.col("wire_bytes") + (hops - 1) * frame) * (8e9 / rate)
    scaled = pl.col("wire_ns") * ((run.measured_link.rate_bps or rate) / rate)
    return table.with_columns(wire_ns=pl.coalesce(scaled, first).round().cast(pl.Int64))
