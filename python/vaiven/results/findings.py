# SPDX-License-Identifier: BSD-3-Clause
"""All that a run says, at once: what a page, or a reader in a hurry, is told.

Every time is one way in ns (half of a round trip) unless its name says otherwise; sizes are payload bytes; rates are
bytes per second. An interval is a 95 % interval over launches; an Estimate without a number says why. `None` means
not measured or not known, never zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vaiven.errors import VaivenError
from vaiven.model.asymmetry import Asymmetry
from vaiven.model.ladder import Ladder
from vaiven.model.loggp import LogGP
from vaiven.results.comparison import Comparison
from vaiven.results.costs import StackCost
from vaiven.results.facts import Facts, Host
from vaiven.results.ladders import PairLadder
from vaiven.results.loggp import LogGPs
from vaiven.results.result import Result
from vaiven.results.sentinel import Sentinel
from vaiven.results.warnings import ALARMS, Notice

PAIRS_TOLD_MAX = 4  # curves and verdicts of more pairs would make a page that no mail carries; the costs have them all
HEADLINERS = ("tcp", "udp", "eth", "icmp")  # the stack that most programs use, first

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """A whole page. costs are ordered by pair, then as the stacks of the plan.

    comparison: of all stacks of the pairs that are `told`; None where there is only one stack. sentinel: None where no
    block had one. asymmetries: of the stacks that were timed one way in both directions. answers: to the other
    questions that were asked. about: the pair that the reader chose; None for the one in the middle.
    """

    run: Facts
    costs: Sequence[StackCost]
    ladders: Sequence[PairLadder]
    hosts: tuple[Host, ...]
    warnings: Sequence[Notice]
    comparison: Comparison | None
    sentinel: Sentinel | None
    asymmetries: Sequence[Asymmetry]
    answers: tuple[Result[Any], ...]
    about: Pair | None = None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        return pairs_of(self.costs)

    @property
    def stacks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cost.stack for cost in self.costs))

    @property
    def alarms(self) -> tuple[Notice, ...]:
        """What must be read before any number."""
        return tuple(one for one in self.warnings if one.code in ALARMS)

    @property
    def middle(self) -> StackCost:
        """What the answer is about. There must be a time."""
        return middle(self.costs, self.about)

    @property
    def told(self) -> tuple[Pair, ...]:
        """The pairs that are told in full, that of the answer first."""
        return told(self.costs, self.about)

    def ladder(self, pair: Pair) -> Ladder | None:
        return next((one.ladder for one in self.ladders if one.pair == pair), None)

    def ladder_error_ns(self, pair: Pair) -> tuple[int | None, ...]:
        """By size of that ladder, what of its lowest stack may be the lab's."""
        return next((one.lab_error_ns for one in self.ladders if one.pair == pair), ())

    def loggp_of(self, pair: Pair) -> tuple[LogGP, ...]:
        return tuple(one for one in self.loggp if (one.near, one.far) == pair)

    @property
    def loggp(self) -> Sequence[LogGP]:
        """Where the start-up of messages goes; empty where nobody asked."""
        return next((one for one in self.answers if isinstance(one, LogGPs)), ())

    def of_pair(self, pair: Pair) -> tuple[StackCost, ...]:
        return tuple(cost for cost in self.costs if cost.pair == pair)


def pairs_of(found: Sequence[StackCost]) -> tuple[Pair, ...]:
    """The pairs of hosts, each once."""
    return tuple(dict.fromkeys(cost.pair for cost in found))


def require_pair(run: str, found: Sequence[StackCost], about: Pair | None) -> None:
    """VaivenError where a reader chose hosts between which the run of that id measured nothing ("no-pair"), or where
    nothing that it sent came back ("nothing-measured")."""
    if about is None:
        return
    timed = pairs_of([cost for cost in found if cost.points])
    there = "it has " + "; ".join(",".join(pair) for pair in timed) if timed else ""
    if about not in pairs_of(found):
        raise VaivenError(f"the run {run} has no pair {','.join(about)}", there, code="no-pair")
    if about not in timed:
        text = f"nothing came back between {' and '.join(about)} in the run {run}"
        raise VaivenError(text, there, code="nothing-measured")


def middle(found: Sequence[StackCost], about: Pair | None) -> StackCost:
    """The headline stack between the chosen hosts, or the pair of hosts whose smallest message is the median one.
    There must be a time."""
    measured = [cost for cost in found if cost.points and about in (None, cost.pair)]
    stacks = {cost.stack for cost in measured}
    stack = next((name for name in HEADLINERS if name in stacks), measured[0].stack)
    ordered = sorted((cost for cost in measured if cost.stack == stack), key=lambda cost: cost.points[0].typical_ns)
    return ordered[(len(ordered) - 1) // 2]


def told(found: Sequence[StackCost], about: Pair | None) -> tuple[Pair, ...]:
    """The pairs that are told in full, that of the answer first; none where nothing has a time."""
    if not any(cost.points for cost in found):
        return ()
    first = middle(found, about).pair
    return (first, *(pair for pair in pairs_of(found) if pair != first))[:PAIRS_TOLD_MAX]
