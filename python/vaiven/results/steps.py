# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that asked steps, as what each step took."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from vaiven.model.steps import Steps, coding_share
from vaiven.questions import STEPS
from vaiven.results.parts import Key, by_cell, medians_by_part
from vaiven.results.result import CELL, Result, columns, integer, number
from vaiven.results.rows import known
from vaiven.stats.median import median_interval
from vaiven.store.query import Run


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StepTimes(Result[Steps]):
    """What encoding, sending, decoding and translating take: one row per pair of hosts, stack and size. Times are
    processor time of the near host."""

    kind: ClassVar[str] = "steps"
    columns: ClassVar = columns(
        *CELL,
        number("encode_ns", "from the program's data to what can be sent", lambda one: one.encode_ns),
        number("send_ns", "the call that sends it", lambda one: one.send_ns),
        number("decode_ns", "from what came to the program's data", lambda one: one.decode_ns),
        number("translate_ns", "from the far host's representation to the own", lambda one: one.translate_ns),
        number("coding", "encode, decode and translate, of the time one way: the median over launches",
               lambda one: one.typical_share),
        number("coding_low", "the low end of its interval", lambda one: one.share.low),
        number("coding_high", "the high end of its interval", lambda one: one.share.high),
        integer("out_bytes", "what the library held of a message that was sent", lambda one: one.out_bytes),
        integer("in_bytes", "and of one that came", lambda one: one.in_bytes),
        integer("translations", "how often the near host turned the numbers of both", lambda one: one.translations),
    )  # fmt: skip


def steps(run: Run) -> StepTimes:
    """One Steps per (pair of hosts, stack, size), sizes rising; launches that lost half of it are left out.

    VaivenError ("nothing-measured") for a run that has none.
    """
    found = by_cell(run, STEPS.name, "measure --questions steps, with stacks of PVM", _steps)
    return StepTimes(runs=(run.id,), items=found)


def _steps(key: Key, rows: pl.DataFrame) -> Steps | None:
    near, far, stack, size = key
    whole = rows.filter(part="").drop_nulls("ns_median")
    if whole.is_empty():
        return None
    by_part = medians_by_part(rows)
    launches = sorted(by_part[""])
    encode, send, decode, translate = (by_part[part] for part in STEPS.beside)
    shares = [coding_share(encode[one], decode[one], translate[one], by_part[""][one]) for one in launches]
    medians = [statistics.median(times[one] for one in launches) for times in (encode, send, decode, translate)]
    out_bytes, in_bytes, translations = (
        known(whole[name].median()) for name in ("out_bytes", "in_bytes", "translations")
    )
    return Steps(
        stack=stack, near=near, far=far, size_bytes=size, encode_ns=medians[0], send_ns=medians[1],
        decode_ns=medians[2], translate_ns=medians[3], typical_share=statistics.median(shares),
        share=median_interval(shares, ""), out_bytes=round(out_bytes or 0), in_bytes=round(in_bytes or 0),
        translations=None if translations is None else round(translations),
    )  # fmt: skip
