# SPDX-License-Identifier: BSD-3-Clause
"""The Parquet parts of a run: their columns, and one launch as the bytes of a file."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from vaiven.store.record import LOOKED

if TYPE_CHECKING:
    from vaiven.store.record import Cell, LaunchRecord, Segment, Trace

_LAUNCH_SCHEMA = {
    "launch": pl.Int32, "block": pl.Int32, "stack": pl.String, "near": pl.String, "far": pl.String,
    "fars": pl.Int32, "sentinel": pl.Boolean,
}  # fmt: skip
_SAMPLE_SCHEMA = {
    "ask": pl.String, "part": pl.String, "size_bytes": pl.Int64, "seq": pl.Int32, "batch": pl.Int32, "ns": pl.Int64,
}  # fmt: skip
_OF_CELL = ("ask", "part", "size_bytes", "batch")  # the same for all its samples
_CELL_SCHEMA = {
    "ask": pl.String, "part": pl.String, "size_bytes": pl.Int64, "batch": pl.Int32, "count": pl.Int32, "lost": pl.Int32,
    "late": pl.Int32, "corrupt": pl.Int32, "warmup": pl.Int32, "warm": pl.Boolean, "cpu_near_ns": pl.Float64,
    "cpu_far_ns": pl.Float64, "wire_frames": pl.Int32, "wire_bytes": pl.Int64, "wire_ns": pl.Int64,
    "started_s": pl.Float64, "gap_ns": pl.Int64, "resent": pl.Int64, "clock": pl.String, "clock_error_ns": pl.Int64,
    "overlap": pl.Float64, "out_bytes": pl.Int64, "in_bytes": pl.Int64, "translations": pl.Int32,
    "window_segments": pl.Float64, "threshold_segments": pl.Float64,
}  # fmt: skip
_TRACE_SCHEMA = {
    "ask": pl.String, "size_bytes": pl.Int64, "segment_bytes": pl.Int32, "dropped": pl.Int32, "end": pl.String,
    "message": pl.String, "began_ns": pl.Int64, "at_ns": pl.Int64, "out": pl.Boolean, "syn": pl.Boolean,
    "seq": pl.Int64, "ack": pl.Int64, "data_bytes": pl.Int64,
}  # fmt: skip
SAMPLES_SCHEMA = {**_LAUNCH_SCHEMA, **_SAMPLE_SCHEMA}
CELLS_SCHEMA = {**_LAUNCH_SCHEMA, **_CELL_SCHEMA}
TRACES_SCHEMA = {**_LAUNCH_SCHEMA, **_TRACE_SCHEMA}


def samples(launch: LaunchRecord, cells: Sequence[Cell]) -> bytes:
    """One row per timed exchange."""
    counts = [len(cell.ns) for cell in cells]
    columns = {name: _repeated([getattr(cell, name) for cell in cells], counts) for name in _OF_CELL}
    columns["ns"] = [ns for cell in cells for ns in cell.ns]
    columns["seq"] = [seq for count in counts for seq in range(count)]
    return _parquet(pl.DataFrame(columns, schema=_SAMPLE_SCHEMA), launch, SAMPLES_SCHEMA)


def _repeated(values: Sequence[Any], counts: Sequence[int]) -> list[Any]:
    return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]


def cells(launch: LaunchRecord, cells: Sequence[Cell]) -> bytes:
    """One row per cell; count is how many exchanges have a time."""
    rows = [
        {name: getattr(cell, name) for name in _CELL_SCHEMA if name != "count"}
        | {"count": sum(ns is not None for ns in cell.ns)}
        for cell in cells
    ]
    return _parquet(pl.DataFrame(rows, schema=_CELL_SCHEMA), launch, CELLS_SCHEMA)


def traces(launch: LaunchRecord, traces: Sequence[Trace]) -> bytes:
    """One row per segment and end that saw it, in the order in which they passed."""
    rows = [row for trace in traces for row in _segment_rows(trace)]
    return _parquet(pl.DataFrame(rows, schema=_TRACE_SCHEMA, orient="row"), launch, TRACES_SCHEMA)


def _segment_rows(trace: Trace) -> Iterator[tuple[Any, ...]]:
    whole = trace.ask, trace.size_bytes, trace.segment_bytes
    for end, segments, dropped in zip(("near", "far"), (trace.near, trace.far), trace.dropped, strict=True):
        for one in segments:
            number = _message_of(one, trace.size_bytes)
            known = number in range(len(trace.began_ns))
            message = (LOOKED[number], trace.began_ns[number]) if known else ("", None)
            yield *whole, dropped, end, *message, *one


def _message_of(segment: Segment, size_bytes: int) -> int:
    """Which message it carries, from 0, or else acknowledges the last of; -1 of what belongs to no message.

    Each message goes there and comes back before the next one, so each direction has all of it in a row.
    """
    if segment.syn or (segment.data_bytes == 0 and segment.ack < 1):
        return -1
    return (segment.seq if segment.data_bytes else segment.ack - 1) // size_bytes


def _parquet(frame: pl.DataFrame, launch: LaunchRecord, schema: dict[str, type[pl.DataType]]) -> bytes:
    of_launch = {name: pl.lit(getattr(launch, name), dtype=kind) for name, kind in _LAUNCH_SCHEMA.items()}
    buffer = io.BytesIO()
    frame.select(of_launch.get(name, pl.col(name)).alias(name) for name in schema).write_parquet(
        buffer, compression="zstd"
    )
    return buffer.getvalue()
