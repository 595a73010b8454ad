# SPDX-License-Identifier: BSD-3-Clause
"""The line under the tables of a run: where it was measured, and what was done to that place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vaiven.results.tcp import tcp_text

if TYPE_CHECKING:
    from vaiven.store.query import Run


def footer(run: Run) -> str:
    """ "lab demo: switch, 100 Mb/s, timed; ...; processors held awake (...)", "" where there is nothing to say."""
    from vaiven.results.facts import calibration_text

    lab = run.manifest.lab
    known = calibration_text(run.manifest.calibration)
    held = run.manifest.environment.get("held_awake")
    place = f"lab {_lab(lab)}" if lab else ""
    awake = f"processors held awake ({held})" if held else ""
    return "; ".join(filter(None, (place, known, tcp_text(run), awake)))


def _lab(lab: Mapping[str, Any]) -> str:
    fabric = lab.get("fabric", {})
    rate = [f"{fabric['rate_mbps']:g} Mb/s"] if fabric.get("rate_mbps") else []
    return f"{lab.get('name', '')}: {', '.join([fabric.get('kind', ''), *rate, fabric.get('class', '')])}"
