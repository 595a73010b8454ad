# SPDX-License-Identifier: BSD-3-Clause
"""What a page says, as values: everything a report needs of a run, and nothing that is not on the page.

Every time is one way in ns (half of a round trip) unless its name says otherwise; sizes are payload bytes; rates are
bytes per second. An interval is a 95 % interval over launches; an Estimate without a number says why. `None` means
not measured or not known, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from vaiven.model.asymmetry import Asymmetry
from vaiven.model.compare import Compared
from vaiven.model.crossover import Crossover
from vaiven.model.explain import Explanation
from vaiven.model.gain import Gain
from vaiven.model.half import HalfRate
from vaiven.model.ladder import Ladder
from vaiven.model.line import Cost
from vaiven.model.loggp import LogGP
from vaiven.model.papers import PapersModel
from vaiven.model.residuals import Residuals
from vaiven.model.several import Audience
from vaiven.stats.arrays import Floats
from vaiven.stats.drift import Drift
from vaiven.stats.estimate import Estimate
from vaiven.stats.runs import Whole
from vaiven.stats.verdict import Rules, Verdict, Word


@dataclass(frozen=True, slots=True)
class SizePoint:
    """One size of one stack between two hosts.

    typical_ns: median over launches of the launch medians; typical: the same with its interval, or why there is none.
    floor_ns: smallest time of all. p95, p99: of all its messages together, or why they have none.
    batch: how many messages one timed exchange was, more than 1 only where the clock is too coarse.
    claimed: not of those whose time the lab claims nothing of, for which no law and no verdict is made.
    wire_*: what the message becomes on the wire, over all hops, by formula. cpu_*: CPU time that end spends on one
    message, half of what an exchange takes it.
    quantiles_ns: equally spaced quantiles of all samples, from the smallest to the largest: its distribution.
    """

    size_bytes: int
    typical_ns: float
    typical: Estimate
    floor_ns: float
    p95: Estimate
    p99: Estimate
    samples: int
    launches: int
    lost: int
    late: int
    corrupt: int
    batch: int
    claimed: bool
    wire_ns: float | None
    wire_frames: int | None
    wire_bytes: int | None
    cpu_near_ns: float | None
    cpu_far_ns: float | None
    quantiles_ns: tuple[float, ...]

    @property
    def rate_bytes_per_s(self) -> float:
        return self.size_bytes / self.typical_ns * 1e9

    @property
    def above_wire_ns(self) -> float | None:
        """What the message takes beyond its time on the wire."""
        return None if self.wire_ns is None else self.typical_ns - self.wire_ns

    @property
    def below_wire(self) -> bool:
        """Faster than the wire allows by more than 2 %: something that was said of the link is wrong."""
        return self.wire_ns is not None and self.typical_ns < 0.98 * self.wire_ns

    @property
    def share_of_wire(self) -> float | None:
        """The wire's part of the time: 1 is the physical limit."""
        return None if self.wire_ns is None else self.wire_ns / self.typical_ns


@dataclass(frozen=True, slots=True)
class StackCost:
    """What messages of one stack cost between two hosts: its sizes in rising order, and the fits through them.

    cost: one way. half: the rate of the largest message and the size that gets half of it. residuals: of the typical
    law. papers: what the published estimators make of the same launches.
    knees: sizes at which the cost changes its law, each with what is known to lie there.
    connect: opening a connection, in ns, where the stack has one and it was asked.
    """

    near: str
    far: str
    stack: str
    points: tuple[SizePoint, ...]
    cost: Cost
    half: HalfRate
    residuals: Residuals
    papers: PapersModel
    knees: tuple[Explanation, ...]
    connect: Estimate | None

    @property
    def pair(self) -> tuple[str, str]:
        return (self.near, self.far)

    def point(self, size_bytes: int) -> SizePoint | None:
        return next((point for point in self.points if point.size_bytes == size_bytes), None)


@dataclass(frozen=True, slots=True)
class PairLadder:
    """What each layer adds between two hosts."""

    near: str
    far: str
    ladder: Ladder

    @property
    def pair(self) -> tuple[str, str]:
        return (self.near, self.far)


