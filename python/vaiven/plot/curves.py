# SPDX-License-Identifier: BSD-3-Clause
"""What the figures are drawn from. Times are one way in ns, sizes payload bytes, rates bytes per second."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Curve:
    """One stack over the sizes: all tuples are as long as sizes_bytes, which ascends.

    typical_ns with its interval low_ns..high_ns (NaN: no interval); floor_ns, empty where it is not shown; wire_ns,
    `None` without a known link.
    """

    name: str
    sizes_bytes: tuple[int, ...]
    typical_ns: tuple[float, ...]
    low_ns: tuple[float, ...]
    high_ns: tuple[float, ...]
    floor_ns: tuple[float, ...]
    wire_ns: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Staircase:
    """What the wire alone takes, at so many sizes that lines between them are what it takes at every size."""

    sizes_bytes: tuple[int, ...]
    ns: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Fan:
    """One stack over the number of receivers, which ascends; otherwise as a Curve."""

    name: str
    receivers: tuple[int, ...]
    typical_ns: tuple[float, ...]
    low_ns: tuple[float, ...]
    high_ns: tuple[float, ...]
    wire_ns: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Residuals:
    """How far a stack's sizes lie off its law: (measured - law) / measured, per size."""

    name: str
    sizes_bytes: tuple[int, ...]
    relative: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """All samples of one stack at one size, as equally spaced quantiles from the smallest to the largest."""

    name: str
    quantiles_ns: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Course:
    """How far one thing had come at each of these times: bytes of a message, since it was begun."""

    name: str
    at_ns: tuple[float, ...]
    sizes_bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Trend:
    """One thing from run to run: when each was made, and what it says, times in ns or ratios to what is usual."""

    name: str
    made: tuple[datetime, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """What one layer of the ladder adds at each size, with its interval. The wire is a layer."""

    name: str
    added_ns: tuple[float, ...]
    low_ns: tuple[float, ...]
    high_ns: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class HostMap:
    """One number per pair of hosts: values[i][j] from rows[i] to columns[j], `None` where not measured."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    quantity: str
