# SPDX-License-Identifier: BSD-3-Clause
"""What a run says in one line a cell: the median over its launches of what each launch says.

A run that has ended has them in one file, made from its parts when it ended, so that hundreds of runs can be read in a
second. Of any other run, and of any other statistic, they are made from the parts each time.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from vaiven.questions import WHOLE_PARTS
from vaiven.store import digest, files, query
from vaiven.store.record import MEDIANS

if TYPE_CHECKING:
    from vaiven.store.query import Run

KEY = ("near", "far", "fars", "stack", "ask", "sentinel", "size_bytes")
SCHEMA = {
    "near": pl.String, "far": pl.String, "fars": pl.Int32, "stack": pl.String, "ask": pl.String,
    "sentinel": pl.Boolean, "size_bytes": pl.Int64, "batch": pl.Int32, "launches": pl.Int32,
    "wire_frames": pl.Int32, "wire_bytes": pl.Int64, "ns": pl.Float64,
}  # fmt: skip


def medians(run: Run, column: str = "ns_median") -> pl.DataFrame:
    """One row per cell of a run, sentinels among them: the columns of SCHEMA.

    ns: the median over launches of that column of `query.launches`, in the record's own terms (a pingpong is a round
    trip); null where no launch has one. launches: how many have one. batch: the largest.
    """
    sealed = run.end.digests.get(MEDIANS) if run.end else None
    if column != "ns_median" or sealed is None:
        return made(run, column)
    path = run.path / MEDIANS
    try:
        data = path.read_bytes()
        if digest.of(data) != sealed:
            raise files.damaged(path, "it is not the file that was there when the run ended")
        return pl.read_parquet(data).select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise files.damaged(path, error) from error


def made(run: Run, column: str = "ns_median") -> pl.DataFrame:
    """The same from the parts, whatever the run has of them."""
    cells = query.summaries(run).filter(pl.col("part").is_in(WHOLE_PARTS))
    found = cells.group_by(KEY, maintain_order=True).agg(
        pl.col("batch").max(),
        pl.col(column).count().alias("launches"),
        *(pl.col(name).drop_nulls().first() for name in ("wire_frames", "wire_bytes")),
        pl.col(column).median().alias("ns"),
    )
    return found.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items()).sort(KEY)


def stacked(tables: Sequence[pl.DataFrame], column: str) -> pl.DataFrame:
    """The medians of several runs as if each run were a launch: the columns of `query.launches` that times are made of.

    `launch` and `block` are the place of the run among them. Without sentinels. column: what `ns` was before.
    """
    numbered = [
        table.filter(~pl.col("sentinel")).with_columns(
            launch=pl.lit(number), block=pl.lit(number), wire_ns=pl.lit(None, pl.Int64)
        )
        for number, table in enumerate(tables)
    ]
    return pl.concat(numbered).rename({"launches": "count", "ns": column})


def written(run: Run) -> bytes:
    """The file of a run that ends."""
    buffer = io.BytesIO()
    made(run).write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
