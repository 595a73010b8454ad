# SPDX-License-Identifier: BSD-3-Clause
"""A plan: what to measure, as a TOML file, a checked value, and a JSON Schema. All from the classes below.

`parse` and `load` give a Plan whose every field has its type and range and whose words (sizes, stacks) mean
something, or raise VaivenError with the file and line, what is wrong and what would be right.
Whether its hosts and stacks exist here is a question for plan.design.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from vaiven import tomlfile
from vaiven.errors import VaivenError
from vaiven.plan import stack as stacks
from vaiven.plan import sweep
from vaiven.plan.stack import Stack
from vaiven.questions import PLAIN, QuestionName
from vaiven.stats.launches import LAUNCHES_MIN, launches_needed

LengthName = Literal["quick", "standard", "full"]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Where = Callable[..., str]

# Launch counts at which a plan's stopping rule looks, unless it names its own.
LOOKS = (6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128)


class Effort(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much is done in one cell.

    Little, unless the plan wants more: launches differ more than the samples of one of them, so time that goes into
    more samples of a launch is taken from launches, which are what a result rests on. But one hiccup among two or three
    samples would be the launch, so each cell takes samples_min of them, however long its messages are.
    """

    samples: Annotated[int, Meta(ge=1, le=1_000_000, description="timed exchanges wanted per cell")] = 100
    samples_min: Annotated[
        int, Meta(ge=1, le=1_000_000, description="of these at least, even when cell_ms is over; lost ones count")
    ] = 8
    cell_ms: Annotated[int, Meta(ge=1, le=3_600_000, description="a cell takes no more samples after this")] = 10
    timeout_ms: Annotated[int, Meta(ge=1, le=600_000, description="a message is lost after this")] = 1000
    cap_mbps: Annotated[
        float,
        Meta(gt=0, le=1e6, description="on hosts that are no lab, a flood sends no more payload on average, Mb/s"),
    ] = 50.0
    launch_s: Annotated[int, Meta(ge=1, le=86_400, description="a launch that takes longer is ended: failed")] = 120


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When enough launches were made: the median of every cell is known to within half_width, at that level.

    Looking often inflates the error, so the rule looks only at `looks` (launches so far), each at 1 - (1 - level)/K
    for K looks. After launches_max it ends anyway and says what was not achieved. Where launches_min is launches_max,
    so many launches are what is wanted, however well they let the medians be known.
    """

    launches_min: Annotated[int, Meta(ge=1, le=100_000, description="launches of each stack at least")] = LAUNCHES_MIN
    launches_max: Annotated[int, Meta(ge=1, le=100_000, description="launches of each stack at most")] = 24
    half_width: Annotated[
        float, Meta(gt=0, lt=1, description="relative half-width of the median's interval to stop at")
    ] = 0.02
    level: Annotated[float, Meta(gt=0, lt=1, description="confidence level of that interval")] = 0.95
    looks: Annotated[
        tuple[Annotated[int, Meta(ge=1)], ...], Meta(description="launch counts at which the rule looks")
    ] = ()

    @property
    def schedule(self) -> tuple[int, ...]:
        """The launch counts at which the rule looks, ascending; the last is launches_max."""
        wanted = self.looks or LOOKS
        return (*(look for look in sorted(set(wanted)) if self.launches_min <= look < self.launches_max),
                self.launches_max)  # fmt: skip

    @property
    def is_count(self) -> bool:
        """Whether it wants so many launches, and no width: there is nothing that it could miss."""
        return self.launches_min == self.launches_max

    @property
    def level_per_look(self) -> float:
        """The level of each look, so that all looks together keep `level`."""
        return 1 - (1 - self.level) / len(self.schedule)

    @property
    def launches_needed(self) -> int:
        """Launches of a size that let a look see it and a model use it."""
        return max(LAUNCHES_MIN, launches_needed(self.level_per_look))


class Sentinel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One launch of a fixed stack and size in every block, on the first pair: it watches for drift."""

    stack: Annotated[Name, Meta(description="the stack that is always the same")] = "udp"
    size_bytes: Annotated[int, Meta(ge=0, le=65_000, description="its one message size")] = 64


