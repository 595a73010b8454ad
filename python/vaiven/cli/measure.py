# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven measure`: carry a plan out, keep the run, say what a message costs."""

from __future__ import annotations

import platform
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from vaiven import __version__
from vaiven.cli.parameters import NATURAL
from vaiven.cli.status import Status
from vaiven.cli.terminal import say
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.plan.design import Design
    from vaiven.plan.schema import LengthName, Plan
    from vaiven.results.outcome import Outcome
    from vaiven.run.collect import Known
    from vaiven.run.hosts import Host
    from vaiven.run.place import Place
    from vaiven.store.query import Run
    from vaiven.store.record import Manifest, Record

# Said once, at the beginning of a run, to whoever does not know them.
WORDS = """launch: one stack, in fresh processes; block: every stack once, in random order, with the sentinel, a launch
that is always the same and shows drift; look: is all known well enough to stop?"""
QUICK = {"launches_min": 8, "launches_max": 8, "looks": ()}  # as few as give a line its interval
QUICK_EFFORT = {"samples": 20, "samples_min": 3, "cell_ms": 5}


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
    launches: Annotated[int, NATURAL] = 0,
    seed: int | None = None,
    quick: Annotated[bool, Parameter(negative="")] = False,
    length: Literal["quick", "standard", "full"] = "full",
    iface: str = "",
    ports: str = "",
    bind: str = "",
    link: str = "",
    awake: Annotated[bool, Parameter(negative="")] = False,
    before: str | None = None,
    after: str | None = None,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    resume: str = "",
    runs: Path | None = None,
    page: Annotated[bool, Parameter(negative="--no-page")] = True,
) -> Status:
    """Measure what a message costs between hosts: a plan, a lab, or hosts that ssh reaches.

    Exit status 4 if something that the plan asks for was not measured, or is not known as well as it wants.

    Parameters
    ----------
    plan
        A plan file, or the name of a ready plan. Without one: all stacks, sizes from 8 bytes to 1 MB. A directory of
        plans, or how the names of ready ones begin (papers/b): all of these, one after the other.
    lab
        A ready lab's name, a lab file, or a name that `vaiven lab up --as` gave; raised for the run unless it is up.
    hosts
        Names that ssh knows, separated by commas; localhost needs no ssh.
    stacks
        Instead of the plan's: tcp,udp,"tcp[write=split]".
    sizes
        Instead of the plan's: bytes or size words, 64,1k,64Ki,decades (k and M: 10^3, 10^6; Ki and Mi: 2^10, 2^20).
    questions
        Instead of the plan's: pingpong,connect,prtt (trains of messages: what LogGP is computed from).
    pairs
        Instead of the plan's: first-to-each, all, or rounds (all, pairs without a common host at the same time).
    launches
        Exactly so many launches of each stack, instead of the plan's rule.
    seed
        Of the random order, instead of the plan's.
    quick
        Eight short launches of each stack: a first look.
    length
        How much of a plan that has lengths is measured, as those of the papers: quick, standard, or full, all of it.
    iface
        The interface to measure, on all hosts.
    ports
        LO-HI: the only ports to use, for firewalls.
    bind
        HOST=ADDRESS,...: the address of a host on the network to measure.
    link
        The rate of the link between hosts that are no lab, "100 Mb/s"; without it, the plan's, else what the cards say.
    awake
        Hold the processors of the hosts awake meanwhile, as is done for a timed lab; the run says by what.
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
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    page
        Write the HTML page at the end.
    """
    asked = dict(locals())
    from vaiven.cli import plan as plans
    from vaiven.cli import suite
    from vaiven.run import libraries, signals
    from vaiven.run import place as places
    from vaiven.store import query

    if suite.members(resume or plan):
        return suite.carry_out(resume or plan, length, lambda name: _member(name, asked), dry_run=dry_run)
    root = runs or query.root()
    with signals.interruptible():
        if resume and not suite.is_plan(resume):
            return _resume(query.find(resume, root), page)
        wanted, text, name = _plan(resume or plan, length)
        changes = _changes(lab, hosts, stacks, sizes, questions, pairs, launches, seed, quick)
        wanted = _changed(wanted, changes | _sides(before, after))
        if resume and (run := suite.newest(wanted, root)):
            return _resume(run, page) if run.end is None else _measured_already(run)
        known = places.known_stacks()
        real = _wanted_hosts(wanted, iface, ports, bind, awake)
        rate_bps = _link_bps(link, wanted)
        if dry_run:
            _dry_run(wanted, known, real)
            return Status.OK
        if wanted.lab or (wanted.compare and wanted.hosts):
            plans.preview(wanted)  # what cannot compare, or be carried, is refused before anything is raised
        with _place(wanted, real) as place:
            place, wanted = _on_link(place, wanted, rate_bps)
            known = libraries.at_hosts(known, place.hosts.values(), _stack_ids(wanted))
            design = _design(wanted, place, known)
            manifest = _manifest(wanted, text, name, design, place, known)
            run = _start(root, manifest, wanted, design, place, known)
    return _show(run, page)


