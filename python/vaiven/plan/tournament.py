# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of hosts as rounds of pairs that have no host in common: those of one round are measured at the same time.

n hosts take n - 1 rounds of n/2 pairs, where one pair after the other takes n (n - 1)/2 turns; of an odd number one
host pauses in each of n rounds. Pairs that share more than hosts (a medium, a processor) would measure each other:
`require` refuses that, and `note` says what cannot be known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vaiven import questions
from vaiven.errors import VaivenError
from vaiven.plan.design import Available, Course, Design, Pair
from vaiven.plan.schema import Link

_REMEDY = 'pairs = "all" measures one pair after the other'


def rounds(seats: Sequence[str]) -> tuple[tuple[Pair, ...], ...]:
    """Everybody meets everybody once: who has the first seat stays, the others move on by one seat after each round.

    Seats face each other across a table: the first and the last, the second and the last but one, and so on.
    """
    if not seats:
        return ()
    empty = [""] * (len(seats) % 2)  # who faces it pauses
    first, *others = (*seats, *empty)
    tables = ([first, *others[turn:], *others[:turn]] for turn in range(len(others)))
    half = (len(others) + 1) // 2
    return tuple(
        tuple(pair for pair in zip(table[:half], reversed(table), strict=False) if all(pair)) for table in tables
    )


def require(design: Design, known: Mapping[str, Available], link: Link | None, processors: int | None) -> None:
    """Refuses pairs at the same time that would measure each other.

    processors: what the hosts of a lab share; None where each host has its own. VaivenError: "shared-medium",
    "too-few-processors".
    """
    at_once = design.pairs_at_once
    if at_once > 1 and link and link.hops == 1:
        raise VaivenError(f"{at_once} pairs at the same time would share one medium", _REMEDY, code="shared-medium")
    awake = [course for course in design.courses if not course.own_pairs and _stays_awake(course, known)]
    if at_once > 1 and awake and processors is not None and processors < 2 * at_once:
        raise VaivenError(
            f"{awake[0].stack.name} {awake[0].ask} keeps a processor of each end: {at_once} pairs at the same time "
            f"need {2 * at_once}, this machine has {processors}",
            _REMEDY,
            code="too-few-processors",
        )


def note(design: Design, *, lab: bool) -> str:
    """What a reader of its numbers must know of pairs at the same time; "" where there are none."""
    if design.pairs_at_once < 2:
        return ""
    said = f"in each round {design.pairs_at_once} pairs without a common host are measured at the same time"
    if lab:
        return f"{said}; they share the processors of this machine, so a pair alone is quicker: {_REMEDY}"
    return f"{said}; where their ways meet, in a hub or between two switches, they slow each other: {_REMEDY}"


def _stays_awake(course: Course, known: Mapping[str, Available]) -> bool:
    own = questions.ALL[course.ask].keeps_processor
    return own or known[course.stack.id].spins or ("wait", "spin") in course.stack.options