class Refine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Lets the looks of the stopping rule add sizes to the launches that follow.

    Where the cost changes its law, 8 sizes are spread around the place, and the knee counts as confirmed when it is
    found there again; where the straight line between two sizes misses the one between them, they are halved.
    """

    tolerance: Annotated[
        float, Meta(gt=0, lt=1, description="relative miss of a size, predicted by its neighbours, that is let pass")
    ] = 0.02
    sizes_max: Annotated[int, Meta(ge=1, le=500, description="sizes added to one stack between two hosts at most")] = 24


class Compare(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the plan is for, if it is to tell its stacks apart: a plan that cannot is refused before it is measured."""

    alpha: Annotated[
        float, Meta(gt=0, lt=1, description="level at which one lone difference among all comparisons must show")
    ] = 0.01


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of several sides of a run, which are compared: every stack is launched on each, in the same random blocks.

    A stack is then called after its side, `tcp@after`. What a command does lasts until another one undoes it, so each
    side says how it wants things to be. The sentinel is launched on the first side.
    """

    # The end of the pattern is spelled out, for before a last newline there is a $ too.
    name: Annotated[str, Meta(pattern=rf"^{stacks.SIDE}(?![\s\S])", description="a-z, 0-9, dot, dash and underscore")]
    command: Annotated[
        str,
        Meta(max_length=10_000, description="what `sh -c` carries out on this machine before each launch on this side"),
    ] = ""
    environment: Annotated[
        dict[str, str], Meta(description="variables of the processes at both ends, and of what starts them")
    ] = msgspec.field(default_factory=dict)
    timeout_s: Annotated[int, Meta(ge=1, le=3600, description="a command that takes longer is ended: failed")] = 60


class Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The wire between the hosts, where no lab says it: what the wire's own share is computed from."""

    rate_bps: Annotated[int, Meta(ge=1_000, le=10**12, description="bits per second of one link")]
    hops: Annotated[int, Meta(ge=1, le=16, description="links in a row: 1 for a cable or a hub, 2 for a switch")] = 2
    mtu_bytes: Annotated[int, Meta(ge=68, le=65_535, description="the largest IP packet of one frame")] = 1500


# What a plan and each of its lengths may say; see the fields of Plan for what it means.
Hosts = Annotated[tuple[Name, ...], Meta(description="over ssh; with a lab, which of its hosts, in what order")]
Stacks = Annotated[tuple[Name, ...], Meta(min_length=1, description="ways to travel, with options: tcp[write=split]")]
Questions = Annotated[tuple[QuestionName, ...], Meta(min_length=1, description="what is asked of each stack")]
Sizes = Annotated[
    tuple[int | str, ...], Meta(min_length=1, description="bytes, or size words: decades, linear:0..100/4")
]
Pairs = Annotated[
    Literal["first-to-each", "all", "rounds"] | tuple[tuple[Name, Name], ...],
    Meta(
        description="which hosts measure with which: a word, or a list of [near, far]; rounds: all, and pairs"
        " without a common host at the same time"
    ),
]
Receivers = Annotated[
    Literal["each"] | tuple[Annotated[int, Meta(ge=1, le=64)], ...],
    Meta(
        description="of a fanout, a launch for each: the first host sends to so many of the next; empty: to all;"
        " each: to one other host after the other, alone"
    ),
]
HostsAtOnce = Annotated[
    tuple[Annotated[int, Meta(ge=2, le=64)], ...],
    Meta(
        description="of exchange, bisection, partners and whole programs, a launch for each: so many of the first"
        " hosts; empty: all"
    ),
]
AtOnce = Annotated[
    tuple[Annotated[int, Meta(ge=1, le=64)], ...],
    Meta(min_length=1, description="of stream and pingpongs, a launch for each: so many between two hosts"),
]

Points = Annotated[
    tuple[Annotated[int, Meta(ge=1, le=1 << 28)], ...],
    Meta(min_length=1, description="of fft: so many numbers are transformed, a multiple of the square of the hosts"),
]
Orders = Annotated[
    tuple[Annotated[int, Meta(ge=1, le=32768)], ...],
    Meta(min_length=1, description="of matmul: rows and columns of the matrices that are multiplied"),
]


