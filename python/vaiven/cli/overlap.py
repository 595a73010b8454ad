# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that asked overlap, as what of talk and work was hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from vaiven.model.overlap import Overlap
    from vaiven.store.query import Run


def overlaps(run: Run) -> tuple[Overlap, ...]:
    """One Overlap per (pair of hosts, stack, size), sizes rising; launches that lost half of it are left out."""
    from vaiven.store import query

    groups = query.overlaps(run).group_by("near", "far", "stack", "size_bytes", maintain_order=True)
    found = [_overlap(key, rows) for key, rows in groups]
    return tuple(sorted((one for one in found if one), key=lambda one: (one.near, one.far, one.size_bytes, one.stack)))


def overlap_table(run: Run) -> RenderableType:
    """The table of an overlap, to be printed by rich."""
    from vaiven.cli.terminal import rich_table
    from vaiven.report.overlap import overlap_table as table

    return rich_table(table(overlaps(run)))


def _overlap(key: tuple[Any, ...], rows: Any) -> Overlap | None:
    import statistics

    from vaiven.model.overlap import Overlap, hidden_share
    from vaiven.stats.median import median_interval

    near, far, stack, size = key
    by_part = {
        part: dict(zip(cells["launch"].to_list(), cells["ns_median"].to_list(), strict=True))
        for (part,), cells in rows.drop_nulls("ns_median").group_by("part")
    }
    talk, work, both = (by_part.get(part, {}) for part in ("talk", "work", ""))
    launches = sorted(set(talk) & set(work) & set(both))
    if not launches:
        return None
    shares = [hidden_share(talk[one], work[one], both[one]) for one in launches]
    medians = (statistics.median(times[one] for one in launches) for times in (talk, work, both))
    return Overlap(stack, near, far, size, *medians, statistics.median(shares), median_interval(shares, ""))
