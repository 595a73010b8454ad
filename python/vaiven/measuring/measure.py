# SPDX-License-Identifier: BSD-3-Clause
"""Carries a request out: from a place to a run directory that is whole, telling how it goes on."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from vaiven import __version__
from vaiven.errors import VaivenError
from vaiven.lab import lab as labs
from vaiven.lab.topology import Topology
from vaiven.measuring import plans
from vaiven.measuring.events import Began, Ended, OnEvent, Relay, Warned
from vaiven.measuring.refine import refiner
from vaiven.measuring.request import Request, stack_ids
from vaiven.measuring.ways import asymmetries
from vaiven.plan import design as designs
from vaiven.plan import duration, tournament
from vaiven.plan.design import Design, alike_note, flood_note
from vaiven.plan.ground import Ground
from vaiven.plan.schema import Link, Plan
from vaiven.results.marks import marks
from vaiven.run import libraries, quiet
from vaiven.run import place as places
from vaiven.run.carry import Carrying
from vaiven.run.collect import Known
from vaiven.run.place import Place
from vaiven.stats.median import bounds
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import DesignRecord, LabPlace, LinkRecord, Manifest, Record


@dataclass(frozen=True)
class Left:
    """A run that can be resumed: what it was to do, where, how many launches it has, and how many seconds the others
    take (as `duration.run_s`)."""

    plan: Plan
    design: Design
    ground: Ground
    launches: int
    left_s: tuple[float, float]


@dataclass(frozen=True)
class _Measuring:
    """What it takes to carry a plan out, and whom to tell."""

    plan: Plan
    design: Design
    place: Place
    known: Known
    on_event: OnEvent

    def warn(self, record: Record, code: str, text: str, **facts: Any) -> None:
        record.warn(code, text, **facts)
        self.on_event(Warned(code=code, text=text))


def measure(request: Request, root: Path, on_event: OnEvent, arguments: Sequence[str] = ()) -> Run:
    """Measures into a new run below `root`. arguments: what was typed for it, for whoever wants such a run again.

    VaivenError where nothing can be measured; a run that was begun can then be resumed, as after KeyboardInterrupt.
    """
    plan = request.plan
    known = places.known_stacks()
    if plan.lab or (plan.compare and plan.hosts):
        plans.preview(plan)  # what cannot compare, or be carried, is refused before anything is raised
    with _place(request) as place:
        place, plan = _on_link(place, plan, request.link_bps)
        known = libraries.at_hosts(known, place.hosts.values(), stack_ids(plan))
        design = _design(plan, place, known)
        manifest = _manifest(request, plan, design, place, known, arguments)
        return _begun(root, manifest, _Measuring(plan, design, place, known, on_event))


def resume(run: Run, on_event: OnEvent) -> Run:
    """Goes on with a run that was stopped: the same plan, order and place. VaivenError: "run-ended", "run-busy",
    "run-damaged", and those of `measure`."""
    manifest = run.manifest
    plan, design = _planned(run)
    with Record.resume(run.path, manifest) as record, _same_place(manifest, plan) as place:
        if place.missing:
            raise next(iter(place.missing.values()))
        doing = _Measuring(plan, design, place, places.known_stacks(), on_event)
        was, now = (one.calibration if isinstance(one, LabPlace) else None for one in (manifest.place, place.again))
        if was != now:
            text = f"the run went on with another calibration of the lab: {was}, then {now}"
            doing.warn(record, "calibration", text)
        return _carried(record, doing)


def left(run: Run) -> Left:
    """What a run that was stopped has still to do. VaivenError: "run-damaged", and those of `plans.preview`."""
    plan, design = _planned(run)
    ground, launches = plans.preview(plan)[1], query.launch_count(run)
    return Left(plan, design, ground, launches, duration.run_s(design, plan, ground, launches))


def _planned(run: Run) -> tuple[Plan, Design]:
    """What a run was to do, by its manifest."""
    try:
        plan = msgspec.convert(run.manifest.plan, Plan)
        return plan, designs.from_facts(msgspec.to_builtins(run.manifest.design))
    except (msgspec.ValidationError, KeyError, TypeError, ValueError) as error:
        raise VaivenError(f"the run {run.id} cannot be resumed: {error}", "start a new one", "run-damaged") from error


def _begun(root: Path, manifest: Manifest, doing: _Measuring) -> Run:
    """A new run, with what must be known of its beginning; and all of it."""
    place, design = doing.place, doing.design
    with Record.create(root, manifest) as record:
        ground = places.ground(place, doing.known.stacks)
        doing.on_event(Began(path=record.path, plan=doing.plan, design=design, ground=ground))
        for code, text in (*place.warnings, *(("left-out", text) for text in design.warnings)):
            record.warn(code, text)
        if not place.is_lab and (flood := flood_note(design, doing.plan)):
            record.warn("flood", flood)
        if alike := alike_note(doing.plan.sides):
            record.warn("sides-alike", alike)
        if at_once := tournament.note(design, lab=place.is_lab):
            record.warn("pairs-at-once", at_once)
        for name, error in place.missing.items():
            doing.warn(record, "host-down", " ".join(str(error).split()), host=name)
        busy = quiet.findings(quiet.listen(place.hosts), place.link)
        for code, text in (*busy, *asymmetries(design, place, doing.known.stacks)):
            doing.warn(record, code, text)
        return _carried(record, doing)


def _carried(record: Record, doing: _Measuring) -> Run:
    """Carries the run out to its end."""
    plan, relay = doing.plan, Relay(doing.on_event, doing.plan.stop)
    adding = refiner(plan, doing.place.link)
    carrying = Carrying(plan, doing.design, doing.place, doing.known.stacks, record, relay, bounds, adding)
    past = query.open_run(record.path)
    carrying.recall(query.launches(past).iter_rows(named=True), query.refined(past), query.lost(past))
    end = carrying.carry_out()
    for code, text in marks(query.open_run(record.path)):
        doing.warn(record, code, text)
    record.end(end)
    doing.on_event(Ended(path=record.path, launches=end.launches, achieved=end.reason == "done"))
    return query.open_run(record.path)


@contextmanager
def _place(request: Request) -> Iterator[Place]:
    plan = request.plan
    if plan.lab:
        topology, instance = labs.described(plan.lab)
        with places.in_lab(topology, plan.hosts, instance, tried=True) as place:
            yield place
    elif plan.hosts:
        with places.on_hosts(request.hosts, plan.link) as place:
            yield place
    else:
        raise VaivenError("measure where?", "--lab NAME, --hosts A,B, or a plan that says it", code="no-hosts")


@contextmanager
def _same_place(manifest: Manifest, plan: Plan) -> Iterator[Place]:
    known = manifest.place
    if isinstance(known, LabPlace):
        topology = msgspec.convert(known.lab, Topology)
        with places.in_lab(topology, known.hosts, known.instance, tried=True) as place:
            yield place
    else:
        with places.on_hosts(known, plan.link) as place:
            yield place


def _on_link(place: Place, plan: Plan, rate_bps: int | None) -> tuple[Place, Plan]:
    """With that rate in place of what the cards say, which still know hops and MTU."""
    if rate_bps is None:
        return place, plan
    link = msgspec.structs.replace(place.link or Link(rate_bps), rate_bps=rate_bps)
    warnings = tuple(one for one in place.warnings if one[0] != "assumed-link")
    return replace(place, link=link, warnings=warnings), msgspec.structs.replace(plan, link=link)


def _design(plan: Plan, place: Place, known: Known) -> Design:
    """The design, without the hosts that do not answer."""
    names = [*place.hosts, *place.missing]
    ordered = [name for name in plan.hosts if name in names] or names
    design = designs.resolve(plan, ordered, known.stacks, lab=place.is_lab)
    plans.require(design, plan, known.stacks, place.link)
    return designs.without(design, list(place.missing)) if place.missing else design


def _manifest(
    request: Request, plan: Plan, design: Design, place: Place, known: Known, arguments: Sequence[str]
) -> Manifest:
    hosts = {
        host.name: {"address": host.address, "interface": host.interface, "arch": host.arch, **place.inventories[key]}
        for key, host in place.hosts.items()
    }
    return Manifest(
        title=plan.title,
        plan_name=request.name,
        plan_text=request.text,
        plan=msgspec.to_builtins(plan),
        design=msgspec.convert(designs.to_facts(design), DesignRecord),
        place=place.again,
        hosts=hosts,
        link=msgspec.convert(place.link, LinkRecord | None, from_attributes=True),
        versions={"vaiven": __version__, "probe": known.version, "python": platform.python_version()},
        environment=_environment(place, arguments),
    )


def _environment(place: Place, arguments: Sequence[str]) -> dict[str, Any]:
    told: dict[str, Any] = {"driven_from": platform.node(), "system": platform.platform()}
    if place.held_awake:
        told["held_awake"] = place.held_awake
    if place.witnesses:
        told["watched"] = [f"cpu{processor}" for processor in place.witnesses.processors]
    return told | {"arguments": list(arguments)}
