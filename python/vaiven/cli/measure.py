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
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from vaiven import __version__
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.plan.design import Design
    from vaiven.plan.schema import Plan
    from vaiven.run.collect import Known
    from vaiven.run.hosts import Host
    from vaiven.run.place import Place
    from vaiven.store.query import Run
    from vaiven.store.record import Manifest, Record

QUICK = {"launches_min": 3, "launches_max": 3, "level": 0.75, "looks": ()}
QUICK_EFFORT = {"samples": 50, "cell_ms": 10}


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
    launches: int = 0,
    seed: int | None = None,
    quick: Annotated[bool, Parameter(negative="")] = False,
    iface: str = "",
    ports: str = "",
    bind: str = "",
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    resume: str = "",
    runs: Path | None = None,
    page: Annotated[bool, Parameter(negative="--no-page")] = True,
) -> None:
    """Measure what a message costs between hosts: a plan, a lab, or hosts that ssh reaches.

    Parameters
    ----------
    plan
        A plan file, or the name of a ready plan. Without one: all stacks, sizes from 8 bytes to 1 MB.
    lab
        A ready lab's name or a lab file; raised for the run unless it is up.
    hosts
        Names that ssh knows, separated by commas; localhost needs no ssh.
    stacks
        Instead of the plan's: tcp,udp,"tcp[write=split]".
    sizes
        Instead of the plan's: bytes or size words, 64,decades.
    questions
        Instead of the plan's: pingpong,connect,prtt (trains of messages: what LogGP is computed from).
    pairs
        Instead of the plan's: first-to-each, all, or rounds (all, pairs without a common host at the same time).
    launches
        Exactly so many launches of each stack, instead of the plan's rule.
    seed
        Of the random order, instead of the plan's.
    quick
        Three short launches of each stack: a first look, with intervals at level 0.75.
    iface
        The interface to measure, on all hosts.
    ports
        LO-HI: the only ports to use, for firewalls.
    bind
        HOST=ADDRESS,...: the address of a host on the network to measure.
    dry_run
        Only print what would be done, in which order and how long it will take.
    resume
        Go on with a run that was stopped: its id or directory.
    runs
        Where runs are kept; without it $VAIVEN_RUNS, or ./runs.
    page
        Write the HTML page at the end.
    """
    from vaiven.cli import plan as plans
    from vaiven.run import libraries, signals
    from vaiven.run import place as places
    from vaiven.store import query

    root = runs or query.root()
    with signals.interruptible():
        if resume:
            _resume(query.find(resume, root), page)
            return
        wanted, text, name = _plan(plan)
        changes = _changes(lab, hosts, stacks, sizes, questions, pairs, launches, seed, quick)
        wanted = _changed(wanted, changes)
        known = places.known_stacks()
        real = _wanted_hosts(wanted, iface, ports, bind)
        if dry_run:
            _dry_run(wanted, known, real)
            return
        if wanted.lab or (wanted.compare and wanted.hosts):
            plans.preview(wanted)  # what cannot compare, or be carried, is refused before anything is raised
        with _place(wanted, real) as place:
            known = libraries.at_hosts(known, place.hosts.values(), _stack_ids(wanted))
            design = _design(wanted, place, known)
            manifest = _manifest(wanted, text, name, design, place, known)
            run = _start(root, manifest, wanted, design, place, known)
    _show(run, page)


def _plan(name: str) -> tuple[Plan, str, str]:
    from vaiven.cli import plan as plans
    from vaiven.plan.schema import Plan

    return plans.load(name) if name else (Plan(title="What a message costs"), "", "")


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
    except msgspec.ValidationError as error:
        raise VaivenError(str(error), "see vaiven measure --help", code="bad-value") from None


def _wanted_hosts(plan: Plan, iface: str, ports: str, bind: str) -> Any:
    from vaiven.run import libraries
    from vaiven.run.place import Wanted

    pairs = dict(word.partition("=")[::2] for word in _words(bind))
    if unknown := set(pairs) - set(plan.hosts):
        raise VaivenError(f"--bind names {sorted(unknown)[0]!r}", "HOST=ADDRESS with hosts of --hosts", "bad-value")
    if ports and not re.fullmatch(r"\d{1,5}(-\d{1,5})?", ports):
        raise VaivenError(f"--ports {ports!r}", "LO-HI, for example 40000-40100", code="bad-value")
    return Wanted(plan.hosts, iface, ports, pairs, libraries.needed(_stack_ids(plan)))


def _stack_ids(plan: Plan) -> list[str]:
    """Those of its stacks, without their options."""
    from vaiven.plan import stack as stacks

    return [stacks.parse(text).id for text in (*plan.stacks, plan.sentinel.stack)]


