# SPDX-License-Identifier: BSD-3-Clause
"""A plan brought together with what there is: the hosts that answered and the stacks of this probe.

The result says everything that a run does except its random order (plan.order) and its end (plan.stop).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vaiven import questions
from vaiven.errors import VaivenError
from vaiven.plan import ends, sweep
from vaiven.plan import stack as stacks
from vaiven.plan.schema import Plan, Side
from vaiven.plan.stack import Stack
from vaiven.plan.sweep import Limits
from vaiven.questions import PLAIN, QuestionName

Pair = tuple[str, str]
_AT_ONCE_MAX = 32  # pairs of ends in a launch: a library has so many ranks, and the probe so many far ends


def _lacks_nothing(_ask: str) -> str:
    return ""


@dataclass(frozen=True)
class Available:
    """A stack of this probe: what it carries, which questions it answers, the privilege it needs ("" for none).

    two_writes: a message may be handed over in two pieces. own_tcp: an end is a TCP connection of the probe. alone:
    there is no far end to start. to_all: it can reach all far ends of a fanout with one message. library: the one that
    it needs ("openmpi"), whose probe has it. ranked: that library's launcher starts all ends. spins: its ends never
    sleep. absent: why it is not here, or "". summary: what it is, in a line. program: the one of others that carries
    its messages ("udp-sender"). lacking: why it cannot be asked that question, for want of a whole program or of what
    that needs; "" if it can. Nobody looks before a plan asks it.
    """

    limits: Limits
    questions: tuple[str, ...]
    needs: str = ""
    two_writes: bool = True
    own_tcp: bool = False
    alone: bool = False
    to_all: bool = False
    library: str = ""
    ranked: bool = False
    spins: bool = False
    absent: str = ""
    summary: str = ""
    program: str = ""
    lacking: Callable[[str], str] = _lacks_nothing


@dataclass(frozen=True)
class Course:
    """What is asked of one stack: one launch per pair and block. sizes_bytes ascend; of a whole program they are what
    its problem holds (questions.Program).

    own_pairs: between whom, where that is not every pair of the design; the far one may be several (plan.ends).
    """

    stack: Stack
    ask: QuestionName
    sizes_bytes: tuple[int, ...]
    own_pairs: tuple[Pair, ...] = ()


@dataclass(frozen=True)
class Design:
    """pairs: (near, far) by name. sentinel: the course that is launched once in each block, on the first pair.

    warnings: what the plan asked for and the design leaves out, in words. rounds: pairs without a common host are
    measured at the same time (plan.tournament), but for courses with pairs of their own.
    """

    pairs: tuple[Pair, ...]
    courses: tuple[Course, ...]
    sentinel: Course
    seed: int
    warnings: tuple[str, ...]
    rounds: bool = False

    @property
    def pairs_at_once(self) -> int:
        """The most pairs that are measured at the same time."""
        return len({host for pair in self.pairs for host in pair}) // 2 if self.rounds else 1

    @property
    def launches_per_block(self) -> int:
        """Launches in one block, the sentinel's among them."""
        return sum(len(self.pairs_of(course)) for course in self.courses) + 1

    def pairs_of(self, course: Course) -> tuple[Pair, ...]:
        """Between whom it is launched, once in each block."""
        return course.own_pairs or self.pairs


