# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven measure`: carry a plan out, keep the run, say what a message costs."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from vaiven import questions
from vaiven.cli.parameters import Json, Natural, Runs, words
from vaiven.cli.status import Status
from vaiven.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from vaiven.measuring.events import OnEvent
    from vaiven.measuring.request import Request
    from vaiven.results.outcome import Outcome
    from vaiven.results.results import Results
    from vaiven.run.hosts import Host
    from vaiven.store.query import Run

    Show = Callable[[Run], Status]


def measure(
    plan: str = "",
    /,
    *,
    lab: str = "",
    hosts: str = "",
    stacks: str = "",
    sizes: str = "",
    questions: str = "",
    pairs: str = "",
    launches: Natural = 0,
    seed: int | None = None,
    quick: bool = False,
    length: Literal["quick", "standard", "full"] = "full",
    iface: str = "",
    ports: str = "",
    bind: str = "",
    link: str = "",
    awake: bool = False,
    before: str | None = None,
    after: str | None = None,
    dry_run: bool = False,
    resume: str = "",
    runs: Runs = None,
    page: Annotated[bool, Parameter(negative="--no-page")] = True,
    as_json: Json = False,
) -> Status:
    """Measure what a message costs between hosts: a plan, a lab, or hosts that ssh reaches.

    Exit status 4 if something that the plan asks for was not measured, or is not known as well as it wants.

    Parameters
    ----------
    plan
        A plan file, or the name of a ready plan. Without one: all stacks, sizes from 8 bytes to 1 MB. A directory of
        plans, or how the names of ready ones begin (papers/b): all of these, one after the other.
    lab
        A ready lab's name, a lab file, or a name that `vaiven lab up --as` gave; raised meanwhile unless it is up.
    hosts
        Names that ssh knows, separated by commas; localhost needs no ssh; with --lab, hosts of it.
    stacks
        Stacks, with commas between; instead of the plan's: tcp,udp,"tcp[write=split]".
    sizes
        Sizes of messages in bytes, with commas between; instead of the plan's: 64,1k,64KiB,decades (k and M are
        10^3 and 10^6, Ki and Mi 2^10 and 2^20).
    questions
        Instead of the plan's: pingpong,connect,prtt (trains of messages: what LogGP is computed from).
    pairs
        Instead of the plan's: first-to-each, all, or rounds (all, pairs without a common host at the same time).
    launches
        Exactly so many launches of each stack, instead of the plan's rule.
    seed
        Of the random order, instead of the plan's.
    quick
        Fewer repetitions; eight short launches of each stack, a first look.
    length
        How much of a plan that has lengths: quick, standard, or full, all of it; those of the papers have them.
    iface
        The interface that messages take; on all hosts.
    ports
        The only ports to use, for firewalls: LO-HI.
    bind
        HOST=ADDRESS,...: the address of a host on the network to measure.
    link
        The rate of the link, "100 Mb/s" or 1G; between hosts that are no lab; without it, the plan's, else what the
        cards say.
    awake
        Hold the processors of hosts that are not a lab awake meanwhile; a timed lab's are. The run says by what.
    before
        A command that makes things as they were, given to `sh -c` here before each launch of the side "before": every
        stack is launched on two sides, in random order, and `vaiven compare` holds them against each other.
    after
        And one that makes them as they are to be: that of the side "after".
    dry_run
        Only print what would be done, in which order and how long it will take.
    resume
        Go on with a run that was stopped: its id or directory. Or with a plan, or several: what is measured is not
        measured again.
    page
        Write the HTML page at the end.
    as_json
        One JSON document instead: all that the run says, or with --dry-run what `vaiven plan show --json` says.
    """
    asked = dict(locals())
    from vaiven.cli import suite
    from vaiven.measuring import measure as measuring
    from vaiven.measuring.request import Changes, Reach, requested
    from vaiven.run import signals
    from vaiven.store import query

    name = resume or plan
    changes = Changes(
        lab=lab, hosts=words(hosts), stacks=words(stacks), sizes=words(sizes), questions=words(questions),
        pairs=pairs, launches=launches, seed=seed, quick=quick, before=before, after=after,
    )  # fmt: skip
    bound = dict(word.partition("=")[::2] for word in words(bind))
    reach = Reach(interface=iface, ports=ports, bind=bound, link=link, awake=awake)
    wanted = partial(requested, changes=changes, reach=reach, length=length)
    root = runs or query.root()
    if suite.members(name):
        one = partial(_member, asked=asked)
        there = partial(suite.newest, root=root) if resume else lambda plan: None
        return suite.carry_out(name, length, lambda plan: wanted(plan).plan, one, there, dry_run=dry_run)
    show = partial(_show, page=page, as_json=as_json)
    with signals.interruptible():
        if resume and not suite.is_plan(resume):
            found = query.find(resume, root)
            return _left(found, as_json) if dry_run else _resumed(found, show)
        request = wanted(name)
        _note_length(name, length)
        if resume and (run := suite.newest(request.plan, root)):
            if run.end:
                return _measured_already(run)
            return _left(run, as_json) if dry_run else _resumed(run, show)
        if dry_run:
            _dry_run(request, as_json)
            return Status.OK
        return _shown(lambda on_event: measuring.measure(request, root, on_event, sys.argv[1:]), show)


def _resumed(run: Run, show: Show) -> Status:
    from vaiven.measuring import measure as measuring

    return _shown(lambda on_event: measuring.resume(run, on_event), show, run.path)


