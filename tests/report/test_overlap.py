# SPDX-License-Identifier: BSD-3-Clause
"""The table of an overlap, from made-up numbers."""

from __future__ import annotations

from dataclasses import replace

from vaiven.model.overlap import Overlap
from vaiven.report.overlap import overlap_table
from vaiven.stats.estimate import Estimate, refusal


def test_a_row_says_what_is_hidden_and_how_well_that_is_known() -> None:
    known = Overlap(
        stack="tcp", near="a", far="b", size_bytes=1000, talk_ns=100e3, work_ns=90e3, both_ns=120e3, typical_share=0.78,
        share=Estimate(0.78, 0.7, 0.8, ""),
    )  # fmt: skip
    few = replace(known, both_ns=190e3, typical_share=0.0, share=refusal("too few launches: 2 of 6", ""))
    first, second = overlap_table([known, few]).rows
    assert first == ("1 kB", "tcp", "a → b", "100 µs", "90.0 µs", "120 µs", "78 %\n70 % – 80 %")
    assert second[-1] == "0 %"