@contextmanager
def _place(plan: Plan, wanted: Any) -> Iterator[Place]:
    from vaiven.lab import topology
    from vaiven.run import place as places

    if plan.lab:
        with places.in_lab(topology.find(plan.lab), plan.hosts) as place:
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
        print(f"warning: {error}", file=sys.stderr)
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
        environment={"driven_from": platform.node(), "system": platform.platform(), "arguments": sys.argv[1:]},
    )


def _start(root: Path, manifest: Manifest, plan: Plan, design: Design, place: Place, known: Known) -> Run:
    from vaiven.cli.plan import summary
    from vaiven.cli.ways import asymmetries
    from vaiven.plan import tournament
    from vaiven.plan.design import flood_note
    from vaiven.run import quiet
    from vaiven.store.record import Record

    with Record.create(root, manifest) as record:
        print(f"{record.path}\n{summary(design, plan, place.link)}", file=sys.stderr)
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
            print(f"warning: {code}: {text}", file=sys.stderr)
            record.warn(code, text)
        return _carry(record, plan, design, place, known)


def _resume(run: Run, page: bool) -> None:
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
        found = _carry(record, plan, design, place, places.known_stacks())
    _show(found, page)


@contextmanager
def _same_place(manifest: Manifest, plan: Plan) -> Iterator[Place]:
    import msgspec

    from vaiven.lab.topology import Topology
    from vaiven.run import place as places

    facts = manifest.place
    if "lab" in facts:
        with places.in_lab(msgspec.convert(facts["lab"], Topology), facts["hosts"]) as place:
            yield place
    else:
        with places.on_hosts(msgspec.convert(facts, places.Wanted), plan.link) as place:
            yield place


def _carry(record: Record, plan: Plan, design: Design, place: Place, known: Known) -> Run:
    """Carries the run out to its end; when it is interrupted, says how to go on."""
    from vaiven.cli.marks import marks
    from vaiven.cli.progress import watching
    from vaiven.cli.refine import refiner
    from vaiven.run.carry import Carrying
    from vaiven.stats.median import bounds
    from vaiven.store import query

    adding = refiner(plan, place.link)
    try:
        with watching(plan.stop.half_width) as watcher:
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
    from vaiven.run import launchers

    design, link = plans.preview(plan)
    setting = launchers.Setting(known.stacks, plan.effort, link, 0.0, one_clock=bool(plan.lab))
    print(plans.summary(design, plan, link))
    for launch in order.block(design, 0):
        print(f"{launch.number + 1}:{' sentinel' if launch.sentinel else ''}")
        near, *fars = (_imagined(name, wanted) for name in (launch.near, *launch.fars))
        if not known.stacks[launch.stack.id].alone:
            for place, far in enumerate(fars, 1):
                print(f"  {far.name}: {shlex.join(launchers.far_argv(launch, far, setting, place))}")
        peers = [far.address + ":PORT" for far in fars]
        print(f"  {near.name}: {shlex.join(launchers.near_argv(launch, near, peers, setting))}")
    print("and so on; each block has an order of its own: vaiven plan show PLAN --blocks N")


def _imagined(name: str, wanted: Any) -> Host:
    """A host that nobody has asked yet: it has the probe of every library."""
    from vaiven.run.hosts import Host
    from vaiven.run.libraries import LIBRARIES

    address = wanted.bind.get(name, f"ADDRESS-OF-{name}")
    probes = {library: (f"vaiven-probe-{library}",) for library in LIBRARIES}
    return Host(name, address, wanted.interface, "", ("vaiven-probe",), list, wanted.ports, libraries=probes)


def _show(run: Run, page: bool) -> None:
    """The tables of what was asked, and the page, which is about ping-pongs and several far ends, beside the run."""
    from rich.console import Console

    from vaiven.cli.model import cost_table, loggp_table
    from vaiven.cli.overlap import overlap_table
    from vaiven.cli.progress import end_text
    from vaiven.cli.several import ASKED, audience_tables
    from vaiven.cli.steps import steps_table

    console = Console(highlight=False, markup=False)
    asked = {course.get("ask") for course in run.manifest.design.get("courses", [])}
    if "pingpong" in asked:
        console.print(cost_table(run))
    if "prtt" in asked:
        console.print(loggp_table(run))
    if "overlap" in asked:
        console.print(overlap_table(run))
    if "steps" in asked:
        console.print(steps_table(run))
    if asked & set(ASKED):
        console.print(audience_tables(run))
    if run.end and run.end.reason == "not-achieved":
        console.print(f"\nNot achieved: {end_text(run.end)}")
    if page and asked & {"pingpong", *ASKED}:
        from vaiven.cli.report import write_page

        console.print(str(write_page(run, Path(f"{run.id}.html"))), soft_wrap=True)
