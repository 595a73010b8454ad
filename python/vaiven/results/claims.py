# SPDX-License-Identifier: BSD-3-Clause
"""What the lab of a run claims of its frames."""

from __future__ import annotations

import msgspec

from vaiven.errors import VaivenError
from vaiven.lab.topology import Fabric
from vaiven.store.query import Run


def claims_text(run: Run) -> str:
    """What the run's lab claims of its frames, a sentence; "" of real hosts."""
    fabric = _fabric(run)
    if fabric is None:
        return ""
    return {
        "timed": "Its frames take their true time.",
        "paced": "It keeps the right rate, and claims nothing of the time of a single frame.",
        "free": "It goes as fast as this machine can: there is no wire in these times.",
    }[fabric.fabric_class]


def _fabric(run: Run) -> Fabric | None:
    """That of the run's lab. VaivenError ("bad-run") where the manifest names one that cannot be."""
    lab = run.manifest.lab
    if lab is None:
        return None
    try:
        return msgspec.convert(lab.get("fabric"), Fabric)
    except msgspec.ValidationError as error:
        what = f"{run.path}: its manifest names a lab that cannot be: {error}"
        raise VaivenError(what, "measure again", code="bad-run") from error
