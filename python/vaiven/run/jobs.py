# SPDX-License-Identifier: BSD-3-Clause
"""One launch of a whole program of ours (questions.Program): a fresh job for each size, of one process on each host,
started by what starts the jobs of its stack. Its record becomes the cells.

On a lab processes are dealt out to the processors in turn, as ends of a probe are; tasks of PVM its daemons start as
they like.
"""

from __future__ import annotations

import platform
import queue
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from vaiven import questions, resources
from vaiven.errors import VaivenError
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort
from vaiven.questions import Program
from vaiven.run import group, launchers, mpi, pvm, sides, signals
from vaiven.run.collect import Story
from vaiven.run.hosts import Host
from vaiven.run.launchers import End, Heard, OnCell, Outcome, Setting

_END_S = 5.0  # for a launcher to end its ranks
_TIMES_MAX = 1000  # of a program's options

Started = tuple[Host, Sequence[str]]


def launch(
    work: Launch, near: Host, fars: Sequence[Host], setting: Setting, on_cell: OnCell, heard: Heard | None = None
) -> Outcome:
    """The same as launchers.launch, of a question about a whole program."""
    heard = heard or queue.SimpleQueue()
    side = setting.side_of(work)
    hosts = [sides.dressed(host, side) for host in (near, *fars)]
    story, failure = Story(), None
    try:
        for size_bytes in work.sizes_bytes:
            with _job(work, size_bytes, hosts, setting) as started:
                _run(story, work, started, heard, setting, on_cell)
    except VaivenError as error:
        failure = error
    failure = failure or launchers.missing(work, story)
    return Outcome(tuple(story.cells), story.hello, tuple(story.warnings), failure)


def commands(work: Launch, effort: Effort) -> list[list[str]]:
    """The program and what it is told, of each job of a launch."""
    program = _program(work)
    return [[program.executable(work.stack.id), *_words(program, size, effort)] for size in work.sizes_bytes]


def _words(program: Program, size_bytes: int, effort: Effort) -> list[str]:
    """What the program is told of one problem."""
    times = min(effort.samples, _TIMES_MAX)
    return [
        f"--{program.option}", str(program.number(size_bytes)), "--times", str(times),
        "--times-min", str(min(effort.samples_min, times)), "--within-ms", str(effort.cell_ms),
    ]  # fmt: skip


@contextmanager
def _job(work: Launch, size_bytes: int, hosts: Sequence[Host], setting: Setting) -> Iterator[list[Started]]:
    """The commands of a job, and where each is to be started; the first one prints the record. VaivenError: those of
    mpi.job, pvm.machine and group.job; "no-program"."""
    program, known = _program(work), setting.known[work.stack.id]
    name = program.executable(work.stack.id)
    told = _words(program, size_bytes, setting.effort)
    if known.library == "pvm":
        paths = [_path(name, host) for host in hosts]
        with pvm.machine([replace(host, libraries={}) for host in hosts], _directories(paths)) as members:
            first = members[0]
            yield [(first, [*first.libraries["pvm"], paths[0], *told, "--ranks", str(len(hosts))])]
        return
    each = [[*_pinned(place, host), _path(name, host), *told] for place, host in enumerate(hosts)]
    if known.ranked:
        side = setting.side_of(work)
        ranks = [
            mpi.Rank(host, (*(() if host.here else sides.assigned(side)), *command))
            for host, command in zip(hosts, each, strict=True)
        ]
        with mpi.job(known.library, ranks, mpi.manner(work.stack, ranks)) as argv:
            yield [(hosts[0], argv)]
        return
    with group.job(hosts, len(hosts), each) as started:
        yield [(replace(host, argv=list), argv) for host, argv in zip(hosts, started, strict=True)]


def _program(work: Launch) -> Program:
    program = questions.ALL[work.ask].program
    assert program, f"{work.ask} is about messages"
    return program


def _path(name: str, host: Host) -> str:
    """Where that program is on that host. VaivenError ("no-program")."""
    if host.here and host.arch == platform.machine():
        return str(resources.program(name))
    if name in host.files:
        return host.files[name]
    raise VaivenError(f"{host.name} has no {name}", "hosts like this machine, or leave it out", code="no-program")


def _directories(paths: Sequence[str]) -> list[str]:
    """Where these are: tasks spawn each other by their names."""
    return list(dict.fromkeys(str(Path(path).parent) for path in paths))


def _pinned(place: int, host: Host) -> list[str]:
    """What makes process number `place` keep to a processor that the hosts of a lab share."""
    if not host.processors:
        return []
    return ["taskset", "-c", str(host.processors[-1 - place % len(host.processors)])]


def _run(
    story: Story, work: Launch, started: Sequence[Started], heard: Heard, setting: Setting, on_cell: OnCell
) -> None:
    """Runs one job, whose cells go to the story. VaivenError says why that failed."""
    program = _program(work).executable(work.stack.id)
    ends: list[End] = []
    try:
        for host, argv in started:
            ends.append(End("near", host, argv, "", heard, words_between=True, program=program))
        ends[0].story = story
        _listen(ends, work, heard, setting, on_cell)
    finally:
        with signals.shielded():
            for end in ends:
                end.stop(_END_S)


def _listen(ends: Sequence[End], work: Launch, heard: Heard, setting: Setting, on_cell: OnCell) -> None:
    """Takes what they say until all have ended. The first that fails is told."""
    began_s = time.monotonic()
    late = f"the launch takes longer than launch_s = {setting.effort.launch_s}"
    left = list(ends)
    while left:
        cell = launchers.hear(heard, began_s + setting.effort.launch_s, late, began_s - setting.run_began_s)
        for end in [one for one in left if not one.open]:
            left.remove(end)
            if end.failed():
                raise end.silence()
        if cell:
            _require_all(ends[0].story, work)
            on_cell(cell)


def _require_all(story: Story, work: Launch) -> None:
    """VaivenError ("another-mpi") where processes did not find each other, each being a job of its own."""
    wanted, found = 1 + len(work.fars), story.hello.get("ranks")
    if found != wanted:
        raise VaivenError(
            f"{wanted} processes were started, and the program says that they are {found}",
            "it is built with another library than the one that starts it",
            code="another-mpi",
        )
