# SPDX-License-Identifier: BSD-3-Clause
"""Who is to blame -> tables of text: the ladder, hosts that are unlike the others, each host's part, hosts or wire."""

from __future__ import annotations

from collections.abc import Mapping

from vaiven.model.numbers import DASH, digits, estimate_text, percent_text, size_text
from vaiven.model.odd import OddHost, Seen
from vaiven.model.shares import Shares
from vaiven.model.stations import Station
from vaiven.report.table import Column, Table, two_lines
from vaiven.report.views import tables
from vaiven.results.blame import Blame
from vaiven.results.rows import Key
from vaiven.stats.estimate import Estimate


def blame_tables(found: Blame) -> tuple[Table, ...]:
    """One for each thing that there is to say; none where nobody is to blame."""
    made = [*tables(found.ladders), odd_table(found.odd), share_table(found.shares)]
    made += [station_table(stack, one) for stack, one in found.stations.items()]
    return tuple(table for table in made if table.rows)


def odd_table(found: tuple[OddHost, ...]) -> Table:
    """One row for each stack of a host that is unlike the others, and below it which layer is to blame."""
    columns = (
        Column("hosts", "near → far", number=False),
        Column("stack", number=False),
        Column("longer", "its time over that of the middle one of the other hosts, in the same block, at its most"),
        Column("at"),
        Column("so it is", number=False),
    )
    rows = [
        (f"{one.near} → {one.far}", seen.stack, _times(seen.ratio), size_text(seen.size_bytes), _word(seen))
        for one in found
        for seen in one.seen
    ]
    return Table("Hosts that are unlike the others", columns, tuple(rows), tuple(map(_suspected, found)), labels=2)


def share_table(found: Mapping[Key, Shares]) -> Table:
    """One row for each stack: the hosts' part of the smallest and largest message, and where the wire takes over."""
    columns = (
        Column("hosts", "near → far", number=False),
        Column("stack", number=False),
        Column("hosts' part, smallest", "what processors and cards take beyond the wire, of the whole time"),
        Column("largest"),
        Column("the wire takes over at", "the size at which both are as long; below it a faster processor helps more"),
    )
    rows = tuple(
        (f"{near} → {far}", stack, percent_text(one.hosts[0]), percent_text(one.hosts[-1]), _over(one.takes_over))
        for (near, far, stack), one in found.items()
    )
    return Table("Processor or network", columns, rows, labels=2)


def station_table(stack: str, found: tuple[Station, ...]) -> Table:
    """One row for each host: what it adds to a message of one frame, whoever the other one is."""
    columns = (
        Column("host", number=False),
        Column("α", "of a message of no bytes, half of the wire's own among it"),
        Column("β", "of each byte"),
    )
    rows = tuple((one.host, *(two_lines(estimate_text(part)) for part in (one.alpha, one.beta))) for one in found)
    notes = ("What a message takes between two hosts is the sum of both, up to one frame.",)
    return Table(f"What each host adds, {stack}", columns, rows, notes)


def _suspected(one: OddHost) -> str:
    """The layer that is to blame, in a sentence."""
    if not one.suspects:
        return f"{one.far}: no single layer explains it: more than one is slow there, or the others are not known"
    sound = [seen.stack for seen in one.seen if seen.sound]
    beside = f", for {', '.join(sound)} {'are' if len(sound) > 1 else 'is'} as quick as elsewhere" if sound else ""
    return f"{one.far}: {' or '.join(one.suspects)} is to blame{beside}"


def _word(seen: Seen) -> str:
    return "odd" if seen.odd else "sound" if seen.sound else "not known"


def _times(ratio: Estimate) -> str:
    if ratio.value is None or ratio.low is None or ratio.high is None:
        return DASH
    return f"{digits(ratio.value)} ×\n{digits(ratio.low)} – {digits(ratio.high)}"


def _over(size: Estimate) -> str:
    return two_lines(estimate_text(size)) if size.known else size.refused