def _shown(measured: Callable[[OnEvent], Run], show: Show, path: Path | None = None) -> Status:
    """Shows how a run goes on, and what it says; where it is stopped, how to go on. path: of one that is there."""
    from vaiven.cli.progress import watching

    with watching(path) as watcher:
        try:
            run = measured(watcher)
        except KeyboardInterrupt:
            if watcher.path:
                said = f"vaiven measure --resume {watcher.path}"
                print(f"\nstopped; the finished launches are kept. Go on: {said}", file=sys.stderr)
            raise
    return show(run)


def _member(name: str, asked: dict[str, Any]) -> Status:
    """Measures one plan of a suite as the suite was asked for, or goes on with it."""
    options = {key: value for key, value in asked.items() if key not in ("plan", "resume")}
    return measure(name, **options, resume=name if asked["resume"] else "")


def _left(run: Run, as_json: bool) -> Status:
    """How long a run that was stopped still takes."""
    from vaiven.cli.plan import launches_json, span_text
    from vaiven.measuring import measure as measuring

    left = measuring.left(run)
    if as_json:
        print(launches_json(left.design, left.plan, left.ground))
    else:
        say(f"{run.path}: {left.launches} launches are there, the others take about {span_text(*left.left_s)}")
    return Status.OK


def _measured_already(run: Run) -> Status:
    from vaiven.results.outcome import outcome

    say(f"{run.path}: measured already", sys.stderr)
    return status_of(outcome(run))


def status_of(found: Outcome) -> Status:
    """Whether all that the run was to find out is there."""
    return Status.OK if found.complete else Status.CANNOT_TELL


def _note_length(name: str, length: Literal["quick", "standard", "full"]) -> None:
    """Which claims a shorter plan leaves out, where it has lengths."""
    from vaiven.cli import lengths
    from vaiven.measuring import plans

    plan = plans.load(name)[0] if name else None
    if plan and length in plan.lengths.names and (left_out := lengths.note(plan, length)):
        say(f"note: {left_out}", sys.stderr)


def _dry_run(request: Request, as_json: bool) -> None:
    from vaiven.cli.plan import launches_json, summary
    from vaiven.measuring import plans
    from vaiven.plan import order
    from vaiven.run import jobs, launchers, sides
    from vaiven.run import place as places

    plan, known = request.plan, places.known_stacks()
    design, ground = plans.preview(plan)
    if as_json:
        print(launches_json(design, plan, ground))
        return
    setting = launchers.Setting(known.stacks, plan.effort, ground.link, 0.0, one_clock=bool(plan.lab), sides=plan.sides)
    print(summary(design, plan, ground))
    for launch in order.block(design, 0):
        print(f"{launch.number + 1}:{' sentinel' if launch.sentinel else ''}")
        side = setting.side_of(launch)
        if side and side.command:
            say(f"  here: {shlex.join(['sh', '-c', side.command])}")
        near, *fars = (sides.dressed(_imagined(name, request), side) for name in (launch.near, *launch.fars))
        if questions.ALL[launch.ask].program:
            names = ", ".join(host.name for host in (near, *fars))
            for command in jobs.commands(launch, plan.effort):
                print(f"  {names}: {shlex.join(near.argv(command))}")
            continue
        if not known.stacks[launch.stack.id].alone:
            for place, far in enumerate(fars, 1):
                print(f"  {far.name}: {shlex.join(far.argv(launchers.far_argv(launch, far, setting, place)))}")
        peers = [far.address + ":PORT" for far in fars]
        print(f"  {near.name}: {shlex.join(near.argv(launchers.near_argv(launch, near, peers, setting)))}")
    print("and so on; each block has an order of its own: vaiven plan show PLAN --blocks N")


def _imagined(name: str, request: Request) -> Host:
    """A host that nobody has asked yet: it has the probe of every library."""
    from vaiven.run.hosts import Host
    from vaiven.run.libraries import LIBRARIES

    address = request.hosts.bind.get(name, f"ADDRESS-OF-{name}")
    probes = {library: (f"vaiven-probe-{library}",) for library in LIBRARIES}
    interface, ports = request.hosts.interface, request.hosts.ports
    return Host(name, address, interface, "", ("vaiven-probe",), list, ports, libraries=probes)


def _show(run: Run, page: bool, as_json: bool) -> Status:
    """What was asked, and the page beside the run, where there is something that it is about."""
    from vaiven.cli.terminal import open_console
    from vaiven.report.files import write_page
    from vaiven.report.outcome import closing
    from vaiven.results.results import Results

    said, asked = Results(run), {course.ask for course in run.manifest.design.courses}
    print(said.to_json()) if as_json else _print_tables(run, said, asked)
    console = open_console(stderr=as_json)
    if page and any(questions.ALL[ask].answer for ask in asked):
        console.print(str(write_page(said.findings(), Path(f"{run.name}.html"))), soft_wrap=True)
    console.print(closing(said.outcome), soft_wrap=True)
    return status_of(said.outcome)


def _print_tables(run: Run, said: Results, asked: Set[str]) -> None:
    from vaiven.cli.footer import footer
    from vaiven.cli.model import cost_table, question_tables
    from vaiven.cli.terminal import open_console
    from vaiven.results.costs import Costs

    console = open_console()
    for answer in dict.fromkeys(one.answer for one in questions.ALL.values() if one.answer and one.name in asked):
        found = said.said_by(answer)
        console.print(cost_table(said) if isinstance(found, Costs) else question_tables(found))
    console.print(footer(run), style="dim", soft_wrap=True)