def _member(name: str, asked: dict[str, Any]) -> Status:
    """Measures one plan of a suite as the suite was asked for, or goes on with it."""
    options = {key: value for key, value in asked.items() if key not in ("plan", "resume")}
    return measure(name, **options, resume=name if asked["resume"] else "")


def _measured_already(run: Run) -> Status:
    from vaiven.results.outcome import outcome

    say(f"{run.path}: measured already", sys.stderr)
    return status_of(outcome(run))


def status_of(found: Outcome) -> Status:
    """Whether all that the run was to find out is there."""
    return Status.OK if found.complete else Status.CANNOT_TELL


def _plan(name: str, length: LengthName) -> tuple[Plan, str, str]:
    """(the plan at that length, its text, where it stands). VaivenError ("no-plan", "no-length", ...)."""
    from vaiven.cli import lengths
    from vaiven.cli import plan as plans
    from vaiven.plan.schema import Plan, at_length

    plan, text, path = plans.load(name) if name else (Plan(title="What a message costs"), "", "")
    if length in plan.lengths.names and (left_out := lengths.note(plan, length)):
        say(f"note: {left_out}", sys.stderr)
    return at_length(plan, length), text, path


def _changes(
    lab: str, hosts: str, stacks: str, sizes: str, questions: str, pairs: str, launches: int, seed: int | None,
    quick: bool,
) -> dict[str, Any]:  # fmt: skip
    """What the command line says instead of the plan."""
    changes: dict[str, Any] = {"lab": lab, "hosts": _words(hosts), "stacks": _words(stacks), "sizes": _words(sizes)}
    changes |= {"questions": _words(questions), "pairs": pairs, "seed": seed}
    changes = {key: value for key, value in changes.items() if value not in ("", (), None)}
    if (lab and not hosts) or (hosts and not lab):
        changes = {"lab": "", "hosts": ()} | changes  # the plan's own place does not count any more
    if len(set(changes.get("hosts", ()))) == 1 < len(changes["hosts"]):  # a host with itself
        changes |= {"hosts": changes["hosts"][:1], "pairs": (changes["hosts"][:2],)}
    if quick:
        changes |= {
            "stop": QUICK,
            "effort": QUICK_EFFORT,
            "compare": None,
            "refine": None,
        }  # a first look settles nothing
    if launches:
        changes["stop"] = changes.get("stop", {}) | {"launches_min": launches, "launches_max": launches, "looks": ()}
        changes["refine"] = None  # there is no launch after the look
    return changes


def _sides(before: str | None, after: str | None) -> dict[str, Any]:
    """What --before and --after say instead of the plan: two sides, or nothing."""
    if (before is None) != (after is None):
        raise VaivenError(
            "--before and --after belong together", "a side that needs nothing done has the command true", "bad-value"
        )
    named = {"before": before, "after": after}
    return {} if before is None else {"sides": [{"name": name, "command": command} for name, command in named.items()]}


