# SPDX-License-Identifier: BSD-3-Clause
"""The runs of one plan in order of time, and the settings under which each was made.

A setting is a fact of a run that somebody could have changed: what the plan says, the hosts as their inventories have
them, the lab and its calibration, the link, the versions. It has a name with dots ("hosts.h1.kernel") and is text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from vaiven.errors import VaivenError
from vaiven.store import query
from vaiven.store.query import Run

# What differs from day to day without anybody's doing, or says nothing of how a run is made.
_PASSING = {"load_milli", "hz", "nics", "schema", "type"}
_OF_THE_PLAN_ALONE = {"title", "seed"}
KINDS = ("plan", "hosts", "place", "link", "versions", "held_awake")  # what a setting's name begins with


@dataclass(frozen=True)
class History:
    """runs: oldest first. left_out: sentences on those that are not among them, the most frequent first."""

    runs: tuple[Run, ...]
    left_out: tuple[str, ...]


def settings(run: Run) -> dict[str, str]:
    """Every setting of a run, by name."""
    found = run.manifest
    plan = {name: value for name, value in found.plan.items() if name not in _OF_THE_PLAN_ALONE}
    place = {name: value for name, value in msgspec.to_builtins(found.place).items() if name != "instance"}
    if found.calibration:  # when it was checked is no setting: what came of it is
        place["calibration"] = {"door_ns": found.calibration.get("door_ns")}
    link = msgspec.to_builtins(found.link) if found.link else {}
    hosts = {name: _host(facts) for name, facts in found.hosts.items()}
    values = (plan, hosts, place, link, found.versions, found.environment.get("held_awake", ""))
    return dict(_flat(dict(zip(KINDS, values, strict=True))))


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Settings that are not the same: name -> (what it was, what it became); "" where there was none."""
    names = [name for name in {**before, **after} if before.get(name, "") != after.get(name, "")]
    return {name: (before.get(name, ""), after.get(name, "")) for name in names}


def plan_of(run: Run) -> str:
    """What the plan of a run is called: its file without directories and ending; of one without a file its title."""
    return Path(run.manifest.plan_name).stem or run.manifest.title


def of_plan(plan: str, root: Path) -> History:
    """The finished runs below `root` of the plan that is called so, or whose file that is. VaivenError ("no-run")."""
    found, left_out = _readable(root)
    runs = [run for run in found if plan_of(run) in (plan, Path(plan).stem)]
    if not runs:
        known = ", ".join(sorted({plan_of(run) for run in found})) or "no finished run"
        raise VaivenError(f"no finished run of a plan {plan!r} in {root}", f"it has {known}", code="no-run")
    return History(tuple(runs), left_out)


def like(run: Run, root: Path) -> History:
    """The finished runs below `root` that were made as this one was, up to it and with it: plan, hosts, versions."""
    found, left_out = _readable(root)
    wanted, kept, reasons = settings(run), [], Counter[str]()
    earlier = [
        one for one in found if one.id != run.id and made_at(one) <= made_at(run) and plan_of(one) == plan_of(run)
    ]
    for one in earlier:
        other = {name.partition(".")[0] for name in changes(wanted, settings(one))}
        if other:
            reasons[" and ".join(_KIND_WORDS[kind] for kind in KINDS if kind in other)] += 1
        else:
            kept.append(one)
    unlike = [f"{count} earlier run{'s' * (count > 1)} of this plan left out: another {why}" for why, count in
              reasons.most_common()]  # fmt: skip
    return History((*kept, run), (*unlike, *left_out))


_KIND_WORDS = {
    "plan": "text of the plan", "hosts": "state of the hosts", "place": "lab", "link": "link",
    "versions": "version of a program", "held_awake": "way of holding processors awake",
}  # fmt: skip


def made_at(run: Run) -> tuple[str, str]:
    """What runs are ordered by, oldest first: two of one second by their ids."""
    return run.manifest.created_utc, run.id


def _readable(root: Path) -> tuple[list[Run], tuple[str, ...]]:
    """The finished runs, oldest first, and why others are none."""
    runs: list[Run] = []
    why = Counter[str]()
    for found in query.runs(root):
        if isinstance(found, VaivenError):
            why[_UNREADABLE.get(found.code, "damaged")] += 1
        elif found.end is None:
            why["not finished"] += 1
        else:
            runs.append(found)
    return sorted(runs, key=made_at), tuple(
        f"{count} run{'s' * (count > 1)} left out: {reason}" for reason, count in why.most_common()
    )


_UNREADABLE = {"run-older": "written by an older vaiven", "run-newer": "written by a newer vaiven"}


def _host(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Of all its cards only the one that was used."""
    cards = facts.get("nics")
    used = [card for card in cards if isinstance(card, Mapping) and card.get("name") == facts.get("interface")] if (
        isinstance(cards, Sequence)) else []  # fmt: skip
    return {**facts, "nic": used[0] if used else {}}


def _flat(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _PASSING:
                yield from _flat(inner, f"{name}.{key}" if name else str(key))
    elif value not in (None, "", [], ()):
        yield name, value if isinstance(value, str) else json.dumps(value, sort_keys=True)
