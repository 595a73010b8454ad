# SPDX-License-Identifier: BSD-3-Clause
"""Which claims a plan can settle, before it is measured: those that its place and what it asks have the needs of."""

from __future__ import annotations

from collections.abc import Sequence

from vaiven.papers.claims import Claim
from vaiven.papers.needs import Needs, Scene, differences
from vaiven.plan import ends
from vaiven.plan.design import Course, Design


def within(claims: Sequence[Claim], scene: Scene, design: Design, samples: int) -> tuple[str, ...]:
    """The ids of the claims that a run of that design can settle, or one of several runs that they need.

    samples: that each of its cells has at least.
    """
    return tuple(
        claim.id
        for claim in claims
        if claim.check and not claim.lacks
        and any(_has(needs, scene, design, samples) for needs in claim.scenes.values())
    )  # fmt: skip


def _has(needs: Needs, scene: Scene, design: Design, samples: int) -> bool:
    courses = [course for course in design.courses if course.ask == needs.question]
    asked = all(
        any(course.stack.name == stack and set(needs.sizes) <= set(course.sizes_bytes) for course in courses)
        for stack in needs.stacks
    )
    most = max((_far_ends(design, course) for course in courses), default=0)
    at_once = max(most + (needs.question == "exchange"), scene.pairs_at_once)
    return (
        not differences(needs, scene) and bool(courses) and asked
        and most >= (needs.receivers or 0) and at_once >= (needs.at_once or 0) and samples >= (needs.samples or 0)
    )  # fmt: skip


def _far_ends(design: Design, course: Course) -> int:
    """The most that one launch has."""
    return max(len(ends.split(far)) for _, far in design.pairs_of(course))
