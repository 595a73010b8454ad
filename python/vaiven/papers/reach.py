# SPDX-License-Identifier: BSD-3-Clause
"""Which claims a plan can settle, before it is measured: those that its place and what it asks have the needs of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from vaiven.papers.claims import Claim
from vaiven.papers.needs import Needs, Scene, counts, differences
from vaiven.plan import ends
from vaiven.plan.design import Design

AS_PINGPONG = ("steps",)  # whose exchanges are round trips, too


@dataclass(frozen=True)
class Offer:
    """What a run of a plan would be: where, what it asks, and so many samples in each cell at least."""

    scene: Scene
    design: Design
    samples: int

    @cached_property
    def sizes(self) -> Mapping[tuple[str, str], frozenset[int]]:
        """By question and stack, those that it asks."""
        found: dict[tuple[str, str], frozenset[int]] = {}
        for course in self.design.courses:
            for ask in (course.ask, *(["pingpong"] if course.ask in AS_PINGPONG else [])):
                known = found.get((ask, course.stack.name), frozenset())
                found[ask, course.stack.name] = known | frozenset(course.sizes_bytes)
        return found

    @cached_property
    def fars(self) -> Mapping[str, frozenset[int]]:
        """By question, how many far ends its launches have."""
        found: dict[str, frozenset[int]] = {}
        for course in self.design.courses:
            fars = frozenset(len(ends.split(far)) for _, far in self.design.pairs_of(course))
            found[course.ask] = found.get(course.ask, frozenset()) | fars
        return found


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
        if claim.check
        for name, needs in claim.scenes.items()
        if _has(needs, offer)
    }  # fmt: skip


def _has(needs: Needs, offer: Offer) -> bool:
    asked = {stack: offer.sizes.get((needs.question, stack)) for stack in needs.stacks}
    if any(sizes is None or not set(needs.sizes) <= sizes for sizes in asked.values()):
        return False
    fars = offer.fars.get(needs.question, frozenset())
    there = counts(needs.question, fars)
    at_once = max(*there, offer.scene.pairs_at_once, 0)
    return (
        max(fars, default=0) >= (needs.receivers or 0) and at_once >= (needs.at_once or 0) and there >= {*needs.counts}
        and offer.samples >= (needs.samples or 0) and not differences(needs, offer.scene)
    )  # fmt: skip
