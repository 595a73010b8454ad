# SPDX-License-Identifier: BSD-3-Clause
"""Where the numbers of a run come from: what was measured where, when and with what, and how to get it again."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaiven import questions
from vaiven.model.numbers import bits_text, digits, size_text
from vaiven.questions import PLAIN
from vaiven.results import lab_error, rows
from vaiven.results.claims import claims_text
from vaiven.results.lost import lost_times
from vaiven.results.tcp import tcp_text
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import LinkRecord, Manifest

_NOT_TOLD = {"type", "schema"}  # of the record that the probe prints
_UNITS = ("_bytes", "_bps", "_milli")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The inventory of one host: (what, value) in the order to be shown."""

    name: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Where the numbers come from, and how to get them again.

    finished: False if the run was stopped or killed; what it had measured by then is shown. launches, samples:
    counts; done_again, kept: of launches that lost their time (results.lost). plan_text: the plan as it was given, ""
    for one built from options. rate_bits_per_s, hops, mtu_bytes: the link. versions: (program, version). commands: what
    to type to get such a run again. virtual: on a lab, and claims: what that says of its frames, a sentence.
    """

    id: str
    started: str
    lasted_s: float | None
    finished: bool
    launches: int
    samples: int
    seed: int
    plan_name: str
    plan_text: str
    fabric: str
    rate_bits_per_s: int | None
    hops: int | None
    mtu_bytes: int | None
    versions: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]
    virtual: bool = False
    claims: str = ""
    done_again: int = 0
    kept: int = 0


def facts(run: Run) -> Facts:
    """Of a run that can be read."""
    manifest, link, lost = run.manifest, run.manifest.link or LinkRecord(), lost_times(run)
    return Facts(
        id=run.id,
        started=manifest.created_utc.replace("T", " ").replace("Z", " UTC"),
        lasted_s=_lasted_s(run),
        finished=run.state == "ended",
        launches=query.launch_count(run),
        samples=int(query.launches(run)["count"].sum()),
        seed=rows.seed_of(run),
        plan_name=Path(manifest.plan_name).name or manifest.title,
        plan_text=manifest.plan_text,
        fabric=", ".join(filter(None, (_fabric(manifest), tcp_text(run)))),
        rate_bits_per_s=link.rate_bps,
        hops=link.hops,
        mtu_bytes=link.mtu_bytes,
        versions=tuple(_flat(manifest.versions)) + tuple(_flat(_without_arguments(manifest.environment))),
        commands=_commands(run),
        virtual=manifest.lab is not None,
        claims=claims_text(run),
        done_again=lost.done_again,
        kept=lost.kept,
    )


def host(name: str, inventory: Mapping[str, Any]) -> Host:
    """What the manifest of a run has of a host, in words."""
    return Host(name=name, facts=tuple(_flat(inventory)))


def calibration_text(calibration: Mapping[str, Any] | None) -> str:
    """ "lone frames within 1.6 µs by lab check on 2026-01-31", or by a trial, or that nobody knows; "" of what is not
    timed."""
    found = lab_error.of_calibration(calibration)
    if found is None:
        return ""
    if found.lone_ns is None:
        return "lone frames not checked by lab check"
    how = "by a trial" if found.by == "trial" else "by lab check"
    return f"lone frames within {found.lone_ns / 1000:.1f} µs {how} on {found.checked_utc[:10]}"


def _commands(run: Run) -> tuple[str, ...]:
    """What to type to get such a run, its numbers and this page again."""
    typed = run.manifest.environment.get("arguments") or ["measure", Path(run.manifest.plan_name).name]
    again = shlex.join(["vaiven", *filter(None, map(str, typed))])
    name = shlex.quote(run.name)
    design = run.manifest.design
    several = len({course.stack for course in design.courses}) > 1
    if not design.asks(PLAIN):
        answered = questions.named(lambda one: one.answer)
        answers = tuple(f"vaiven model {name} --ask {ask}" for ask in answered if design.asks(ask))
        return (again, *answers, f"vaiven report {name}")
    compare = (f"vaiven compare {name}",) if several else ()
    return (again, f"vaiven model {name} --by-size", *compare, f"vaiven report {name}")


def _without_arguments(environment: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in environment.items() if name != "arguments"}


def _lasted_s(run: Run) -> float | None:
    if run.end is None:
        return None
    began, ended = (datetime.datetime.fromisoformat(text) for text in (run.manifest.created_utc, run.end.ended_utc))
    return (ended - began).total_seconds()


def _fabric(manifest: Manifest) -> str:
    """Where it was measured: a lab's name, kind and class, or real hosts."""
    if manifest.lab is None:
        return "real hosts"
    fabric = manifest.lab.get("fabric", {})
    kind = fabric.get("kind", ""), fabric.get("class", ""), calibration_text(manifest.calibration)
    return ", ".join(filter(None, (f"lab {manifest.lab.get('name', '')}", *kind)))


def _flat(facts: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """(what, value) of nested facts, in words: {"cpu": {"cache_bytes": 32768}} is ("cpu cache", "32 KiB")."""
    for name, value in facts.items():
        what = f"{above} {name}".strip()
        if value is None or value in ("", [], {}) or what in _NOT_TOLD:
            continue
        if isinstance(value, Mapping) and not all(isinstance(one, bool) for one in value.values()):
            yield from _flat(value, what)
        elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
            for number, one in enumerate(value, start=1):
                yield f"{what.replace('_', ' ')} {number}", ", ".join(" ".join(pair) for pair in _flat(one))
        else:
            yield _fact(what, value)


def _fact(what: str, value: Any) -> tuple[str, str]:
    """One fact: its unit moves from the end of the name to the value."""
    name = next((what.removesuffix(unit) for unit in _UNITS if what.endswith(unit)), what).replace("_", " ")
    if isinstance(value, Mapping):
        return name, ", ".join(f"{one} {'on' if on else 'off'}" for one, on in value.items())
    if isinstance(value, list | tuple):
        return name, ", ".join(map(str, value))
    if not isinstance(value, int) or isinstance(value, bool):
        return name, str(value)
    if what.endswith("_bytes"):
        return name, _memory_text(value)
    if name.endswith(" hz"):
        return name.removesuffix("hz") + "clock", f"{digits(value / 1e9)} GHz"
    if what.endswith("_bps"):
        return name, bits_text(value / 8)
    return name, digits(value / 1000) if what.endswith("_milli") else str(value)


def _memory_text(size_bytes: int) -> str:
    """Memory as it is sold: 48 KiB, 23.5 GiB; what is small, to the byte."""
    if size_bytes < 10_000:
        return size_text(size_bytes)
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size_bytes >= 2**power:
            return f"{digits(size_bytes / 2**power) if size_bytes % 2**power else size_bytes >> power} {unit}"
    return size_text(size_bytes)
