# SPDX-License-Identifier: BSD-3-Clause
"""Several runs over each other: what the same message costs in each of them, and how that went from run to run.

Every time is one way in ns; sizes are payload bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vaiven.errors import VaivenError
from vaiven.results import history as histories
from vaiven.results.costs import SizePoint, StackCost
from vaiven.results.facts import Facts
from vaiven.results.findings import HEADLINERS, Pair, middle, require_pair
from vaiven.results.history import History
from vaiven.results.results import Results
from vaiven.results.warnings import ALARMS, Notice
from vaiven.stats.arrays import spread_out
from vaiven.store.history import made_at, plan_of
from vaiven.store.query import Run

DRAWN_MAX = 8  # so many lines are told apart in one figure; the history has all runs


@dataclass(frozen=True, eq=False, kw_only=True)
class RunCosts:
    """One run of several. plan: what that is called. pair: the hosts that are looked at, and costs: of these alone, in
    the order of the plan. alarms: what must be read before any number."""

    run: Facts
    plan: str
    pair: Pair
    costs: tuple[StackCost, ...]
    alarms: tuple[Notice, ...]

    def cost(self, stack: str) -> StackCost | None:
        return next((cost for cost in self.costs if cost.stack == stack), None)

    def point(self, stack: str, size_bytes: int) -> SizePoint | None:
        cost = self.cost(stack)
        return cost.point(size_bytes) if cost else None


@dataclass(frozen=True, eq=False, kw_only=True)
class Overlay:
    """Several runs, oldest first. runs: the names of their directories. drawn: those whose curves are shown, DRAWN_MAX
    at most, the first and the last among them. history: of all; None where they have no cell in common. notes:
    sentences on what is not there."""

    runs: tuple[str, ...]
    drawn: tuple[RunCosts, ...]
    history: History | None
    notes: tuple[str, ...]

    @property
    def stacks(self) -> tuple[str, ...]:
        """Those that two of the runs that are drawn have at least."""
        found = dict.fromkeys(cost.stack for one in self.drawn for cost in one.costs)
        return tuple(stack for stack in found if sum(one.cost(stack) is not None for one in self.drawn) > 1)

    @property
    def headline(self) -> tuple[str, int] | None:
        """(stack, size): what all that are drawn have, the stack that most programs use, and its smallest message."""
        for stack in dict.fromkeys((*HEADLINERS, *self.stacks)):
            costs = [cost for one in self.drawn if (cost := one.cost(stack))]
            if len(costs) == len(self.drawn):
                common = set.intersection(*({point.size_bytes for point in cost.points} for cost in costs))
                if common:
                    return stack, min(common)
        return None

    @property
    def one_link(self) -> bool:
        """Whether all that are drawn crossed links of the same rate, number and MTU."""
        return len({(one.run.rate_bits_per_s, one.run.hops, one.run.mtu_bytes) for one in self.drawn}) == 1


def overlay(runs: Sequence[Run], about: Pair | None = None) -> Overlay:
    """Two runs or more over each other, in order of time, between those two hosts or the ones in the middle of each.

    Raises VaivenError: "too-few-runs", "same-run" (one is named twice), "no-pair", "nothing-measured" (one has no
    ping-pong), and where one cannot be read.
    """
    if len(runs) < 2:
        raise VaivenError("one run is nothing to lay over others", "name two or more", code="too-few-runs")
    ordered = sorted(runs, key=made_at)
    for run in ordered:
        if [one.id for one in ordered].count(run.id) > 1:
            raise VaivenError(f"{run.id} is named twice", "name each run once", code="same-run")
    drawn = tuple(_costs(ordered[index], about) for index in spread_out(len(ordered), DRAWN_MAX))
    history, why = _history(ordered)
    found = Overlay(runs=tuple(run.name for run in ordered), drawn=drawn, history=history, notes=why)
    return replace(found, notes=(*_left_out(found), *why))


def _costs(run: Run, about: Pair | None) -> RunCosts:
    said = Results(run)
    costs = said.costs
    require_pair(run.id, costs, about)
    if not any(cost.points for cost in costs):
        raise VaivenError(f"no ping-pong of the run {run.id} came back", "leave it out", code="nothing-measured")
    pair = middle(costs, about).pair
    return RunCosts(
        run=said.believed,
        plan=plan_of(run),
        pair=pair,
        costs=tuple(cost for cost in costs if cost.pair == pair and cost.points),
        alarms=tuple(one for one in said.doubts if one.code in ALARMS),
    )


def _history(runs: Sequence[Run]) -> tuple[History | None, tuple[str, ...]]:
    """The history of the runs, and why it lacks some, or why there is none."""
    try:
        found = histories.of_runs(runs)
    except VaivenError as error:
        if error.code != "nothing-measured":
            raise
        return None, (f"no history: {error.what}",)
    return found, found.left_out


def _left_out(found: Overlay) -> Iterator[str]:
    if len(found.drawn) < len(found.runs):
        yield f"curves of {len(found.drawn)} of the {len(found.runs)} runs are drawn, spread over them"
    alone = {cost.stack: one.run.id for one in found.drawn for cost in one.costs if cost.stack not in found.stacks}
    yield from (f"{stack} is in {run} alone, and not drawn" for stack, run in alone.items())
