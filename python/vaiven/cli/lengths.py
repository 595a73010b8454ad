# SPDX-License-Identifier: BSD-3-Clause
"""The lengths of a plan: which claims of the papers each settles, and which ready plan settles a claim soonest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vaiven.papers.reach import Offer
    from vaiven.plan.design import Available, Design
    from vaiven.plan.ground import Ground
    from vaiven.plan.schema import LengthName, Plan

PAPERS = "papers/"  # how the names of their plans begin
LENGTHS: tuple[LengthName, ...] = ("quick", "standard", "full")


def left_out(plan: Plan, length: LengthName) -> tuple[str, ...]:
    """The ids of the claims that the whole plan can settle, and not at that length. VaivenError as `plan.preview`."""
    from vaiven.plan import schema

    there = set(settled(schema.at_length(plan, length)))
    return tuple(one for one in settled(schema.at_length(plan, "full")) if one not in there)


def note(plan: Plan, length: LengthName) -> str:
    """What a reader must know of that length; "" where it leaves nothing out."""
    ids = () if length == "full" else left_out(plan, length)
    return f"the length {length} leaves out what the full plan can settle of {', '.join(ids)}" if ids else ""


def settled(plan: Plan, processors: int | None = None) -> tuple[str, ...]:
    """The ids of the claims that a run of this plan can settle on its lab; () of one without a lab.

    processors: of the machine that the lab is on; None for this one.
    """
    from vaiven.papers import reach
    from vaiven.papers.claims import published

    return reach.within(published(), offer(plan, processors)) if plan.lab else ()


def settling() -> Mapping[str, tuple[str, LengthName]]:
    """By the id of a claim: the ready plan, and its length, that settles it on this machine in the least time.

    Of a claim over several runs that of each, joined by "and". A claim that no plan can settle here is not in it.
    """
    from vaiven.errors import VaivenError
    from vaiven.measuring import plans
    from vaiven.papers import reach
    from vaiven.papers.claims import published
    from vaiven.plan import duration, schema
    from vaiven.run.place import known_stacks

    claims, stacks = published(), known_stacks().stacks
    soonest: dict[tuple[str, str], tuple[float, str, LengthName]] = {}
    for name in plans.names():
        plan = plans.load(name)[0]
        for length in LENGTHS if name.startswith(PAPERS) else ():
            try:
                here = schema.at_length(plan, length)
                design, ground = plans.preview(here, stacks)
                found = _offered(here, design, ground)
                seconds = duration.run_s(design, here, ground)[0]
            except VaivenError:  # this machine lacks what it takes
                continue
            for part in reach.parts(claims, found):
                soonest[part] = min(soonest.get(part, (seconds, name, length)), (seconds, name, length))
    return {
        claim.id: _together([soonest[claim.id, run] for run in claim.scenes])
        for claim in claims
        if claim.check and all((claim.id, run) in soonest for run in claim.scenes)
    }


def _together(found: list[tuple[float, str, LengthName]]) -> tuple[str, LengthName]:
    """The plans of all runs of a claim, and the longest of their lengths."""
    names = dict.fromkeys(name for _, name, _ in found)
    return " and ".join(names), max((length for *_, length in found), key=LENGTHS.index)


def offer(plan: Plan, processors: int | None = None, stacks: Mapping[str, Available] | None = None) -> Offer:
    """What a run of that plan on its lab would be. stacks: as of `plans.preview`, whose VaivenErrors it raises."""
    from vaiven.measuring import plans

    return _offered(plan, *plans.preview(plan, stacks), processors)


def _offered(plan: Plan, design: Design, ground: Ground, processors: int | None = None) -> Offer:
    """The same of a plan whose design is known."""
    import os

    import msgspec

    from vaiven.lab import lab as labs
    from vaiven.papers.needs import Scene
    from vaiven.papers.reach import Offer
    from vaiven.plan import design as designs
    from vaiven.store.record import DesignRecord, LabPlace, LinkRecord, Manifest

    lab, _ = labs.described(plan.lab)
    names = plan.hosts or tuple(host.name for host in lab.hosts)
    threads = processors or len(os.sched_getaffinity(0))
    specs = [lab.host(name) for name in names]
    hosts = {
        spec.name: {
            "byte_order": spec.byte_order,
            "cpu": {"threads": threads},
            "tcp": {"congestion_control": lab.tcp_of(spec).congestion_control},
        }
        for spec in specs
    }
    scene = Scene.of(
        Manifest(
            title="", plan_name="", plan_text="", plan={},
            design=msgspec.convert(designs.to_facts(design), DesignRecord),
            place=LabPlace(lab=msgspec.to_builtins(lab)), hosts=hosts,
            link=msgspec.convert(ground.link, LinkRecord | None, from_attributes=True), versions={},
            environment={},
        )
    )  # fmt: skip
    return Offer(scene, design, min(plan.effort.samples_min, plan.effort.samples))
