# SPDX-License-Identifier: BSD-3-Clause
"""The table of an overlap, from made-up numbers."""

from __future__ import annotations

from vaiven.model.overlap import Overlap
from vaiven.report.overlap import overlap_table
from vaiven.stats.estimate import Estimate, refusal


def test_a_row_says_what_is_hidden_and_how_well_that_is_known() -> None:
    known = Overlap("tcp", "a", "b", 1000, 100e3, 90e3, 120e3, 0.78, Estimate(0.78, 0.7, 0.8, ""))
    few = Overlap("udp", "a", "b", 1000, 100e3, 90e3, 190e3, 0.0, refusal("too few launches: 2 of 6", ""))
    first, second = overlap_table([known, few]).rows
    assert first == ("1 kB", "tcp", "a → b", "100 µs", "90.0 µs", "120 µs", "78 %\n70 % – 80 %")
    assert second[-1] == "0 %"