@dataclass(frozen=True, eq=False)
class Versus:
    """One side against the other between two hosts: two stacks of a run, or one stack in two runs.

    gain: of the first over the second. unclaimed_bytes: sizes of which the lab claims nothing: they are not compared.
    pp: for each size of `compared`, the P-P curve of both sides' launch times, (shares of the first, shares of the
    second) that are at most t, for every t.
    """

    near: str
    far: str
    compared: Compared
    crossover: Crossover
    gain: Gain
    unclaimed_bytes: tuple[int, ...]
    pp: tuple[tuple[Floats, Floats], ...]

    @property
    def pair(self) -> tuple[str, str]:
        return (self.near, self.far)

    def verdict(self, size_bytes: int) -> Verdict | None:
        found = zip(self.compared.sizes_bytes, self.compared.verdicts, strict=True)
        return next((verdict for size, verdict in found if size == size_bytes), None)

    def slower(self, margin: float) -> tuple[int, ...]:
        """The sizes at which the first is slower for certain, and by more than the margin."""
        found = zip(self.compared.sizes_bytes, self.compared.verdicts, strict=True)
        return tuple(
            int(size)
            for size, verdict in found
            if verdict.word is Word.SLOWER and not verdict.negligible and verdict.evidence.ratio.number() > 1 + margin
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Verdicts that were judged together. ask, statistic: what is compared. runs: one; or the earlier and the later; or
    the last ones of two sides of several.

    launches_needed: so many of each side could tell one lone difference from chance; fewest: what the poorest
    comparison has. notes: sentences on what was not compared, and on what differs between runs.
    Between runs, of which each is one value: before: those of the earlier side, or the history of the earlier run,
    oldest first; after: those of the later. whole: what all cells together say. found: (change, the share of the cells
    in which it would be found), of one run against a history. alarms: how many runs of that history its others would
    call different, of how many.
    """

    runs: tuple[str, ...]
    ask: str
    statistic: str
    rules: Rules
    versus: tuple[Versus, ...]
    launches_needed: int
    fewest: int
    notes: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    whole: Whole | None = None
    found: tuple[tuple[float, float], ...] = ()
    alarms: tuple[int, int] = (0, 0)

    @property
    def slower_as_a_whole(self) -> bool:
        """Whether the later side is slower for certain, and by more than the margin, in all that its cells share."""
        if self.whole is None or self.whole.word(self.rules) is not Word.SLOWER:
            return False
        return self.whole.ratio.number() > 1 + self.rules.delta

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(verdict for one in self.versus for verdict in one.compared.verdicts)

    @property
    def could_tell(self) -> bool:
        """Whether any verdict at all could have been "faster" or "slower" with so many launches."""
        tests = [verdict.evidence.test for verdict in self.verdicts]
        return any(test.p is not None and test.p_least <= self.rules.alpha for test in tests)

    def of_pair(self, pair: tuple[str, str]) -> tuple[Versus, ...]:
        return tuple(one for one in self.versus if one.pair == pair)


@dataclass(frozen=True, slots=True)
class Sentinel:
    """The one cell that every block holds, and whether it stayed what it was. cell: "udp 64 B, h1 → h2"."""

    cell: str
    drift: Drift


ALARMS = ("below-wire", "slow-path")  # codes of warnings that a number on top would be wrong with


@dataclass(frozen=True, slots=True)
class Warning:
    """Something a reader must know before believing a number. code: a word for programs. text: a sentence."""

    code: str
    text: str
    where: str


@dataclass(frozen=True, slots=True)
class Host:
    """The inventory of one host: (what, value) in the order to be shown."""

    name: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Where the numbers come from, and how to get them again.

    finished: False if the run was stopped or killed; what it had measured by then is shown. launches, samples:
    counts. plan_text: the plan as it was given, "" for one built from options. rate_bits_per_s, hops, mtu_bytes: the
    link. versions: (program, version). commands: what to type to get such a run again. virtual: on a lab, and claims:
    what that says of its frames, a sentence.
    """

    id: str
    started: str
    lasted_s: float | None
    finished: bool
    launches: int
    samples: int
    seed: int
    plan_name: str
    plan_text: str
    fabric: str
    rate_bits_per_s: int | None
    hops: int | None
    mtu_bytes: int | None
    versions: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]
    virtual: bool = False
    claims: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """A whole page. costs are ordered by pair, then as the stacks of the plan.

    comparison: of all stacks of the pairs that the page shows; None where there is only one stack. sentinel: None
    where no block had one. asymmetries: of the stacks that were timed one way in both directions. loggp: of the stacks
    that were asked prtt. audiences: of the questions with several far ends. about: the pair that the reader chose;
    None for the one in the middle.
    """

    run: Run
    costs: tuple[StackCost, ...]
    ladders: tuple[PairLadder, ...]
    hosts: tuple[Host, ...]
    warnings: tuple[Warning, ...]
    comparison: Comparison | None = None
    sentinel: Sentinel | None = None
    asymmetries: tuple[Asymmetry, ...] = ()
    loggp: tuple[LogGP, ...] = ()
    audiences: tuple[Audience, ...] = ()
    about: tuple[str, str] | None = None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        return tuple(dict.fromkeys(cost.pair for cost in self.costs))

    @property
    def stacks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cost.stack for cost in self.costs))

    @property
    def alarms(self) -> tuple[Warning, ...]:
        """What must be read before any number."""
        return tuple(one for one in self.warnings if one.code in ALARMS)

    def ladder(self, pair: tuple[str, str]) -> Ladder | None:
        return next((one.ladder for one in self.ladders if one.pair == pair), None)

    def loggp_of(self, pair: tuple[str, str]) -> tuple[LogGP, ...]:
        return tuple(one for one in self.loggp if (one.near, one.far) == pair)

    def of_pair(self, pair: tuple[str, str]) -> tuple[StackCost, ...]:
        return tuple(cost for cost in self.costs if cost.pair == pair)
