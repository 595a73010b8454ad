# SPDX-License-Identifier: BSD-3-Clause
"""What was recorded, as frames whose columns say what they are: no sentinel, losses slower than everything, one way.

one_way_ns is the time of a message one way: half of its round trip where that was timed, else until it was there, with
several ends until the last had it. rtt_ns is a time there and back; of a connect and an overlap all that there is. What
was lost is infinite, for it took longer than all that came: medians and quantiles are right as they stand. null is what
nobody told, or what has no such time.

With parts a column more, part_ns, has the times of parts of a question (the trains of prtt, the ends of a fanout, the
steps of a message), which are no times of a message; `part` names them. What each is: the reference of run directories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from vaiven.model.times import HALF
from vaiven.questions import WHOLE_PARTS, Times, named
from vaiven.stats.launches import messages_needed
from vaiven.store import query
from vaiven.store.query import QUANTILES, Run

# Questions whose times are there and back, and those of which half is a message one way.
_THERE_AND_BACK = named(lambda one: one.times is not Times.ONE_WAY)
_MESSAGES_THERE_AND_BACK = named(lambda one: one.times is Times.MESSAGE)
_WHERE = ("launch", "block", "stack", "near", "far", "fars", "sentinel", "ask", "part", "size_bytes")
_KEY = ["launch", "ask", "part", "size_bytes"]
STATISTICS = ("min", "median", "mean", "p95", "p99")
_COUNTED = (
    "batch", "count", "lost", "late", "corrupt", "warmup", "warm", "resent", "clock", "clock_error_ns", "overlap",
    "gap_ns", "out_bytes", "in_bytes", "translations", "started_s",
)  # fmt: skip


def samples(run: Run, *, sentinel: bool = False, parts: bool = False) -> pl.DataFrame:
    """One row per timed exchange: where and what, `seq`, `batch`, `lost`, one_way_ns, rtt_ns (and part_ns)."""
    table = query.samples(run)
    told = query.cells(run).select(*_KEY, told=pl.col("clock") != "refused")
    table = _wanted(table, sentinel, parts).join(told, on=_KEY, how="left", maintain_order="left")
    lost = pl.col("ns").is_null() & pl.col("told")
    ns = pl.when(lost).then(float("inf")).otherwise(pl.col("ns").cast(pl.Float64))
    return table.select(*_where(table, parts), "seq", "batch", lost.alias("lost"), *_times(ns, "", parts))


def cells(run: Run, *, sentinel: bool = False, parts: bool = False) -> pl.DataFrame:
    """One row per cell of a launch, without times: counts, processor time and the wire."""
    table = _wanted(query.cells(run), sentinel, parts)
    return table.select(*_where(table, parts), *_facts())


def launches(run: Run, *, sentinel: bool = False, parts: bool = False) -> pl.DataFrame:
    """One row per cell of a launch: what `cells` has, and one_way_ns_median, _min, _mean, _p95 and _p99, the same of
    rtt_ns (and part_ns). A statistic that falls on a lost message is infinite; p95 and p99 are null where there are too
    few messages to carry them. Of a stack take these: samples of one launch are not independent."""
    table = _wanted(query.summaries(run), sentinel, parts)
    times = [column for name in STATISTICS for column in _times(_statistic(name), f"_{name}", parts)]
    return table.select(*_where(table, parts), *_facts(), *times)


def _wanted(table: pl.DataFrame, sentinel: bool, parts: bool) -> pl.DataFrame:
    table = table if sentinel else table.filter(~pl.col("sentinel"))
    return table if parts else table.filter(pl.col("part").is_in(WHOLE_PARTS))


def _where(table: pl.DataFrame, parts: bool) -> Sequence[str]:
    return [name for name in _WHERE if parts or name != "part"]


def _facts() -> Iterator[pl.Expr]:
    """Processor time is that of one message where a round trip has two, else of what was timed."""
    yield from map(pl.col, _COUNTED)
    whole = pl.col("ask").is_in(_MESSAGES_THERE_AND_BACK) & (pl.col("batch") >= 1)
    for name in ("cpu_near_ns", "cpu_far_ns"):
        yield pl.when(whole).then(pl.col(name) * HALF).otherwise(pl.col(name)).alias(name)
    yield from map(pl.col, ("wire_frames", "wire_bytes", "wire_ns"))


def _statistic(name: str) -> pl.Expr:
    """One of query.summaries, infinite where it falls on a lost message."""
    column = pl.col(f"ns_{name}")
    sent = pl.col("count") + pl.col("lost")
    enough = sent >= messages_needed(QUANTILES[f"ns_{name}"]) if f"ns_{name}" in QUANTILES else sent > 0
    return pl.when(column.is_null() & enough & (pl.col("clock") != "refused")).then(float("inf")).otherwise(column)


def _times(ns: pl.Expr, of: str, parts: bool) -> Iterator[pl.Expr]:
    """The columns of times, of a statistic or of the samples themselves."""
    whole, ask = pl.col("part").is_in(WHOLE_PARTS), pl.col("ask")
    halved = whole & ask.is_in(_MESSAGES_THERE_AND_BACK)
    there_and_back = whole & ask.is_in(_THERE_AND_BACK)
    one_way = whole & ~ask.is_in(_THERE_AND_BACK)
    yield pl.when(halved).then(ns * HALF).when(one_way).then(ns).alias(f"one_way_ns{of}")
    yield pl.when(there_and_back).then(ns).alias(f"rtt_ns{of}")
    if parts:
        yield pl.when(~whole).then(ns).alias(f"part_ns{of}")
