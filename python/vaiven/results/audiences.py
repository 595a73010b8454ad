# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that had several far ends, as what they cost: model.several of its rows."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import polars as pl

from vaiven import questions
from vaiven.model.several import RAW, Audience, Blocks, block_ratio, sent_once
from vaiven.plan import ends
from vaiven.results import rows as stored
from vaiven.results.lab_error import LabError, lab_error
from vaiven.results.result import Result, columns, integer, number, numbers, text
from vaiven.stats.median import median_interval
from vaiven.store import query
from vaiven.store.query import Run


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audiences(Result[Audience]):
    """Questions with several far ends: one row per question, size, stack and far ends. Times run until the last end is
    done; of pingpongs and partners they are round trips."""

    kind: ClassVar[str] = "audiences"
    columns: ClassVar = columns(
        text("ask", "fanout, stream, exchange, bisection, pingpongs or partners", lambda one: one.ask),
        text("near", "the first host", lambda one: one.near),
        text("far", "the hosts of the far ends: b+c; three on one host: b*3", lambda one: one.far),
        integer("fars", "how many far ends they are", lambda one: one.fars),
        text("stack", "the way the message travels", lambda one: one.stack),
        integer("size_bytes", "payload of a message", lambda one: one.size_bytes),
        number("typical_ns", "the median over launches of each launch's median", lambda one: one.typical_ns),
        number("low_ns", "the low end of its interval", lambda one: one.time.low),
        number("high_ns", "the high end of its interval", lambda one: one.time.high),
        number("to_one", "over the time with one far end, block by block", lambda one: one.to_one.value),
        number("to_one_low", "the low end of its interval", lambda one: one.to_one.interval.low),
        number("to_one_high", "the high end of its interval", lambda one: one.to_one.interval.high),
        number("to_raw", "over the time of the raw sender with as many", lambda one: one.to_raw.value),
        number("to_raw_low", "the low end of its interval", lambda one: one.to_raw.interval.low),
        number("to_raw_high", "the high end of its interval", lambda one: one.to_raw.interval.high),
        number("to_wire", "over what one transmission to everybody takes of the wire", lambda one: one.to_wire),
        number("to_frames", "over what its own frames take of the wire", lambda one: one.to_frames),
        number("wire_ns", "what its own frames take of the wire", lambda one: one.wire_ns),
        number("lab_error_ns", "so much of its time, one way, may be the lab's own error; null as in costs",
               lambda one: one.lab_error_ns),
        number("once_ns", "what one transmission to everybody takes of it", lambda one: one.once_ns),
        number("rate_bytes_per_s", "of a fanout the message counted once, of a stream all together",
               lambda one: one.bytes_per_s),
        numbers("each_ns", "the time of each end, by its number", lambda one: one.each_ns),
        integer("rounds", "rounds, lost ones among them", lambda one: one.rounds),
        integer("lost", "rounds in which an end did not get everything", lambda one: one.lost),
        integer("resent", "segments that were sent again", lambda one: one.resent),
        text("clock", "how times of two hosts were compared", lambda one: one.clock),
        number("clock_error_ns", "what that makes them wrong by at most", lambda one: one.clock_error_ns),
        number("overlap", "the least share of their time in which several ping-pongs ran together",
               lambda one: one.overlap),
        number("setup_ns", "what a session takes that a program sets up before each message",
               lambda one: one.setup_ns),
    )  # fmt: skip


