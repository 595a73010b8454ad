# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that asked what whole programs take, as times, shares and what was foretold of them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from vaiven import questions
from vaiven.model.programs import ProgramTime, deviation, predicted_ns
from vaiven.model.several import block_ratio
from vaiven.results import rows as stored
from vaiven.results.parts import medians_by_part
from vaiven.results.result import Result, columns, integer, number, text
from vaiven.stats.median import median_interval
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import END_PART

Key = tuple[str, str, int, int, str, str]  # question, stack, bytes, far ends, near, far
_WHOLE, _COMPUTING, _COMMUNICATING = "", "computing", "communicating"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ProgramTimes(Result[ProgramTime]):
    """Whole programs: one row per program, problem, stack and number of processes. Times run from a barrier until the
    slowest process is done."""

    kind: ClassVar[str] = "programs"
    columns: ClassVar = columns(
        text("ask", "fft or matmul", lambda one: one.ask),
        text("near", "the first host", lambda one: one.near),
        text("far", "the others: b+c", lambda one: one.far),
        integer("processes", "how many there are, one on each host", lambda one: one.processes),
        text("stack", "the way their messages travel", lambda one: one.stack),
        integer("number", "of points of an fft, of rows of the matrices of a matmul", lambda one: one.number),
        integer("size_bytes", "what all these points, or one matrix, hold", lambda one: one.size_bytes),
        number("typical_ns", "the median over launches of each launch's median", lambda one: one.typical_ns),
        number("low_ns", "the low end of its interval", lambda one: one.time.low),
        number("high_ns", "the high end of its interval", lambda one: one.time.high),
        number("mean_ns", "the mean over all processes in place of the slowest", lambda one: one.mean_ns),
        number("deviation", "the standard deviation of the processes' times, over that mean",
               lambda one: one.deviation),
        number("computing_ns", "of the slowest process", lambda one: one.computing_ns),
        number("communicating_ns", "of the slowest process, waiting for others among it",
               lambda one: one.communicating_ns),
        number("communicating", "the same, of the whole: the median over launches", lambda one: one.typical_share),
        number("communicating_low", "the low end of its interval", lambda one: one.share.low),
        number("communicating_high", "the high end of its interval", lambda one: one.share.high),
        number("to_fewest", "over the time of the fewest processes, block by block", lambda one: one.to_fewest.value),
        number("to_fewest_low", "the low end of its interval", lambda one: one.to_fewest.interval.low),
        number("to_fewest_high", "the high end of its interval", lambda one: one.to_fewest.interval.high),
        number("to_first", "over the time of the plan's first stack, block by block", lambda one: one.to_first.value),
        number("to_first_low", "the low end of its interval", lambda one: one.to_first.interval.low),
        number("to_first_high", "the high end of its interval", lambda one: one.to_first.interval.high),
        number("predicted_ns", "of the communication, by what its messages took by themselves in the same run; null "
               "where they were not measured", lambda one: one.predicted_ns),
        number("to_predicted", "the communication over that", lambda one: one.to_predicted),
    )  # fmt: skip


def programs(run: Run) -> ProgramTimes:
    """One ProgramTime per (question, problem, stack, processes), by these, stacks in the order of the plan.

    Empty for a run that asked no such question; processes that never finished half of a launch's times are left out.
    """
    table = query.summaries(run).filter(~pl.col("sentinel") & pl.col("ask").is_in(questions.PROGRAMS))
    by = ["ask", "stack", "size_bytes", "fars", "near", "far"]
    groups: dict[Any, pl.DataFrame] = {key: rows for key, rows in table.group_by(by, maintain_order=True)}
    blocks = {key: _blocks(rows) for key, rows in groups.items()}
    prices, first = _prices(run), _first_stacks(run)
    found = [_program(key, rows, blocks, prices, first[key[0]]) for key, rows in groups.items() if blocks[key]]
    place = stored.place_in_plan(run)
    found.sort(key=lambda one: (one.ask, one.size_bytes, place(one.stack), one.processes))
    return ProgramTimes(runs=(run.id,), items=tuple(found))


def _first_stacks(run: Run) -> dict[str, str]:
    """Question -> the first stack that the plan asks it."""
    return {course.ask: course.stack for course in reversed(run.manifest.design.courses)}


def _blocks(rows: pl.DataFrame) -> dict[int, float]:
    whole = rows.filter(part=_WHOLE).drop_nulls("ns_median")
    return dict(zip(whole["block"].to_list(), whole["ns_median"].to_list(), strict=True))


def _prices(run: Run) -> dict[tuple[str, str, int], dict[int, float]]:
    """(question, stack, far ends) -> bytes -> ns of one message, one way: the median of launch medians over all hosts
    that were asked."""
    asked = {one.priced for ask in questions.PROGRAMS if (one := questions.ALL[ask].program)}
    table = stored.launches(run).filter(pl.col("ask").is_in(asked)).drop_nulls("ns_median")
    medians = table.group_by("ask", "stack", "fars", "size_bytes").agg(pl.col("ns_median").median())
    found: dict[tuple[str, str, int], dict[int, float]] = {}
    for ask, stack, fars, size_bytes, ns in medians.iter_rows():
        found.setdefault((ask, stack, fars), {})[size_bytes] = ns
    return found


def _program(
    key: Key, rows: pl.DataFrame, blocks: Mapping[Key, Mapping[int, float]],
    prices: Mapping[tuple[str, str, int], Mapping[int, float]], first: str,
) -> ProgramTime:  # fmt: skip
    ask, stack, size_bytes, fars, near, far = key
    program = questions.ALL[ask].program
    assert program
    times, by_part = blocks[key], medians_by_part(rows)
    each = _each(by_part)
    shares = [by_part[_COMMUNICATING][launch] / ns for launch, ns in by_part[_WHOLE].items()]
    alike = [one for one in blocks if (*one[:3], one[4]) == (ask, stack, size_bytes, near) and blocks[one]]
    fewest = min(alike, key=lambda one: one[3])
    to_all = questions.ALL[program.priced].several is not None
    curve = prices.get((program.priced, stack, fars if to_all else 1), {})
    return ProgramTime(
        ask=ask, stack=stack, near=near, far=far, processes=fars + 1, number=program.number(size_bytes),
        size_bytes=size_bytes, typical_ns=statistics.median(times.values()),
        time=median_interval(list(times.values()), "ns"),
        mean_ns=statistics.median(statistics.mean(one) for one in each),
        deviation=statistics.median(deviation(one) for one in each),
        computing_ns=statistics.median(by_part[_COMPUTING].values()),
        communicating_ns=statistics.median(by_part[_COMMUNICATING].values()),
        typical_share=statistics.median(shares), share=median_interval(shares, ""),
        to_fewest=block_ratio(times, blocks[fewest] if fewest != key else {}, "launch of fewer processes"),
        to_first=block_ratio(times, blocks.get((ask, first, *key[2:]), {}) if first != stack else {}, "other stack"),
        predicted_ns=predicted_ns(program, size_bytes, fars + 1, curve),
    )  # fmt: skip


def _each(by_part: Mapping[str, Mapping[int, float]]) -> list[list[float]]:
    """Of each launch, the median of every process."""
    ends = [times for part, times in by_part.items() if part.startswith(END_PART)]
    return [[times[launch] for times in ends if launch in times] for launch in by_part[_WHOLE]]
