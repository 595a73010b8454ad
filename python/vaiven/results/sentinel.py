# SPDX-License-Identifier: BSD-3-Clause
"""The one cell that every block holds: whether the network stayed the same while it was measured."""

from __future__ import annotations

from dataclasses import dataclass

from vaiven.model.numbers import size_text
from vaiven.stats.drift import Drift, drift
from vaiven.store import query
from vaiven.store.query import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentinel:
    """The one cell that every block holds, and whether it stayed what it was. cell: "udp 64 B, h1 → h2"."""

    cell: str
    drift: Drift


def sentinel(run: Run) -> Sentinel | None:
    """That of a run; None where no block had one that was answered."""
    table = query.sentinels(run).drop_nulls("ns_median")
    if table.is_empty():
        return None
    first = table.row(0, named=True)
    table = table.filter(**{name: first[name] for name in ("near", "far", "stack", "ask", "size_bytes")})
    table = table.unique("block", keep="last", maintain_order=True)
    cell = f"{first['stack']} {size_text(first['size_bytes'])}, {first['near']} → {first['far']}"
    return Sentinel(cell=cell, drift=drift(table["block"].to_numpy(), table["ns_median"].to_numpy()))
