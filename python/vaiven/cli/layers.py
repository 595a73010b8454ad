# SPDX-License-Identifier: BSD-3-Clause
"""The time of a message layer by layer, and what its protocols can do: the tables of `vaiven lab layers`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vaiven.lab.layers import Layers, Limits
from vaiven.model.numbers import percent_text, size_text
from vaiven.report.tables import Column, Table

_COLUMNS = (Column("layer", number=False), Column("there, us"), Column("back, us"), Column("of the whole"))
_FUNCTIONS = (Column("function", number=False), Column("TCP/IP", number=False), Column("LLC", number=False))


def tables(found: Sequence[Layers]) -> Iterator[Table]:
    """Every size of every stack, then TCP/IP beside LLC when both were asked."""
    yield from map(_layers_table, found)
    limits = {one.stack: one.limits for one in found}
    llc = next((limits[name] for name in ("llc", "llc-jumbo") if name in limits), None)
    if llc and "tcp" in limits:
        yield Table("", _FUNCTIONS, tuple(_functions(limits["tcp"], llc)))


def _us(ns: float) -> str:
    return f"{ns / 1000:.2f}"


def _layers_table(one: Layers) -> Table:
    def row(name: str, there_ns: float | None, back_ns: float, share: float) -> tuple[str, ...]:
        return name, "" if there_ns is None else _us(there_ns), _us(back_ns), percent_text(share)

    rows = [
        row(each.name, each.there_ns, each.back_ns, (each.there_ns + each.back_ns) / one.whole_ns)
        for each in one.layers
    ]
    if one.wire_ns is not None:
        rows.append(row("of which the wire alone", one.wire_ns, one.wire_ns, 2 * one.wire_ns / one.whole_ns))
    rows.append(row("the far program", None, one.far_ns, one.far_ns / one.whole_ns))
    rows.append(row("sum of the layers", None, one.sum_ns, 1 + one.error))
    rows.append(row("the whole, timed apart", None, one.whole_ns, 1.0))
    return Table(f"{one.stack}, {size_text(one.size_bytes)}", _COLUMNS, tuple(rows))


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
