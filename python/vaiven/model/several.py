# SPDX-License-Identifier: BSD-3-Clause
"""Questions with several far ends: the time until the last is done, against how many they are.

A message counts once, however many get it: its rate is n / T. What a wider audience costs is T(k) / T(1); what the
software costs is T over that of the raw sender, which puts the same payload in the same frames and says nothing
again, in the same run. Ratios are taken block by block, so that what drifts drifts in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vaiven import questions
from vaiven.model.frames import stack_id
from vaiven.questions import Several, Times
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.median import median_interval

RAW = "raw"
_ONCE = (RAW, "group", "udpcast", "uftp")  # stacks that send one message to all; those of libraries count as such

Blocks = Mapping[int, float]  # block -> the median of its launch, in ns


@dataclass(frozen=True)
class Ratio:
    """The median over the blocks that have both, None without such a block; interval: refused where they are few."""

    value: float | None
    interval: Estimate


@dataclass(frozen=True)
class Audience:
    """One way to reach `fars` far ends with a message of size_bytes.

    typical_ns, time: the median of launch medians until the last end is done, and its interval. to_one, to_raw: over
    that of one far end, and of the raw sender with as many. wire_ns: of its own frames alone, None if nobody knows;
    once_ns: of one transmission to everybody, by the leanest stack of the run, the same for all of a size. lost:
    rounds in which some end did not get everything. resent: segments sent again, None where nobody counts. clock: how
    times of two hosts were compared, to within clock_error_ns. each_ns: of each end, the median of launch medians.
    overlap: the smallest share of their time in which several ping-pongs really ran together. setup_ns: what a session
    took that a program sets up before each message, which is not in its time; None where there is none. lab_error_ns:
    by how much a timed lab may be wrong about it, one way (results.lab_error).

    A ping-pong is a round trip, which is twice its wire_ns.
    """

    ask: str
    stack: str
    near: str
    far: str
    fars: int
    size_bytes: int
    typical_ns: float
    time: Estimate
    to_one: Ratio
    to_raw: Ratio
    wire_ns: int | None
    lost: int
    rounds: int
    resent: int | None
    clock: str
    clock_error_ns: int
    each_ns: tuple[float, ...] = ()
    overlap: float | None = None
    setup_ns: float | None = None
    once_ns: int | None = None
    lab_error_ns: int | None = None

    @property
    def _several(self) -> Several:
        return questions.several(self.ask)

    @property
    def at_once(self) -> int:
        """Of pairs, how many took part at the same time: between two hosts each has a far end, else every other one."""
        return self.fars if self._several.counted == "at_once" else (self.fars + 1) // 2

    @property
    def bytes_per_s(self) -> float:
        """Of a fanout the message counted once, of a stream all connections together, of an exchange or a bisection one
        host."""
        return self._payload_bytes(self.fars) / self.typical_ns * 1e9

    @property
    def each_bytes_per_s(self) -> tuple[float, ...]:
        """The rate of each end, from the slowest to the fastest: of a connection, or of a host of an exchange."""
        share = self.fars if self._several.everybody else 1
        return tuple(sorted(self._payload_bytes(share) / ns * 1e9 for ns in self.each_ns if ns > 0))

    def _payload_bytes(self, messages: int) -> int:
        return self.size_bytes * (1 if self._several.to_all or self._several.in_pairs else messages)

    @property
    def to_wire(self) -> float | None:
        """Its time over that of one transmission to everybody."""
        return self.typical_ns / self.once_ns if self.once_ns else None

    @property
    def to_frames(self) -> float | None:
        """Its time over that of its own frames alone; None where a library chooses what it sends and does not say."""
        ways = 2 if questions.ALL[self.ask].times is Times.MESSAGE else 1
        unknown = self._several.to_all and _of_library(self.stack) and self.fars > 1
        return self.typical_ns / (ways * self.wire_ns) if self.wire_ns and not unknown else None


def sent_once(stack: str, fars: int) -> bool:
    """Whether the frames that are known of such a fanout are those of one transmission."""
    return fars == 1 or _of_library(stack) or (stack_id(stack) in _ONCE and "to=each" not in stack)


def _of_library(stack: str) -> bool:
    return ":" in stack or stack.startswith("pvm-")


def block_ratio(times: Blocks, base: Blocks, what: str) -> Ratio:
    """times over base. what: of what there is no other one, in words."""
    both = sorted(set(times) & set(base))
    if not both:
        return Ratio(None, refusal(f"no {what} in this run", ""))
    ratios = np.array([times[block] / base[block] for block in both])
    return Ratio(float(np.median(ratios)), median_interval(ratios, ""))
