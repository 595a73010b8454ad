# SPDX-License-Identifier: BSD-3-Clause
"""What a table and a page say of a verdict: what was printed beside what was measured, and how to measure it."""

from __future__ import annotations

import pytest
from tests.papers import runs

from vaiven.cli import published as words
from vaiven.papers.claims import published
from vaiven.papers.judge import Verdict, judge


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    return {one.claim.id: one for one in judge(published(), runs.FAITHFUL.candidates)}


def test_a_verdict_of_slow_hosts_says_that_they_are_a_model(verdicts: dict[str, Verdict]) -> None:
    assert words.word_text(verdicts["A17"]) == "holds (of a model)"
    assert words.word_text(verdicts["B01"]) == "holds" and words.word_text(verdicts["A01"]) == "no check"


def test_printed_and_measured_stand_beside_each_other(verdicts: dict[str, Verdict]) -> None:
    assert words.printed_text(verdicts["B01"]).startswith("0.086 ms/byte, meant: 0.086 us/byte")
    assert words.printed_text(verdicts["A02"]) == ""
    side, _, text = words.measured_text(verdicts["A58"].closest).partition(": ")
    assert "800 ms against " in side and " ms" in side and text.startswith("0.8 <= to_one('group'")
    assert "] against 3.00" in words.measured_text(verdicts["A27"].closest)  # a ratio has no unit
    assert words.measured_text(verdicts["A05"].closest) == ""


def test_the_plan_is_a_command() -> None:
    plans = {"A60": ("papers/a-one-receiver and papers/a-slow-daemons", "standard"), "B01": ("papers/b-tau", "full")}
    assert words.plan_text("B01", plans) == "vaiven measure papers/b-tau"
    assert words.plan_text("A60", plans) == (
        "vaiven measure papers/a-one-receiver --length standard && "
        "vaiven measure papers/a-slow-daemons --length standard"
    )
    assert words.plan_text("A04", plans) == ""


def test_a_result_has_its_facts_in_order_and_no_empty_one(verdicts: dict[str, Verdict]) -> None:
    found = words.result(verdicts["B01"], {"B01": ("papers/b-tau", "quick")})
    facts = dict(found.facts)
    assert "11.6 kB/s" in facts["where the paper erred"] and "0.0085 us a byte" in facts["today"]
    assert facts["measured by"] == "vaiven measure papers/b-tau --length quick" and "ours" in facts["inequality"]
    assert all(facts.values()) and facts["stands in"] == "line 80 of the text"
    assert found.rests.startswith("margin ") and "adjusted" in found.rests
    assert words.result(verdicts["C08"], {}).rests == "a fact: it is so, or is not"
    untold = words.result(verdicts["A08"], {})
    assert not untold.rests and "machines that are gone" in dict(untold.facts)["why not told"]


def test_the_page_has_every_result_that_was_asked_for_and_the_figures_that_they_cite(
    verdicts: dict[str, Verdict],
) -> None:
    text = words.page([verdicts["A12"], verdicts["C01"]], runs.FAITHFUL.candidates, {})
    assert 'id="A12"' in text and 'id="A13"' not in text and "Paper B" not in text
    assert "figure C.6" in text and "figure 3.1" in text and "figure C.8" not in text