def resolve(plan: Plan, hosts: Sequence[str], known: Mapping[str, Available], *, lab: bool) -> Design:
    """The design of `plan` on these hosts with these stacks; lab: they share one clock.

    Raises VaivenError: "unknown-stack", "unknown-host", "no-pair", "bad-question", "size-limit".
    """
    warnings: list[str] = []
    sizes = sweep.expand(plan.sizes, plan.seed)
    courses = [
        course
        for stack in plan.launched
        for ask in plan.questions
        if (course := _course(_known(stack, known), ask, sizes, known, warnings))
    ]
    courses = [_problems(replace(course, own_pairs=_own_pairs(course.ask, plan, hosts)), plan) for course in courses]
    if not courses:
        why = "; ".join(dict.fromkeys(warnings)) or "see vaiven stacks"
        raise VaivenError("none of the stacks answers the questions", why, code="bad-question")
    timed = [ask for ask in plan.questions if questions.ALL[ask].needs_link]
    if timed and not (lab or plan.link):
        raise VaivenError(
            f"{timed[0]} between hosts without a common clock needs the link, on which bounds on their clocks rest",
            'say it: --link "1 Gb/s", or [link] in the plan',
            code="bad-question",
        )
    shared = [ask for ask in plan.questions if questions.ALL[ask].one_clock]
    if shared and not lab:
        raise VaivenError(
            f"{shared[0]} compares times of hosts that share a clock, as those of a lab do",
            f"--lab free, or leave {shared[0]} out",
            code="bad-question",
        )
    said = tuple(dict.fromkeys(warnings))  # a stack that is not here says so for each question
    rounds = plan.pairs == "rounds"
    return Design(pairs(plan, hosts), tuple(courses), _sentinel(plan, known), plan.seed, said, rounds)


def pairs(plan: Plan, hosts: Sequence[str]) -> tuple[Pair, ...]:
    """The (near, far) pairs of the plan among `hosts`. VaivenError: "unknown-host", "no-pair"."""
    if isinstance(plan.pairs, tuple):
        for name in itertools.chain(*plan.pairs):
            if name not in hosts:
                raise VaivenError(f"no host {name!r}", stacks.nearest(name, hosts), code="unknown-host")
        found = tuple((near, far) for near, far in plan.pairs)
    elif plan.pairs in ("all", "rounds"):
        found = tuple(itertools.combinations(hosts, 2))
    else:
        found = tuple((hosts[0], far) for far in hosts[1:])
    if not found:
        raise VaivenError("there is no pair of hosts to measure", "name at least two hosts", code="no-pair")
    return found


def _own_pairs(ask: QuestionName, plan: Plan, hosts: Sequence[str]) -> tuple[Pair, ...]:
    """Who takes part in a question with several far ends; () of one with two ends."""
    several = questions.ALL[ask].several
    found = _COUNTED[several.counted](plan, hosts) if several else ()
    if several and several.in_pairs:
        _check_pairs(ask, several.counted, found)
    return found


def _problems(course: Course, plan: Plan) -> Course:
    """Of a whole program, the same with the sizes of its problems. VaivenError ("bad-question") for one that so many
    processes cannot share."""
    program = questions.ALL[course.ask].program
    if not program:
        return course
    numbers: Sequence[int] = getattr(plan, program.counted)
    for number, (_, far) in itertools.product(numbers, course.own_pairs):
        processes = 1 + len(ends.split(far))
        if number % program.multiple_of(processes):
            raise VaivenError(
                f"{course.ask}: {number} {program.counted} cannot be shared by {processes} processes",
                f"a multiple of {program.multiple_of(processes)}, or another number in hosts_at_once",
                code="bad-question",
            )
    return replace(course, sizes_bytes=tuple(sorted({program.size_bytes(number) for number in numbers})))


def _receivers(plan: Plan, hosts: Sequence[str]) -> tuple[Pair, ...]:
    if plan.receivers == "each":
        return tuple((hosts[0], far) for far in hosts[1:])
    return _first_hosts(hosts, [count + 1 for count in plan.receivers], "receivers", 1)


def _hosts_at_once(plan: Plan, hosts: Sequence[str]) -> tuple[Pair, ...]:
    return _first_hosts(hosts, plan.hosts_at_once, "hosts_at_once", 0)


def _at_once(plan: Plan, hosts: Sequence[str]) -> tuple[Pair, ...]:
    return tuple((near, ends.join([far] * k)) for near, far in pairs(plan, hosts) for k in sorted(set(plan.at_once)))


