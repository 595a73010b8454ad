# SPDX-License-Identifier: BSD-3-Clause
"""The page of published results: each with its verdict, the figures over the papers' axes, and nothing let through."""

from __future__ import annotations

import math

from vaiven.model.chart import Axis, Chart, Series
from vaiven.report.published import Paper, Picture, Result, published_page

GAP = (math.nan,) * 2
CHART = Chart(
    "time", "Run x.", Axis("message size, bytes", log=True), Axis("time, ms", log=True),
    (Series("sofia", (8.0, 1000.0), (2.0, 300.0), (1.9, 290.0), (2.1, 310.0)),
     Series("<b>", (8.0, 9.0), (1.0, 2.0), GAP, GAP)),
)  # fmt: skip
HOLDS = Result(
    "A12", "holds (of a model)", "It is quick.", "C.6", "1 to 10 ms", "2.0 [1.9, 2.1] ms against 1 ms: t < 1",
    "margin 2",
    (("where the paper erred", "a unit"), ("today", "quicker <i>still</i>")),
)  # fmt: skip
UNTOLD = Result("A13", "not measurable here", "It is flat.", "", "", "", "", (("why not told", "no run"),))


def page(*results: Result, pictures: tuple[Picture, ...] = ()) -> str:
    return published_page([Paper("A", "A paper", "Spanish", results, pictures)], ["20260101-x"])


def test_a_result_has_all_that_there_is_to_say_of_it() -> None:
    text = page(HOLDS, UNTOLD)
    for words in (
        "A12",
        "holds (of a model)",
        "1 to 10\u00a0ms",
        "against 1\u00a0ms",
        "where the paper erred",
        "margin 2",
    ):
        assert words in text
    assert "1 holds, 1 not measurable here" in text and "says how the model is made" in text
    assert '<details class="numbers" id="A12" open>' in text and '<details class="numbers" id="A13">' in text
    assert "&lt;i&gt;still" in text and "<i>still" not in text
    assert "judged on 20260101-x" in text


def test_without_a_model_nothing_is_said_of_one() -> None:
    assert "how the model is made" not in page(UNTOLD)


def test_figures_are_drawn_and_those_that_are_not_say_what_they_take() -> None:
    there, missing = Picture("C.6", "time", CHART), Picture("C.7", "rate", None, "the link runs at 100 Mb/s")
    text = page(HOLDS, pictures=(there, missing))
    assert 'id="figure-a-c-6"' in text and "message size, bytes" in text and "<svg" in text
    assert "Figure C.7, rate: the link runs at 100 Mb/s." in text
    assert "[1.90, 2.10]" in text and text.count("<td") > 10


def test_the_same_results_make_the_same_page() -> None:
    assert page(HOLDS, UNTOLD) == page(HOLDS, UNTOLD)
