# SPDX-License-Identifier: BSD-3-Clause
"""How long a run will still take: the plan's guess for each launch, and by how much it missed those that were."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from vaiven.plan import duration, order
from vaiven.plan.design import Design
from vaiven.plan.ground import Ground
from vaiven.plan.order import Launch
from vaiven.plan.schema import Plan

_LATEST = 8  # launches of a kind that count

Kind = tuple[str, str, bool]  # (stack, question, sentinel)


class Remaining:
    """Learns from each launch; a guess is as wrong as it was for others of the same stack and question."""

    def __init__(self, design: Design, plan: Plan, ground: Ground) -> None:
        self._plan, self._ground = plan, ground
        self._courses = {(one.stack.name, one.ask, False): one for one in design.courses}
        self._courses |= {(design.sentinel.stack.name, design.sentinel.ask, True): design.sentinel}
        self._guesses_s: dict[tuple[Kind, str, str], float] = {}
        self._missed: dict[Kind, list[float]] = {}

    def learn(self, launch: Launch, took_s: float) -> None:
        """Takes note of what a launch took."""
        self._missed.setdefault(_kind(launch), []).append(took_s / self._guess_s(launch))

    def left_s(self, launches: Sequence[Launch]) -> float:
        """Seconds that these launches, in their order, will take."""
        return sum(max(map(self._one_s, together)) for together in order.rounds(launches))

    def _one_s(self, launch: Launch) -> float:
        return self._guess_s(launch) * statistics.median(self._missed.get(_kind(launch), [1.0])[-_LATEST:])

    def _guess_s(self, launch: Launch) -> float:
        kind = _kind(launch)
        place = kind, launch.near, launch.far
        if place not in self._guesses_s:
            course = self._courses[kind]
            self._guesses_s[place] = duration.launch_s(course, (launch.near, launch.far), self._plan, self._ground)
        return self._guesses_s[place]


def _kind(launch: Launch) -> Kind:
    return launch.stack.name, launch.ask, launch.sentinel
