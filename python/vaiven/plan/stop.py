# SPDX-License-Identifier: BSD-3-Clause
"""The stopping rule: enough launches were made when every cell's median is known well enough."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from vaiven.plan.schema import Stop

# (launch medians, level) -> (low, high) of the median's interval; None when there are too few.
Interval = Callable[[Sequence[float], float], tuple[float, float] | None]


@dataclass(frozen=True)
class Look:
    """What one look found. half_width: of the cell that is known worst, relative; None: it has no interval yet.

    cell: that cell, in words. done: no more launches are needed. achieved: because half_width is small enough.
    """

    launches: int
    half_width: float | None
    cell: str
    done: bool
    achieved: bool


def look(stop: Stop, launches: int, medians: Mapping[str, Sequence[float]], interval: Interval) -> Look | None:
    """Looks, if the rule looks at this count of launches; None otherwise.

    medians: cell in words -> the median of each of its launches.
    """
    if launches not in stop.schedule:
        return None
    last = launches == stop.launches_max
    worst, cell = max(
        ((half_width(values, interval, stop.level_per_look), name) for name, values in medians.items()),
        default=(float("inf"), ""),
    )
    achieved = worst <= stop.half_width
    return Look(launches, None if worst == float("inf") else worst, cell, achieved or last, achieved)


def half_width(values: Sequence[float], interval: Interval, level: float) -> float:
    """Relative half-width of the interval of their median; infinite where there is none."""
    found = interval(values, level)
    middle = statistics.median(values) if values else 0.0
    if found is None or middle <= 0 or not math.isfinite(found[1]):
        return float("inf")
    return (found[1] - found[0]) / (2 * middle)
