# SPDX-License-Identifier: BSD-3-Clause
"""What fresh connections cost, from made-up numbers: the table, and what was seen of one of them."""

from __future__ import annotations

from dataclasses import replace

from vaiven.model.slow_start import Look, Opening, Step, Windows
from vaiven.report.first import bursts_text, first_section, first_table
from vaiven.results.findings import Findings
from vaiven.stats.estimate import Estimate

WINDOWS = Windows(1.0, 62.0, 70.0, 107.0, 1.0, None)
FOUND = Opening(
    "tcp", "one1", "one2", 100_000, 5.2e6, 40e6, 20.1e6, 20e6, 39e6, 1.0, Estimate(1.0, 0.9, 1.1, ""), WINDOWS,
    (1, 2, 4, 8, 16, 29, 10), (1, 2, 4, 8, 16, 32, 7), 1.03, None, (),
)  # fmt: skip
STEPS = (Step(0.0, 1448), Step(5e6, acked_bytes=1448), Step(5e6, 2896), Step(5.1e6, 4344))


def test_a_row_has_what_was_measured_and_what_the_rule_says() -> None:
    (row,) = first_table([FOUND]).rows
    assert row[:3] == ("100 kB", "tcp", "one1 → one2")
    assert row[3:8] == ("5.20 ms", "40.0 ms", "20.1 ms", "20.0 ms", "39.0 ms")
    assert row[8:] == ("100 %\n90 % – 110 %", "103 %", "1 → 62", "1 2 4 8 16 29 …\n1 2 4 8 16 32 …")


def test_what_nobody_saw_or_knows_is_a_dash() -> None:
    blind = replace(FOUND, bursts=(), rule=(), rule_over_warm=None, windows=Windows(*[None] * 6))
    (row,) = first_table([blind]).rows
    assert row[9:] == ("–", "– → –", "–\n–") and bursts_text((10, 20)) == "10 20"


def test_a_page_shows_each_connection_that_was_looked_at(found: Findings) -> None:
    assert first_section([FOUND], found.run).widgets == ()
    section = first_section([FOUND, replace(FOUND, look=Look(1448, STEPS, ()))], found.run)
    ((choice,),) = (widget.choices for widget in section.widgets)
    assert choice.label == "tcp, one1 → one2, 100 kB"
    assert [trace["mode"] for trace in choice.figure["data"]] == ["markers", "lines"]
    assert choice.figure["data"][0]["x"] == [0, 5, 5.1] and choice.table.rows[1] == ("sent", "5.00 ms", "2896 B")
