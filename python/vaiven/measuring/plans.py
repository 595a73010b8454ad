# SPDX-License-Identifier: BSD-3-Clause
"""Plans before anything is measured: found by name, and held against the hosts and the lab that they speak of."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.lab import calibration
from vaiven.lab import lab as labs
from vaiven.plan import design as designs
from vaiven.plan import load as loads
from vaiven.plan import schema, tournament
from vaiven.plan.design import Available, Design
from vaiven.plan.ground import Ground
from vaiven.plan.schema import Link, Plan
from vaiven.run import place
from vaiven.stats import planner
from vaiven.stats.planner import DesignReport


def load(name: str) -> tuple[Plan, str, str]:
    """(plan, its text, where it stands) of a file, or of a ready plan by its name. VaivenError ("no-plan", ...)."""
    path = Path(name)
    if not path.exists() and not path.suffix and not path.is_absolute():
        path = resources.ready("plans") / f"{name}.toml"
        if not path.is_file():
            raise VaivenError(f"there is no plan {name!r}", f"a file, or one of: {', '.join(names())}", code="no-plan")
    plan, text = schema.load(path)
    return plan, text, str(path)


def names() -> list[str]:
    """The ready plans, in order."""
    plans = resources.ready("plans")
    return sorted(str(one.relative_to(plans).with_suffix("")) for one in plans.rglob("*.toml"))


def preview(plan: Plan, stacks: Mapping[str, Available] | None = None) -> tuple[Design, Ground]:
    """The design of a plan without going anywhere: its own hosts, or those of its lab's file.

    stacks: of this machine, for who previews many plans; without them its probes are asked.
    VaivenError: "no-host", those of the design, and "too-many-frames" for a timed lab that was measured to carry less.
    """
    known = place.known_stacks().stacks if stacks is None else stacks
    hosts, ground, carried = plan.hosts, Ground(plan.link, known), None
    if plan.lab:
        lab, _ = labs.described(plan.lab)
        for name in plan.hosts:
            lab.host(name)
        hosts, ground = plan.hosts or tuple(host.name for host in lab.hosts), place.lab_ground(lab, known)
        carried = calibration.frames_per_s(lab) if lab.fabric.fabric_class == "timed" else None
    if not hosts:
        raise VaivenError("the plan names no lab and no hosts", "add lab = ... or hosts = [...]", code="no-hosts")
    design = designs.resolve(plan, hosts, known, lab=bool(plan.lab))
    require(design, plan, known, ground.link)
    if ground.link:
        loads.require(design, known, ground.link, carried)
    return design, ground


def require(design: Design, plan: Plan, known: Mapping[str, Available], link: Link | None) -> None:
    """VaivenError ("design-too-small") if the plan is to compare its stacks and may end before it could.

    And if pairs at the same time would measure each other: those of `tournament.require`.
    """
    tournament.require(design, known, link, len(os.sched_getaffinity(0)) if plan.lab else None)
    if plan.compare and (found := reach(design, plan)):
        planner.require(found)


def reach(design: Design, plan: Plan) -> DesignReport | None:
    """What the fewest launches of the plan can find; None where there is nothing to compare."""
    count = designs.comparisons(design)
    if not count:
        return None
    launches = plan.stop.schedule[0]
    return planner.examine(launches, count, plan.compare.alpha) if plan.compare else planner.examine(launches, count)
