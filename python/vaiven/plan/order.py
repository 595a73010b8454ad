# SPDX-License-Identifier: BSD-3-Clause
"""The order of a run: randomised complete blocks. Pure: the same design and seed give the same order for ever.

A block holds every (stack, question, pair) of the design once, and the sentinel, shuffled; each launch takes its
sizes in an order of its own. A block's order depends on the seed and its number alone, so a run that stopped can
be taken up anywhere.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vaiven.plan import ends
from vaiven.plan.design import Course, Design, Pair
from vaiven.plan.schema import Question
from vaiven.plan.stack import Stack

T = TypeVar("T")
Key = tuple[str, str, str, str]  # (stack, question, near, far)


@dataclass(frozen=True)
class Launch:
    """One launch. number: counted from 0 over the run. sizes_bytes: in the order in which they are measured.

    far: the host of the far end, or of several (plan.ends). sentinel: it watches for drift and belongs to no
    comparison.
    """

    number: int
    block: int
    stack: Stack
    ask: Question
    near: str
    far: str
    sizes_bytes: tuple[int, ...]
    sentinel: bool = False

    @property
    def key(self) -> Key:
        """What its replicates have in common."""
        return self.stack.name, self.ask, self.near, self.far

    @property
    def fars(self) -> tuple[str, ...]:
        """The host of each far end, in order."""
        return ends.split(self.far)

    @property
    def hosts(self) -> frozenset[str]:
        """All hosts that take part."""
        return frozenset((self.near, *self.fars))


def block(design: Design, number: int, added: Mapping[Key, Sequence[int]] | None = None) -> tuple[Launch, ...]:
    """The launches of block `number` (from 0), in order. added: sizes beyond the design's, which moves no launch."""
    rng = random.Random(f"order/{design.seed}/{number}")
    wanted: list[tuple[Course, Pair, bool]] = [
        (course, pair, False) for course in design.courses for pair in design.pairs_of(course)
    ]
    wanted.append((design.sentinel, design.pairs[0], True))
    first = number * len(wanted)
    return tuple(
        Launch(
            first + place, number, course.stack, course.ask, *pair,
            shuffled(course.sizes_bytes if sentinel else _sizes(course, pair, added or {}), rng), sentinel,
        )
        for place, (course, pair, sentinel) in enumerate(shuffled(wanted, rng))
    )  # fmt: skip


def _sizes(course: Course, pair: Pair, added: Mapping[Key, Sequence[int]]) -> list[int]:
    return sorted({*course.sizes_bytes, *added.get((course.stack.name, course.ask, *pair), ())})


def shuffled(items: Sequence[T], rng: random.Random) -> tuple[T, ...]:
    """Fisher and Yates on rng.random(): Python promises its sequence for ever, that of shuffle() it does not."""
    left = list(items)
    for last in range(len(left) - 1, 0, -1):
        other = int(rng.random() * (last + 1))
        left[last], left[other] = left[other], left[last]
    return tuple(left)