def audiences(run: Run) -> Audiences:
    """One Audience per (question, size, stack, far ends), by size, stack in the order of the plan, number of far ends.

    Empty for a run that asked no such question; a cell that lost half of its rounds has no time and is left out.
    """
    table = query.launches(run)
    table = table.filter(table["ask"].is_in(questions.named(lambda one: one.several and not one.program)))
    place = stored.place_in_plan(run)
    by = ["ask", "size_bytes", "stack", "fars", "near", "far"]
    of_ends = {key: rows for key, rows in query.ends(run).group_by(by)}
    setups = {key: stored.known(rows["ns_median"].median()) for key, rows in query.setups(run).group_by(by)}
    groups = {key: rows for key, rows in table.group_by(by, maintain_order=True)}
    blocks = {key: _blocks(rows) for key, rows in groups.items()}
    error = lab_error(run)
    found = _with_once(
        [
            _audience(key, rows, blocks, _each(of_ends.get(key)), setups.get(key), error)
            for key, rows in groups.items()
            if blocks[key]
        ]
    )
    found.sort(key=lambda one: (one.ask, one.size_bytes, place(one.stack), one.fars))
    return Audiences(runs=(run.id,), items=tuple(found))


def _with_once(found: list[Audience]) -> list[Audience]:
    """The same, each fanout with what one transmission of its size takes of the wire."""
    once: dict[int, int] = {}
    for one in found:
        if questions.several(one.ask).to_all and one.wire_ns and sent_once(one.stack, one.fars):
            once[one.size_bytes] = min(one.wire_ns, once.get(one.size_bytes, one.wire_ns))
    to_all = questions.named(lambda one: one.several and one.several.to_all)
    return [replace(one, once_ns=once.get(one.size_bytes)) if one.ask in to_all else one for one in found]


def _blocks(rows: pl.DataFrame) -> Blocks:
    known = rows.drop_nulls("ns_median")
    return dict(zip(known["block"].to_list(), known["ns_median"].to_list(), strict=True))


def _each(of_ends: pl.DataFrame | None) -> tuple[float, ...]:
    """The median of launch medians of every end, by its number."""
    if of_ends is None:
        return ()
    medians = {
        int(part.partition(":")[2]): stored.known(rows["ns_median"].median())
        for (part,), rows in of_ends.group_by("part")
    }
    return tuple(ns for _, ns in sorted(medians.items()) if ns is not None)


def _audience(
    key: tuple[Any, ...], rows: pl.DataFrame, blocks: dict[tuple[Any, ...], Blocks], each_ns: tuple[float, ...],
    setup_ns: float | None, error: LabError | None,
) -> Audience:  # fmt: skip
    ask, size, stack, fars, near, far = key
    times = blocks[key]
    to_all, hosts = questions.several(ask).to_all, ends.split(far)
    single = [blocks[one] for one in blocks if one[:3] == key[:3] and one[3] == 1 and (to_all or one[5] in hosts)]
    # Of several hosts that were each sent to alone (receivers = "each") none is the one to be held against.
    alone = {} if len(single) > 1 else next(iter(single), {})
    side = "".join(stack.partition("@")[1:])
    raw = blocks.get((ask, size, f"{RAW}{side}", fars, near, far), {})
    resent, frames = rows["resent"].drop_nulls(), rows["wire_frames"].drop_nulls().first()
    return Audience(
        ask=ask,
        stack=stack,
        near=near,
        far=far,
        fars=fars,
        size_bytes=size,
        typical_ns=statistics.median(times.values()),
        time=median_interval(list(times.values()), "ns"),
        to_one=block_ratio(times, alone, "launch with one far end"),
        to_raw=block_ratio(times, raw, "raw sender"),
        wire_ns=stored.count(rows["wire_ns"].drop_nulls().first()),
        lost=int(rows["lost"].sum()),
        rounds=int(rows["count"].sum()) + int(rows["lost"].sum()),
        resent=int(resent.sum()) if len(resent) else None,
        clock=str(rows["clock"].drop_nulls().first() or ""),
        clock_error_ns=stored.count(rows["clock_error_ns"].fill_null(0).max()) or 0,
        each_ns=each_ns,
        overlap=stored.known(rows["overlap"].min()),
        setup_ns=setup_ns,
        lab_error_ns=error.of_message(stored.count(frames)) if error else None,
    )
