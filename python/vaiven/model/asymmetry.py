# SPDX-License-Identifier: BSD-3-Clause
"""Do both directions cost the same? If not, half of a round trip is neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vaiven import questions
from vaiven.errors import VaivenError
from vaiven.model.times import Direction, LaunchTimes, common_sizes, same_kind
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.verdict import Rules, Verdict, judge, weigh

DELTA = 0.05  # ways that differ by less than this may be halved


@dataclass(frozen=True, eq=False)
class Asymmetry:
    """ratio: (S,) time there over time back. verdicts: one a size. asymmetric_bytes: sizes where the ways differ by
    more than 5 %. halving_safe: every size was settled as not different by that much. text: one sentence."""

    there: str
    back: str
    sizes_bytes: Ints
    ratio: Floats
    verdicts: tuple[Verdict, ...]
    asymmetric_bytes: Ints
    halving_safe: bool
    text: str


def asymmetry(there: LaunchTimes, back: LaunchTimes, rules: Rules | None = None) -> Asymmetry:
    """One-way times of one stack in both directions, same hosts, same clock; blocks pair them where both have them.

    Raises VaivenError: "round-trip" (halved times cannot tell), "different-kind", "no-common-size".
    """
    rules = rules or Rules(delta=DELTA)
    if there.direction is not Direction.ONE_WAY or questions.ALL[there.ask].ways:
        raise VaivenError("a ping-pong cannot tell its two ways apart", "ask oneway, on a lab", code="round-trip")
    same_kind(there, back)
    sizes = common_sizes(there, back)
    a, b = there.at_sizes(sizes), back.at_sizes(sizes)
    same = np.array_equal(a.blocks, b.blocks)
    verdicts = judge([weigh(x, y, same, rules) for x, y in zip(a.ns.T, b.ns.T, strict=True)], rules)
    ratio = a.centre_ns() / b.centre_ns()
    off = sizes[[v.different and not v.negligible for v in verdicts]]
    safe = not off.size and all(v.negligible or v.word == "equivalent" for v in verdicts)
    names = (f"{there.near} to {there.far}", f"{back.near} to {back.far}")
    return Asymmetry(*names, sizes, ratio, tuple(verdicts), off, safe, _words(names, sizes, ratio, off, safe))


def _words(names: tuple[str, str], sizes: Ints, ratio: Floats, off: Ints, safe: bool) -> str:
    if safe:
        return "both ways cost the same: half of a round trip is one way"
    if not off.size:
        return "not enough launches to say whether both ways cost the same"
    worst = int(np.argmax(np.abs(np.log(ratio)) * np.isin(sizes, off)))
    slow, quick = names if ratio[worst] > 1 else names[::-1]
    factor = max(ratio[worst], 1 / ratio[worst])
    return f"{slow} takes {factor:.2f} times as long as {quick} at {sizes[worst]} bytes: halving a round trip is wrong"
