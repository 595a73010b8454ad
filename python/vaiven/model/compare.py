# SPDX-License-Identifier: BSD-3-Clause
"""The verdict matrix: pairs of stacks by size, all judged together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from vaiven.errors import VaivenError
from vaiven.model.times import Direction, LaunchTimes, Statistic, common_sizes, paired, same_kind
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.ranks import RankTest
from vaiven.stats.runs import judge_run, weigh_run, whole_run
from vaiven.stats.verdict import Evidence, Rules, Verdict, Word, judge, omnibus, weigh


@dataclass(frozen=True, eq=False)
class Compared:
    """One pair of stacks: a verdict for each size; `first` faster or slower than `second`. whole: one test over all
    sizes together, None when they are not paired by block. unit: what was repeated, "launches" or "runs"."""

    first: str
    second: str
    paired: bool
    sizes_bytes: Ints
    verdicts: tuple[Verdict, ...]
    whole: RankTest | None
    unit: str = "launches"

    @property
    def turns(self) -> tuple[tuple[int, int], ...]:
        """Neighbouring sizes of certain difference, at one of which the first is faster and at the other slower."""
        found = zip(map(int, self.sizes_bytes), self.verdicts, strict=True)
        certain = [(size, verdict.word) for size, verdict in found if verdict.different]
        return tuple((low, high) for (low, before), (high, after) in pairwise(certain) if before is not after)

    def count(self, word: Word) -> int:
        return sum(v.word is word for v in self.verdicts)


@dataclass(frozen=True, eq=False)
class Matrix:
    """All pairs; p values are adjusted over every verdict in it."""

    direction: Direction
    statistic: Statistic
    rules: Rules
    pairs: tuple[Compared, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(v for pair in self.pairs for v in pair.verdicts)


def compare_stacks(stacks: Sequence[LaunchTimes], rules: Rules | None = None) -> Matrix:
    """Every pair of stacks of one run, paired by block.

    Raises VaivenError: "too-few" (under two stacks), "different-kind", "no-common-size", "no-common-block".
    """
    if len(stacks) < 2:
        raise VaivenError("a comparison needs two stacks", code="too-few")
    return compare_pairs(list(combinations(stacks, 2)), True, rules)


def compare_pairs(
    pairs: Sequence[tuple[LaunchTimes, LaunchTimes]], same_blocks: bool, rules: Rules | None = None
) -> Matrix:
    """Those pairs. same_blocks: both of a pair come from one run, so equal block numbers are one block; between runs
    they are not. Raises as `compare_stacks`; "too-few" for no pair."""
    if not pairs:
        raise VaivenError("nothing to compare: the two sides share no stack", code="too-few")
    rules = rules or Rules()
    prepared = [matched(a, b, same_blocks) for a, b in pairs]
    evidence = [_weighed(a, b, same_blocks, rules) for a, b in prepared]
    return _matrix(prepared, judge([e for pair in evidence for e in pair], rules), same_blocks, rules)


def compare_run(pairs: Sequence[tuple[LaunchTimes, LaunchTimes]], rules: Rules | None = None) -> Matrix:
    """Those pairs, whose rows are runs: one of the first, against all of the second, its history. Raises as
    `compare_pairs`."""
    if not pairs:
        raise VaivenError("nothing to compare: the two sides share no stack", code="too-few")
    rules = rules or Rules()
    prepared = [matched(a, b, False) for a, b in pairs]
    new, history = side_by_side(prepared)
    whole = whole_run(history, new[0], rules)
    return _matrix(prepared, judge_run(weigh_run(history, new[0], rules), whole, rules), False, rules)


def side_by_side(pairs: Sequence[tuple[LaunchTimes, LaunchTimes]]) -> tuple[Floats, Floats]:
    """((m, S), (n, S)) all cells of the runs of either side, pairs whose rows are runs and that are `matched`."""
    return np.hstack([a.ns for a, _ in pairs]), np.hstack([b.ns for _, b in pairs])


def _matrix(
    prepared: Sequence[tuple[LaunchTimes, LaunchTimes]], judged: Sequence[Verdict], same_blocks: bool, rules: Rules
) -> Matrix:
    verdicts = iter(judged)
    compared = [
        Compared(
            first=a.stack,
            second=b.stack,
            paired=same_blocks,
            sizes_bytes=a.sizes_bytes,
            verdicts=tuple(next(verdicts) for _ in a.sizes_bytes),
            whole=omnibus(a.ns, b.ns) if same_blocks else None,
            unit=a.unit,
        )
        for a, b in prepared
    ]
    first = prepared[0][0]
    return Matrix(first.direction, first.statistic, rules, tuple(compared))


def matched(a: LaunchTimes, b: LaunchTimes, same_blocks: bool) -> tuple[LaunchTimes, LaunchTimes]:
    """Cut to common sizes that both have times for, and to common blocks of the one run. Raises VaivenError:
    "different-kind", "no-common-size", "no-common-block"."""
    same_kind(a, b)
    sizes = common_sizes(a, b)
    a, b = a.at_sizes(sizes), b.at_sizes(sizes)
    if same_blocks:
        a, b = paired(a, b)
        alive = np.isfinite(a.ns + b.ns).any(axis=0)
    else:
        alive = np.isfinite(a.ns).any(axis=0) & np.isfinite(b.ns).any(axis=0)
    if not alive.any():
        raise VaivenError(f"{a.stack} and {b.stack} have no time in common", code="no-common-size")
    return a.at_sizes(sizes[alive]), b.at_sizes(sizes[alive])


def pp_points(first_ns: Floats, second_ns: Floats) -> tuple[Floats, Floats]:
    """The P-P curve of two sets of launch times: the share of each that is at most t, for every t of both.

    On the diagonal when both come from one distribution; above it where the second has more small times.
    """
    every = np.union1d(first_ns, second_ns)
    shares = [np.searchsorted(np.sort(x), every, side="right") / x.size for x in (first_ns, second_ns)]
    return shares[0], shares[1]


def _weighed(a: LaunchTimes, b: LaunchTimes, same_blocks: bool, rules: Rules) -> list[Evidence]:
    return [weigh(x, y, same_blocks, rules) for x, y in zip(a.ns.T, b.ns.T, strict=True)]
