# SPDX-License-Identifier: BSD-3-Clause
"""The questions that a stack is asked: all that vaiven knows of one stands in its entry here, and nowhere else.

Everybody reads this, so it imports nothing of ours. What an answer is computed, shown and drawn by is named by its
place ("results.loggp:loggps") and loaded when it is wanted. How to add a question: ARCHITECTURE.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol


class Times(Enum):
    """What the time that stands for a question is the time of."""

    MESSAGE = "a message there and its answer back, of which half is one way"
    ROUND_TRIP = "there and back, of which half is nothing"
    ONE_WAY = "from the start until it was there, or until the last end had it"


class Traits(Protocol):
    """What `vaiven-probe stacks` says of a stack, as far as it decides what it can be asked."""

    stack: str
    kernel_echo: bool
    alone: bool
    datagram: bool
    joined: bool
    own_tcp: bool
    marks: bool
    steps: bool
    starts: bool
    at_once: bool


@dataclass(frozen=True, kw_only=True)
class Several:
    """More than two ends. counted: the word of a plan that says how many take part (plan.design has whom it means).

    rounds: all begin together and the last one counts, so that an empty message, which cannot be told from the one
    before, is none; else each pair of ends plays for itself. to_all: one message is for all and counts once. everybody:
    each end sends to every other. in_pairs: each has to do with its partner alone, the first with the second, the third
    with the fourth, all pairs at once.
    """

    counted: Literal["receivers", "hosts_at_once", "at_once"]
    rounds: bool = True
    to_all: bool = False
    everybody: bool = False
    in_pairs: bool = False
    rate: tuple[str, str] | None = None  # heading and meaning of its rate


@dataclass(frozen=True, kw_only=True)
class Program:
    """A whole program of ours (apps/) that is launched as it is, a process on each host, in place of the probe's ends.

    name: of its executables, behind which stands what they are built with. builds: stack, or the kind of a stack before
    its first "-" or ":" -> what that is. package: what they are built with and need, on Debian.

    counted: the word of a plan that says how large its problems are; option: that of the program, and of its record,
    for the same. A problem of number n holds n to the power of `power` numbers of number_bytes each: that are its
    bytes.
    multiple_of: of what n must be a multiple, by the number of processes. operations: what it computes, of floating
    point. messages: (how many, of how many bytes) cross the busiest link each way, one after the other, by the bytes of
    the problem and the processes; priced: the question that tells what one of these takes.
    """

    name: str
    builds: Mapping[str, str]
    package: str
    counted: Literal["points", "orders"]
    option: str
    number_bytes: int
    power: int
    multiple_of: Callable[[int], int]
    operations: Callable[[int], float]
    messages: Callable[[int, int], tuple[int, int]]
    priced: str

    def executable(self, stack: str) -> str:
        """Its name on that stack; "" where it is not built for it."""
        build = self.builds.get(stack) or self.builds.get(stack.partition(":")[0].partition("-")[0])
        return f"{self.name}-{build}" if build else ""

    def size_bytes(self, number: int) -> int:
        """What a problem of that number holds."""
        return int(self.number_bytes * number**self.power)

    def number(self, size_bytes: int) -> int:
        """The inverse of `size_bytes`."""
        root: float = (size_bytes / self.number_bytes) ** (1 / self.power)
        return round(root)


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How long a cell takes, in round trips and seconds: warm-up, what comes before its samples, one sample.

    windows: it warms up until windows agree. warm_exchanges: or for so many, if a quarter of its time is enough.
    bounded: it takes no more samples when its time is over.
    """

    windows: bool = False
    warm_exchanges: float = 0.0
    before_exchanges: float = 0.0
    before_s: float = 0.0
    sample_exchanges: float = 1.0
    sample_s: float = 0.0
    bounded: bool = True


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a run says to a question. kind: what it is called among the results and in a document.

    estimator: Run -> Result. tables: Result -> Table, or a tuple of them; "" where its columns are one. section:
    (Result, Facts) -> the Section of a page; "" where that is its tables, None where each pair of hosts shows it.
    """

    kind: str
    estimator: str
    tables: str = ""
    section: str | None = ""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question. says: what is asked, as a heading. answered: whether a stack can be asked it.

    times: what the times that stand for it are. records: part -> where a record of that part has its times, the part
    that stands for the question first. beside: part -> where the same record has times that are told beside them
    ("there_ns.made": what stands under made in there_ns);
    messages: those of these parts that are a message there and back.

    sizes: it has messages. several: of more than two ends. clocks: it compares times of two hosts. needs_link: without
    a common clock it can do that only where the link is known. one_clock: it can do that on no other hosts than those
    that share one. floods: it fills a network that belongs to others too.
    keeps_processor: it needs one at each end. ways: half of its times is taken for one way, so on a lab both ways are
    timed before. by_train: its losses are counted in messages of trains. one_message: its wire time is that of one
    message, one way. compared: stacks are held against each other by it. pace: how long it takes. program: what is
    launched, of a question about a whole program.
    """

    name: str
    says: str
    answered: Callable[[Traits], bool]
    times: Times
    records: Mapping[str, str] = field(default_factory=lambda: {"": "rtt_ns"})
    beside: Mapping[str, str] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    sizes: bool = True
    several: Several | None = None
    clocks: bool = False
    needs_link: bool = False
    one_clock: bool = False
    floods: bool = False
    keeps_processor: bool = False
    ways: bool = False
    by_train: bool = False
    one_message: bool = False
    compared: bool = False
    pace: Pace = field(default_factory=Pace)
    program: Program | None = None
    answer: Answer | None = None

    @property
    def whole(self) -> str:
        """The part that stands for the question."""
        return next(iter(self.records))


