# SPDX-License-Identifier: BSD-3-Clause
"""The two ways between two hosts, each timed on its own: whether a round trip may be halved there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from vaiven.model.asymmetry import Asymmetry, asymmetry
from vaiven.model.times import Statistic
from vaiven.questions import ONEWAY
from vaiven.results import rows
from vaiven.results.result import Result, columns, flag, integer, number, text
from vaiven.stats.verdict import Verdict
from vaiven.store import query
from vaiven.store.query import Run

Row = tuple[Asymmetry, int, float, Verdict]  # of a size: its bytes, its ratio, its verdict


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Asymmetries(Result[Asymmetry]):
    """Both ways between two hosts, of each stack that was timed one way in both: one row per stack and size."""

    kind: ClassVar[str] = "asymmetries"
    columns: ClassVar = columns(
        text("there", "one way: its stack and hosts", lambda row: row[0].there),
        text("back", "the other way", lambda row: row[0].back),
        integer("size_bytes", "payload of a message", lambda row: row[1]),
        number("ratio", "time there over time back", lambda row: row[2]),
        text("verdict", "of there against back", lambda row: row[3].word.value),
        flag("asymmetric", "whether the ways differ by more than 5 % for certain",
             lambda row: row[1] in row[0].asymmetric_bytes),
    )  # fmt: skip

    def rows(self) -> Iterable[Row]:
        for one in self:
            found = zip(one.sizes_bytes.tolist(), one.ratio.tolist(), one.verdicts, strict=True)
            yield from ((one, size, ratio, verdict) for size, ratio, verdict in found)


def asymmetries(run: Run) -> Asymmetries:
    """Of every stack that was timed one way in both directions between two hosts."""
    table = query.launches(run).filter(ask=ONEWAY.name).drop_nulls("ns_median")
    keys = rows.keys_of(run, table)
    found = []
    for near, far, stack in keys:
        if near < far and (far, near, stack) in keys:
            ways = ((near, far, stack), (far, near, stack))
            there, back = (
                rows.launch_times(rows.of_key(table, key), key, Statistic.TYPICAL, ONEWAY.name) for key in ways
            )
            found.append(asymmetry(there, back))
    return Asymmetries(runs=(run.id,), items=tuple(found))