def _check_pairs(ask: QuestionName, word: str, found: Sequence[Pair]) -> None:
    """VaivenError ("no-pair"): of these ends not each has a partner, or one launch has no room for all of them."""
    for _, far in found:
        count = len(ends.split(far))
        if word == "at_once" and count > _AT_ONCE_MAX:
            raise VaivenError(
                f"{ask} of {count} at once: a launch has room for {_AT_ONCE_MAX}", f"{word} up to that", code="no-pair"
            )
        if word == "hosts_at_once" and count % 2 == 0:
            raise VaivenError(
                f"{ask} of {count + 1} hosts: one has no partner", f"even numbers in {word}", code="no-pair"
            )


# Whom the words of a plan mean that say how many take part (questions.Several).
_COUNTED = {"receivers": _receivers, "hosts_at_once": _hosts_at_once, "at_once": _at_once}


def _first_hosts(hosts: Sequence[str], counts: Sequence[int], word: str, less: int) -> tuple[Pair, ...]:
    """The first host and those that follow it, so many in all. VaivenError ("no-pair")."""
    root, *others = hosts
    wanted = sorted(set(counts)) or [len(hosts)]
    if not 2 <= wanted[-1] <= len(hosts):
        raise VaivenError(
            f"{word}: {wanted[-1] - less} is more than {len(hosts)} hosts allow",
            f"{word} up to {len(hosts) - less}, or more hosts",
            code="no-pair",
        )
    return tuple((root, ends.join(others[: count - 1])) for count in wanted)


def to_facts(design: Design) -> dict[str, Any]:
    """The design as plain values, for a run's manifest; `from_facts` is its inverse."""
    return {
        "pairs": [list(pair) for pair in design.pairs],
        "courses": [_course_facts(course) for course in design.courses],
        "sentinel": _course_facts(design.sentinel),
        "seed": design.seed,
        "warnings": list(design.warnings),
        "rounds": design.rounds,
    }


def from_facts(facts: Mapping[str, Any]) -> Design:
    """The design in a manifest. VaivenError ("bad-stack"), KeyError, TypeError or ValueError if it is none."""
    return Design(
        tuple((str(near), str(far)) for near, far in facts["pairs"]),
        tuple(_course_from(course) for course in facts["courses"]),
        _course_from(facts["sentinel"]),
        int(facts["seed"]),
        tuple(facts["warnings"]),
        bool(facts.get("rounds", False)),
    )


def _course_facts(course: Course) -> dict[str, Any]:
    facts = {"stack": course.stack.name, "ask": course.ask, "sizes_bytes": list(course.sizes_bytes)}
    own = {"own_pairs": [list(pair) for pair in course.own_pairs]} if course.own_pairs else {}
    return facts | own


def _course_from(facts: Mapping[str, Any]) -> Course:
    own = tuple((str(near), str(far)) for near, far in facts.get("own_pairs", ()))
    return Course(stacks.named(facts["stack"]), facts["ask"], tuple(map(int, facts["sizes_bytes"])), own)


def flood_note(design: Design, plan: Plan) -> str:
    """What the users of a network that is no lab should know before it is asked so; "" when there is nothing."""
    asks = {course.ask for course in design.courses}
    programs = " and ".join(ask for ask in questions.PROGRAMS if ask in asks)
    asked = [ask for ask in questions.named(lambda one: one.floods) if ask in asks]
    if programs:  # nobody brakes them
        return f"{' and '.join((*asked, programs))} fill the network as fast as they can: tell those who share it"
    if not asked:
        return ""
    what = f"{' and '.join(asked)} fill the network while a round lasts"
    return f"{what}; on average they send {plan.effort.cap_mbps:g} Mb/s at most (cap_mbps): tell those who share it"