_COSTS = Answer(
    kind="costs",
    estimator="results.costs:costs",
    tables="report.costs:costs_tables",
    section=None,
)
# All are told when to begin, 3 ms before, earlier where one was late.
_AT_ONE_INSTANT = Pace(sample_s=4e-3)
_AUDIENCES = Answer(
    kind="audiences",
    estimator="results.audiences:audiences",
    tables="report.several:audience_tables",
    section="report.fanout:many_section",
)

PINGPONG = Question(
    name="pingpong",
    says="What a message costs: there and back, one at a time",
    answered=lambda stack: True,
    times=Times.MESSAGE,
    ways=True,
    one_message=True,
    compared=True,
    pace=Pace(windows=True, before_exchanges=1),
    answer=_COSTS,
)
CONNECT = Question(
    name="connect",
    says="Opening a connection",
    answered=lambda stack: not (stack.datagram or stack.alone or stack.joined),
    times=Times.ROUND_TRIP,
    records={"": "connect_ns"},
    sizes=False,
    compared=True,
    pace=Pace(sample_exchanges=2, sample_s=1e-3),
)
ONEWAY = Question(
    name="oneway",
    says="One way, by clocks that are compared",
    answered=lambda stack: not (stack.kernel_echo or stack.alone or stack.joined),
    times=Times.ONE_WAY,
    records={"": "last_ns"},
    clocks=True,
    needs_link=True,
    by_train=True,
    compared=True,
    # Two trains more than count, 4 ms between two of them, and 30 ms until nothing more comes.
    pace=Pace(before_exchanges=1, before_s=38e-3, sample_exchanges=0.5, sample_s=4e-3, bounded=False),
)
PRTT = Question(
    name="prtt",
    says="Trains of messages: where the start-up of a message goes",
    answered=lambda stack: not stack.kernel_echo,
    times=Times.MESSAGE,
    records={"one": "rtt_ns", "burst": "rtt_ns", "spaced": "rtt_ns", "send": "send_ns", "receive": "receive_ns"},
    keeps_processor=True,
    one_message=True,
    pace=Pace(windows=True, sample_exchanges=24),
    answer=Answer(kind="loggp", estimator="results.loggp:loggps", tables="report.costs:loggp_tables", section=None),
)
OVERLAP = Question(
    name="overlap",
    says="Computing while messages travel",
    answered=lambda stack: not (stack.kernel_echo or stack.alone) and (stack.starts or not stack.joined),
    times=Times.ROUND_TRIP,
    records={"": "both_ns"},
    beside={"talk": "talk_ns", "work": "work_ns"},
    keeps_processor=True,
    one_message=True,
    pace=Pace(before_exchanges=4, sample_exchanges=3),
    answer=Answer(kind="overlaps", estimator="results.overlap:overlaps", tables="report.overlap:overlap_table"),
)
STEPS = Question(
    name="steps",
    says="What encoding, sending, decoding and translating take of the processor",
    answered=lambda stack: stack.steps,
    times=Times.MESSAGE,
    beside={"encode": "encode_ns", "send": "send_ns", "decode": "decode_ns", "translate": "translate_ns"},
    one_message=True,
    pace=Pace(windows=True, before_exchanges=1),
    answer=Answer(kind="steps", estimator="results.steps:steps", tables="report.steps:steps_table"),
)
FIRST = Question(
    name="first",
    says="The first messages of fresh connections",
    answered=lambda stack: stack.own_tcp,
    times=Times.MESSAGE,
    records={"": "first_ns"},
    beside={"connect": "connect_ns", "second": "second_ns", "warm": "warm_ns", "idled": "idled_ns"},
    messages=("second", "warm", "idled"),
    one_message=True,
    # Nine exchanges of each connection, and until TCP has forgotten its window.
    pace=Pace(before_exchanges=5, before_s=1.4, sample_exchanges=11, sample_s=1.4),
    answer=Answer(
        kind="openings",
        estimator="results.first:openings",
        tables="report.first:first_table",
        section="report.first:first_section",
    ),
)
WAYS = ("there", "back")
# The layers of a message, each by the mark that ends it (src/io/os/mark.h); a stack with fewer marks has longer ones.
MARKS = {
    "queued": "send: the message is copied",
    "made": "protocol: its frame is made",
    "device": "call, driver, wire and switch",
    "taken": "receive ring: filter, copy, wake-up",
    "ready": "protocol: the frame is understood",
    "got": "receive: the message is handed over",
}
LAYERS = Question(
    name="layers",
    says="In which layer the time of a message goes",
    answered=lambda stack: stack.marks,
    times=Times.MESSAGE,
    beside={
        "marked": "marked_ns",
        "far": "far_ns",
        **{f"{way}:{mark}": f"{way}_ns.{mark}" for way in WAYS for mark in MARKS},
    },
    messages=("marked",),
    clocks=True,
    one_clock=True,
    one_message=True,
    # Eight plain runs and eight marked ones, each with eight exchanges that do not count.
    pace=Pace(windows=True, before_exchanges=160, sample_exchanges=2),
    answer=Answer(kind="layers", estimator="results.layers:layers", tables="report.layers:layers_tables"),
)
FANOUT = Question(
    name="fanout",
    says="One message for many: the time until the last has it",
    answered=lambda stack: not (stack.kernel_echo or stack.alone),
    times=Times.ONE_WAY,
    records={"": "last_ns"},
    several=Several(counted="receivers", to_all=True, rate=("rate", "the message counted once: size over time")),
    clocks=True,
    floods=True,
    answer=_AUDIENCES,
)
STREAM = Question(
    name="stream",
    says="Several connections at once: the time until the last message is there",
    answered=lambda stack: stack.at_once,
    times=Times.ONE_WAY,
    records={"": "last_ns"},
    several=Several(counted="at_once", rate=("all", "the rate of all connections together")),
    clocks=True,
    floods=True,
    answer=_AUDIENCES,
)
EXCHANGE = Question(
    name="exchange",
    says="Everybody to everybody at once: the time until all have everything",
    answered=lambda stack: stack.at_once,
    times=Times.ONE_WAY,
    records={"": "last_ns"},
    several=Several(
        counted="hosts_at_once", everybody=True, rate=("a host", "what each host sends, and receives, per second")
    ),
    clocks=True,
    floods=True,
    pace=_AT_ONE_INSTANT,
    answer=_AUDIENCES,
)
BISECTION = Question(
    name="bisection",
    says="Pairs of hosts that send to each other at once: the time until all have their message",
    answered=lambda stack: stack.at_once,
    times=Times.ONE_WAY,
    records={"": "last_ns"},
    several=Several(
        counted="hosts_at_once", in_pairs=True, rate=("a host", "what each host sends, and receives, per second")
    ),
    clocks=True,
    floods=True,
    pace=_AT_ONE_INSTANT,
    answer=_AUDIENCES,
)
PINGPONGS = Question(
    name="pingpongs",
    says="Several ping-pongs at once: the round trip of one of them",
    answered=lambda stack: not (stack.kernel_echo or stack.alone),
    times=Times.MESSAGE,
    several=Several(counted="at_once", rounds=False, in_pairs=True),
    pace=Pace(warm_exchanges=32),
    answer=_AUDIENCES,
)
PARTNERS = Question(
    name="partners",
    says="Pairs of hosts that play ping-pong at once: the round trip of one of them",
    answered=lambda stack: not (stack.kernel_echo or stack.alone),
    times=Times.MESSAGE,
    several=Several(counted="hosts_at_once", rounds=False, in_pairs=True),
    pace=Pace(warm_exchanges=32),
    answer=_AUDIENCES,
)

