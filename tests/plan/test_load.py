# SPDX-License-Identifier: BSD-3-Clause
"""How many frames a second a plan needs, and when that is too many."""

from __future__ import annotations

import pytest

from vaiven.errors import VaivenError
from vaiven.plan import design as designs
from vaiven.plan import load
from vaiven.plan.design import Available
from vaiven.plan.schema import Link, Plan
from vaiven.plan.sweep import Limits

KNOWN = {
    "udp": Available(Limits(0, 65_507), ("pingpong", "fanout")),
    "raw": Available(Limits(1, 2**26), ("fanout",), to_all=True),
}
LINK = Link(100_000_000, 2, 1500)
LINE = 1e8 / (8 * 1538)


def needed(*sizes: int, stacks: tuple[str, ...] = ("udp",), question: str = "pingpong", link: Link = LINK) -> float:
    plan = Plan(stacks=stacks, questions=(question,), sizes=sizes, receivers=(1, 3))
    return load.frames_per_s(designs.resolve(plan, "abcd", KNOWN, lab=True), KNOWN, link)


def test_messages_of_one_frame_wait_for_each_other() -> None:
    assert needed(0, 64, 1472) == 0


def test_a_longer_message_needs_what_the_line_carries() -> None:
    assert needed(64, 3000) == pytest.approx(LINE)
    assert needed(3000, link=Link(10_000_000, 1, 1500)) == pytest.approx(LINE / 10)
    assert needed(3000, link=Link(100_000_000, 2, 576)) == pytest.approx(1e8 / (8 * 614))


def test_what_is_sent_to_all_at_once_is_copied_for_each() -> None:
    assert needed(3000, stacks=("raw",), question="fanout") == pytest.approx(3 * LINE)
    assert needed(3000, stacks=("raw[to=multicast]",), question="fanout") == pytest.approx(3 * LINE)
    assert needed(3000, stacks=("raw[to=each]",), question="fanout") == pytest.approx(LINE)
    assert needed(3000, stacks=("udp",), question="fanout") == pytest.approx(LINE)


def test_all_processes_of_a_program_may_send_at_once() -> None:
    known = {**KNOWN, "openmpi": Available(Limits(0, 2**26), ("fft",))}
    plan = Plan(stacks=("openmpi",), questions=("fft",), hosts_at_once=(2, 4))
    assert load.frames_per_s(designs.resolve(plan, "abcd", known, lab=True), known, LINK) == pytest.approx(4 * LINE)


def test_pairs_at_the_same_time_need_a_line_each() -> None:
    plan = Plan(stacks=("udp",), questions=("pingpong", "fanout"), sizes=(3000,), pairs="rounds")
    assert load.frames_per_s(designs.resolve(plan, "abcde", KNOWN, lab=True), KNOWN, LINK) == pytest.approx(2 * LINE)


def test_more_than_was_measured_is_refused_with_both_numbers() -> None:
    design = designs.resolve(Plan(stacks=("udp",), sizes=(3000,)), "ab", KNOWN, lab=True)
    load.require(design, KNOWN, LINK, None)
    load.require(design, KNOWN, LINK, LINE)
    with pytest.raises(VaivenError, match=r"needs 8,127 frames/s.*carry 5,000") as refused:
        load.require(design, KNOWN, LINK, 5000)
    assert refused.value.code == "too-many-frames"
