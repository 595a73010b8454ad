# SPDX-License-Identifier: BSD-3-Clause
"""Prints the time of a message layer by layer, and what its protocols can do (tables of `vaiven lab layers`)."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from vaiven.cli.terminal import open_console
from vaiven.lab.layers import Layers, Limits
from vaiven.model.numbers import percent_text


def show(found: Sequence[Layers]) -> None:
    """Every size of every stack, then TCP/IP beside LLC when both were asked."""
    console = open_console()
    for one in found:
        console.print(_layers_table(one))
    limits = {one.stack: one.limits for one in found}
    llc = next((limits[name] for name in ("llc", "llc-jumbo") if name in limits), None)
    if llc and "tcp" in limits:
        console.print(_functions_table(limits["tcp"], llc))


def _us(ns: float) -> str:
    return f"{ns / 1000:.2f}"


def _layers_table(one: Layers) -> Table:
    table = Table(f"{one.stack}, {one.size_bytes} B", "there, us", "back, us", "of the whole", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for layer in one.layers:
        share = (layer.there_ns + layer.back_ns) / one.whole_ns
        table.add_row(layer.name, _us(layer.there_ns), _us(layer.back_ns), percent_text(share))
    if one.wire_ns is not None:
        table.add_row(
            "  of which the wire alone",
            _us(one.wire_ns),
            _us(one.wire_ns),
            percent_text(2 * one.wire_ns / one.whole_ns),
        )
    table.add_row("the far program", "", _us(one.far_ns), percent_text(one.far_ns / one.whole_ns))
    table.add_row("sum of the layers", "", _us(one.sum_ns), percent_text(1 + one.error))
    table.add_row("the whole, timed apart", "", _us(one.whole_ns), "100.0%\n")
    return table


def _count(value: int) -> str:
    return f"2^{value.bit_length() - 1}" if value & (value - 1) == 0 and value > 256 else str(value)


def _functions_table(tcp: Limits, llc: Limits) -> Table:
    """Table 1 of paper E as these connections have it."""
    table = Table("function", "TCP/IP", "LLC", box=None, pad_edge=False)
    table.add_row("addresses", "any network: IP address and port", "this Ethernet: MAC and SAP")
    table.add_row("integrity", "checksum of headers and data", "check sequence of the Ethernet frame")
    table.add_row("numbers before they begin anew", f"{_count(tcp.sequence)} bytes", f"{llc.sequence} frames")
    table.add_row("window: most unacknowledged", f"{tcp.window} bytes", f"{llc.window} frames")
    table.add_row("services of a host", str(tcp.services), f"{llc.services}, of which {llc.free_services} are free")
    table.add_row("of a message in one frame", f"{tcp.unit_bytes} bytes", f"{llc.unit_bytes} bytes, by the MTU")
    return table