class Length(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a plan says otherwise at one of its lengths. What is not said stays; a table stands for the whole table."""

    hosts: Hosts | None = None
    stacks: Stacks | None = None
    questions: Questions | None = None
    sizes: Sizes | None = None
    pairs: Pairs | None = None
    receivers: Receivers | None = None
    hosts_at_once: HostsAtOnce | None = None
    at_once: AtOnce | None = None
    points: Points | None = None
    orders: Orders | None = None
    effort: Effort | None = None
    stop: Stop | None = None


class Lengths(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Shorter measurements of a plan, which `--length` chooses."""

    quick: Length | None = None
    standard: Length | None = None

    @property
    def names(self) -> tuple[LengthName, ...]:
        """Those that there are."""
        there: dict[LengthName, Length | None] = {"quick": self.quick, "standard": self.standard}
        return tuple(name for name, length in there.items() if length)


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to measure. Everything has a default but where: `lab` or `hosts`, here or on the command line."""

    title: Annotated[str, Meta(max_length=200, description="one line, for the report")] = ""
    lab: Annotated[str, Meta(max_length=4096, description="a ready lab's name, or a lab file")] = ""
    hosts: Hosts = ()
    stacks: Stacks = ("icmp", "eth", "udp", "tcp", "tcp-nagle")
    questions: Questions = (PLAIN,)
    sizes: Sizes = ("decades:8..10^6", "frames:1500")
    pairs: Pairs = "first-to-each"
    receivers: Receivers = ()
    hosts_at_once: HostsAtOnce = ()
    at_once: AtOnce = (1, 2, 4)
    points: Points = (1 << 16,)
    orders: Orders = (512,)
    seed: Annotated[int, Meta(ge=0, le=10**18, description="of the random order and sizes")] = 1
    effort: Effort = Effort()
    stop: Stop = Stop()
    sentinel: Sentinel = Sentinel()
    compare: Compare | None = None
    refine: Refine | None = None
    sides: Annotated[
        tuple[Side, ...], Meta(description="what is compared, two or more; empty: one, without a name")
    ] = ()
    link: Link | None = None
    lengths: Lengths = Lengths()

    @property
    def launched(self) -> tuple[Stack, ...]:
        """Its stacks, each on every side."""
        sides = [side.name for side in self.sides] or [""]
        return tuple(replace(stacks.parse(text), side=side) for text in self.stacks for side in sides)

    @property
    def watched(self) -> Stack:
        """That of the sentinel, on the first side."""
        return replace(stacks.parse(self.sentinel.stack), side=self.sides[0].name if self.sides else "")


def load(path: Path) -> tuple[Plan, str]:
    """(the plan in that file, its text). Raises VaivenError ("no-file", "bad-toml", "bad-value") with file and line."""
    document = tomlfile.load(path, Plan)
    return check(document.value, document.where), document.text


def parse(text: str, name: str = "plan") -> Plan:
    """The plan in that text, called `name` in messages. Raises VaivenError as `load` does."""
    document = tomlfile.Document(text, name, Plan)
    return check(document.value, document.where)


def check(plan: Plan, where: Where = lambda *_place: "") -> Plan:
    """The same plan, when its words mean something and its design can reach its own level.

    where: says "file:line" of a place in the plan. Raises VaivenError.
    """
    for index, text in enumerate(plan.stacks):
        with _at(where("stacks", index)):
            stacks.parse(text)
    for index, word in enumerate(plan.sizes):
        with _at(where("sizes", index)):
            sweep.expand([word], plan.seed)
    with _at(where("stacks")):
        _once("stack", [stacks.parse(text).name for text in plan.stacks])
    with _at(where("hosts")):
        _once("host", plan.hosts)
    with _at(where("sentinel", "stack")):
        stacks.parse(plan.sentinel.stack)
    for index, side in enumerate(plan.sides):
        with _at(where("sides", index)):
            _sound(side)
    with _at(where("sides")):
        _comparable(plan.sides)
    with _at(where("stop")):
        _reachable(plan.stop)
    if plan.refine:
        with _at(where("refine")):
            _refinable(plan.stop)
    for name in plan.lengths.names:
        check(at_length(plan, name), functools.partial(where, "lengths", name))
    return plan


def at_length(plan: Plan, name: LengthName) -> Plan:
    """The plan as it is at that length, which has no lengths itself; "full" is what the plan says.

    VaivenError ("no-length") for one that the plan has not.
    """
    whole = msgspec.structs.replace(plan, lengths=Lengths())
    if name == "full":
        return whole
    if name not in plan.lengths.names:
        remedy = f"it has {', '.join((*plan.lengths.names, 'full'))}; --quick shortens any plan to a first look"
        raise VaivenError(f"the plan has no length {name!r}", remedy, code="no-length")
    said = msgspec.structs.asdict(getattr(plan.lengths, name))
    changes = {key: value for key, value in said.items() if value is not None}
    return msgspec.structs.replace(whole, title=f"{plan.title} ({name})", **changes)


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a plan file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Plan)}


@contextlib.contextmanager
def _at(where: str) -> Iterator[None]:
    """Inside it, a VaivenError that knows no place gets this one."""
    try:
        yield
    except VaivenError as error:
        error.where = error.where or where
        raise


def _once(kind: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise VaivenError(f"the {kind} {twice[0]} stands there twice", f"name each {kind} once")


def _sound(side: Side) -> None:
    """A command and an environment that a process can be given."""
    for name, value in side.environment.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise VaivenError(f"{name!r} is no name of a variable", "letters, digits and _", code="bad-value")
        if "\0" in value:
            raise VaivenError(f"{name} holds a NUL, which no variable can", "leave it out", code="bad-value")
    if "\0" in side.command:
        raise VaivenError("the command holds a NUL, which no shell can read", "leave it out", code="bad-value")


def _comparable(sides: Sequence[Side]) -> None:
    _once("side", [side.name for side in sides])
    if len(sides) == 1:
        raise VaivenError(f"the side {sides[0].name} is alone", "two or more sides, or none", code="bad-value")


def _reachable(stop: Stop) -> None:
    if stop.launches_min > stop.launches_max:
        raise VaivenError(
            f"launches_min is {stop.launches_min} and launches_max {stop.launches_max}", "min must not be above max"
        )
    needed = launches_needed(stop.level_per_look)
    if stop.launches_max < needed:
        raise VaivenError(
            f"{stop.launches_max} launches can never give an interval at level {stop.level} "
            f"(number of looks {len(stop.schedule)}, each at {stop.level_per_look:.4g})",
            f"launches_max = {needed} or more, or a lower level",
        )


def _refinable(stop: Stop) -> None:
    least = stop.schedule[0] + stop.launches_needed
    if stop.launches_max < least:
        raise VaivenError(
            f"sizes that the look after {stop.schedule[0]} launches adds would get too few of {stop.launches_max}",
            f"launches_max = {least} or more, an earlier look, or no [refine]",
        )