def _words(text: str) -> tuple[str, ...]:
    """Words between commas; commas inside [...] belong to the word."""
    return tuple(word.strip() for word in re.split(r",(?![^\[]*\])", text) if word.strip())


def _changed(plan: Plan, changes: dict[str, Any]) -> Plan:
    """The plan with other values. VaivenError says which one is impossible."""
    import msgspec

    from vaiven.plan import schema

    value = msgspec.to_builtins(plan)
    for key, change in changes.items():
        value[key] = value[key] | change if isinstance(change, dict) else change
    if value["link"] is None:
        del value["link"]
    try:
        return schema.check(msgspec.convert(value, schema.Plan), lambda *at: f"--{at[0]}")
    except (msgspec.ValidationError, UnicodeError) as error:
        raise VaivenError(str(error), "see vaiven measure --help", code="bad-value") from None


def _wanted_hosts(plan: Plan, iface: str, ports: str, bind: str, awake: bool) -> Any:
    from vaiven.run import libraries
    from vaiven.run.place import Wanted

    pairs = dict(word.partition("=")[::2] for word in _words(bind))
    if unknown := set(pairs) - set(plan.hosts):
        raise VaivenError(f"--bind names {sorted(unknown)[0]!r}", "HOST=ADDRESS with hosts of --hosts", "bad-value")
    if ports and not re.fullmatch(r"\d{1,5}(-\d{1,5})?", ports):
        raise VaivenError(f"--ports {ports!r}", "LO-HI, for example 40000-40100", code="bad-value")
    if awake and plan.lab:
        raise VaivenError("--awake with a lab", "leave it out: a timed lab is measured awake anyway", "bad-value")
    return Wanted(plan.hosts, iface, ports, pairs, libraries.needed(_stack_ids(plan)), awake)


def _link_bps(link: str, plan: Plan) -> int | None:
    """What --link says. Raises VaivenError ("bad-value")."""
    from vaiven.results.link import link_bps

    if link and plan.lab:
        raise VaivenError(f"--link {link!r} with the lab {plan.lab}", "a lab says itself how fast it is", "bad-value")
    return link_bps(link) if link else None


def _on_link(place: Place, plan: Plan, rate_bps: int | None) -> tuple[Place, Plan]:
    """With that rate in place of what the cards say, which still know hops and MTU."""
    from dataclasses import replace

    import msgspec

    from vaiven.plan.schema import Link

    if rate_bps is None:
        return place, plan
    link = msgspec.structs.replace(place.link or Link(rate_bps), rate_bps=rate_bps)
    warnings = tuple(one for one in place.warnings if one[0] != "assumed-link")
    return replace(place, link=link, warnings=warnings), msgspec.structs.replace(plan, link=link)


def _stack_ids(plan: Plan) -> list[str]:
    """Those of its stacks, without their options."""
    from vaiven.plan import stack as stacks

    return [stacks.parse(text).id for text in (*plan.stacks, plan.sentinel.stack)]


@contextmanager
def _place(plan: Plan, wanted: Any) -> Iterator[Place]:
    from vaiven.lab import lab as labs
    from vaiven.run import place as places

    if plan.lab:
        topology, instance = labs.described(plan.lab)
        with places.in_lab(topology, plan.hosts, instance) as place:
            yield place
    elif plan.hosts:
        with places.on_hosts(wanted, plan.link) as place:
            yield place
    else:
        raise VaivenError("measure where?", "--lab NAME, --hosts A,B, or a plan that says it", code="no-hosts")


def _design(plan: Plan, place: Place, known: Known) -> Design:
    """The design, without the hosts that do not answer."""
    from vaiven.cli import plan as plans
    from vaiven.plan import design as designs

    names = [*place.hosts, *place.missing]
    ordered = [name for name in plan.hosts if name in names] or names
    design = designs.resolve(plan, ordered, known.stacks, lab=place.is_lab)
    plans.require(design, plan, known.stacks, place.link)
    for error in place.missing.values():
        say(f"warning: {error}", sys.stderr)
    return designs.without(design, list(place.missing)) if place.missing else design