FFT_PROGRAM = Program(
    name="vaiven-fft",
    builds={"openmpi": "openmpi", "mpich": "mpich"},
    package="libkissfft-dev",
    counted="points",
    option="points",
    number_bytes=8,  # complex, of single precision
    power=1,
    multiple_of=lambda processes: processes**2,
    operations=lambda points: 5 * points * math.log2(max(2, points)),
    # Three times each of p processes has a p-th part, and gives all others a p-th of that.
    messages=lambda size_bytes, processes: (3 * (processes - 1), size_bytes // processes**2),
    priced=PINGPONG.name,
)
MATMUL_PROGRAM = Program(
    name="vaiven-matmul",
    # Of PVM the program itself chooses route and encoding.
    builds={"openmpi": "openmpi", "mpich": "mpich", "group": "group", "pvm-direct-raw": "pvm"},
    package="libopenblas-serial-dev",
    counted="orders",
    option="n",
    number_bytes=8,
    power=2,
    multiple_of=lambda processes: 1,
    operations=lambda order: 2.0 * order**3,
    # Each process gives its rows of one matrix to all others.
    messages=lambda size_bytes, processes: (processes, size_bytes // processes),
    priced=FANOUT.name,
)


def _of_program(name: str, says: str, program: Program) -> Question:
    """The question what a whole program takes, from a barrier until the slowest process is done."""
    return Question(
        name=name,
        says=says,
        answered=lambda stack: bool(program.executable(stack.stack)),
        times=Times.ONE_WAY,
        records={"": "whole_ns"},
        beside={"computing": "computing_ns", "communicating": "communicating_ns"},  # of the slowest process
        sizes=False,
        several=Several(counted="hosts_at_once"),
        compared=True,
        program=program,
        answer=Answer(kind="programs", estimator="results.programs:programs", tables="report.programs:program_tables"),
    )


FFT = _of_program("fft", "A Fourier transform: what a whole program takes", FFT_PROGRAM)
MATMUL = _of_program("matmul", "A product of matrices: what a whole program takes", MATMUL_PROGRAM)

# By name; what a run is told in follows this order.
ALL: dict[str, Question] = {
    one.name: one
    for one in (
        PINGPONG, CONNECT, ONEWAY, PRTT, OVERLAP, STEPS, FIRST, LAYERS, FANOUT, STREAM, EXCHANGE, BISECTION, PINGPONGS,
        PARTNERS, FFT, MATMUL,
    )
}  # fmt: skip
PLAIN = PINGPONG.name  # what is asked where nothing else is said: costs, ladders and sentinels are made of it


def named(which: Callable[[Question], object]) -> tuple[str, ...]:
    """The names of those of which `which` is true."""
    return tuple(name for name, one in ALL.items() if which(one))


def several(name: str) -> Several:
    """How more than two ends take part in that question."""
    found = ALL[name].several
    assert found, f"{name} has two ends"
    return found


def answered_by(kind: str) -> tuple[Question, Answer]:
    """The first question whose answer is of that kind, and that."""
    return next((one, one.answer) for one in ALL.values() if one.answer and one.answer.kind == kind)


def loaded(place: str) -> Any:
    """What stands at "room.module:name"."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"vaiven.{module}"), name)


PROGRAMS = named(lambda one: one.program)  # that are about whole programs
WHOLE_PARTS = tuple(dict.fromkeys(one.whole for one in ALL.values()))  # parts that stand for their questions

if TYPE_CHECKING:  # which words there are is known when a program runs
    QuestionName = str
    Compared = str
    Answered = str
else:
    QuestionName = Literal[tuple(ALL)]
    Compared = Literal[named(lambda one: one.compared)]  # whose times are compared
    Answered = Literal[named(lambda one: one.answer)]  # what has an answer of its own
