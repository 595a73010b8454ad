# SPDX-License-Identifier: BSD-3-Clause
"""The launches of a run that asked steps, as what each step took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from vaiven.cli.parts import Key
    from vaiven.model.steps import Steps
    from vaiven.store.query import Run


def steps_of(run: Run) -> tuple[Steps, ...]:
    """One Steps per (pair of hosts, stack, size), sizes rising; launches that lost half of it are left out.

    VaivenError ("nothing-measured") for a run that has none.
    """
    from vaiven.cli.parts import by_cell
    from vaiven.store import query

    return by_cell(run, "steps", "measure --questions steps, with stacks of PVM", query.steps(run), _steps)


def steps_table(run: Run) -> RenderableType:
    """The table of the steps, to be printed by rich."""
    from vaiven.cli.terminal import rich_table
    from vaiven.report.steps import steps_table as table

    return rich_table(table(steps_of(run)))


def steps_json(run: Run) -> str:
    """{"schema", "run", "steps"}: the fields of Steps; times in ns."""
    from vaiven.cli.document import document

    return document({"schema": 1, "run": run.id, "steps": steps_of(run)})


def _steps(key: Key, rows: Any) -> Steps | None:
    import statistics

    from vaiven.cli.parts import medians_by_part
    from vaiven.model.steps import Steps, coding_share
    from vaiven.stats.median import median_interval
    from vaiven.store.record import STEPS

    near, far, stack, size = key
    whole = rows.filter(part="").drop_nulls("ns_median")
    if whole.is_empty():
        return None
    by_part = medians_by_part(rows)
    launches = sorted(by_part[""])
    encode, send, decode, translate = (by_part[part] for part in STEPS)
    shares = [coding_share(encode[one], decode[one], translate[one], by_part[""][one]) for one in launches]
    medians = (statistics.median(times[one] for one in launches) for times in (encode, send, decode, translate))
    share = median_interval(shares, "")
    held = (round(whole[name].median()) for name in ("out_bytes", "in_bytes"))
    return Steps(stack, near, far, size, *medians, statistics.median(shares), share, *held)