def _manifest(plan: Plan, text: str, name: str, design: Design, place: Place, known: Known) -> Manifest:
    import msgspec

    from vaiven.plan import design as designs
    from vaiven.store.record import Manifest

    hosts = {
        host.name: {"address": host.address, "interface": host.interface, "arch": host.arch, **place.inventories[key]}
        for key, host in place.hosts.items()
    }
    return Manifest(
        title=plan.title,
        plan_name=name,
        plan_text=text,
        plan=msgspec.to_builtins(plan),
        design=designs.to_facts(design),
        place=place.facts,
        hosts=hosts,
        link=msgspec.to_builtins(place.link),
        versions={"vaiven": __version__, "probe": known.version, "python": platform.python_version()},
        environment=_environment(place),
    )


def _environment(place: Place) -> dict[str, Any]:
    held = {"held_awake": place.held_awake} if place.held_awake else {}
    return {"driven_from": platform.node(), "system": platform.platform(), **held, "arguments": sys.argv[1:]}


def _start(root: Path, manifest: Manifest, plan: Plan, design: Design, place: Place, known: Known) -> Run:
    from vaiven.cli.plan import summary
    from vaiven.measuring.ways import asymmetries
    from vaiven.plan import tournament
    from vaiven.plan.design import flood_note
    from vaiven.run import place as places
    from vaiven.run import quiet
    from vaiven.store.record import Record

    with Record.create(root, manifest) as record:
        say(f"{record.path}\n{summary(design, plan, places.ground(place, known.stacks))}\n{WORDS}", sys.stderr)
        for code, text in (*place.warnings, *(("left-out", text) for text in design.warnings)):
            record.warn(code, text)
        if not place.is_lab and (flood := flood_note(design, plan)):
            record.warn("flood", flood)
        if at_once := tournament.note(design, lab=place.is_lab):
            record.warn("pairs-at-once", at_once)
        for name, error in place.missing.items():
            record.warn("host-down", " ".join(str(error).split()), host=name)
        busy = quiet.findings(quiet.listen(place.hosts), place.link)
        for code, text in (*busy, *asymmetries(design, place, known.stacks)):
            say(f"warning: {code}: {text}", sys.stderr)
            record.warn(code, text)
        return _carry(record, plan, design, place, known)


def _resume(run: Run, page: bool) -> Status:
    """Goes on with a run that was stopped: the same plan, order and place."""
    import msgspec

    from vaiven.plan import design as designs
    from vaiven.plan import schema
    from vaiven.run import place as places
    from vaiven.store.record import Record

    manifest = run.manifest
    try:
        plan = msgspec.convert(manifest.plan, schema.Plan)
        design = designs.from_facts(manifest.design)
    except (msgspec.ValidationError, KeyError, TypeError, ValueError) as error:
        raise VaivenError(f"the run {run.id} cannot be resumed: {error}", "start a new one", "run-damaged") from error
    with Record.resume(run.path, manifest) as record, _same_place(manifest, plan) as place:
        if place.missing:
            raise next(iter(place.missing.values()))
        if (was := manifest.place.get("calibration")) != (now := place.facts.get("calibration")):
            text = f"the run went on with another calibration of the lab: {was}, then {now}"
            say(f"warning: calibration: {text}", sys.stderr)
            record.warn("calibration", text)
        found = _carry(record, plan, design, place, places.known_stacks())
    return _show(found, page)


@contextmanager
def _same_place(manifest: Manifest, plan: Plan) -> Iterator[Place]:
    import msgspec

    from vaiven.lab.topology import Topology
    from vaiven.run import place as places

    facts = manifest.place
    if "lab" in facts:
        topology = msgspec.convert(facts["lab"], Topology)
        with places.in_lab(topology, facts["hosts"], facts.get("instance", "")) as place:
            yield place
    else:
        with places.on_hosts(msgspec.convert(facts, places.Wanted), plan.link) as place:
            yield place


