# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven plan`: look at plans without measuring anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import cyclopts

from vaiven import resources
from vaiven.cli.parameters import JSON, NATURAL
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from vaiven.plan.design import Available, Design
    from vaiven.plan.ground import Ground
    from vaiven.plan.schema import Link, Plan
    from vaiven.report.tables import Table
    from vaiven.stats.planner import DesignReport

_LONG_S = 20  # a launch that takes longer is worth a word beforehand

app = cyclopts.App(
    name="plan", help="Look at plans: list the ready ones, check one, show its launches in order, print the schema."
)


def load(name: str) -> tuple[Plan, str, str]:
    """(plan, its text, where it stands) of a file, or of a ready plan by its name. VaivenError ("no-plan", ...)."""
    from vaiven.plan import schema

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


def preview(plan: Plan) -> tuple[Design, Ground]:
    """The design of a plan without going anywhere: its own hosts, or those of its lab's file.

    VaivenError: those of the design, and "too-many-frames" for a timed lab that was measured to carry less.
    """
    from vaiven.lab import calibration
    from vaiven.lab import lab as labs
    from vaiven.plan import design as designs
    from vaiven.plan import load as loads
    from vaiven.plan.ground import Ground
    from vaiven.run import place

    known = place.known_stacks().stacks
    names, ground, carried = plan.hosts, Ground(plan.link, known), None
    if plan.lab:
        lab, _ = labs.described(plan.lab)
        names, ground = plan.hosts or tuple(host.name for host in lab.hosts), place.lab_ground(lab, known)
        carried = calibration.frames_per_s(lab) if lab.fabric.fabric_class == "timed" else None
    if not names:
        raise VaivenError("the plan names no lab and no hosts", "add lab = ... or hosts = [...]", code="no-hosts")
    design = designs.resolve(plan, names, known, lab=bool(plan.lab))
    require(design, plan, known, ground.link)
    if ground.link:
        loads.require(design, known, ground.link, carried)
    return design, ground


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


@app.command(name="list")
def list_(*, as_json: Annotated[bool, JSON] = False) -> None:
    """List the ready plans: where each measures, how long that takes, what it is about.

    Parameters
    ----------
    as_json
        One JSON document: schema, plans; lab is "" and the times are null where you say where: --lab or --hosts.
    """
    from vaiven.cli.terminal import open_console, rich_table
    from vaiven.results.document import document

    found = [_facts(name) for name in names()]
    if as_json:
        print(document({"schema": 1, "plans": found}))
    else:
        open_console().print(rich_table(_table(found)))


def _facts(name: str) -> dict[str, Any]:
    """What the list says of a ready plan."""
    from vaiven.plan import duration

    plan, _, _ = load(name)
    found = preview(plan) if plan.lab or plan.hosts else None
    least, most = duration.run_s(found[0], plan, found[1]) if found else (None, None)
    return {"name": name, "title": plan.title, "lab": plan.lab, "least_s": least, "most_s": most}


def _table(plans: list[dict[str, Any]]) -> Table:
    from vaiven.report.tables import Column, Table

    columns = Column("plan", number=False), Column("what it is about", number=False)
    rows = tuple((one["name"], f"{one['title']}\n{_where(one)}") for one in plans)
    notes = "vaiven plan show NAME prints the launches, vaiven measure NAME carries it out"
    return Table("", columns, rows, (notes,))


def _where(plan: dict[str, Any]) -> str:
    if plan["least_s"] is None:
        return "where you say: --lab or --hosts"
    return f"lab {plan['lab']}, about {span_text(plan['least_s'], plan['most_s'])}"


def span_text(least_s: float, most_s: float) -> str:
    """ "22 s", "22 s to 1 min 10 s"."""
    from vaiven.model.numbers import duration_text

    return " to ".join(dict.fromkeys(map(duration_text, (least_s, most_s))))


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
        design, ground = preview(plan)
        for text in notes(design, plan, ground):
            print(f"note: {text}")
    print(f"{path}: right")


@app.command
def show(
    file: str, /, *, blocks: Annotated[int, NATURAL] = 1, length: Literal["quick", "standard", "full"] = "full"
) -> None:
    """Print every launch of a plan in its order, and how long it will take.

    Launches "beside" another one run at the same time as that one.

    Parameters
    ----------
    file
        A plan file, or the name of a ready plan.
    blocks
        How many blocks to print.
    length
        Of a plan that has lengths: quick, standard, or full, all of it.
    """
    from vaiven.plan import order, schema

    plan = schema.at_length(load(file)[0], length)
    design, ground = preview(plan)
    print(summary(design, plan, ground))
    for number in range(min(blocks, plan.stop.launches_max)):
        for launch in order.block(design, number):
            sizes = " ".join(map(str, launch.sizes_bytes))
            mark = " (sentinel)" if launch.sentinel else f" (beside {launch.round + 1})" if launch.beside else ""
            words = f"{launch.stack.name} {launch.ask} {launch.near} {launch.far}{mark}"
            print(f"block {number + 1} launch {launch.number + 1}: {words}: {sizes}")


def summary(design: Design, plan: Plan, ground: Ground) -> str:
    """What a run of this design will be, and how long it will take, in one or two lines."""
    from vaiven.plan import duration

    blocks = plan.stop.schedule[0], plan.stop.launches_max
    launches = " to ".join(str(count * design.launches_per_block) for count in dict.fromkeys(blocks))
    time = span_text(*duration.run_s(design, plan, ground))
    pairs = ", ".join(f"{near}-{far}" for near, far in design.pairs)
    lines = [
        f"{launches} launches in {' to '.join(map(str, dict.fromkeys(blocks)))} blocks, about {time}; pairs: {pairs}"
    ]
    return "\n".join(lines + [f"note: {text}" for text in notes(design, plan, ground)])


def notes(design: Design, plan: Plan, ground: Ground) -> list[str]:
    """What the plan asked for and does not get, which launches are long, what its comparisons can find, whom it
    disturbs, and what it does to this machine."""
    from vaiven.plan import design as designs
    from vaiven.plan import tournament

    found = _reach(design, plan)
    longest = _longest(design, plan, ground)
    flood = "" if plan.lab else designs.flood_note(design, plan)
    at_once = tournament.note(design, lab=bool(plan.lab))
    return [*design.warnings, *filter(None, [longest, found.text if found else "", at_once, flood]), *_commands(plan)]


def _commands(plan: Plan) -> list[str]:
    """What its sides carry out: who is given a plan may want to know."""
    return [
        f"before each launch of {side.name} this machine runs {side.command!r}, which takes its own time"
        for side in plan.sides
        if side.command
    ]


def _longest(design: Design, plan: Plan, ground: Ground) -> str:
    """What the least samples of long messages cost, where they make a launch long; "" where it is short."""
    from vaiven.model.numbers import duration_text
    from vaiven.plan import duration

    course, seconds = duration.longest(design, plan, ground)
    if seconds < _LONG_S:
        return ""
    effort = plan.effort
    ended = f", and is ended after launch_s = {effort.launch_s}" if seconds > effort.launch_s else ""
    return (
        f"a launch of {course.stack.name} {course.ask} takes about {duration_text(seconds)}{ended}:"
        f" {effort.samples_min} samples of each size at least (samples_min of [effort])"
    )
