# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that asked overlap, as what of talk and work was hidden."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from vaiven.model.overlap import Overlap, hidden_share
from vaiven.questions import OVERLAP
from vaiven.results.parts import Key, by_cell, medians_by_part
from vaiven.results.result import CELL, Result, columns, number
from vaiven.stats.median import median_interval
from vaiven.store.query import Run


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Overlaps(Result[Overlap]):
    """What of a message is hidden behind a computation: one row per pair of hosts, stack and size."""

    kind: ClassVar[str] = "overlaps"
    columns: ClassVar = columns(
        *CELL,
        number("talk_ns", "a round trip alone", lambda one: one.talk_ns),
        number("work_ns", "a computation of about that length, alone", lambda one: one.work_ns),
        number("both_ns", "the two at once", lambda one: one.both_ns),
        number("hidden", "of what could be hidden, 0 to 1: the median over launches", lambda one: one.typical_share),
        number("hidden_low", "the low end of its interval", lambda one: one.share.low),
        number("hidden_high", "the high end of its interval", lambda one: one.share.high),
    )  # fmt: skip


def overlaps(run: Run) -> Overlaps:
    """One Overlap per (pair of hosts, stack, size), sizes rising; launches that lost half of it are left out.

    VaivenError ("nothing-measured") for a run that has none.
    """
    found = by_cell(run, OVERLAP.name, "measure --questions overlap", _overlap)
    return Overlaps(runs=(run.id,), items=found)


def _overlap(key: Key, rows: pl.DataFrame) -> Overlap | None:
    near, far, stack, size = key
    by_part = medians_by_part(rows)
    talk, work, both = (by_part.get(part, {}) for part in ("talk", "work", ""))
    launches = sorted(set(talk) & set(work) & set(both))
    if not launches:
        return None
    shares = [hidden_share(talk[one], work[one], both[one]) for one in launches]
    talk_ns, work_ns, both_ns = (statistics.median(times[one] for one in launches) for times in (talk, work, both))
    return Overlap(
        stack=stack, near=near, far=far, size_bytes=size, talk_ns=talk_ns, work_ns=work_ns, both_ns=both_ns,
        typical_share=statistics.median(shares), share=median_interval(shares, ""),
    )  # fmt: skip
