# SPDX-License-Identifier: BSD-3-Clause
"""Which claims a plan can settle, before it is measured: those that its place and what it asks have the needs of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vaiven.papers.claims import Claim
from vaiven.papers.needs import Needs, Scene, differences
from vaiven.plan import ends
from vaiven.plan.design import Course, Design

AS_PINGPONG = ("pingpong", "steps")  # the exchanges of both are round trips


@dataclass(frozen=True)
class Offer:
    """What a run of a plan would be: where, what it asks, and so many samples in each cell at least."""

    scene: Scene
    design: Design
    samples: int


def within(claims: Sequence[Claim], offer: Offer) -> tuple[str, ...]:
    """The ids of the claims that such a run can settle, or one of several runs that they need."""
    return tuple(claim.id for claim in claims if any(of == claim.id for of, _ in parts([claim], offer)))


def covered(claims: Sequence[Claim], offers: Iterable[Offer]) -> tuple[str, ...]:
    """The ids of the claims that runs of all these together settle: each run that a claim needs is among them."""
    found = {part for offer in offers for part in parts(claims, offer)}
    return tuple(claim.id for claim in claims if claim.check and found >= {(claim.id, name) for name in claim.scenes})


def parts(claims: Sequence[Claim], offer: Offer) -> set[tuple[str, str]]:
    """(id of a claim, name of the run among those that it needs, "" of the only one) that such a run can be."""
    return {
        (claim.id, name)
        for claim in claims
        if claim.check and not claim.lacks
        for name, needs in claim.scenes.items()
        if _has(needs, offer)
    }  # fmt: skip


def _has(needs: Needs, offer: Offer) -> bool:
    scene, design = offer.scene, offer.design
    asks = AS_PINGPONG if needs.question == "pingpong" else (needs.question,)
    courses = [course for course in design.courses if course.ask in asks]
    asked = all(
        any(course.stack.name == stack and set(needs.sizes) <= set(course.sizes_bytes) for course in courses)
        for stack in needs.stacks
    )
    most = max((_far_ends(design, course) for course in courses), default=0)
    at_once = max(most + (needs.question in ("exchange", "partners")), scene.pairs_at_once)
    return (
        not differences(needs, scene) and bool(courses) and asked and most >= (needs.receivers or 0)
        and at_once >= (needs.at_once or 0) and offer.samples >= (needs.samples or 0)
    )  # fmt: skip


def _far_ends(design: Design, course: Course) -> int:
    """The most that one launch has."""
    return max(len(ends.split(far)) for _, far in design.pairs_of(course))
