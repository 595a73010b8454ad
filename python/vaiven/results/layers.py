# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that asked layers, as what each layer of a stack takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import msgspec
import polars as pl

from vaiven.model.layers import Layers, LayerTimes, Limits, of_launch, over_launches
from vaiven.questions import LAYERS, MARKS, WAYS
from vaiven.results.parts import Key, by_cell
from vaiven.results.result import CELL, Column, Result, columns, flag, integer, number
from vaiven.results.rows import known
from vaiven.stats.arrays import Floats
from vaiven.store import query
from vaiven.store.query import Run


def _layer(way: str, mark: str) -> Column[Layers]:
    told = f"{MARKS[mark]}, {'on the way there' if way == 'there' else 'on the way back'}"
    return number(f"{way}_{mark}_ns", told, lambda one: getattr(one.times, f"{way}_ns").get(mark))


def _limit(name: str, meaning: str) -> Column[Layers]:
    return integer(name, meaning, lambda one: getattr(one.limits, name, None))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LayerCosts(Result[Layers]):
    """In which layer the time of a message goes: one row per pair of hosts, stack and size. A layer that a stack does
    not show apart is null: its time is in the next one. Round trips are not halved here."""

    kind: ClassVar[str] = "layers"
    columns: ClassVar = columns(
        *CELL,
        number("whole_ns", "the round trip, timed apart from the layers", lambda one: one.times.whole_ns),
        number("sum_ns", "what the layers add up to", lambda one: one.times.sum_ns),
        flag("add_up", "whether that is the whole, within a tenth", lambda one: one.add_up),
        number("wire_ns", "what the wire alone takes one way", lambda one: one.wire_ns),
        *(_layer(way, mark) for way in WAYS for mark in MARKS),
        number("far_ns", "the far program, between the message and its answer", lambda one: one.times.far_ns),
        _limit("sequence", "bytes or frames that are numbered before the numbers begin anew"),
        _limit("window", "bytes or frames that may be unacknowledged"),
        _limit("services", "addresses of programs that a host has"),
        _limit("free_services", "of these, what any program may take"),
        _limit("unit_bytes", "of a message in a frame, at most"),
        integer("launches", "launches that told it", lambda one: one.launches),
    )


def layers(run: Run) -> LayerCosts:
    """One Layers per (pair of hosts, stack, size), sizes rising; launches of which no exchange is whole are left out.

    VaivenError ("nothing-measured") for a run that has none.
    """
    said = {one.launch: one.hello for one in query.launch_records(run)}
    table = query.samples(run).filter(ask=LAYERS.name, sentinel=False).drop_nulls("ns").sort("launch", "seq")
    samples = {key: rows for key, rows in table.group_by("near", "far", "stack", "size_bytes", maintain_order=True)}

    def made(key: Key, cells: pl.DataFrame) -> Layers | None:
        by_launch = samples[key].group_by("launch", maintain_order=True) if key in samples else ()
        found = {launch: times for (launch,), rows in by_launch if (times := _of_launch(rows, said[launch]))}
        if not found:
            return None
        near, far, stack, size = key
        return Layers(
            stack=stack, near=near, far=far, size_bytes=size, launches=len(found),
            times=over_launches(list(found.values())), wire_ns=known(cells.filter(part="")["wire_ns"].median()),
            limits=_limits(said[max(found)]),
        )  # fmt: skip

    remedy = "measure --lab free --questions layers --stacks llc,tcp"
    return LayerCosts(runs=(run.id,), items=by_cell(run, LAYERS.name, remedy, made))


def _of_launch(rows: pl.DataFrame, said: Mapping[str, object]) -> LayerTimes | None:
    parts: dict[str, Floats] = {
        part: own["ns"].to_numpy().astype(float) for (part,), own in rows.group_by("part", maintain_order=True)
    }
    if not {"", "marked", "far"} <= parts.keys():
        return None
    there, back = ({mark: parts[f"{way}:{mark}"] for mark in MARKS if f"{way}:{mark}" in parts} for way in WAYS)
    clock = said.get("clock")
    cost_ns = clock.get("cost_ns", 0) if isinstance(clock, Mapping) else 0
    return of_launch(parts[""], parts["marked"], there, back, parts["far"], clock_ns=cost_ns)


def _limits(said: Mapping[str, object]) -> Limits | None:
    return msgspec.convert(said["limits"], Limits) if "limits" in said else None
