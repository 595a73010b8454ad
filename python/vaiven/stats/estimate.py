# SPDX-License-Identifier: BSD-3-Clause
"""A number that carries its interval and its unit, or the words that stand in its place."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vaiven.errors import VaivenError


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its interval, or a refusal: either `value` is a number, or `refused` says why there is none.

    value, low, high: in `unit`; all None when refused. level: of the interval (0.95). refused: one clause that
    can stand in a table cell, such as "too few launches: 5 of 8"; empty when there is a number.
    """

    value: float | None
    low: float | None
    high: float | None
    unit: str
    level: float = 0.95
    refused: str = ""

    def __post_init__(self) -> None:
        numbers = (self.value, self.low, self.high)
        assert self.refused or None not in numbers, "an estimate without refusal has all three numbers"
        assert not self.refused or numbers == (None, None, None), "a refused estimate has no number"

    @property
    def known(self) -> bool:
        return not self.refused

    def number(self) -> float:
        """The value, for arithmetic. Raises VaivenError ("refused") where there is none."""
        if self.value is None:
            raise VaivenError(f"there is no number here: {self.refused}", code="refused")
        return self.value

    def scaled(self, factor: float, unit: str) -> Estimate:
        """The same quantity in another unit; factor > 0."""
        assert factor > 0
        if self.value is None or self.low is None or self.high is None:
            return replace(self, unit=unit)
        return replace(self, value=self.value * factor, low=self.low * factor, high=self.high * factor, unit=unit)

    def inverse(self, unit: str) -> Estimate:
        """1/x, of a quantity whose whole interval is above zero; the ends change places."""
        if self.value is None or self.low is None or self.high is None:
            return replace(self, unit=unit)
        assert self.low > 0
        return replace(self, value=1 / self.value, low=1 / self.high, high=1 / self.low, unit=unit)


def refusal(why: str, unit: str, level: float = 0.95) -> Estimate:
    """No number, and why."""
    assert why
    return Estimate(None, None, None, unit, level, refused=why)
