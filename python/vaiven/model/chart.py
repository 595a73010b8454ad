# SPDX-License-Identifier: BSD-3-Clause
"""A picture as values: lines over axes that somebody else chose, as a figure that was published has them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """title: with the unit. log: whether equal steps are equal ratios."""

    title: str
    log: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """One line: x ascends; y with its interval low..high, NaN where there is none."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """title: what it shows. says: where it comes from, in a sentence."""

    title: str
    says: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
