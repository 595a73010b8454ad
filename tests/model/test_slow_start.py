# SPDX-License-Identifier: BSD-3-Clause
"""Bursts of connections whose every segment is known, and the rule against what can be counted by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.model.slow_start import Step, Wire, bursts, cost_ns, doubling, look, simulated, wire_of

SEGMENT = 1000
FAST = Wire(segment_ns=1.0, round_trip_ns=1e6)  # whose round trip is long beside any burst


def test_a_round_ends_when_something_of_it_is_acknowledged() -> None:
    steps = [
        Step(0, sent_bytes=1000), Step(10, acked_bytes=1000), Step(11, sent_bytes=2000), Step(12, sent_bytes=3000),
        Step(20, acked_bytes=2000), Step(21, sent_bytes=5000), Step(22, acked_bytes=3000), Step(23, sent_bytes=6500),
    ]  # fmt: skip
    assert bursts(steps, SEGMENT) == (1, 2, 4)  # a batch of two, then one and a half


def test_what_is_sent_again_or_only_acknowledged_is_no_segment_of_a_round() -> None:
    steps = [Step(0, sent_bytes=2000), Step(5, sent_bytes=1000), Step(9, acked_bytes=2000), Step(9.5, acked_bytes=2000)]
    assert bursts(steps, SEGMENT) == (2,) and bursts([], SEGMENT) == ()


def test_the_rule_doubles_until_all_has_left() -> None:
    assert doubling(1, 10) == (1, 2, 4, 3) and doubling(10, 70) == (10, 20, 40) and doubling(100, 70) == (70,)
    assert doubling(3, 0) == ()


@given(st.integers(1, 40), st.integers(1, 400), st.floats(1e3, 1e7), st.floats(1.0, 1e6))
def test_on_any_wire_the_rule_sends_all_in_order_and_never_more_than_the_window(
    window: int, segments: int, round_trip_ns: float, segment_ns: float
) -> None:
    wire = Wire(segment_ns, max(round_trip_ns, 2 * segment_ns))
    size = SEGMENT * segments - 1
    steps = simulated(size, SEGMENT, window, wire)
    sent = [step.sent_bytes for step in steps if step.sent_bytes]
    acked = [step.acked_bytes for step in steps if step.acked_bytes]
    assert sent == acked == [*range(SEGMENT, size, SEGMENT), size]
    assert all(one.at_ns <= other.at_ns for one, other in pairwise(steps))
    first, *_ = bursts(steps, SEGMENT)
    assert first == min(window, segments) and sum(bursts(steps, SEGMENT)) == segments
    assert cost_ns(size, SEGMENT, window, wire) >= -1e-3


@pytest.mark.parametrize("window", [1, 3, 10])
def test_where_the_round_trip_is_long_the_rule_is_the_doubling(window: int) -> None:
    assert bursts(simulated(100 * SEGMENT, SEGMENT, window, FAST), SEGMENT) == doubling(window, 100)


def test_each_round_before_the_last_costs_a_round_trip_less_what_the_wire_was_busy() -> None:
    wire = Wire(segment_ns=10.0, round_trip_ns=1000.0)
    # One segment at 0, two at 1000; their acknowledgements are back at 2000 and 2010, and let two more go each, the
    # last of them at 2030. Without slow start it goes at 60.
    assert cost_ns(7 * SEGMENT, SEGMENT, 1, wire) == pytest.approx(2030 - 60)
    assert cost_ns(7 * SEGMENT, SEGMENT, 7, wire) == 0


def test_a_full_segment_takes_longer_there_than_the_syn_that_opened_the_connection() -> None:
    wire = wire_of(1e9, hops=2, mtu_bytes=1500, connect_ns=100_000)
    assert wire.segment_ns == pytest.approx(1538 * 8) and wire.round_trip_ns == pytest.approx(100_000 + 2 * 1440 * 8)


def row(end: str, at_ns: int, out: bool, seq: int, ack: int, data_bytes: int, dropped: int = 0) -> dict:
    facts = {"end": end, "at_ns": at_ns, "out": out, "seq": seq, "ack": ack, "data_bytes": data_bytes}
    return facts | {"dropped": dropped, "began_ns": 1000, "segment_bytes": SEGMENT}


def test_a_look_takes_what_left_what_came_and_what_was_acknowledged() -> None:
    rows = [
        row("near", 1005, True, 0, 0, 1000), row("near", 1030, False, 0, 1000, 0),
        row("near", 1031, True, 1000, 0, 900), row("near", 1090, False, 0, 1900, 1000),
        row("near", 1095, True, 1900, 1000, 0), row("far", 1015, False, 0, 0, 1000),
        row("far", 1050, False, 1000, 0, 900), row("far", 1060, True, 0, 1900, 1000),
    ]  # fmt: skip
    found = look(rows)
    assert found and found.bursts == (1, 1)
    assert [(step.at_ns, step.sent_bytes, step.acked_bytes) for step in found.steps] == [
        (5, 1000, 0), (30, 0, 1000), (31, 1900, 0), (90, 0, 1900),
    ]  # fmt: skip
    assert found.came == ((15, 1000), (50, 1900))


def test_who_missed_a_segment_or_saw_nothing_says_nothing() -> None:
    assert look([row("far", 1015, False, 0, 0, 1000)]) is None
    assert look([row("near", 1005, True, 0, 0, 1000), row("far", 1015, False, 0, 0, 1000, dropped=1)]) is None
