# SPDX-License-Identifier: BSD-3-Clause
"""How long a run will still take: what its launches took so far, and the plan's guess for those that never ran."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from vaiven.plan import duration, order
from vaiven.plan.design import Design
from vaiven.plan.order import Launch
from vaiven.plan.schema import Link, Plan


class Remaining:
    """Learns from each launch; a launch is like those of its stack and question."""

    def __init__(self, design: Design, plan: Plan, link: Link | None) -> None:
        courses = (*design.courses, design.sentinel)
        self._guess_s = {
            (course.stack.name, course.ask, course is design.sentinel): duration.launch_s(course, plan, link)
            for course in courses
        }
        self._took_s: dict[tuple[str, str, bool], list[float]] = {}

    def learn(self, launch: Launch, took_s: float) -> None:
        """Takes note of what a launch took."""
        self._took_s.setdefault(_kind(launch), []).append(took_s)

    def left_s(self, launches: Sequence[Launch]) -> float:
        """Seconds that these launches, in their order, will take."""
        return sum(max(self._one_s(_kind(launch)) for launch in together) for together in order.rounds(launches))

    def _one_s(self, kind: tuple[str, str, bool]) -> float:
        took = self._took_s.get(kind)
        return statistics.median(took[-8:]) if took else self._guess_s[kind]


def _kind(launch: Launch) -> tuple[str, str, bool]:
    return launch.stack.name, launch.ask, launch.sentinel
