# SPDX-License-Identifier: BSD-3-Clause
"""Questions whose cells have parts, as overlap and steps have: what each cell of a run gives, in one order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import polars as pl

from vaiven.errors import VaivenError
from vaiven.results import rows
from vaiven.store import query
from vaiven.store.query import Run

T = TypeVar("T")
Key = tuple[str, str, str, int]  # near, far, stack, bytes


def by_cell(run: Run, ask: str, remedy: str, made: Callable[[Key, pl.DataFrame], T | None]) -> tuple[T, ...]:
    """made() of each cell of that question and its rows, messages one way, by pair of hosts, size and stack; cells of
    which it is None are left out.

    VaivenError ("nothing-measured", with the remedy) where no cell is left.
    """
    table = rows.one_way(query.of_question(run, ask))
    groups = {key: cells for key, cells in table.group_by("near", "far", "stack", "size_bytes", maintain_order=True)}
    in_order = sorted(groups, key=lambda key: (key[0], key[1], key[3], key[2]))
    found = tuple(one for key in in_order if (one := made(key, groups[key])) is not None)
    if not found:
        raise VaivenError(f"the run {run.id} has no finished launch of {ask}", remedy, "nothing-measured")
    return found


def medians_by_part(rows: pl.DataFrame) -> dict[str, dict[int, float]]:
    """part -> launch -> the median of its samples in ns; cells without any answer are left out."""
    return {
        part: dict(zip(cells["launch"].to_list(), cells["ns_median"].to_list(), strict=True))
        for (part,), cells in rows.drop_nulls("ns_median").group_by("part")
    }
