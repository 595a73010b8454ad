# SPDX-License-Identifier: BSD-3-Clause
"""Which messages of a run its lab claims something of: of the others no law, no knee and no verdict is given."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import polars as pl

from vaiven.errors import VaivenError
from vaiven.lab import calibration, claims
from vaiven.lab.claims import Unclaimed
from vaiven.lab.topology import Fabric
from vaiven.store.query import Run


def claimed(run: Run, table: pl.DataFrame) -> pl.DataFrame:
    """The rows of cells with one more column, `claimed`: False for lone frames that the run's lab claims nothing of."""
    found = _unclaimed(run)
    above_bytes, below_bytes = (found.above_bytes, found.below_bytes) if found else (0, 0)
    wire_bytes = table["wire_bytes"]
    lone = (table["wire_frames"] == 1) & (wire_bytes > above_bytes) & (wire_bytes < below_bytes)
    return table.with_columns(claimed=~lone.fill_null(False))


def claims_text(run: Run) -> str:
    """What the run's lab claims of its frames, a sentence; "" of real hosts."""
    fabric, found = _fabric(run), _unclaimed(run)
    if fabric is None:
        return ""
    if fabric.fabric_class == "timed" and found:
        lone = f"{found.above_bytes:.0f} to {found.below_bytes} B on the wire"
        return f"Its frames take their true time, but for lone ones of {lone}, of which it claims nothing."
    return {
        "timed": "Its frames take their true time.",
        "paced": "It keeps the right rate, and claims nothing of the time of a single frame.",
        "free": "It goes as fast as this machine can: there is no wire in these times.",
    }[fabric.fabric_class]


def _unclaimed(run: Run) -> Unclaimed | None:
    fabric = _fabric(run)
    lead_ns = run.manifest.place.get("calibration", {}).get("lead_ns", calibration.LEAD_DEFAULT_NS)
    return None if fabric is None else claims.unclaimed(fabric, lead_ns)


def _fabric(run: Run) -> Fabric | None:
    """That of the run's lab. VaivenError ("bad-run") where the manifest names one that cannot be."""
    lab = run.manifest.place.get("lab")
    if not isinstance(lab, Mapping):
        return None
    try:
        return msgspec.convert(lab.get("fabric"), Fabric)
    except msgspec.ValidationError as error:
        what = f"{run.path}: its manifest names a lab that cannot be: {error}"
        raise VaivenError(what, "measure again", code="bad-run") from error
