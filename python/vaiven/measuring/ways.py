# SPDX-License-Identifier: BSD-3-Clause
"""Before a run in a lab: do both ways between its hosts cost the same, so that a round trip may be halved?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vaiven import questions
from vaiven.errors import VaivenError
from vaiven.model.asymmetry import DELTA, asymmetry
from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.plan.design import Available, Design, Pair
from vaiven.questions import ONEWAY
from vaiven.run import ways
from vaiven.run.place import Place
from vaiven.stats import planner
from vaiven.stats.verdict import Rules

Measured = list[dict[int, float]]  # per launch: size -> ns


def asymmetries(design: Design, place: Place, known: Mapping[str, Available]) -> Iterator[tuple[str, str]]:
    """(code, text) for each pair of the design whose ways differ. Where they are alike that takes two launches."""
    rules = Rules(delta=DELTA)
    rounds = planner.launches_to_reach(rules.alpha, len(ways.SIZES_BYTES), paired=True)
    for pair in design.pairs if any(questions.ALL[course.ask].ways for course in design.courses) else ():
        if ways.comparable(place, pair):
            there, back = _measured(place, known, pair, rounds, rules.delta)
            if len(there) == rounds:
                yield from _settled(pair, there, back, rules)


def _measured(
    place: Place, known: Mapping[str, Available], pair: Pair, rounds: int, delta: float
) -> tuple[Measured, Measured]:
    """There and back, in turns, each way first as often as the other; until no size can be called different any more:
    with so few rounds, that takes all of them."""
    near, far = pair
    found: dict[Pair, Measured] = {(near, far): [], (far, near): []}
    there, back = found.values()
    while len(there) < rounds and (not there or _differ(there, back, delta)):
        for one, other in ((near, far), (far, near))[:: -1 if len(there) % 2 else 1]:
            found[one, other].append(ways.one_way_ns(place, known, one, other))
    return there, back


def _differ(there: Measured, back: Measured, delta: float) -> bool:
    """Whether at some size one way took longer than the other each time, by more than delta."""
    sizes = set(there[0]).intersection(*there, *back)
    ratios = [[one[size] / other[size] for one, other in zip(there, back, strict=True)] for size in sizes]
    return any(min(ratio) > 1 + delta or max(ratio) < 1 / (1 + delta) for ratio in ratios)


def _settled(pair: Pair, there: Measured, back: Measured, rules: Rules) -> Iterator[tuple[str, str]]:
    try:
        found = asymmetry(_times(there, *pair), _times(back, *pair[::-1]), rules)
    except VaivenError as error:
        yield "ways-unknown", f"whether both ways between {' and '.join(pair)} cost the same is not known: {error.what}"
        return
    if found.asymmetric_bytes.size:
        yield "asymmetric", found.text


def _times(measured: Measured, near: str, far: str) -> LaunchTimes:
    rows = [(number, size, ns) for number, sizes in enumerate(measured) for size, ns in sizes.items()]
    numbers, sizes, ns = zip(*rows, strict=True) if rows else ((), (), ())
    counts = [1] * len(rows)
    kind = Direction.ONE_WAY, Statistic.TYPICAL
    return LaunchTimes.from_columns(ways.STACK, *kind, numbers, numbers, sizes, ns, counts, near, far, ONEWAY.name)
