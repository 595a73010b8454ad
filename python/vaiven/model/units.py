# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that carry their unit, direction and statistic, so that unlike ones cannot meet.

Data: bit byte float (4 bytes) double (8), kbit Mbit Gbit, kB MB GB (powers of 1000), KiB MiB GiB (powers of 1024);
a short "b" is a bit, "B" a byte. Time: s ms us ns. Compound units have one slash: "us/float", "MiB/s"; "Mbps" is
"Mb/s".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from vaiven.errors import VaivenError
from vaiven.model.times import HALF, Direction, Statistic

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_BITS = {"bit": 1.0, "b": 1.0, "byte": 8.0, "B": 8.0, "float": 32.0, "double": 64.0}
_BITS |= {f"{p}{b}": 1000.0**k * _BITS[b] for k, p in enumerate("kMG", 1) for b in ("b", "B", "bit")}
_BITS |= {f"{p}i{b}": 1024.0**k * _BITS[b] for k, p in enumerate("KMG", 1) for b in ("b", "B")}


@dataclass(frozen=True)
class Dimension:
    """Powers of time (seconds) and data (bits)."""

    time: int
    data: int


@dataclass(frozen=True)
class Quantity:
    """A number with its unit; a measured one also says which way, which statistic and of how many samples.

    Sums, differences, comparisons and ratios raise VaivenError "unlike-units" or "different-kind" where the
    operands differ in dimension, direction or statistic.
    """

    value: float
    unit: str
    direction: Direction | None = None
    statistic: Statistic | None = None
    count: int | None = None

    def __post_init__(self) -> None:
        scale(self.unit)

    def to(self, unit: str) -> Quantity:
        """The same quantity in another unit of its dimension."""
        (ours, dimension), (theirs, other) = scale(self.unit), scale(unit)
        if dimension != other:
            raise VaivenError(f"{self.unit} cannot be written in {unit}", code="unlike-units")
        return replace(self, value=self.value * (ours / theirs), unit=unit)

    def one_way(self) -> Quantity:
        """Half of a round trip; exact. Raises VaivenError ("no-direction") if it is not said which way it counts."""
        return self._turned(Direction.ONE_WAY, HALF)

    def round_trip(self) -> Quantity:
        return self._turned(Direction.ROUND_TRIP, 1 / HALF)

    def __add__(self, other: Quantity) -> Quantity:
        return replace(self, value=self.value + self._like(other).value, count=_fewer(self, other))

    def __sub__(self, other: Quantity) -> Quantity:
        return replace(self, value=self.value - self._like(other).value, count=_fewer(self, other))

    def __truediv__(self, other: Quantity) -> float:
        return self.value / self._like(other).value

    def __lt__(self, other: Quantity) -> bool:
        return self.value < self._like(other).value

    def __str__(self) -> str:
        kind = ", ".join(str(part) for part in (self.direction, self.statistic) if part)
        count = f" of {self.count}" if self.count is not None else ""
        return f"{self.value:.6g} {self.unit}" + (f" ({kind}{count})" if kind else "")

    def _like(self, other: Quantity) -> Quantity:
        if (self.direction, self.statistic) != (other.direction, other.statistic):
            raise VaivenError(f"{self} and {other} are not compared", "convert them first", code="different-kind")
        return other.to(self.unit)

    def _turned(self, direction: Direction, factor: float) -> Quantity:
        if self.direction is None:
            raise VaivenError(f"{self} does not say whether it is one way or a round trip", code="no-direction")
        if self.direction is direction:
            return self
        if scale(self.unit)[1].time != 1:
            raise VaivenError(f"{self} is not a time: it is not halved or doubled", code="no-direction")
        return replace(self, value=self.value * factor, direction=direction)


def scale(unit: str) -> tuple[float, Dimension]:
    """What one of that unit is in seconds and bits, and its dimension. Raises VaivenError ("unknown-unit")."""
    over, slash, under = unit.partition("/")
    if over.endswith("ps") and over[:-2] in _BITS and not slash:
        over, slash, under = over[:-2], "/", "s"
    ours, dimension = _simple(over, unit)
    if not slash:
        return ours, dimension
    theirs, divisor = _simple(under, unit)
    return ours / theirs, Dimension(dimension.time - divisor.time, dimension.data - divisor.data)


def _simple(name: str, unit: str) -> tuple[float, Dimension]:
    if name in _SECONDS:
        return _SECONDS[name], Dimension(1, 0)
    if name in _BITS:
        return _BITS[name], Dimension(0, 1)
    raise VaivenError(
        f"unknown unit {unit!r}",
        f"units of time: {', '.join(_SECONDS)}; of data: {', '.join(_BITS)}",
        code="unknown-unit",
    )


def _fewer(first: Quantity, second: Quantity) -> int | None:
    counts = [q.count for q in (first, second) if q.count is not None]
    return min(counts) if counts else None


def quantity(text: str) -> Quantity:
    """ "0.086 ms/byte" as a number with its unit. Raises VaivenError ("bad-number", "unlike-units")."""
    found = re.fullmatch(r"\s*([0-9.]+(?:[eE][+-]?\d+)?)\s*([A-Za-z]+(?:/[A-Za-z]+)?)\s*", text)
    try:
        return Quantity(float(found[1]), found[2]) if found else _refuse(text)
    except ValueError:
        return _refuse(text)


def rate(text: str) -> Quantity:
    """A rate as links have it: what `quantity` reads, or "1G", as ports are labelled: bits a second."""
    return quantity(
        re.sub(r"([0-9.])\s*([kKMG])\s*$", lambda found: f"{found[1]} {found[2].replace('K', 'k')}bit/s", text)
    )


def _refuse(text: str) -> Quantity:
    raise VaivenError(f"{text!r} is not a number with a unit", 'such as "0.086 us/byte", "100 Mb/s"', "bad-number")
