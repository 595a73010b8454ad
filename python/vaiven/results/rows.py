# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run as rows, and as the grids of times that models are made from.

Here a recorded round trip becomes one way (`one_way`), for all that results say: nobody halves after that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl

from vaiven import questions
from vaiven.model.times import HALF, Direction, LaunchTimes, Statistic
from vaiven.questions import PLAIN, Times
from vaiven.results.names import StatisticWord
from vaiven.stats.arrays import Floats, Ints
from vaiven.store import query
from vaiven.store.query import Run

Key = tuple[str, str, str]  # near, far, stack

STATISTICS: dict[StatisticWord, Statistic] = {
    "median": Statistic.TYPICAL, "minimum": Statistic.FLOOR, "mean": Statistic.MEAN, "p95": Statistic.P95,
    "p99": Statistic.P99,
}  # fmt: skip
COLUMNS = {
    Statistic.TYPICAL: "ns_median", Statistic.FLOOR: "ns_min", Statistic.MEAN: "ns_mean", Statistic.P95: "ns_p95",
    Statistic.P99: "ns_p99",
}  # fmt: skip
_HALVED = (*COLUMNS.values(), "ns", "cpu_near_ns", "cpu_far_ns")


def launches(run: Run) -> pl.DataFrame:
    """The rows of query.launches, ping-pongs one way."""
    return one_way(query.launches(run))


def one_way(table: pl.DataFrame) -> pl.DataFrame:
    """Rows of cells, of samples or of medians as they are recorded, with messages that were timed there and back one
    way: times, and the processor time of an end for one message. Others as they stand: opening a connection stays a
    round trip."""
    messages = (one for one in questions.ALL.values() if one.times is Times.MESSAGE)
    halved = pl.any_horizontal(*(_there_and_back(one, "part" in table.columns) for one in messages))
    there = [name for name in _HALVED if name in table.columns]
    return table.with_columns(pl.when(halved).then(pl.col(name) * HALF).otherwise(pl.col(name)) for name in there)


def _there_and_back(question: questions.Question, has_parts: bool) -> pl.Expr:
    """Whether a row is a message of that question, there and back."""
    asked = pl.col("ask") == question.name
    return asked & pl.col("part").is_in([question.whole, *question.messages]) if has_parts else asked


def direction_of(ask: str) -> Direction:
    """Which way the times of `one_way` rows of that question count."""
    return Direction.ROUND_TRIP if questions.ALL[ask].times is Times.ROUND_TRIP else Direction.ONE_WAY


def of_key(table: pl.DataFrame, key: Key) -> pl.DataFrame:
    """The rows of one (near, far, stack)."""
    return table.filter(**dict(zip(("near", "far", "stack"), key, strict=True)))


def keys_of(run: Run, table: pl.DataFrame) -> list[Key]:
    """Every (near, far, stack) of rows, by pair of hosts, then as the stacks stand in the plan."""
    place = place_in_plan(run)
    keys: list[Key] = table.select("near", "far", "stack").unique(maintain_order=True).rows()
    return sorted(keys, key=lambda key: (key[0], key[1], place(key[2])))


def place_in_plan(run: Run) -> Callable[[str], tuple[int, str]]:
    """What to sort stacks by, to have them in the order of the plan."""
    order = {course.stack: number for number, course in enumerate(run.manifest.design.courses)}
    return lambda stack: (order.get(stack, len(order)), stack)


def seed_of(run: Run) -> int:
    """The seed of all that is drawn when a run is analysed: the one of its random order."""
    return run.manifest.design.seed


def launch_times(table: pl.DataFrame, key: Key, statistic: Statistic, ask: str = PLAIN) -> LaunchTimes:
    """One statistic of one stack; a cell without any answer is NaN. table: the `one_way` rows of that stack and
    question. Of a ping-pong the wire's time is known, too, if it is known of all sizes."""
    near, far, stack = key
    ns = table[COLUMNS[statistic]].fill_null(float("nan")).to_numpy()
    times = grid(table, stack, direction_of(ask), statistic, ns, near=near, far=far, ask=ask)
    return replace(times, wire_ns=_wire_ns(table, times.sizes_bytes)) if questions.ALL[ask].ways else times


def grid(
    table: pl.DataFrame, stack: str, direction: Direction, statistic: Statistic, ns: Floats, *, near: str = "",
    far: str = "", ask: str = PLAIN,
) -> LaunchTimes:  # fmt: skip
    """Times of the rows of a table by launch and size."""
    launch, block, size, count = (table[name].to_numpy() for name in ("launch", "block", "size_bytes", "count"))
    return LaunchTimes.from_columns(stack, direction, statistic, launch, block, size, ns, count, near, far, ask)


def known(value: object) -> float | None:
    """A number that a column gave, None where it gave none."""
    assert value is None or isinstance(value, int | float)
    return value


def count(value: object) -> int | None:
    """The same of a whole number."""
    found = known(value)
    return None if found is None else int(found)


def _wire_ns(table: pl.DataFrame, sizes_bytes: Ints) -> Floats | None:
    """(S,) what the frames of each size take, one way; None unless it is known of all."""
    known = dict(table.drop_nulls("wire_ns").select("size_bytes", "wire_ns").unique("size_bytes").iter_rows())
    wire = [known.get(int(size)) for size in sizes_bytes]
    return None if None in wire else np.array(wire, dtype=np.float64)
