# SPDX-License-Identifier: BSD-3-Clause
"""In which layer the time of a message goes, and what the protocols of two stacks can do, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vaiven.model.frames import stack_id
from vaiven.model.layers import TOLERANCE, Layers, Limits
from vaiven.model.numbers import percent_text, size_text, time_text
from vaiven.questions import MARKS
from vaiven.report.table import Column, Table

# Of a stack that shows few layers apart, each is several.
_TOGETHER = {"device": "TCP, IP, driver, wire, switch", "got": "IP, TCP, wake-up"}
_COLUMNS = (Column("layer", number=False), Column("there"), Column("back"), Column("of the whole"))
_FUNCTIONS = (Column("function", number=False), Column("TCP/IP", number=False), Column("LLC", number=False))


def layers_tables(found: Sequence[Layers]) -> tuple[Table, ...]:
    """Every size of every stack, then TCP/IP beside LLC where both were asked."""
    tables = tuple(map(_layers_table, found))
    limits = {stack_id(one.stack): one.limits for one in found if one.limits}
    llc = next((limits[name] for name in ("llc", "llc-jumbo") if name in limits), None)
    if llc is None or "tcp" not in limits:
        return tables
    return (*tables, Table("What both protocols can do", _FUNCTIONS, tuple(_functions(limits["tcp"], llc))))


def _layers_table(one: Layers) -> Table:
    times, names = one.times, MARKS if "made" in one.times.there_ns else _TOGETHER

    def row(name: str, there_ns: float | None, back_ns: float, share: float) -> tuple[str, ...]:
        return name, "" if there_ns is None else time_text(there_ns), time_text(back_ns), percent_text(share)

    rows = [
        row(names[mark], there_ns, times.back_ns[mark], (there_ns + times.back_ns[mark]) / times.whole_ns)
        for mark, there_ns in times.there_ns.items()
    ]
    if one.wire_ns is not None:
        rows.append(row("of which the wire alone", one.wire_ns, one.wire_ns, 2 * one.wire_ns / times.whole_ns))
    rows.append(row("the far program", None, times.far_ns, times.far_ns / times.whole_ns))
    rows.append(row("sum of the layers", None, times.sum_ns, 1 + times.error))
    rows.append(row("the whole, timed apart", None, times.whole_ns, 1.0))
    caption = f"{one.stack}, {size_text(one.size_bytes)}, {one.near} → {one.far}"
    if not one.add_up:
        caption += f": the layers miss the whole by more than {percent_text(TOLERANCE)}; ask when nothing else runs"
    return Table(caption, _COLUMNS, tuple(rows))


def _count(value: int) -> str:
    return f"2^{value.bit_length() - 1}" if value & (value - 1) == 0 and value > 256 else str(value)


def _functions(tcp: Limits, llc: Limits) -> Iterator[tuple[str, str, str]]:
    """Table 1 of paper E as these connections have it."""
    yield "addresses", "any network: IP address and port", "this Ethernet: MAC and SAP"
    yield "integrity", "checksum of headers and data", "check sequence of the Ethernet frame"
    yield "numbers before they begin anew", f"{_count(tcp.sequence)} bytes", f"{llc.sequence} frames"
    yield "window: most unacknowledged", f"{tcp.window} bytes", f"{llc.window} frames"
    yield "services of a host", str(tcp.services), f"{llc.services}, of which {llc.free_services} are free"
    yield "of a message in one frame", f"{tcp.unit_bytes} bytes", f"{llc.unit_bytes} bytes, by the MTU"
