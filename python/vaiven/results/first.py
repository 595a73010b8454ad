# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that asked first, as what fresh connections cost, and what was seen of one of each."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import polars as pl

from vaiven.model import slow_start
from vaiven.model.slow_start import Look, Opening, Windows
from vaiven.questions import FIRST
from vaiven.results.parts import Key, by_cell, medians_by_part
from vaiven.results.result import CELL, Result, columns, integer, number, numbers
from vaiven.stats.median import median_interval
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import LinkRecord

_PARTS = ("connect", "", "second", "warm", "idled")  # in the order of a connection


@dataclass(frozen=True, eq=False, kw_only=True)
class Openings(Result[Opening]):
    """What fresh connections cost: one row per pair of hosts, stack and size. Windows are those of the near end, the
    median one; segments and rounds those of the first message, as most of the launches saw them."""

    kind: ClassVar[str] = "openings"
    columns: ClassVar = columns(
        *CELL,
        number("connect_round_trip_ns", "until the connection stands, there and back", lambda one: one.connect_ns),
        number("first_ns", "the first message", lambda one: one.first_ns),
        number("second_ns", "the one after it", lambda one: one.second_ns),
        number("warm_ns", "one when TCP's window has grown", lambda one: one.warm_ns),
        number("idled_ns", "one after a pause in which TCP forgets its window", lambda one: one.idled_ns),
        number("over_warm", "first / warm - 1: the median over launches", lambda one: one.typical_over_warm),
        number("over_warm_low", "the low end of its interval", lambda one: one.over_warm.low),
        number("over_warm_high", "the high end of its interval", lambda one: one.over_warm.high),
        number("rule_over_warm", "what the doubling of the window alone would make of that, on this link",
               lambda one: one.rule_over_warm),
        number("window_initial_segments", "TCP's window when the connection stands", lambda one: one.windows.initial),
        number("window_first_segments", "behind the first message", lambda one: one.windows.first),
        number("window_second_segments", "behind the second", lambda one: one.windows.second),
        number("window_warm_segments", "behind the warm one", lambda one: one.windows.warm),
        number("window_idled_segments", "behind the one after a pause", lambda one: one.windows.idled),
        number("threshold_segments", "where slow start ends, if TCP knows", lambda one: one.windows.threshold),
        integer("segment_bytes", "payload of a full segment", lambda one: one.look.segment_bytes if one.look else None),
        numbers("bursts_segments", "what left in each round", lambda one: one.bursts),
        numbers("rule_bursts_segments", "the same by the rule, from the initial window on", lambda one: one.rule),
    )  # fmt: skip


def openings(run: Run) -> Openings:
    """One Opening per (pair of hosts, stack, size), sizes rising; launches that lost half of it are left out.

    VaivenError ("nothing-measured") for a run that has none.
    """
    seen, remedy = _seen(run), "measure --questions first"
    shares_clock, link = run.manifest.lab is not None, run.manifest.link or LinkRecord()

    def made(key: Key, rows: pl.DataFrame) -> Opening | None:
        looks = seen.get(key, [])
        return _opening(key, rows, looks if shares_clock else [replace(one, came=()) for one in looks], link)

    return Openings(runs=(run.id,), items=by_cell(run, FIRST.name, remedy, made))


def _seen(run: Run) -> dict[Key, list[Look]]:
    """What each launch saw of a first message, in order; those that missed a segment are left out."""
    found: dict[Key, list[Look]] = {}
    for (near, far, stack, size, _), rows in query.looked_at(run, FIRST.name):
        if seen := slow_start.look(rows):
            found.setdefault((near, far, stack, size), []).append(seen)
    return found


def _opening(key: Key, rows: pl.DataFrame, looks: Sequence[Look], link: LinkRecord) -> Opening | None:
    near, far, stack, size = key
    by_part = medians_by_part(rows)
    parts = [by_part.get(part, {}) for part in _PARTS]
    launches = sorted(set.intersection(*(set(part) for part in parts)))
    if not launches:
        return None
    connect, first, second, warm, idled = (statistics.median(part[one] for one in launches) for part in parts)
    over = [parts[1][one] / parts[3][one] - 1 for one in launches]
    found = Opening(
        stack, near, far, size, connect, first, second, warm, idled, statistics.median(over), median_interval(over, ""),
        _windows(rows), _usual(looks), (), None, looks[-1] if looks else None, (),
    )  # fmt: skip
    return _with_rule(found, link)


def _with_rule(found: Opening, link: LinkRecord) -> Opening:
    """The same with what the rule says, where the initial window and the size of a segment are known."""
    window = int(found.windows.initial or 0)
    if not window or found.look is None:
        return found
    segment_bytes, size = found.look.segment_bytes, found.size_bytes
    found = replace(found, rule=slow_start.doubling(window, -(-size // segment_bytes)))
    if not (link.rate_bps and link.hops and link.mtu_bytes):
        return found
    wire = slow_start.wire_of(link.rate_bps, link.hops, link.mtu_bytes, found.connect_ns)
    more_ns = slow_start.cost_ns(size, segment_bytes, window, wire)
    expected = slow_start.simulated(size, segment_bytes, window, wire)
    return replace(found, rule_over_warm=more_ns / found.warm_ns, expected=expected)


def _usual(looks: Sequence[Look]) -> tuple[int, ...]:
    """The bursts that most launches saw; of as many, those of the later one."""
    counted = Counter(look.bursts for look in reversed(looks))
    return counted.most_common(1)[0][0] if counted else ()


def _windows(rows: pl.DataFrame) -> Windows:
    def median(part: str, column: str = "window_segments") -> Any:
        return rows.filter(part=part)[column].median()

    connect, first, second, warm, idled = map(median, _PARTS)
    return Windows(connect, first, second, warm, idled, median("idled", "threshold_segments"))
