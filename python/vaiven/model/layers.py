# SPDX-License-Identifier: BSD-3-Clause
"""In which layer the time of a message goes: parts that are measured each, and must add up to the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vaiven.stats.arrays import Floats

TOLERANCE = 0.10  # of the whole, within which the layers must add up to it
UNTIMED = "device"  # ends with the kernel's stamp: no reading of a clock delays it


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a connection of a stack can do as it runs. 0: unknown.

    sequence: so many bytes or frames are numbered before the numbers begin anew. window: so many may be unacknowledged.
    services, free_services: addresses that a host has, and those that any program may take. unit_bytes: of a message in
    a frame.
    """

    sequence: int
    window: int
    services: int
    free_services: int
    unit_bytes: int


@dataclass(frozen=True, kw_only=True)
class LayerTimes:
    """What a launch found of one size, in ns: the round trip, timed apart from the layers and without marks; what a
    message takes in each layer on its way there, its answer on its way back, and the far program between them.

    All are means over those exchanges whose round trip is in the middle half of all, for medians would not add up.
    """

    whole_ns: float
    there_ns: Mapping[str, float]
    back_ns: Mapping[str, float]
    far_ns: float

    @property
    def sum_ns(self) -> float:
        """What the layers and the far program add up to."""
        return sum(self.there_ns.values()) + sum(self.back_ns.values()) + self.far_ns

    @property
    def error(self) -> float:
        """By how much of the whole they miss it."""
        return self.sum_ns / self.whole_ns - 1


@dataclass(frozen=True, kw_only=True)
class Layers:
    """One size of one stack between two hosts, over its launches. times: means of theirs. wire_ns: what the wire alone
    takes one way, None where nobody knows. limits: of the last connection, None where it did not say."""

    stack: str
    near: str
    far: str
    size_bytes: int
    launches: int
    times: LayerTimes
    wire_ns: float | None
    limits: Limits | None

    @property
    def add_up(self) -> bool:
        """Whether the layers are the whole, within TOLERANCE."""
        return abs(self.times.error) <= TOLERANCE


def of_launch(
    whole_ns: Floats, marked_ns: Floats, there_ns: Mapping[str, Floats], back_ns: Mapping[str, Floats], far_ns: Floats,
    *, clock_ns: float,
) -> LayerTimes:  # fmt: skip
    """What a launch found, from its samples. marked_ns: the round trips in which every layer was noted, in the order of
    the layers' samples. clock_ns: what reading the clock takes, which is in every layer that the kernel did not end."""
    chosen = _middle(marked_ns)

    def alone(mark: str, ns: Floats) -> float:
        return float(np.mean(ns[chosen])) - (0 if mark == UNTIMED else clock_ns)

    return LayerTimes(
        whole_ns=float(np.mean(whole_ns[_middle(whole_ns)])),
        there_ns={mark: alone(mark, ns) for mark, ns in there_ns.items()},
        back_ns={mark: alone(mark, ns) for mark, ns in back_ns.items()},
        far_ns=alone("far", far_ns),
    )


def over_launches(launches: Sequence[LayerTimes]) -> LayerTimes:
    """The means of what launches of one size found; they all have the same layers."""

    def each(ways: Sequence[Mapping[str, float]]) -> dict[str, float]:
        return {mark: float(np.mean([way[mark] for way in ways])) for mark in ways[0]}

    return LayerTimes(
        whole_ns=float(np.mean([one.whole_ns for one in launches])),
        there_ns=each([one.there_ns for one in launches]),
        back_ns=each([one.back_ns for one in launches]),
        far_ns=float(np.mean([one.far_ns for one in launches])),
    )


def _middle(ns: Floats) -> Floats:
    """Which of them are neither among the shortest quarter nor among the longest."""
    low, high = np.quantile(ns, (0.25, 0.75))
    return (low <= ns) & (ns <= high)
