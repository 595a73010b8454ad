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
from vaiven.model.units import Dimension, Quantity, scale
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


_TIME, _SLOPE, _RATE = Dimension(1, 0), Dimension(1, -1), Dimension(-1, 1)


@dataclass(frozen=True)
class Written:
    """A model as somebody wrote it: two quantities in one notation.

    Raises VaivenError "unlike-units" when a letter has the unit of another meaning (a beta in us/byte given as
    latency), "different-kind" when the two letters count different directions or statistics.
    """

    notation: Notation
    constant: Quantity
    slope: Quantity

    def __post_init__(self) -> None:
        symbols = self.notation.value
        wanted = _RATE if self.notation is Notation.LATENCY_BANDWIDTH else _SLOPE
        _expect(symbols.constant, symbols.constant_means, self.constant, _TIME)
        _expect(symbols.slope, symbols.slope_means, self.slope, wanted)
        if self.constant.direction != self.slope.direction or self.constant.statistic != self.slope.statistic:
            raise VaivenError(
                f"{symbols.formula}: {self.constant} and {self.slope} do not belong together", code="different-kind"
            )

    def time(self, size: Quantity) -> Quantity:
        """T of a message of that size, in the unit of the constant."""
        per_bit = scale(self.slope.unit)[0] * self.slope.value
        bits = size.to("bit").value
        seconds = bits / per_bit if self.notation is Notation.LATENCY_BANDWIDTH else bits * per_bit
        return Quantity(
            self.constant.value + seconds / scale(self.constant.unit)[0],
            self.constant.unit,
            self.constant.direction,
            self.constant.statistic,
        )

    def rewritten(self, notation: Notation) -> Written:
        """The same model in another notation; same T for every size. Raises VaivenError ("no-inverse") for slope 0."""
        upside_down = Notation.LATENCY_BANDWIDTH in (self.notation, notation) and notation is not self.notation
        return Written(notation, self.constant, inverse(self.slope) if upside_down else self.slope)

    def __str__(self) -> str:
        symbols = self.notation.value
        return f"{symbols.formula}: {symbols.constant} = {self.constant}, {symbols.slope} = {self.slope}"


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


def _expect(letter: str, means: str, given: Quantity, wanted: Dimension) -> None:
    if scale(given.unit)[1] != wanted:
        raise VaivenError(
            f"{letter} is {means}, not {given}", "check which notation the numbers are in", code="unlike-units"
        )
