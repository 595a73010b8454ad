# SPDX-License-Identifier: BSD-3-Clause
"""What disturbed a run, seen when it is over: marks that stand among its warnings, for whoever reads its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vaiven.stats.noise import Mark
    from vaiven.store.query import Run


def marks(run: Run) -> Iterator[tuple[str, str]]:
    """(code, text) of the whole run: its sentinel, the traffic of others, and what spreads or is lost too much."""
    from vaiven.store import query

    yield from _of_sentinel(query.sentinels(run))
    yield from _of_traffic([record.path for record in query.launch_records(run)])
    yield from _of_stacks(query.launches(run))


def _of_sentinel(table: Any) -> Iterator[tuple[str, str]]:
    from vaiven.stats import drift, noise

    table = table.drop_nulls("ns_median").sort("block")
    if not table.height:
        return
    name = "sentinel {stack} {size_bytes} B {near} {far}".format(**table.row(0, named=True))
    blocks, ns = table["block"].to_numpy(), table["ns_median"].to_numpy()
    found = noise.drift_marks(drift.drift(blocks, ns))
    # A step in the middle of a run is no trend, and no stray block either: it makes two groups.
    found += [] if found else [mark for mark in noise.launch_marks(ns) if mark.code == "two-groups"]
    yield from (_told(name, mark) for mark in found)


def _of_traffic(paths: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    from vaiven.stats import noise

    known = [path for path in paths if path.get("own_bytes") is not None]
    if known:
        for mark in noise.traffic_mark([path["seen_bytes"] for path in known], [path["own_bytes"] for path in known]):
            yield _told("all launches", mark)


def _of_stacks(table: Any) -> Iterator[tuple[str, str]]:
    """Of each stack, question and pair: every kind of mark once, with one size as an example."""
    from vaiven.stats import noise

    key = ["stack", "ask", "near", "far"]
    for (stack, ask, near, far), cells in table.group_by(key, maintain_order=True):
        name = f"{stack} {ask} {near} {far}"
        lost = int(cells["lost"].sum())
        came = int((cells["count"] * (cells["batch"] if ask == "oneway" else 1)).sum())
        yield from (_told(name, mark) for mark in noise.loss_mark(came + lost, lost))
        found: dict[str, list[tuple[int, Mark]]] = {}
        for (size,), rows in cells.group_by("size_bytes", maintain_order=True):
            for mark in _of_cell(rows):
                found.setdefault(mark.code, []).append((size, mark))
        sizes = cells["size_bytes"].n_unique()
        for several in found.values():
            size, mark = several[0]
            yield _told(f"{name}, {len(several)} of {sizes} sizes, such as {size} B", mark)


def _of_cell(rows: Any) -> list[Mark]:
    from vaiven.stats import noise

    typical, p99 = (rows[name].drop_nulls().median() for name in ("ns_median", "ns_p99"))
    tail = noise.tail_mark(typical, p99) if typical and p99 else []
    return noise.launch_marks(rows["ns_median"].fill_null(math.nan).to_numpy()) + tail


def _told(where: str, mark: Mark) -> tuple[str, str]:
    return mark.code, f"{where}: {mark.text}; {mark.remedy}"
