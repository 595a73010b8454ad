# SPDX-License-Identifier: BSD-3-Clause
"""Cells: a value with its interval, with what may be the lab's, or with neither."""

from __future__ import annotations

import pytest

from vaiven.model.numbers import DASH
from vaiven.report.table import share_text, times_text, two_lines, value_text, with_error
from vaiven.stats.estimate import Estimate


@pytest.mark.parametrize(
    ("text", "value", "low", "high", "said"),
    [
        (value_text, 45_200.0, 44_900.0, 45_600.0, "45.2 µs\n[44.9, 45.6]"),
        (share_text, 0.25, 0.24, 0.26, "25 %\n24 % – 26 %"),
        (times_text, 1.5, 1.4, 1.6, "1.50 ×\n1.40 – 1.60"),
    ],
)
def test_an_interval_stands_on_a_second_line_where_there_is_one(text, value, low, high, said) -> None:
    few = Estimate(None, None, None, "", refused="too few launches: 5 of 8")
    assert text(value, Estimate(value, low, high, "")) == said
    assert text(value, few) == said.partition("\n")[0]


def test_what_has_no_interval_stays_one_line() -> None:
    assert two_lines("45.2 µs") == "45.2 µs"


def test_a_number_has_what_may_be_the_labs_below_it_where_both_are_known() -> None:
    assert with_error("45.2 µs", "0.3 µs") == "45.2 µs\n± 0.3 µs"
    assert with_error("45.2 µs", DASH) == "45.2 µs"
    assert with_error(DASH, "0.3 µs") == DASH
