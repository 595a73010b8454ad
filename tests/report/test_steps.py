# SPDX-License-Identifier: BSD-3-Clause
"""The table of the steps, from made-up numbers."""

from __future__ import annotations

from dataclasses import replace

from vaiven.model.steps import Steps, coding_share
from vaiven.report.steps import steps_table
from vaiven.stats.estimate import Estimate, refusal


def test_a_row_says_what_each_step_takes_and_what_is_held() -> None:
    known = Steps(
        stack="pvm-direct-xdr", near="a", far="b", size_bytes=1000, encode_ns=900, send_ns=2000, decode_ns=800,
        translate_ns=0, typical_share=0.17, share=Estimate(0.17, 0.16, 0.18, ""), out_bytes=4112, in_bytes=8224,
        translations=2,
    )  # fmt: skip
    few = replace(
        known,
        size_bytes=0,
        typical_share=0.0,
        share=refusal("too few launches: 2 of 6", ""),
        out_bytes=0,
        in_bytes=4112,
        translations=None,
    )
    first, second = steps_table([known, few]).rows
    assert first[:4] == ("1 kB", "pvm-direct-xdr", "a → b", "900 ns")
    assert first[-4:] == ("17 %\n16 % – 18 %", "4112 B", "8224 B", "2")
    assert second[-4:] == ("0 %", "0 B", "4112 B", "–")


def test_coding_is_held_against_one_way() -> None:
    assert coding_share(300, 100, 100, 5_000) == 0.1
