# SPDX-License-Identifier: BSD-3-Clause
"""What a stored time is: which way, which statistic, of how many samples; and the grid of them by launch and size.

Round trip and one way, minimum and median, are different quantities. They meet only through a converter:
`LaunchTimes.one_way` and `LaunchTimes.round_trip` are exact; between statistics there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from vaiven.errors import VaivenError
from vaiven.questions import PLAIN
from vaiven.stats.arrays import Floats, Ints, medians

HALF = 0.5  # of a round trip is one way; exact where both ways cost the same. Nobody else halves


class Direction(StrEnum):
    """Which way a time counts. Half a round trip is one way only where both ways cost the same."""

    ONE_WAY = "one way"
    ROUND_TRIP = "round trip"


class Statistic(StrEnum):
    """What one number says about the samples behind it."""

    FLOOR = "minimum"
    TYPICAL = "median"
    MEAN = "mean"
    P95 = "95th percentile"
    P99 = "99th percentile"
    MEAN_OVER_PROCESSES = "mean over processes"


@dataclass(frozen=True, eq=False)
class LaunchTimes:
    """One statistic of one stack between one pair of hosts, by launch and message size.

    sizes_bytes: (S,) rising. launches, blocks: (L,) their numbers; launches of two stacks with the same block
    are a pair. ns: (L, S), NaN where a cell gave nothing. samples: (L, S), how many samples are behind each ns.
    wire_ns: (S,) what the frames that the stack sends for each size take of it, in the same direction; None where
    nobody knows the link. unit: what a row is, one of the "launches" of a run, or one of several whole "runs".
    Raises VaivenError: "bad-shape", "bad-sizes", "bad-times" (zero, negative, infinite).
    """

    stack: str
    direction: Direction
    statistic: Statistic
    sizes_bytes: Ints
    launches: Ints
    blocks: Ints
    ns: Floats
    samples: Ints
    near: str = ""
    far: str = ""
    ask: str = field(default=PLAIN)
    wire_ns: Floats | None = None
    unit: str = "launches"

    def __post_init__(self) -> None:
        shape = (self.launches.size, self.sizes_bytes.size)
        if self.ns.shape != shape or self.samples.shape != shape or self.blocks.shape != self.launches.shape:
            raise VaivenError(f"{self.stack}: times of shape {self.ns.shape} for {shape}", code="bad-shape")
        if self.wire_ns is not None and self.wire_ns.shape != self.sizes_bytes.shape:
            raise VaivenError(f"{self.stack}: one wire time per size expected", code="bad-shape")
        if self.sizes_bytes.size and (self.sizes_bytes[0] < 0 or (np.diff(self.sizes_bytes) <= 0).any()):
            raise VaivenError(f"{self.stack}: message sizes must rise from 0 or more", code="bad-sizes")
        if np.isinf(self.ns).any() or (self.ns <= 0).any():
            raise VaivenError(f"{self.stack}: times that are zero, negative or infinite", code="bad-times")

    @staticmethod
    def from_columns(
        stack: str,
        direction: Direction,
        statistic: Statistic,
        launch: ArrayLike,
        block: ArrayLike,
        size_bytes: ArrayLike,
        ns: ArrayLike,
        samples: ArrayLike,
        near: str = "",
        far: str = "",
        ask: str = PLAIN,
    ) -> LaunchTimes:
        """The grid, from one row per cell: the four columns of a run and the statistic of each cell.

        Raises VaivenError "bad-shape" when a launch has the same size twice.
        """
        launches, row, first = _numbered(launch)
        sizes, column, _ = _numbered(size_bytes)
        if np.unique(row * sizes.size + column).size != row.size:
            raise VaivenError(f"{stack}: a launch holds the same size twice", code="bad-shape")
        grid = np.full((launches.size, sizes.size), np.nan)
        grid[row, column] = np.asarray(ns, dtype=np.float64)
        counts = np.zeros(grid.shape, dtype=np.int64)
        counts[row, column] = np.asarray(samples, dtype=np.int64)
        blocks = np.asarray(block, dtype=np.int64)[first]
        return LaunchTimes(stack, direction, statistic, sizes, launches, blocks, grid, counts, near, far, ask)

    def one_way(self) -> LaunchTimes:
        """The same times one way: half of a round trip, exact for symmetric paths."""
        return self._turned(Direction.ONE_WAY, HALF)

    def round_trip(self) -> LaunchTimes:
        """The same times as round trips."""
        return self._turned(Direction.ROUND_TRIP, 1 / HALF)

    def centre_ns(self) -> Floats:
        """(S,) the median over launches, NaN where no launch has the size."""
        return medians(self.ns)

    def above(self, ns: Floats) -> Floats:
        """(..., S) times less their wire: what software takes. As they are where nobody knows the link."""
        return ns if self.wire_ns is None else ns - self.wire_ns

    def at_sizes(self, sizes_bytes: Ints) -> LaunchTimes:
        """Only those sizes, all of which must be there (VaivenError "bad-sizes")."""
        missing = np.setdiff1d(sizes_bytes, self.sizes_bytes)
        if missing.size:
            raise VaivenError(f"{self.stack}: size {missing[0]} was not measured", code="bad-sizes")
        keep = np.isin(self.sizes_bytes, sizes_bytes)
        wire = None if self.wire_ns is None else self.wire_ns[keep]
        sizes, ns, samples = self.sizes_bytes[keep], self.ns[:, keep], self.samples[:, keep]
        return replace(self, sizes_bytes=sizes, ns=ns, samples=samples, wire_ns=wire)

    def at_launches(self, keep: Ints) -> LaunchTimes:
        """Only the launches in those rows, in that order."""
        return replace(
            self, launches=self.launches[keep], blocks=self.blocks[keep], ns=self.ns[keep], samples=self.samples[keep]
        )

    def _turned(self, direction: Direction, factor: float) -> LaunchTimes:
        if direction is self.direction:
            return self
        wire = None if self.wire_ns is None else self.wire_ns * factor
        return replace(self, direction=direction, ns=self.ns * factor, wire_ns=wire)


def same_kind(first: LaunchTimes, second: LaunchTimes) -> None:
    """Raises VaivenError ("different-kind") unless both are the same direction, statistic and question."""
    for name in ("direction", "statistic", "ask"):
        ours, theirs = getattr(first, name), getattr(second, name)
        if ours != theirs:
            raise VaivenError(
                f"{first.stack} is {ours} and {second.stack} is {theirs}: they are not compared",
                "convert one_way() or round_trip()" if name == "direction" else f"choose the same {name} of both",
                code="different-kind",
            )


def common_sizes(first: LaunchTimes, second: LaunchTimes) -> Ints:
    """The sizes that both have. Raises VaivenError ("no-common-size")."""
    sizes = np.intersect1d(first.sizes_bytes, second.sizes_bytes)
    if not sizes.size:
        raise VaivenError(f"{first.stack} and {second.stack} have no size in common", code="no-common-size")
    return sizes


def paired(first: LaunchTimes, second: LaunchTimes) -> tuple[LaunchTimes, LaunchTimes]:
    """Both, cut to the blocks that both have once, in the same order: row i of each is one block.

    Blocks are numbers of one run: the caller pairs only times of the same run.
    """
    blocks, ours, theirs = np.intersect1d(first.blocks, second.blocks, return_indices=True)
    for times in (first, second):
        if np.unique(times.blocks).size != times.blocks.size:
            raise VaivenError(f"{times.stack}: a block holds it twice", code="bad-shape")
    if not blocks.size:
        raise VaivenError(f"{first.stack} and {second.stack} share no block", code="no-common-block")
    return first.at_launches(ours), second.at_launches(theirs)


def _numbered(column: ArrayLike) -> tuple[Ints, Ints, Ints]:
    """(distinct values in rising order, index of each row among them, a row of each)."""
    values, first, index = np.unique(np.asarray(column, dtype=np.int64), return_index=True, return_inverse=True)
    return values, index, first
