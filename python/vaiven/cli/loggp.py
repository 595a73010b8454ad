# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven model --loggp`: the prtt launches of a run as LogGP's parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.model.loggp import LogGP
    from vaiven.model.times import LaunchTimes
    from vaiven.store.query import Run

_PARTS = {"single": "one", "burst": "burst", "spaced": "spaced", "send": "send", "receive": "receive"}


def loggp_of(run: Run) -> tuple[LogGP, ...]:
    """One LogGP per (pair of hosts, stack), by pair, then in the order of the plan.

    A size that not all launches know is left out, and a note says so.
    Raises VaivenError: "nothing-measured" for a run without a finished prtt.
    """
    from vaiven.cli.model import place_in_plan
    from vaiven.store import query

    table = query.trains(run)
    if table.is_empty():
        raise VaivenError(
            f"the run {run.id} has no finished launch of prtt",
            'measure a plan with questions = ["prtt"]',
            "nothing-measured",
        )
    place = place_in_plan(run)
    keys = table.select("near", "far", "stack").unique(maintain_order=True).rows()
    keys.sort(key=lambda key: (key[0], key[1], place(key[2])))
    seed = int(run.manifest.design.get("seed", 1))
    return tuple(_one(table, key, seed) for key in keys)


def loggp_json(run: Run) -> str:
    """{"schema", "run", "loggp"}: the fields of LogGP; times in ns."""
    from vaiven.cli.document import document

    return document({"schema": 1, "run": run.id, "loggp": loggp_of(run)})


def _one(table: Any, key: tuple[str, str, str], seed: int) -> LogGP:
    import numpy as np

    from vaiven.model.loggp import Trains, loggp

    near, far, stack = key
    rows = table.filter(near=near, far=far, stack=stack)
    grids = {name: _grid(rows.filter(part=part), stack) for name, part in _PARTS.items()}
    gaps = _grid(rows.filter(part="spaced"), stack, "gap_ns")
    # A cell of which half was lost has no median; a size that a look added has no cell in the launches before.
    sizes = grids["single"].sizes_bytes
    whole = np.logical_and.reduce([np.isfinite(grid.ns).all(axis=0) for grid in grids.values()])
    if not whole.any():
        raise VaivenError(
            f"{stack} {near} {far}: every size lost trains of some launch", "smaller messages", "nothing-measured"
        )
    k = int(rows.filter(part="burst")["batch"][0])
    columns = {name: grid.ns[:, whole] for name, grid in grids.items()}
    trains = Trains(stack, sizes[whole], k, **columns, gap_ns=gaps.ns[:, whole], near=near, far=far)
    found = loggp(trains, np.random.default_rng(seed))
    if whole.all():
        return found
    lost = ", ".join(map(str, sizes[~whole]))
    return replace(found, notes=(*found.notes, f"left out, as some launch knows nothing of them: {lost} bytes"))


def _grid(rows: Any, stack: str, column: str = "ns_median") -> LaunchTimes:
    """A column of one part by launch and size, NaN where there is none."""
    from vaiven.model.times import Direction, LaunchTimes, Statistic

    ns = rows[column].cast(float).fill_null(float("nan")).to_numpy()
    by = [rows[name].to_numpy() for name in ("launch", "block", "size_bytes")]
    kind = Direction.ROUND_TRIP, Statistic.TYPICAL
    return LaunchTimes.from_columns(stack, *kind, *by, ns, rows["count"].to_numpy(), ask="prtt")