def _carry(record: Record, plan: Plan, design: Design, place: Place, known: Known) -> Run:
    """Carries the run out to its end; when it is interrupted, says how to go on."""
    from vaiven.cli.progress import watching
    from vaiven.measuring.refine import refiner
    from vaiven.results.marks import marks
    from vaiven.run.carry import Carrying
    from vaiven.stats.median import bounds
    from vaiven.store import query

    adding = refiner(plan, place.link)
    try:
        with watching(plan.stop) as watcher:
            carrying = Carrying(plan, design, place, known.stacks, record, watcher, bounds, adding)
            past = query.open_run(record.path)
            carrying.recall(query.launches(past).iter_rows(named=True), query.refined(past))
            end = carrying.carry_out()
            for code, text in marks(query.open_run(record.path)):
                record.warn(code, text)
                watcher.warning(code, text)
            record.end(end)
    except KeyboardInterrupt:
        print(
            f"\nstopped; the finished launches are kept. Go on: vaiven measure --resume {record.path}", file=sys.stderr
        )
        raise
    return query.open_run(record.path)


def _dry_run(plan: Plan, known: Known, wanted: Any) -> None:
    from vaiven.cli import plan as plans
    from vaiven.plan import order
    from vaiven.run import launchers, sides

    design, ground = plans.preview(plan)
    setting = launchers.Setting(known.stacks, plan.effort, ground.link, 0.0, one_clock=bool(plan.lab), sides=plan.sides)
    print(plans.summary(design, plan, ground))
    for launch in order.block(design, 0):
        print(f"{launch.number + 1}:{' sentinel' if launch.sentinel else ''}")
        side = setting.side_of(launch)
        if side and side.command:
            say(f"  here: {shlex.join(['sh', '-c', side.command])}")
        near, *fars = (sides.dressed(_imagined(name, wanted), side) for name in (launch.near, *launch.fars))
        if not known.stacks[launch.stack.id].alone:
            for place, far in enumerate(fars, 1):
                print(f"  {far.name}: {shlex.join(far.argv(launchers.far_argv(launch, far, setting, place)))}")
        peers = [far.address + ":PORT" for far in fars]
        print(f"  {near.name}: {shlex.join(near.argv(launchers.near_argv(launch, near, peers, setting)))}")
    print("and so on; each block has an order of its own: vaiven plan show PLAN --blocks N")


def _imagined(name: str, wanted: Any) -> Host:
    """A host that nobody has asked yet: it has the probe of every library."""
    from vaiven.run.hosts import Host
    from vaiven.run.libraries import LIBRARIES

    address = wanted.bind.get(name, f"ADDRESS-OF-{name}")
    probes = {library: (f"vaiven-probe-{library}",) for library in LIBRARIES}
    return Host(name, address, wanted.interface, "", ("vaiven-probe",), list, wanted.ports, libraries=probes)


def _show(run: Run, page: bool) -> Status:
    """The tables of what was asked, and the page, which is about ping-pongs and several far ends, beside the run."""
    from vaiven.cli.footer import footer
    from vaiven.cli.model import cost_table, question_tables
    from vaiven.cli.terminal import open_console
    from vaiven.report.outcome import closing
    from vaiven.results.audiences import ASKED
    from vaiven.results.results import Results

    console, said = open_console(), Results(run)
    asked = {course.get("ask") for course in run.manifest.design.get("courses", [])}
    if "pingpong" in asked:
        console.print(cost_table(said))
    for ask, name in {"prtt": "loggp", "overlap": "overlaps", "steps": "steps"}.items():
        if ask in asked:
            console.print(question_tables(getattr(said, name)))
    if asked & set(ASKED):
        console.print(question_tables(said.audiences))
    console.print(footer(run), style="dim", soft_wrap=True)
    if page and asked & {"pingpong", *ASKED}:
        from vaiven.cli.report import write_page

        console.print(str(write_page(said, Path(f"{run.name}.html"))), soft_wrap=True)
    console.print(closing(said.outcome), soft_wrap=True)
    return status_of(said.outcome)
