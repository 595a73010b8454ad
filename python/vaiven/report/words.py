# SPDX-License-Identifier: BSD-3-Clause
"""Findings -> the answer in words: what a reader takes away from the first screen of the page. Plain text only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from vaiven.model.ladder import WIRE, Ladder, blame
from vaiven.model.numbers import bits_text, estimate_text, percent_text, rate_text, size_text, time_text
from vaiven.model.pairs import host_matrix
from vaiven.report.costs import MISFIT_TOLD, law_change, pair_text
from vaiven.report.table import two_lines
from vaiven.report.widget import Section
from vaiven.results.costs import StackCost
from vaiven.results.facts import Facts
from vaiven.results.findings import Findings

_CARD = "the card, its driver and the kernel's"
_LOWEST = {
    "icmp": f"{_CARD} network path, answered by the far kernel",
    "eth": f"{_CARD} bare frame path",
    "udp": f"{_CARD} network path up to UDP",
    "tcp": f"{_CARD} network path up to TCP",
}
_ADDED = {
    "eth": "a program at either end, over what the kernel answers by itself",
    "udp": "IP and UDP",
    "tcp": "TCP, over what UDP does",
    "openmpi": "Open MPI",
    "mpich": "MPICH",
    "pvm-direct-inplace": "PVM",
    "pvm-direct-raw": "PVM, with a copy",
    "pvm-direct-trans": "PVM, with translation where numbers differ",
    "pvm-direct-xdr": "encoding in XDR",
}
LINKS_MIN = 6  # fewer links cannot tell a host from a link


@dataclass(frozen=True, slots=True)
class Tile:
    """One number to remember: label above, number, and a note that gives it meaning."""

    label: str
    number: str
    note: str


@dataclass(frozen=True, slots=True)
class Answer:
    """question: the heading. lead: the answer in one or two sentences. points: what else matters, one sentence each."""

    question: str
    lead: str
    tiles: tuple[Tile, ...]
    points: tuple[str, ...]


def answer(findings: Findings, sections: Sequence[Section] = ()) -> Answer:
    """The answer for the stack that most programs use (TCP if it was measured) and the pair in the middle; without any
    cost that of the first of the other sections."""
    if not findings.costs and sections:
        first = sections[0]
        return Answer(first.asks, first.lead, (), first.points)
    if not any(cost.points for cost in findings.costs):
        return Answer(_question(findings), "Nothing was measured: no launch has finished.", (), ())
    headline = findings.middle
    if any(one.code == "below-wire" and one.where == pair_text(headline) for one in findings.alarms):
        return Answer(_question(findings), "No answer: some of its times are shorter than the wire allows.", (), ())
    points = (
        *_spread(findings),
        *_others(findings, headline),
        *_blame(findings, headline),
        *_overheads(findings, headline),
        *_tail(headline),
        *_bend(headline),
    )
    return Answer(_question(findings), _lead(headline), _tiles(findings, headline), points)


def layer_text(layer: str, below: str) -> str:
    """What a layer of the ladder is, in words; the lowest one above the wire has the card in it."""
    return (_LOWEST if below in ("", WIRE) else _ADDED).get(layer, layer)


def where(run: Facts) -> str:
    """That the hosts are not real, where they are not, and what their network claims: nobody must take it for one."""
    if not run.virtual:
        return ""
    rate = "" if run.rate_bits_per_s is None else f", {bits_text(run.rate_bits_per_s / 8)}"
    return f"On a virtual LAN of one machine, not on a real network: {run.fabric}{rate}. {run.claims}".strip()


def _question(findings: Findings) -> str:
    if len(findings.pairs) == 1:
        near, far = findings.pairs[0]
        return f"What does a message cost between {near} and {far}?"
    hosts = dict.fromkeys(host for pair in findings.pairs for host in pair)
    return f"What does a message cost between these {len(hosts)} hosts?"


def _lead(cost: StackCost) -> str:
    first, last = cost.points[0], cost.points[-1]
    text = f"A message of {size_text(first.size_bytes)} takes {time_text(first.typical_ns)} one way over {cost.stack}"
    if first.wire_ns is not None and not first.below_wire:
        text += f"; the wire needs {time_text(first.wire_ns)} of it"
    if last is first:
        return f"{text}."
    text += f". A message of {size_text(last.size_bytes)} moves at {rate_text(last.rate_bytes_per_s)}"
    if last.share_of_wire is not None:
        text += f", {percent_text(last.share_of_wire)} of what the wire allows"
    return f"{text}."


def _tiles(findings: Findings, cost: StackCost) -> tuple[Tile, ...]:
    half, first, last = cost.half.size, cost.points[0], cost.points[-1]
    small = f"{size_text(first.size_bytes)} over {cost.stack}"
    tiles = [Tile(small, time_text(first.typical_ns), f"one way; {time_text(first.floor_ns)} at best, the floor")]
    if first.share_of_wire is not None and not first.below_wire:
        note = f"{time_text(first.wire_ns)} on the wire; the rest is the hosts'"
        tiles.append(
            Tile(f"the wire's share at {size_text(first.size_bytes)}", percent_text(first.share_of_wire), note)
        )
    if last is not first:
        large = f"{size_text(last.size_bytes)} over {cost.stack}"
        allowed = "of what the wire allows"
        share = f"; {percent_text(last.share_of_wire)} {allowed}" if last.share_of_wire is not None else ""
        tiles.append(Tile(large, rate_text(last.rate_bytes_per_s), bits_text(last.rate_bytes_per_s) + share))
    if half.known and cost.half.between is not None:
        number, _, interval = two_lines(estimate_text(half)).partition("\n")
        low, high = map(size_text, cost.half.between)
        tiles.append(Tile("half the full rate at", number, f"{interval}; n½, read off the curve from {low} to {high}"))
    return tuple(tiles)


def _spread(findings: Findings) -> tuple[str, ...]:
    """The fastest and the slowest pair, where there are several."""
    stack = findings.middle.stack
    costs = [cost for cost in findings.costs if cost.stack == stack and cost.points]
    if len(costs) < 2:
        return ()
    costs.sort(key=lambda cost: cost.points[0].typical_ns)
    low, high = (f"{time_text(cost.points[0].typical_ns)} ({pair_text(cost)})" for cost in (costs[0], costs[-1]))
    shown = pair_text(findings.middle)
    text = f"Over {stack} the smallest message takes from {low} to {high}; the numbers above are of {shown}."
    return (text, *_unlike(costs))


def _unlike(costs: list[StackCost]) -> tuple[str, ...]:
    """Links that cost what neither of their hosts explains."""
    lines = [cost.cost.whole for cost in costs if cost.cost.whole.alpha.known]
    if len(lines) < LINKS_MIN:
        return ()
    off = [f"{near} → {far}" for near, far in host_matrix(lines, "alpha").off]
    return (
        (f"Unlike what their hosts cost elsewhere: {', '.join(off)}; look at these cables and ports.",) if off else ()
    )


def _others(findings: Findings, headline: StackCost) -> tuple[str, ...]:
    """The leanest and the heaviest way for the smallest size that all stacks of the pair have."""
    costs = [cost for cost in findings.of_pair(headline.pair) if cost.points]
    if len(costs) < 2:
        return ()
    common = set.intersection(*({point.size_bytes for point in cost.points} for cost in costs))
    if not common:
        return ()
    size = min(common)
    timed = sorted((point.typical_ns, cost.stack) for cost in costs if (point := cost.point(size)))
    (low, lean), (high, heavy) = timed[0], timed[-1]
    middle_ns = median(ns for ns, _ in timed)
    return (
        f"At {size_text(size)} the leanest way is {lean} ({time_text(low)}), the heaviest {heavy} ({time_text(high)}, "
        f"{high / low:.2f} times as long); the median of the {len(timed)} stacks is {time_text(middle_ns)}."
        f"{_doubt(findings, headline.pair, {lean, heavy}, size)}",
    )


def _doubt(findings: Findings, pair: tuple[str, str], stacks: set[str], size_bytes: int) -> str:
    """A word where the verdict does not bear out that the two differ."""
    versus = findings.comparison.of_pair(pair) if findings.comparison else ()
    found = (one.verdict(size_bytes) for one in versus if {one.first.stack, one.second.stack} == stacks)
    verdict = next(found, None)
    return "" if verdict is None or verdict.different else f" Whether they differ is not certain: {verdict.word}."


def _blame(findings: Findings, headline: StackCost) -> tuple[str, ...]:
    """Which layer adds most to the smallest message, and how much of the largest is the wire."""
    ladder = findings.ladder(headline.pair)
    if ladder is None or not ladder.sizes_bytes.size:
        return ()
    found = blame(ladder, int(ladder.sizes_bytes[0]))
    most = "most" if found.certain else "probably most"
    top = ladder.names[-1]
    whole = f"{time_text(ladder.total_ns[0])} of a {size_text(found.size_bytes)} message over {top}"
    below = next(rung.over for rung in ladder.rungs if rung.name == found.name)
    part = f"{layer_text(found.name, below)}: {time_text(found.ns)}, {percent_text(found.share)}"
    return (f"Of the {whole}, the software that takes {most} is {part}.", *_wire_text(ladder))


def _wire_text(ladder: Ladder) -> tuple[str, ...]:
    """From which size on only a faster network would help."""
    wire = next((rung for rung in ladder.rungs if rung.name == WIRE), None)
    if wire is None or max(wire.share) > 1.02:  # a wire that takes more than the whole is not to be argued with
        return ()
    mostly = wire.share >= 0.5
    if not mostly.any():
        return ("At no size does the wire take half of the time: faster software helps, a faster network hardly.",)
    if mostly.all():
        return ("At every size measured the wire takes more than half of the time: only a faster network helps much.",)
    if not mostly[-1]:
        return ()
    first = int(np.flatnonzero(~mostly)[-1]) + 1
    text = f"From {size_text(ladder.sizes_bytes[first])} on the wire itself takes more than half of the time"
    return (f"{text}: there, only a faster network helps much.",)


def _overheads(findings: Findings, headline: StackCost) -> tuple[str, ...]:
    """Who pays for the start-up, where LogGP was measured."""
    for one in findings.loggp_of(headline.pair):
        sends, receives, rest = one.o_s.value, one.o_r.value, one.L.value
        if one.stack == headline.stack and None not in (sends, receives, rest):
            text = f"Sending the smallest {one.stack} message costs the processor {time_text(sends)}, receiving it"
            return (f"{text} {time_text(receives)}; {time_text(rest)} are the network's and the far kernel's (LogGP).",)
    return ()


def _tail(cost: StackCost) -> tuple[str, ...]:
    """How late the latest of a hundred messages is, or of twenty, and what the processors do meanwhile."""
    first = cost.points[0]
    late, count = (first.p99, "a hundred") if first.p99.known else (first.p95, "twenty")
    if not late.known:
        return ()
    message = f"{cost.stack} message of {size_text(first.size_bytes)}"
    text = f"One {message} in {count} takes {time_text(late.value)} or more"
    if first.cpu_near_ns is not None and first.cpu_far_ns is not None:
        text += f"; the two processors spend {time_text(first.cpu_near_ns + first.cpu_far_ns)} on each message"
    return (f"{text}.",)


def _bend(cost: StackCost) -> tuple[str, ...]:
    """A word where the law must not be taken at face value."""
    line = cost.cost.typical
    if line.refused:
        return (f"There is no cost model for {cost.stack}: {line.refused}.",)
    if not line.misfit > MISFIT_TOLD:
        return ()
    law = "The wire and a straight line" if line.wire_ns is not None else "One straight line"
    story = f"{law} {'do' if line.wire_ns is not None else 'does'} not tell the whole story of {cost.stack}: a size is"
    text = f"{story} missed by {percent_text(line.misfit)} of its time. Read times off the curve, not off α and β."
    where = law_change(cost)
    return (text, f"{where[:1].upper()}{where[1:]}.") if where else (text,)
