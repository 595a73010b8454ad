# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven plan`: look at plans without measuring anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import cyclopts

from vaiven import resources
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.plan.design import Available, Design
    from vaiven.plan.schema import Link, Plan
    from vaiven.stats.planner import DesignReport

app = cyclopts.App(name="plan", help="Look at plans: check one, show its launches in order, print the schema.")


def load(name: str) -> tuple[Plan, str, str]:
    """(plan, its text, where it stands) of a file, or of a ready plan by its name. VaivenError ("no-plan", ...)."""
    from vaiven.plan import schema

    path = Path(name)
    if not path.exists() and not path.suffix and not path.is_absolute():
        plans = resources.ready("plans")
        path = plans / f"{name}.toml"
        if not path.is_file():
            ready = ", ".join(sorted(str(one.relative_to(plans).with_suffix("")) for one in plans.rglob("*.toml")))
            raise VaivenError(f"there is no plan {name!r}", f"a file, or one of: {ready}", code="no-plan")
    plan, text = schema.load(path)
    return plan, text, str(path)


def preview(plan: Plan) -> tuple[Design, Link | None]:
    """The design of a plan without going anywhere: its own hosts, or those of its lab's file.

    VaivenError: those of the design, and "too-many-frames" for a timed lab that was measured to carry less.
    """
    from vaiven.lab import calibration, topology
    from vaiven.plan import design as designs
    from vaiven.plan import load as loads
    from vaiven.run import place

    names, link, carried = plan.hosts, plan.link, None
    if plan.lab:
        lab = topology.find(plan.lab)
        names, link = plan.hosts or tuple(host.name for host in lab.hosts), place.lab_link(lab)
        carried = calibration.frames_per_s(lab) if lab.fabric.fabric_class == "timed" else None
    if not names:
        raise VaivenError("the plan names no lab and no hosts", "add lab = ... or hosts = [...]", code="no-hosts")
    known = place.known_stacks().stacks
    design = designs.resolve(plan, names, known, lab=bool(plan.lab))
    require(design, plan, known, link)
    if link:
        loads.require(design, known, link, carried)
    return design, link


def require(design: Design, plan: Plan, known: Mapping[str, Available], link: Link | None) -> None:
    """VaivenError ("design-too-small") if the plan is to compare its stacks and may end before it could.

    And if pairs at the same time would measure each other: those of `tournament.require`.
    """
    from vaiven.plan import tournament
    from vaiven.stats import planner

    tournament.require(design, known, link, len(os.sched_getaffinity(0)) if plan.lab else None)
    if plan.compare and (found := _reach(design, plan)):
        planner.require(found)


def _reach(design: Design, plan: Plan) -> DesignReport | None:
    """What the fewest launches of the plan can find; None where there is nothing to compare."""
    from vaiven.plan import design as designs
    from vaiven.stats import planner

    count = designs.comparisons(design)
    level = {"alpha": plan.compare.alpha} if plan.compare else {}
    return planner.examine(plan.stop.schedule[0], count, **level) if count else None


@app.command
def schema() -> None:
    """Print the JSON Schema of plan files."""
    import json

    from vaiven.plan import schema as schemas

    print(json.dumps(schemas.json_schema(), indent=1))


@app.command
def check(file: str, /) -> None:
    """Say whether a plan is right; if not, where it is wrong and what would be right.

    Parameters
    ----------
    file
        A plan file, or the name of a ready plan.
    """
    plan, _, path = load(file)
    if plan.lab or plan.hosts:
        for text in notes(preview(plan)[0], plan):
            print(f"note: {text}")
    print(f"{path}: right")


@app.command
def show(file: str, /, *, blocks: int = 1) -> None:
    """Print every launch of a plan in its order, and how long it will take.

    Launches "beside" another one run at the same time as that one.

    Parameters
    ----------
    file
        A plan file, or the name of a ready plan.
    blocks
        How many blocks to print.
    """
    from vaiven.plan import order

    plan, _, _ = load(file)
    design, link = preview(plan)
    print(summary(design, plan, link))
    for number in range(min(blocks, plan.stop.launches_max)):
        for launch in order.block(design, number):
            sizes = " ".join(map(str, launch.sizes_bytes))
            mark = " (sentinel)" if launch.sentinel else f" (beside {launch.round + 1})" if launch.beside else ""
            words = f"{launch.stack.name} {launch.ask} {launch.near} {launch.far}{mark}"
            print(f"block {number + 1} launch {launch.number + 1}: {words}: {sizes}")


def summary(design: Design, plan: Plan, link: Link | None) -> str:
    """What a run of this design will be, and how long it will take, in one or two lines."""
    from vaiven.cli.progress import duration_text
    from vaiven.plan import duration

    few, many = duration.run_s(design, plan, link)
    blocks = plan.stop.schedule[0], plan.stop.launches_max
    launches = " to ".join(str(count * design.launches_per_block) for count in dict.fromkeys(blocks))
    time = duration_text(few) if few == many else f"{duration_text(few)} to {duration_text(many)}"
    pairs = ", ".join(f"{near}-{far}" for near, far in design.pairs)
    lines = [
        f"{launches} launches in {' to '.join(map(str, dict.fromkeys(blocks)))} blocks, about {time}; pairs: {pairs}"
    ]
    return "\n".join(lines + [f"note: {text}" for text in notes(design, plan)])


def notes(design: Design, plan: Plan) -> list[str]:
    """What the plan asked for and does not get, what its comparisons can find, and whom it disturbs."""
    from vaiven.plan import design as designs
    from vaiven.plan import tournament

    found = _reach(design, plan)
    flood = "" if plan.lab else designs.flood_note(design, plan)
    at_once = tournament.note(design, lab=bool(plan.lab))
    return [*design.warnings, *filter(None, [found.text if found else "", at_once, flood])]
