# SPDX-License-Identifier: BSD-3-Clause
"""The order of a run: randomised complete blocks. Pure: the same design and seed give the same order for ever.

A block holds every (stack, question, pair) of the design once, and the sentinel, shuffled; each launch takes its
sizes in an order of its own. Where pairs are measured in rounds, rounds are shuffled as a whole, and who is measured
beside whom is drawn anew for each block, equal for all stacks: no pair has always the same neighbours, and stacks are
compared among equal ones. A block's order depends on the seed and its number alone, so a run that stopped can be taken
up anywhere.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vaiven.plan import ends, tournament
from vaiven.plan.design import Course, Design, Pair
from vaiven.plan.stack import Stack
from vaiven.questions import QuestionName

T = TypeVar("T")
Key = tuple[str, str, str, str]  # (stack, question, near, far)


@dataclass(frozen=True)
class Launch:
    """One launch. number: counted from 0 over the run. sizes_bytes: in the order in which they are measured.

    far: the host of the far end, or of several (plan.ends). sentinel: it watches for drift and belongs to no
    comparison. beside: how many launches before it in its round run at the same time as it.
    """

    number: int
    block: int
    stack: Stack
    ask: QuestionName
    near: str
    far: str
    sizes_bytes: tuple[int, ...]
    sentinel: bool = False
    beside: int = 0

    @property
    def key(self) -> Key:
        """What its replicates have in common."""
        return self.stack.name, self.ask, self.near, self.far

    @property
    def round(self) -> int:
        """The number of the first launch of its round: those that have the same run at the same time."""
        return self.number - self.beside

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
    wanted: list[tuple[Course, Sequence[Pair], bool]] = [
        (course, together, False) for course in design.courses for together in _rounds(design, course, number)
    ]
    wanted.append((design.sentinel, design.pairs[:1], True))
    in_order = [
        (course, pair, sentinel, beside)
        for course, together, sentinel in shuffled(wanted, rng)
        for beside, pair in enumerate(together)
    ]
    first = number * len(in_order)
    return tuple(
        Launch(
            first + place, number, course.stack, course.ask, *pair,
            shuffled(course.sizes_bytes if sentinel else _sizes(course, pair, added or {}), rng), sentinel, beside,
        )
        for place, (course, pair, sentinel, beside) in enumerate(in_order)
    )  # fmt: skip


def later(design: Design, launch: Launch, time: int, left: int) -> int:
    """Before which of so many rounds that are left in its block a launch is done again, for the time-th time: any of
    them, or behind all (left), each as likely."""
    return int(random.Random(f"again/{design.seed}/{launch.number}/{time}").random() * (left + 1))


def rounds(launches: Iterable[Launch]) -> Iterator[tuple[Launch, ...]]:
    """Launches in their order, those that run at the same time in one tuple."""
    for _, together in itertools.groupby(launches, lambda launch: launch.round):
        yield tuple(together)


def _rounds(design: Design, course: Course, number: int) -> list[tuple[Pair, ...]]:
    """The pairs of a course in block `number`, those that are measured at the same time in one tuple."""
    if course.own_pairs or not design.rounds:
        return [(pair,) for pair in design.pairs_of(course)]
    hosts = list(dict.fromkeys(host for pair in design.pairs for host in pair))
    seats = shuffled(hosts, random.Random(f"seats/{design.seed}/{number}"))
    as_named = {frozenset(pair): pair for pair in design.pairs}  # which of the two is near stays
    return [tuple(as_named[frozenset(pair)] for pair in together) for together in tournament.rounds(seats)]


def _sizes(course: Course, pair: Pair, added: Mapping[Key, Sequence[int]]) -> list[int]:
    return sorted({*course.sizes_bytes, *added.get((course.stack.name, course.ask, *pair), ())})


def shuffled(items: Sequence[T], rng: random.Random) -> tuple[T, ...]:
    """Fisher and Yates on rng.random(): Python promises its sequence for ever, that of shuffle() it does not."""
    left = list(items)
    for last in range(len(left) - 1, 0, -1):
        other = int(rng.random() * (last + 1))
        left[last], left[other] = left[other], left[last]
    return tuple(left)
