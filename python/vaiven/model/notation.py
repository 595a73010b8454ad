# SPDX-License-Identifier: BSD-3-Clause
"""One cost model in the four notations in use, and what each letter means in each.

Beta is the cost per unit in the first and the latency in the second: a pair of numbers without its notation says
nothing. All four are straight lines; only the last writes the slope upside down, as a rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from vaiven.errors import VaivenError
from vaiven.model.line import Line
from vaiven.model.units import Quantity
from vaiven.stats.estimate import Estimate


@dataclass(frozen=True)
class Symbols:
    """How a notation writes the line, and what its two letters mean."""

    formula: str
    constant: str
    slope: str
    constant_means: str
    slope_means: str


class Notation(Enum):
    ALPHA_BETA = Symbols("t(n) = alpha + beta n", "alpha", "beta", "time of an empty message", "time per unit of data")
    BETA_TAU = Symbols("T = beta + tau Size", "beta", "tau", "time of an empty message", "time per unit of data")
    TS_TW = Symbols("T = ts + tw S", "ts", "tw", "start-up time", "time per unit of data")
    LATENCY_BANDWIDTH = Symbols("T = L + S/BW", "L", "BW", "latency", "units of data per time, the inverse of a slope")


def letters(line: Line, notation: Notation) -> tuple[Estimate, Estimate]:
    """The constant and the slope of a fitted line in that notation, with their intervals: ns, and ns/byte or byte/s."""
    if notation is not Notation.LATENCY_BANDWIDTH or not line.beta.known:
        return line.alpha, line.beta
    return line.alpha, line.beta.inverse("byte/ns").scaled(1e9, "byte/s")


def inverse(slope: Quantity) -> Quantity:
    """Time per data as data per time, or back. Raises VaivenError ("no-inverse") for 0."""
    if not slope.value:
        raise VaivenError(f"{slope} has no inverse", code="no-inverse")
    over, under = slope.unit.split("/")
    return Quantity(1 / slope.value, f"{under}/{over}", slope.direction, slope.statistic, slope.count)
