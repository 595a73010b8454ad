# SPDX-License-Identifier: BSD-3-Clause
"""The prtt launches of a run, as LogGP's parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from vaiven.errors import VaivenError
from vaiven.model.loggp import LogGP, Trains, loggp
from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.questions import PRTT
from vaiven.results.result import STACK, Result, columns, estimate, numbers, text
from vaiven.results.rows import Key, grid, keys_of, of_key, seed_of
from vaiven.store import query
from vaiven.store.query import Run

_PARTS = {"single": "one", "burst": "burst", "spaced": "spaced", "send": "send", "receive": "receive"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LogGPs(Result[LogGP]):
    """Where the start-up of a message goes: one row per pair of hosts and stack that were asked prtt."""

    kind: ClassVar[str] = "loggp"
    columns: ClassVar = columns(
        *STACK,
        estimate("L", "ns", "latency that no processor pays, of the smallest message", lambda one: one.L),
        estimate("o_s", "ns", "what sending the smallest message costs the processor", lambda one: one.o_s),
        estimate("o_r", "ns", "what receiving it costs the processor", lambda one: one.o_r),
        estimate("g", "ns", "gap between messages at full speed", lambda one: one.g),
        estimate("G", "ns_per_byte", "gap that each byte adds", lambda one: one.G),
        numbers("sizes_bytes", "the sizes of the lists that follow", lambda one: one.sizes_bytes.tolist()),
        numbers("o_s_by_size_ns", "what sending costs, by the sender's clock", lambda one: one.o_s_ns.tolist()),
        numbers("o_s_prtt_by_size_ns", "the same from round trips of spaced trains",
                lambda one: one.o_s_prtt_ns.tolist()),
        numbers("o_r_by_size_ns", "what receiving costs", lambda one: one.o_r_ns.tolist()),
        numbers("gap_by_size_ns", "gap between messages at full speed", lambda one: one.gap_ns.tolist()),
        text("notes", "what makes them doubtful", lambda one: "; ".join(one.notes)),
    )  # fmt: skip


def loggps(run: Run) -> LogGPs:
    """One LogGP per (pair of hosts, stack), by pair, then in the order of the plan.

    A size that not all launches know is left out, and a note says so.
    Raises VaivenError: "nothing-measured" for a run without a finished prtt.
    """
    table = query.of_question(run, PRTT.name)
    if table.is_empty():
        raise VaivenError(
            f"the run {run.id} has no finished launch of prtt",
            'measure a plan with questions = ["prtt"]',
            "nothing-measured",
        )
    found = tuple(_one(of_key(table, key), key, seed_of(run)) for key in keys_of(run, table))
    return LogGPs(runs=(run.id,), items=found)


def _one(rows: pl.DataFrame, key: Key, seed: int) -> LogGP:
    near, far, stack = key
    grids = {name: _grid(rows.filter(part=part), stack) for name, part in _PARTS.items()}
    gaps = _grid(rows.filter(part="spaced"), stack, "gap_ns")
    # A cell of which half was lost has no median; a size that a look added has no cell in the launches before.
    sizes = grids["single"].sizes_bytes
    whole = np.logical_and.reduce([np.isfinite(grid.ns).all(axis=0) for grid in grids.values()])
    if not whole.any():
        raise VaivenError(
            f"{stack} {near} {far}: every size lost trains of some launch", "smaller messages", "nothing-measured"
        )
    k = int(rows.filter(part="burst")["batch"][0])
    columns = {name: grid.ns[:, whole] for name, grid in grids.items()}
    trains = Trains(stack, sizes[whole], k, **columns, gap_ns=gaps.ns[:, whole], near=near, far=far)
    found = loggp(trains, np.random.default_rng(seed))
    if whole.all():
        return found
    lost = ", ".join(map(str, sizes[~whole]))
    return replace(found, notes=(*found.notes, f"left out, as some launch knows nothing of them: {lost} bytes"))


def _grid(rows: pl.DataFrame, stack: str, column: str = "ns_median") -> LaunchTimes:
    """A column of one part by launch and size, NaN where there is none."""
    ns = rows[column].cast(float).fill_null(float("nan")).to_numpy()
    return grid(rows, stack, Direction.ROUND_TRIP, Statistic.TYPICAL, ns, ask=PRTT.name)
