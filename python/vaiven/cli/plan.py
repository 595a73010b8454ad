# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven plan`: look at plans without measuring anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import cyclopts

from vaiven.cli.parameters import Json, Natural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vaiven.plan.design import Available, Design
    from vaiven.plan.ground import Ground
    from vaiven.plan.order import Launch
    from vaiven.plan.schema import Plan
    from vaiven.report.table import Table

_LONG_S = 20  # a launch that takes longer is worth a word beforehand

app = cyclopts.App(
    name="plan", help="Look at plans: list the ready ones, check one, show its launches in order, print the schema."
)


@app.command(name="list")
def list_(*, as_json: Json = False) -> None:
    """List the ready plans: where each measures, how long that takes, what it is about.

    Parameters
    ----------
    as_json
        One JSON document instead: schema, plans; lab is "" and times are null where you say where: --lab or --hosts.
        refused says why this machine does not carry a plan out, as a lab that was checked and carries too little.
    """
    from vaiven.cli.terminal import open_console, rich_table
    from vaiven.measuring import plans
    from vaiven.results.document import document
    from vaiven.run.place import known_stacks

    stacks = known_stacks().stacks
    found = [_facts(name, stacks) for name in plans.names()]
    if as_json:
        print(document({"schema": 1, "plans": found}))
    else:
        open_console().print(rich_table(_table(found)))


def _facts(name: str, stacks: Mapping[str, Available]) -> dict[str, Any]:
    """What the list says of a ready plan, with the stacks of this machine."""
    from vaiven.errors import VaivenError
    from vaiven.measuring import plans
    from vaiven.plan import duration

    plan, _, _ = plans.load(name)
    least = most = None
    refused = ""
    try:
        if plan.lab or plan.hosts:
            design, ground = plans.preview(plan, stacks)
            least, most = duration.run_s(design, plan, ground)
    except VaivenError as error:
        refused = error.what
    return {"name": name, "title": plan.title, "lab": plan.lab, "least_s": least, "most_s": most, "refused": refused}


def _table(plans: list[dict[str, Any]]) -> Table:
    from vaiven.report.table import Column, Table

    columns = Column("plan", number=False), Column("what it is about", number=False)
    rows = tuple((one["name"], f"{one['title']}\n{_where(one)}") for one in plans)
    notes = "vaiven plan show NAME prints the launches, vaiven measure NAME carries it out"
    return Table("", columns, rows, (notes,))


def _where(plan: dict[str, Any]) -> str:
    if plan["refused"]:
        return f"lab {plan['lab']}, but not on this machine: {plan['refused']}"
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
def check(file: str, /, *, as_json: Json = False) -> None:
    """Say whether a plan is right; if not, where it is wrong and what would be right.

    Parameters
    ----------
    file
        A plan file, or the name of a ready plan.
    as_json
        One JSON document instead: schema, plan (the file of one that is right), notes.
    """
    from vaiven.measuring import plans
    from vaiven.results.document import document

    plan, _, path = plans.load(file)
    said: list[str] = []
    if plan.lab or plan.hosts:
        design, ground = plans.preview(plan)
        said = notes(design, plan, ground)
    if as_json:
        print(document({"schema": 1, "plan": str(path), "notes": said}))
        return
    for text in said:
        print(f"note: {text}")
    print(f"{path}: right")


@app.command
def show(
    file: str,
    /,
    *,
    blocks: Natural = 1,
    length: Literal["quick", "standard", "full"] = "full",
    as_json: Json = False,
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
        How much of a plan that has lengths: quick, standard, or full, all of it.
    as_json
        One JSON document instead: schema, least_s, most_s, notes, launches.
    """
    from vaiven.measuring import plans
    from vaiven.plan import schema

    plan = schema.at_length(plans.load(file)[0], length)
    design, ground = plans.preview(plan)
    if as_json:
        print(launches_json(design, plan, ground, blocks))
        return
    print(summary(design, plan, ground))
    for launch in _launches(design, plan, blocks):
        sizes = " ".join(map(str, launch.sizes_bytes))
        mark = " (sentinel)" if launch.sentinel else f" (beside {launch.round + 1})" if launch.beside else ""
        words = f"{launch.stack.name} {launch.ask} {launch.near} {launch.far}{mark}"
        print(f"block {launch.block + 1} launch {launch.number + 1}: {words}: {sizes}")


def _launches(design: Design, plan: Plan, blocks: int) -> Iterator[Launch]:
    from vaiven.plan import order

    return (one for number in range(min(blocks, plan.stop.launches_max)) for one in order.block(design, number))


def launches_json(design: Design, plan: Plan, ground: Ground, blocks: int = 1) -> str:
    """How long a run of this design will take, what must be known of it, and every launch of its first blocks."""
    from dataclasses import asdict

    from vaiven.plan import duration
    from vaiven.results.document import document

    least, most = duration.run_s(design, plan, ground)
    said = [asdict(one) | {"stack": one.stack.name} for one in _launches(design, plan, blocks)]
    facts = {"schema": 1, "least_s": least, "most_s": most, "notes": notes(design, plan, ground)}
    return document(facts | {"launches": said})


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
    from vaiven.measuring.plans import reach
    from vaiven.plan import design as designs
    from vaiven.plan import tournament

    found = reach(design, plan)
    longest = _longest(design, plan, ground)
    flood = "" if plan.lab else designs.flood_note(design, plan)
    at_once = tournament.note(design, lab=bool(plan.lab))
    alike = designs.alike_note(plan.sides)
    told = [longest, found.text if found else "", at_once, flood, alike]
    return [*design.warnings, *filter(None, told), *_commands(plan)]


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
