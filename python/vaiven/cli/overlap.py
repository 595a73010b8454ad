# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that asked overlap, as what of talk and work was hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from vaiven.cli.parts import Key
    from vaiven.model.overlap import Overlap
    from vaiven.store.query import Run


def overlaps(run: Run) -> tuple[Overlap, ...]:
    """One Overlap per (pair of hosts, stack, size), sizes rising; launches that lost half of it are left out.

    VaivenError ("nothing-measured") for a run that has none.
    """
    from vaiven.cli.parts import by_cell
    from vaiven.store import query

    return by_cell(run, "overlap", "measure --questions overlap", query.overlaps(run), _overlap)


def overlap_table(run: Run) -> RenderableType:
    """The table of an overlap, to be printed by rich."""
    from vaiven.cli.terminal import rich_table
    from vaiven.report.overlap import overlap_table as table

    return rich_table(table(overlaps(run)))


def overlap_json(run: Run) -> str:
    """{"schema", "run", "overlaps"}: the fields of Overlap; times in ns."""
    from vaiven.cli.document import document

    return document({"schema": 1, "run": run.id, "overlaps": overlaps(run)})


def _overlap(key: Key, rows: Any) -> Overlap | None:
    import statistics

    from vaiven.cli.parts import medians_by_part
    from vaiven.model.overlap import Overlap, hidden_share
    from vaiven.stats.median import median_interval

    near, far, stack, size = key
    by_part = medians_by_part(rows)
    talk, work, both = (by_part.get(part, {}) for part in ("talk", "work", ""))
    launches = sorted(set(talk) & set(work) & set(both))
    if not launches:
        return None
    shares = [hidden_share(talk[one], work[one], both[one]) for one in launches]
    medians = (statistics.median(times[one] for one in launches) for times in (talk, work, both))
    return Overlap(stack, near, far, size, *medians, statistics.median(shares), median_interval(shares, ""))
