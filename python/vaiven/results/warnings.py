# SPDX-License-Identifier: BSD-3-Clause
"""What a reader must know before believing a number of a run: its own warnings, and what its times give away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from vaiven.model.numbers import bits_text, percent_text, ranges_text
from vaiven.results.asymmetries import Asymmetries
from vaiven.results.costs import StackCost
from vaiven.results.link import assumed_bps, slow_paths
from vaiven.results.result import Result, columns, text
from vaiven.results.sentinel import Sentinel
from vaiven.stats.noise import drift_marks
from vaiven.store import query
from vaiven.store.query import Run

LINK_CODES = ("below-wire", "slow-path", "assumed-link")  # of what speaks against the link, the gravest first
ALARMS = ("below-wire", "slow-path")  # codes with which a number on top would be wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something a reader must know before believing a number. code: a word for programs. text: a sentence."""

    code: str
    text: str
    where: str = ""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Warnings(Result[Notice]):
    """What must be known before a number is believed, the gravest first."""

    kind: ClassVar[str] = "warnings"
    columns: ClassVar = columns(
        text("code", "a word for programs", lambda one: one.code),
        text("text", "a sentence, with what to do", lambda one: one.text),
        text("where", "the hosts, stack or launch that it is about; empty for the whole run", lambda one: one.where),
    )


def doubts(run: Run, costs: Sequence[StackCost]) -> Warnings:
    """What must be known of the link before any number is read, the gravest first."""
    return Warnings(runs=(run.id,), items=(*_below_wire(costs), *_slow(run), *_assumed(run)))


def recorded(run: Run) -> Iterator[Notice]:
    """The run's own warnings, and what its end says; each sentence once, with how often it was said."""
    counts: dict[tuple[str, str, str], int] = {}
    for line in query.warnings(run):
        if line.get("code") in LINK_CODES:  # what the link is now said to be decides
            continue
        where = str(line.get("host") or line.get("where") or line.get("stack") or "")
        key = (str(line.get("code", "")), str(line.get("text", "")), where)
        counts[key] = counts.get(key, 0) + 1
    if run.end is not None and run.end.reason == "not-achieved":
        width = "" if run.end.half_width is None else f": {percent_text(run.end.half_width)} at {run.end.cell}"
        counts[("not-achieved", f"the wanted width of the intervals was not achieved{width}", "")] = 1
    for (code, words, where), count in counts.items():
        yield Notice(code=code, text=f"{words} ({count} times)" if count > 1 else words, where=where)


def unsteady(sentinel: Sentinel | None, wanted: float) -> Iterator[Notice]:
    """What the sentinel gives away. wanted: how exactly the medians shall be known, relative."""
    if sentinel is not None:
        for mark in drift_marks(sentinel.drift, wanted):
            yield Notice(code=mark.code, text=f"{mark.text}: {mark.remedy}", where=sentinel.cell)


def one_sided(found: Asymmetries) -> Iterator[Notice]:
    """Stacks whose two ways differ, so that a round trip may not be halved."""
    for one in found:
        if one.asymmetric_bytes.size:
            yield Notice(code="asymmetric", text=one.text, where=f"{one.there} and back")


def _below_wire(costs: Sequence[StackCost]) -> Iterator[Notice]:
    """Times that no wire of the stated rate allows: then the rate, the hops or the lab's timing are wrong."""
    for pair in dict.fromkeys(cost.pair for cost in costs):
        where = []
        for cost in costs:
            below = [point.size_bytes for point in cost.points if point.below_wire]
            if cost.pair == pair and below:
                where.append(f"{cost.stack} at {ranges_text([point.size_bytes for point in cost.points], below)}")
        if where:
            words = (
                "faster than the wire allows; the link is not what the run says, or the lab does not delay such frames"
            )
            yield Notice(code="below-wire", text=f"{words}: {'; '.join(where)}", where=" → ".join(pair))


def _slow(run: Run) -> Iterator[Notice]:
    for pair, found in slow_paths(run).items():
        rates = bits_text(found.bps / 8, 2), bits_text(found.link_bps / 8, 2)
        words = (
            f"something in the path seems to run at about {rates[0]} although the cards say {rates[1]}: "
            f"{', '.join(found.stacks)} take no more than {bits_text(found.measured_bps / 8)} of the wire. "
            f'Check switch port, uplink and cable; if that is the link, say it with --link "{rates[0]}". Until then '
            "nothing is said of the wire's share"
        )
        yield Notice(code="slow-path", text=words, where=" → ".join(pair))


def _assumed(run: Run) -> Iterator[Notice]:
    link, rate = run.manifest.link, assumed_bps(run)
    if rate and link:
        words = f"nobody said how fast the link is: it is taken to be {bits_text(rate / 8, 2)}, as the cards say, in "
        yield Notice(code="assumed-link", text=f"{words}{link.hops} hops; --link says it better")
