# SPDX-License-Identifier: BSD-3-Clause
"""Layers as tables: one of each size and stack, and what both protocols can do."""

from __future__ import annotations

from dataclasses import replace

from vaiven.model.layers import Layers, LayerTimes, Limits
from vaiven.report.layers import layers_tables

WAY = {"device": 4000.0, "got": 800.0}
TCP = Layers(
    stack="tcp", near="h1", far="h2", size_bytes=1024, launches=8, wire_ns=500.0,
    times=LayerTimes(whole_ns=10_000, there_ns=WAY, back_ns=WAY, far_ns=300),
    limits=Limits(sequence=2**32, window=65535, services=65536, free_services=65536, unit_bytes=1448),
)  # fmt: skip
LIMITS = Limits(sequence=128, window=127, services=128, free_services=52, unit_bytes=1490)
LLC = replace(TCP, stack="llc", wire_ns=None, limits=LIMITS)


def test_the_layers_stand_above_their_sum_and_the_whole() -> None:
    (table,) = layers_tables([TCP])
    assert table.caption == "tcp, 1 KiB, h1 → h2"
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["TCP, IP, driver, wire, switch"][2] == "80 %"
    assert rows["of which the wire alone"][2] == "10 %"
    assert rows["the far program"][0] == "" and rows["the whole, timed apart"][2] == "100 %"


def test_layers_that_miss_the_whole_say_so() -> None:
    (table,) = layers_tables([replace(TCP, times=replace(TCP.times, whole_ns=20_000))])
    assert table.caption.endswith(": the layers miss the whole by more than 10 %; ask when nothing else runs")


def test_what_both_protocols_can_do_stands_beside_each_other() -> None:
    *_, functions = layers_tables([TCP, LLC])
    words = {cell for row in functions.rows for cell in row}
    assert {"2^32 bytes", "128 frames", "128, of which 52 are free", "1490 bytes, by the MTU"} <= words
    assert len(layers_tables([LLC])) == 1
    spinning = [replace(one, stack=f"{one.stack}[wait=spin]") for one in (TCP, LLC)]
    assert layers_tables(spinning)[-1] == functions
