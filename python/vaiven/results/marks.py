# SPDX-License-Identifier: BSD-3-Clause
"""What disturbed a run, seen when it is over: marks that stand among its warnings, for whoever reads its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from vaiven import questions
from vaiven.results import rows
from vaiven.results.lost import LostTimes, lost_times
from vaiven.results.messages import Key, Messages, messages
from vaiven.results.outcome import cell_names, stop_of
from vaiven.stats import drift, noise
from vaiven.stats.noise import Mark
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import LaunchRecord

_OF_TWO_CLOCKS = questions.named(lambda one: one.clocks and not one.several)  # of several the tables tell it
_NAMED = 6  # cells; of more, the others are counted
_ASKED_IN_VAIN = ("icmp",)  # sends sizes that a host does not answer, too, which are no messages


def marks(run: Run) -> Iterator[tuple[str, str]]:
    """(code, text) of the whole run: its sentinel, the traffic of others, and what spreads or is lost too much."""
    wanted = stop_of(run).half_width
    yield from grouped(_of_sentinel(query.sentinels(run), wanted))
    records = query.launch_records(run)
    yield from grouped(_of_traffic([record.path for record in records]))
    yield from grouped(_of_repeated(records))
    table = rows.one_way(query.launches(run))
    yield from grouped(_of_stacks(table, messages(run), wanted))
    yield from grouped(_of_clocks(table))
    yield from grouped(_of_lost(lost_times(run)))


def _of_sentinel(table: pl.DataFrame, wanted: float) -> Iterator[tuple[str, Mark]]:
    table = table.drop_nulls("ns_median").sort("block")
    if not table.height:
        return
    sent = "sentinel {stack} {size_bytes} B {near} {far}".format(**table.row(0, named=True))
    name = f"{sent}, which is there to see whether the network stays the same"
    blocks, ns = table["block"].to_numpy(), table["ns_median"].to_numpy()
    found = noise.drift_marks(drift.drift(blocks, ns), wanted)
    # A step in the middle of a run is no trend, and no stray block either: it makes two groups.
    found += [] if found else [mark for mark in noise.launch_marks(ns, wanted) if mark.code == "two-groups"]
    yield from ((name, mark) for mark in found)


def _of_traffic(paths: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Mark]]:
    worst = [_most_foreign(path) for path in paths if path.get("ends")]
    if worst:
        for mark in noise.traffic_mark(*zip(*worst, strict=True)):
            yield "all launches", mark


def _of_repeated(records: Sequence[LaunchRecord]) -> Iterator[tuple[str, Mark]]:
    """What sends its messages again. To several ends a message may go to each."""
    sent: dict[tuple[str, ...], list[tuple[int, int, int]]] = {}
    for one in records:
        if one.stack not in _ASKED_IN_VAIN and {"tx_bytes", "tx_frames", "expected_tx_bytes"} <= one.path.keys():
            counts = one.path["tx_bytes"], one.path["tx_frames"], one.path["expected_tx_bytes"] * one.fars
            sent.setdefault((one.stack, one.ask, one.near, one.far), []).append(counts)
    for key, counted in sent.items():
        yield from ((" ".join(key), mark) for mark in noise.repeated_mark(*zip(*counted, strict=True)))


def _most_foreign(path: Mapping[str, Any]) -> tuple[float, float]:
    """(seen, own bytes) of the host of a launch with the most that was not its own; or of the one that saw the least,
    where more came to them that none had sent."""
    ends = [(end["seen_bytes"], end["own_bytes"]) for end in path["ends"]]
    seen = min(seen for seen, _ in ends)
    return max((*ends, (seen, seen - path.get("unsent_bytes", 0))), key=lambda end: end[0] - end[1])


def _of_stacks(table: pl.DataFrame, sent: Mapping[Key, Messages], wanted: float) -> Iterator[tuple[str, Mark]]:
    """(cell or stack in words, mark) for all that spreads or is lost too much."""
    key = ["stack", "ask", "near", "far"]
    names = cell_names(table.select(*key, "size_bytes").unique(maintain_order=True).rows())
    for (stack, ask, near, far), cells in table.group_by(key, maintain_order=True):
        lost = int(cells["lost"].sum())
        came = int((cells["count"] * (cells["batch"] if questions.ALL[ask].by_train else 1)).sum())
        yield from ((f"{stack} {ask} {near} {far}", mark) for mark in noise.loss_mark(came + lost, lost))
        for (size,), of_size in cells.group_by("size_bytes", maintain_order=True):
            marks_of_cell = _of_cell(of_size, sent[near, far, stack, ask, size], wanted)
            yield from ((names[stack, ask, near, far, size], mark) for mark in marks_of_cell)


def _of_clocks(table: pl.DataFrame) -> Iterator[tuple[str, Mark]]:
    """Of times one way: what they may be wrong by, for they began by one clock and ended by another."""
    key = ["stack", "ask", "near", "far", "size_bytes"]
    table = table.filter(table["ask"].is_in(_OF_TWO_CLOCKS) & (table["clock"] == "bounded"))
    names = cell_names(table.select(*key).unique(maintain_order=True).rows())
    for cell, of_cell in table.group_by(key, maintain_order=True):
        yield from ((names[cell], mark) for mark in noise.clock_mark(rows.count(of_cell["clock_error_ns"].max()) or 0))


def _of_lost(found: LostTimes) -> Iterator[tuple[str, Mark]]:
    """Launches that are kept although they lost their time: those that were done again touch no number."""
    kept = [one for one in found if one.kept]
    if kept:
        share = max(one.loss.share for one in kept)
        text = f"{found.kept} kept although the machine took up to {100 * share:.0f} % of the time"
        yield "all launches", Mark("lost-time", text, "measure where nothing takes the processors away")


def grouped(found: Iterable[tuple[str, Mark]]) -> Iterator[tuple[str, str]]:
    """(code, text) for each kind of mark once: the worst in full, where else it is so, worse first, and what to do."""
    kinds: dict[str, list[tuple[str, Mark]]] = {}
    for where, mark in found:
        kinds.setdefault(mark.code, []).append((where, mark))
    for code, of_kind in kinds.items():
        (where, mark), *others = sorted(of_kind, key=lambda one: -one[1].extent)
        names = [name for name, _ in others]
        more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
        likewise = f"; likewise {', '.join(names[:_NAMED] + more)}" if names else ""
        yield code, f"{where}: {mark.text}{likewise}; {mark.remedy}"


def _of_cell(cells: pl.DataFrame, sent: Messages, wanted: float) -> list[Mark]:
    typical, p99 = rows.known(cells["ns_median"].drop_nulls().median()), sent.quantile(0.99).value
    tail = noise.tail_mark(typical, p99) if typical and p99 else []
    return noise.launch_marks(cells["ns_median"].fill_null(math.nan).to_numpy(), wanted) + tail
