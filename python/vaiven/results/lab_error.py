# SPDX-License-Identifier: BSD-3-Clause
"""By how much the lab of a run may bring messages early or late: what of a number beyond the wire may be the lab's.

It is what `lab check` found on the machine when the fabric earned its class, or else, of lone frames alone, what a few
ping-pongs before the run found, and stands in the run's manifest. It
touches every time of a run on a timed lab, and weighs where the wire is taken off (above the wire, alpha, the lowest
rung of a ladder) or divided by (times the wire, share of the wire). Between two stacks of one run it mostly cancels,
for both had the same lab: verdicts are not touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vaiven.store.query import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class LabError:
    """Of a timed lab, one way. lone_ns: of a frame that is alone, 19 of 20 launches at the worst of what was tried.
    trains_ns: of the last frame of a train, the worst of what was tried. Both None where no check found them.
    checked_utc: when one did, or empty. by: "check", or "trial": a few ping-pongs before a run."""

    lone_ns: int | None
    trains_ns: int | None
    checked_utc: str
    by: str = "check"

    def of_message(self, frames: int | None) -> int | None:
        """Of a message that becomes so many frames; None where that, or the error, is not known."""
        return None if frames is None else self.lone_ns if frames == 1 else self.trains_ns


def lab_error(run: Run) -> LabError | None:
    """That of the run's lab; None of real hosts, and of labs that keep no time."""
    return of_calibration(run.manifest.calibration)


def of_calibration(found: Mapping[str, Any] | None) -> LabError | None:
    """The same of the calibration in a manifest; what it says wrongly nobody knows."""
    if found is None or not isinstance(found.get("door_ns"), int):
        return None
    checked = str(found.get("checked_utc") or "")
    lone_ns, trains_ns = (_known(found.get(name)) if checked else None for name in ("error_ns", "trains_ns"))
    by = "trial" if found.get("by") == "trial" else "check"
    return LabError(lone_ns=lone_ns, trains_ns=trains_ns, checked_utc=checked if lone_ns is not None else "", by=by)


def _known(ns: object) -> int | None:
    return ns if isinstance(ns, int) and ns >= 0 else None
