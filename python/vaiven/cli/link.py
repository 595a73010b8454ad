# SPDX-License-Identifier: BSD-3-Clause
"""The link of a run: said, or assumed from its cards; what its own times say against it; and another one (--link)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from rich.text import Text

    from vaiven.model.path_speed import PathSpeed
    from vaiven.report.findings import StackCost, Warning
    from vaiven.store.query import Run

RATES_BPS = (1_000, 10**12)  # as in a plan's [link]
CODES = ("below-wire", "slow-path", "assumed-link")  # of the doubts, the gravest first


def link_bps(text: str) -> int:
    """ "100 Mb/s" in bit/s. Raises VaivenError ("bad-value")."""
    from vaiven.cli.plausible import quantity

    try:
        rate = round(quantity(text).to("bit/s").value)
    except VaivenError as error:
        raise VaivenError(f"--link {text!r}: {error.what}", 'a rate, for example "100 Mb/s"', "bad-value") from None
    if not RATES_BPS[0] <= rate <= RATES_BPS[1]:
        raise VaivenError(f"--link {text!r}", 'from "1 kb/s" to "1000 Gb/s"', code="bad-value")
    return rate


def read_again(run: Run, text: str) -> Run:
    """The run as if it had been measured on a link of that rate; "": as it is."""
    from vaiven.store import query

    return query.with_link(run, link_bps(text)) if text else run


def assumed_bps(run: Run) -> int | None:
    """What the cards of real hosts say of the link, where nobody else does."""
    said = run.manifest.plan.get("link") or "lab" in run.manifest.place
    return None if said else (run.manifest.link or {}).get("rate_bps")


def slow_paths(run: Run) -> dict[tuple[str, str], PathSpeed]:
    """The pairs of hosts whose path seems to be slower than the cards that alone speak for it."""
    from vaiven.model.path_speed import Load, path_speed
    from vaiven.store import query

    rate = assumed_bps(run)
    if not rate:
        return {}
    cell = ["near", "far", "stack", "size_bytes", "wire_frames", "wire_bytes"]
    table = query.launches(run).filter(ask="pingpong").drop_nulls([*cell, "ns_median"])
    loads: dict[tuple[str, str], list[Load]] = {}
    for (near, far, stack, _, frames, wire_bytes), rows in table.group_by(cell):
        load = Load(stack, frames, wire_bytes, rows["ns_median"].median() / 2)
        loads.setdefault((near, far), []).append(load)
    return {pair: found for pair, several in sorted(loads.items()) if (found := path_speed(several, rate))}


def believed(run: Run, table: Any) -> Any:
    """The rows of query.launches without the wire's times where the link is assumed and the path seems slower."""
    from vaiven.store import query

    return query.without_wire(table, list(slow_paths(run)))


def doubts(run: Run, costs: Sequence[StackCost]) -> tuple[Warning, ...]:
    """What must be known of the link before any number is read, the gravest first."""
    return (*_below_wire(costs), *_slow(run), *_assumed(run))


def doubt_texts(run: Run, costs: Sequence[StackCost]) -> list[Text]:
    """The doubts for a terminal, to stand above the table: in red where a number on it would be wrong."""
    from rich.text import Text

    from vaiven.report.findings import ALARMS

    found = doubts(run, costs)
    styles = ["bold red" if one.code in ALARMS else "yellow" for one in found]
    words = [f"{one.code}: {f'{one.where}: ' if one.where else ''}{one.text}\n" for one in found]
    return [Text(text, style) for text, style in zip(words, styles, strict=True)]


def _below_wire(costs: Sequence[StackCost]) -> Iterator[Warning]:
    """Times that no wire of the stated rate allows: then the rate, the hops or the lab's timing are wrong."""
    from vaiven.report.findings import Warning
    from vaiven.report.verdicts import ranges

    for pair in dict.fromkeys(cost.pair for cost in costs):
        where = []
        for cost in costs:
            below = [point.size_bytes for point in cost.points if point.below_wire]
            if cost.pair == pair and below:
                where.append(f"{cost.stack} at {ranges([point.size_bytes for point in cost.points], below)}")
        if where:
            text = (
                "faster than the wire allows; the link is not what the run says, or the lab does not delay such frames"
            )
            yield Warning("below-wire", f"{text}: {'; '.join(where)}", " → ".join(pair))


def _slow(run: Run) -> Iterator[Warning]:
    from vaiven.model.numbers import bits_text
    from vaiven.report.findings import Warning

    for pair, found in slow_paths(run).items():
        rates = bits_text(found.bps / 8, 2), bits_text(found.link_bps / 8, 2)
        text = (
            f"something in the path seems to run at about {rates[0]} although the cards say {rates[1]}: "
            f"{', '.join(found.stacks)} take no more than {bits_text(found.measured_bps / 8)} of the wire. "
            f'Check switch port, uplink and cable; if that is the link, say it with --link "{rates[0]}". Until then '
            "nothing is said of the wire's share"
        )
        yield Warning("slow-path", text, " → ".join(pair))


def _assumed(run: Run) -> Iterator[Warning]:
    from vaiven.model.numbers import bits_text
    from vaiven.report.findings import Warning

    link, rate = run.manifest.link or {}, assumed_bps(run)
    if rate:
        text = f"nobody said how fast the link is: it is taken to be {bits_text(rate / 8, 2)}, as the cards say, in "
        yield Warning("assumed-link", f"{text}{link.get('hops')} hops; --link says it better", "")