def alike_note(sides: Sequence[Side]) -> str:
    """Which sides are made in the same way, so that nothing but chance is between them; "" when none are."""
    for one, other in itertools.combinations(sides, 2):
        if (one.command, one.environment) == (other.command, other.environment):
            return f"the sides {one.name} and {other.name} are made alike: what they differ by is chance"
    return ""


def comparisons(design: Design) -> int:
    """How many (pair of stacks, size, pair of hosts) the design compares: for each question, sizes of both; each
    stack with itself where there are sides."""
    several = itertools.combinations(design.courses, 2)
    return sum(
        len(set(a.sizes_bytes) & set(b.sizes_bytes)) * len(set(design.pairs_of(a)) & set(design.pairs_of(b)))
        for a, b in several
        if a.ask == b.ask and stacks.opposed(a.stack.name, b.stack.name)
    )


def without(design: Design, hosts: Sequence[str]) -> Design:
    """The design without the pairs of these hosts. VaivenError ("no-pair") when none is left."""
    left = _answering(design.pairs, hosts)
    courses = [
        replace(course, own_pairs=_answering(course.own_pairs, hosts))
        for course in design.courses
        if not course.own_pairs or _answering(course.own_pairs, hosts)
    ]
    if not left or not courses:
        raise VaivenError("no pair of hosts is left", "see above which hosts do not answer", code="no-pair")
    return replace(design, pairs=left, courses=tuple(courses))


def _answering(pairs: Sequence[Pair], lost: Sequence[str]) -> tuple[Pair, ...]:
    return tuple((near, far) for near, far in pairs if not {near, *ends.split(far)} & set(lost))


def _known(stack: Stack, known: Mapping[str, Available]) -> Stack:
    """The same stack, if it is one of these and has these options."""
    if stack.id not in known:
        raise VaivenError(f"no stack {stack.id!r}", stacks.nearest(stack.id, known), code="unknown-stack")
    if "to" in dict(stack.options) and not known[stack.id].to_all:
        raise VaivenError(f"{stack.name}: it sends to each", f"{stack.id} alone, or raw[to=each]", code="bad-stack")
    if "acks" in dict(stack.options) and not known[stack.id].own_tcp:
        raise VaivenError(f"{stack.name}: its acknowledgements are not the probe's", "a tcp stack", code="bad-stack")
    if ("write", "split") in stack.options and not known[stack.id].two_writes:
        raise VaivenError(
            f"{stack.name}: two writes would be two messages", "write=one, or a tcp stack", code="bad-stack"
        )
    return stack


def _course(
    stack: Stack, ask: QuestionName, sizes: sweep.Sizes, known: Mapping[str, Available], warnings: list[str]
) -> Course | None:
    has = known[stack.id]
    if has.absent:
        warnings.append(f"{stack.name} is left out: {has.absent}")
        return None
    if why := has.lacking(ask):
        warnings.append(f"{stack.name} is not asked {ask}: {why}")
        return None
    if ask not in has.questions:
        warnings.append(f"{stack.name} is not asked {ask}: it has no answer to that")
        return None
    question = questions.ALL[ask]
    if not question.sizes:
        return Course(stack, ask, (0,))
    limits = has.limits
    if question.several and question.several.rounds:  # an empty message cannot be told from the one before
        limits = replace(limits, size_bytes_min=max(1, limits.size_bytes_min))
    inside, outside = sweep.fit(sizes, stack.name, limits)
    if outside:
        span = f"{limits.size_bytes_min} to {limits.size_bytes_max} bytes"
        warnings.append(f"{stack.name} carries {span}; left out: {', '.join(map(str, outside))}")
    return Course(stack, ask, inside)


def _sentinel(plan: Plan, known: Mapping[str, Available]) -> Course:
    stack = _known(plan.watched, known)
    size = plan.sentinel.size_bytes
    sweep.fit(sweep.Sizes((size,), frozenset([size])), stack.name, known[stack.id].limits)
    return Course(stack, PLAIN, (size,))
