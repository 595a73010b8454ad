# SPDX-License-Identifier: BSD-3-Clause
"""The line under the tables of a run: where it was measured, and what was done to that place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vaiven.cli.tcp import tcp_text

if TYPE_CHECKING:
    from vaiven.store.query import Run


def footer(run: Run) -> str:
    """ "lab demo: switch, 100 Mb/s, timed; ...; processors held awake (...)", "" where there is nothing to say."""
    lab = run.manifest.place.get("lab")
    known = calibration(run.manifest.place)
    held = run.manifest.environment.get("held_awake")
    place = f"lab {_lab(lab)}" if isinstance(lab, Mapping) else ""
    awake = f"processors held awake ({held})" if held else ""
    return "; ".join(filter(None, (place, known, tcp_text(run), awake)))


def calibration(place: Mapping[str, Any]) -> str:
    """ "calibrated to 12.5 µs by lab check on 2026-01-31", or that it was not; "" of what is not timed."""
    found = place.get("calibration")
    if not isinstance(found, Mapping) or not isinstance(found.get("lead_ns"), int):
        return ""
    lead = f"{found['lead_ns'] / 1000:g} µs"
    checked = str(found.get("checked_utc") or "")[:10]
    return f"calibrated to {lead} by lab check on {checked}" if checked else f"not calibrated by lab check ({lead})"


def _lab(lab: Mapping[str, Any]) -> str:
    fabric = lab.get("fabric", {})
    rate = [f"{fabric['rate_mbps']:g} Mb/s"] if fabric.get("rate_mbps") else []
    return f"{lab.get('name', '')}: {', '.join([fabric.get('kind', ''), *rate, fabric.get('class', '')])}"
