# SPDX-License-Identifier: BSD-3-Clause
"""The link of a run: said, or assumed from its cards; whether its own times speak against that; and another one."""

from __future__ import annotations

import polars as pl

from vaiven.errors import VaivenError
from vaiven.model.path_speed import Load, PathSpeed, path_speed
from vaiven.model.units import rate
from vaiven.questions import PLAIN
from vaiven.results import rows
from vaiven.store import query
from vaiven.store.query import Run

RATES_BPS = (1_000, 10**12)  # as in a plan's [link]


def link_bps(text: str) -> int:
    """ "100 Mb/s", "100 Mbps" or "1G" in bit/s. Raises VaivenError ("bad-value")."""
    try:
        found = round(rate(text).to("bit/s").value)
    except VaivenError as error:
        raise VaivenError(
            f"the link {text!r}: {error.what}", 'a rate, for example "100 Mb/s" or 1G', "bad-value"
        ) from None
    if not RATES_BPS[0] <= found <= RATES_BPS[1]:
        raise VaivenError(f"the link {text!r}", 'from "1 kb/s" to "1000 Gb/s"', code="bad-value")
    return found


def read_again(run: Run, text: str) -> Run:
    """The run as if it had been measured on a link of that rate; "": as it is."""
    return query.with_link(run, link_bps(text)) if text else run


def assumed_bps(run: Run) -> int | None:
    """What the cards of real hosts say of the link, where nobody else does."""
    said = run.manifest.plan.get("link") or run.manifest.lab
    return None if said or not run.manifest.link else run.manifest.link.rate_bps


def slow_paths(run: Run) -> dict[tuple[str, str], PathSpeed]:
    """The pairs of hosts whose path seems to be slower than the cards that alone speak for it."""
    rate = assumed_bps(run)
    if not rate:
        return {}
    cell = ["near", "far", "stack", "size_bytes", "wire_frames", "wire_bytes"]
    table = rows.one_way(query.launches(run)).filter(ask=PLAIN).drop_nulls([*cell, "ns_median"])
    loads: dict[tuple[str, str], list[Load]] = {}
    for (near, far, stack, _, frames, wire_bytes), of_cell in table.group_by(cell):
        typical_ns = rows.known(of_cell["ns_median"].median())
        assert typical_ns is not None, "rows without one are dropped"
        load = Load(stack, frames, wire_bytes, typical_ns)
        loads.setdefault((near, far), []).append(load)
    return {pair: found for pair, several in sorted(loads.items()) if (found := path_speed(several, rate))}


def believed(run: Run, table: pl.DataFrame) -> pl.DataFrame:
    """The rows of query.launches without the wire's times where the link is assumed and the path seems slower."""
    return query.without_wire(table, list(slow_paths(run)))
