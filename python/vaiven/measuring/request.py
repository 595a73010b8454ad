# SPDX-License-Identifier: BSD-3-Clause
"""A measurement as it is asked for: a plan, what is said instead of it, and how real hosts are reached."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from vaiven import tomlfile
from vaiven.errors import VaivenError
from vaiven.measuring import plans
from vaiven.plan import schema
from vaiven.plan import stack as stacks
from vaiven.plan.schema import LengthName, Plan
from vaiven.results.link import link_bps
from vaiven.run import libraries
from vaiven.store.record import HostsPlace

QUICK = {"launches_min": 8, "launches_max": 8, "looks": ()}  # as few as give a line its interval
QUICK_EFFORT = {"samples": 20, "samples_min": 3, "cell_ms": 5}


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What is said instead of the plan; what is empty or None is not.

    lab: a ready lab's name, a lab file, or the name of one that is up. launches: exactly so many of each stack. quick:
    eight short launches of each stack. before, after: commands of two sides, given to `sh -c` here before each launch.
    """

    lab: str = ""
    hosts: Sequence[str] = ()
    stacks: Sequence[str] = ()
    sizes: Sequence[str] = ()
    questions: Sequence[str] = ()
    pairs: str = ""
    launches: int = 0
    seed: int | None = None
    quick: bool = False
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reach:
    """How hosts that are no lab are reached. interface, ports ("LO-HI"): the same on all. bind: host -> address on the
    network to measure. link: its rate, "100 Mb/s". awake: hold their processors awake meanwhile."""

    interface: str = ""
    ports: str = ""
    bind: Mapping[str, str] = field(default_factory=dict)
    link: str = ""
    awake: bool = False


@dataclass(frozen=True, kw_only=True)
class Request:
    """plan: as it is to be carried out; text, name: as it was written, and where. hosts: real ones, as they are wanted.
    link_bps: what was said of the link beside the plan."""

    plan: Plan
    text: str
    name: str
    hosts: HostsPlace
    link_bps: int | None


def requested(
    plan: str | Plan = "", changes: Changes = Changes(), reach: Reach = Reach(), length: LengthName = "full"
) -> Request:
    """What is to be measured. plan: a file, the name of a ready plan, a plan, or "" for all stacks and usual sizes.

    VaivenError ("no-plan", "no-length", "bad-value", ...) says what is wrong.
    """
    written, text, name = (plan, "", "") if isinstance(plan, Plan) else _found(plan)
    wanted = _changed(schema.at_length(written, length), _instead(changes))
    if reach.link and wanted.lab:
        what = f"the link {reach.link!r} with the lab {wanted.lab}"
        raise VaivenError(what, "a lab says itself how fast it is", "bad-value")
    rate = link_bps(reach.link) if reach.link else None
    return Request(plan=wanted, text=text, name=name, hosts=_hosts(wanted, reach), link_bps=rate)


def stack_ids(plan: Plan) -> list[str]:
    """The stacks of a plan, without their options."""
    return [stacks.parse(text).id for text in (*plan.stacks, plan.sentinel.stack)]


def _found(name: str) -> tuple[Plan, str, str]:
    return plans.load(name) if name else (Plan(title="What a message costs"), "", "")


def _instead(wanted: Changes) -> dict[str, Any]:
    """Key of the plan -> what it is instead."""
    said = {name: getattr(wanted, name) for name in ("lab", "hosts", "stacks", "sizes", "questions", "pairs", "seed")}
    changes: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in said.items()
        if value not in ("", (), [], None)
    }
    if bool(wanted.lab) != bool(wanted.hosts):
        changes = {"lab": "", "hosts": ()} | changes  # the plan's own place does not count any more
    if len(set(changes.get("hosts", ()))) == 1 < len(changes["hosts"]):  # a host with itself
        changes |= {"hosts": changes["hosts"][:1], "pairs": (changes["hosts"][:2],)}
    if wanted.quick:  # a first look settles nothing
        changes |= {"stop": QUICK, "effort": QUICK_EFFORT, "compare": None, "refine": None}
    if wanted.launches:
        count: dict[str, Any] = {"launches_min": wanted.launches, "launches_max": wanted.launches, "looks": ()}
        changes |= {"stop": {**changes.get("stop", {}), **count}, "refine": None}  # there is no launch after the look
    return changes | _sides(wanted.before, wanted.after)


def _sides(before: str | None, after: str | None) -> dict[str, Any]:
    """Two sides, or nothing."""
    if (before is None) != (after is None):
        raise VaivenError(
            "before and after belong together", "a side that needs nothing done has the command true", "bad-value"
        )
    named = {"before": before, "after": after}
    return {} if before is None else {"sides": [{"name": name, "command": command} for name, command in named.items()]}


def _changed(plan: Plan, changes: dict[str, Any]) -> Plan:
    """The plan with other values. VaivenError says which one is impossible."""
    value = msgspec.to_builtins(plan)
    for key, change in changes.items():
        value[key] = value[key] | change if isinstance(change, dict) else change
    if value["link"] is None:
        del value["link"]
    try:
        return schema.check(msgspec.convert(value, schema.Plan), lambda *at: f"--{at[0]}")
    except msgspec.ValidationError as error:
        what, remedy, at = tomlfile.explained(str(error), schema.Plan, value)
        raise VaivenError(what, remedy, code="bad-value", where=f"--{at[0]}" if at else "") from None
    except UnicodeError as error:
        raise VaivenError(str(error), "text in UTF-8", code="bad-value") from None


def _hosts(plan: Plan, reach: Reach) -> HostsPlace:
    """VaivenError ("bad-value")."""
    if unknown := set(reach.bind) - set(plan.hosts):
        what = f"bind names {min(unknown)!r}, which is none of the hosts"
        raise VaivenError(what, "HOST=ADDRESS with hosts that take part", "bad-value")
    if reach.ports and not re.fullmatch(r"\d{1,5}(-\d{1,5})?", reach.ports):
        raise VaivenError(f"the ports {reach.ports!r}", "LO-HI, for example 40000-40100", code="bad-value")
    if reach.awake and plan.lab:
        raise VaivenError("awake with a lab", "leave it out: a timed lab is measured awake anyway", "bad-value")
    return HostsPlace(
        names=plan.hosts, interface=reach.interface, ports=reach.ports, bind=dict(reach.bind),
        libraries=libraries.needed(stack_ids(plan)), programs=libraries.programs(stack_ids(plan), plan.questions),
        awake=reach.awake,
    )  # fmt: skip
