# SPDX-License-Identifier: BSD-3-Clause
"""The lengths of a plan: which claims of the papers a shorter one leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaiven.plan.schema import LengthName, Plan


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
    import os

    import msgspec

    from vaiven.lab import lab as labs
    from vaiven.measuring import plans
    from vaiven.papers import reach
    from vaiven.papers.claims import published
    from vaiven.papers.needs import Scene
    from vaiven.plan import design as designs
    from vaiven.store.record import Manifest

    if not plan.lab:
        return ()
    lab, _ = labs.described(plan.lab)
    design, ground = plans.preview(plan)
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
            title="", plan_name="", plan_text="", plan={}, design=designs.to_facts(design),
            place={"lab": msgspec.to_builtins(lab)}, hosts=hosts, link=msgspec.to_builtins(ground.link), versions={},
            environment={},
        )
    )  # fmt: skip
    return reach.within(published(), scene, design, min(plan.effort.samples_min, plan.effort.samples))
