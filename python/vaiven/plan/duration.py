# SPDX-License-Identifier: BSD-3-Clause
"""How long a run will take, before it has begun: a guess from the plan and its ground, good to a factor of two.

A run is its setting up, then blocks of launches; a launch is its processes, then its cells; a cell warms up and goes on
until it has its samples or its time is over, as src/probe/kit/warmup.h and ask/pingpong.c do it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vaiven import questions
from vaiven.plan import ends, travel
from vaiven.plan.design import Course, Design, Pair
from vaiven.plan.ground import Ground
from vaiven.plan.schema import Effort, Plan
from vaiven.questions import Program

# Of a run: the program, listening whether the network is quiet, the tables and the page.
_RUN_S = 1.5
_LAB_S, _LAB_HOST_S = 0.6, 0.12  # to raise a lab and take it down
_HOST_S = 1.0  # to reach a host over ssh
_REFUSED_S = 0.05  # a launch that somebody cannot take part in, until that is known
_BETWEEN_S = 0.01  # two launches: counters are read, a part is written
_WAYS_S = 0.45  # of each way of a pair, which labs time once; with a slow host more
_WAYS_BYTES, _WAYS_TRAINS = 15_000, 9

_WARM_SHARE = 4  # of a cell's time at most one part in so many
_WINDOWS = 257  # exchanges of a warm-up that other work does not disturb: four windows of 64 and the first one
_ROUND_S = 1e-3  # of a message to many: until all wait again, and have said that they have it
_HUSH = 1.25  # for how long the far ends are still then, of what the message took
_OPERATIONS_PER_S = 1e9  # of floating point, by one processor
_TRIED = 3  # rounds before those that count


def run_s(design: Design, plan: Plan, ground: Ground, launches: int = 0) -> tuple[float, float]:
    """Seconds of a run that has so many of its launches: (when it stops at launches_min, when it goes on to
    launches_max)."""
    each_s, before_s = block_s(design, plan, ground), setup_s(design, ground)
    done = launches / design.launches_per_block
    least, most = (max(0.0, blocks - done) for blocks in (plan.stop.schedule[0], plan.stop.launches_max))
    return before_s + each_s * least, before_s + each_s * most


def block_s(design: Design, plan: Plan, ground: Ground) -> float:
    """Seconds of one block, its sentinel among them."""
    courses_s = sum(_course_s(design, course, plan, ground) for course in design.courses)
    return courses_s + sentinel_s(design, plan, ground)


def sentinel_s(design: Design, plan: Plan, ground: Ground) -> float:
    """Seconds of the sentinel of a block."""
    return launch_s(design.sentinel, design.pairs[0], plan, ground) + _BETWEEN_S


def setup_s(design: Design, ground: Ground) -> float:
    """Seconds of a run beside its launches: a lab is raised, and times both ways of each pair that plays ping-pong."""
    if not ground.lab_hosts:
        return _RUN_S + _HOST_S * len({host for pair in design.pairs for host in pair})
    ways = design.pairs if any(questions.ALL[course.ask].ways for course in design.courses) else ()
    ways_s = sum(_WAYS_S + 2 * _WAYS_TRAINS * travel.wire_s(_WAYS_BYTES, ground) for _ in ways)
    return _RUN_S + _LAB_S + _LAB_HOST_S * ground.lab_hosts + 2 * ways_s


def longest(design: Design, plan: Plan, ground: Ground) -> tuple[Course, float]:
    """The course with the longest launch, and how many seconds that takes."""
    each = [(course, pair) for course in design.courses for pair in design.pairs_of(course)]
    return max(((course, launch_s(course, pair, plan, ground)) for course, pair in each), key=lambda found: found[1])


def launch_s(course: Course, pair: Pair, plan: Plan, ground: Ground) -> float:
    """Seconds of one launch of this course between these ends, of which the far one may be several."""
    hosts = (pair[0], *ends.split(pair[1]))
    if any(ground.library_of(course.stack.id) in ground.of(host).lacks for host in hosts):
        return _REFUSED_S
    cells_s = sum(_cell_s(course, size, hosts, plan.effort, ground) for size in course.sizes_bytes)
    return travel.start_s(course.stack, hosts, ground) + cells_s


def _course_s(design: Design, course: Course, plan: Plan, ground: Ground) -> float:
    """Seconds of all its launches in a block. Of those of a round the longest counts."""
    each_s = [launch_s(course, pair, plan, ground) + _BETWEEN_S for pair in design.pairs_of(course)]
    if course.own_pairs or design.pairs_at_once == 1:
        return sum(each_s)
    return max(each_s) * -(-len(each_s) // design.pairs_at_once)


def _cell_s(course: Course, size_bytes: int, hosts: tuple[str, ...], effort: Effort, ground: Ground) -> float:
    """Seconds of one cell. hosts: the near one, then the far ones."""
    near, *fars = hosts
    idle_s = float(dict(course.stack.options).get("idle_ms", 0)) / 1000
    question = questions.ALL[course.ask]
    if question.program:
        return _problem_s(question.program, size_bytes, len(hosts), effort, ground)
    if question.several and question.several.rounds:
        still_s = idle_s + _ROUND_S + travel.cost(course.stack, ground).session_s + question.pace.sample_s
        return _rounds_s(_all_s(course, size_bytes, hosts, ground) * _HUSH + still_s, effort)
    rtt_s = travel.round_trip_s(size_bytes, near, fars[0], course.stack, ground) + idle_s
    rtt_s += 2 * _beside(course, fars, ground) * travel.wire_s(size_bytes, ground)
    pace = question.pace
    warm_s = _warm_s(rtt_s, effort) if pace.windows else _short_warm_s(pace.warm_exchanges, rtt_s, effort)
    before_s = warm_s + pace.before_exchanges * rtt_s + pace.before_s
    sample_s = pace.sample_exchanges * rtt_s + pace.sample_s
    if not pace.bounded:
        return before_s + effort.samples * sample_s
    return before_s + _samples_s(sample_s, effort, before_s if pace.windows else 0.0)


def _problem_s(program: Program, size_bytes: int, processes: int, effort: Effort, ground: Ground) -> float:
    """Seconds of a whole program: one time more than counts, and the check, which takes as long again."""
    link = ground.link or travel.ANY_LINK
    crossing_s = 8 * math.prod(program.messages(size_bytes, processes)) / link.rate_bps
    at_once = min(processes, ground.processors) if ground.lab_hosts else processes
    once_s = crossing_s + program.operations(program.number(size_bytes)) / _OPERATIONS_PER_S / at_once
    return 2 * once_s + _samples_s(once_s, effort, 0.0)


def _beside(course: Course, fars: Sequence[str], ground: Ground) -> int:
    """How many other pairs use the wire of a ping-pong: on a switch those of other hosts do not."""
    several = questions.ALL[course.ask].several
    if several and several.counted == "hosts_at_once":
        return len(fars) // 2 if ground.link is not None and ground.link.hops == 1 else 0
    return len(fars) - 1


def _all_s(course: Course, size_bytes: int, hosts: tuple[str, ...], ground: Ground) -> float:
    """Seconds until the last end of a round has its messages."""
    near, *fars = hosts
    several = questions.ALL[course.ask].several
    if several and several.to_all:
        return travel.to_all_s(size_bytes, near, fars, course.stack, ground)
    is_hub = ground.link is not None and ground.link.hops == 1
    alone_s = max(travel.one_way_s(size_bytes, near, far, course.stack, ground) for far in fars)
    # Everybody to everybody: one wire on a hub; on a switch what comes to one port at a time is partly lost.
    everybody = len(hosts) * len(fars) if is_hub else 2 * len(fars)
    messages = everybody if several and several.everybody else len(fars)
    if several and several.in_pairs:
        messages = len(hosts) if is_hub else 1
    return alone_s + (messages - 1) * travel.wire_s(size_bytes, ground)


def _rounds_s(round_s: float, effort: Effort) -> float:
    """Seconds of the rounds that are tried, and of those that count."""
    tried = min(_TRIED, int(effort.cell_ms / 1000 / _WARM_SHARE / round_s) + 1)
    return tried * round_s + _samples_s(round_s, effort, 0.0)


def _warm_s(rtt_s: float, effort: Effort) -> float:
    """Seconds of a warm-up: until windows agree or its time is over; one or two exchanges where two do not fit."""
    budget_s = effort.cell_ms / 1000 / _WARM_SHARE
    if budget_s < 7 * rtt_s:
        return rtt_s if budget_s < rtt_s else 2 * rtt_s
    return min(budget_s, _WINDOWS * rtt_s)


def _short_warm_s(exchanges: float, rtt_s: float, effort: Effort) -> float:
    """Seconds of a warm-up of so many exchanges; of one at least, where its time does not suffice."""
    return exchanges and max(rtt_s, min(exchanges * rtt_s, effort.cell_ms / 1000 / _WARM_SHARE))


def _samples_s(sample_s: float, effort: Effort, gone_s: float) -> float:
    """Seconds of the samples. gone_s: of the cell's time, before them."""
    least_s = sample_s * min(effort.samples_min, effort.samples)
    return max(least_s, min(effort.samples * sample_s, effort.cell_ms / 1000 - gone_s))
