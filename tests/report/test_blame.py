# SPDX-License-Identifier: BSD-3-Clause
"""Who is to blame, in tables: each stack of an odd host, the layer in a sentence, where the wire takes over."""

from __future__ import annotations

import numpy as np

from vaiven.model.odd import OddHost, Seen
from vaiven.model.shares import Shares
from vaiven.model.stations import Station
from vaiven.report.blame import odd_table, share_table, station_table
from vaiven.stats.estimate import Estimate, refusal

SOUND = Seen("icmp", 60_000, Estimate(1.01, 0.99, 1.1, ""), odd=False, sound=True)
ODD = Seen("tcp", 60_000, Estimate(31.0, 29.0, 33.0, ""), odd=True, sound=False)
OPEN = Seen("udp", 8, refusal("too few launches: 3 of 6", ""), odd=False, sound=False)


def test_each_stack_of_an_odd_host_has_a_row_and_the_layer_a_sentence() -> None:
    table = odd_table((OddHost("a", "d", (SOUND, OPEN, ODD), ("TCP",)), OddHost("a", "e", (ODD,), ())))
    assert table.rows[0] == ("a → d", "icmp", "1.01 ×\n0.990 – 1.10", "60 kB", "sound")
    assert [row[-1] for row in table.rows] == ["sound", "not known", "odd", "odd"]
    assert table.notes[0] == "d: TCP is to blame, for icmp is as quick as elsewhere"
    assert table.notes[1].startswith("e: no single layer explains it")


def test_the_hosts_part_and_where_the_wire_takes_over() -> None:
    found = Shares(
        np.array([8, 1000]), np.array([0.8, 0.1]), np.array([0.2, 0.9]), Estimate(400.0, 380.0, 420.0, "byte")
    )
    leads = Shares(found.sizes_bytes, found.hosts, found.wire, refusal("the wire leads at every size", "byte"))
    table = share_table({("a", "b", "tcp"): found, ("a", "b", "icmp"): leads})
    assert table.rows[0] == ("a → b", "tcp", "80 %", "10 %", "400 B\n[380, 420]")
    assert table.rows[1][-1] == "the wire leads at every size"


def test_what_a_host_adds() -> None:
    table = station_table("tcp", (Station("a", Estimate(5e3, 4e3, 6e3, "ns"), Estimate(4.0, 3.9, 4.1, "ns/byte")),))
    assert table.rows == (("a", "5.00 µs\n[4.00, 6.00]", "4.00 ns/B\n[3.90, 4.10]"),)
