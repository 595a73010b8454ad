# SPDX-License-Identifier: BSD-3-Clause
"""What is told while a run goes on: typed, and in one line as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaiven.measuring.events import CellTimed, Event, LaunchBegan, Looked, Relay, SizesAdded, TimeLost, Warned
from vaiven.plan.order import Launch
from vaiven.plan.schema import Stop
from vaiven.plan.stack import parse
from vaiven.plan.stop import Look
from vaiven.store.record import Addition, Cell, Loss, LostLaunch, Refined

RULE = Stop(launches_min=8, launches_max=24, half_width=0.05)
LAUNCH = Launch(5, 1, parse("tcp[write=split]"), "pingpong", "demo1", "demo2", (8,))


@pytest.fixture
def told() -> list[Event]:
    return []


def test_what_a_look_found_is_said_plainly(told: list[Event]) -> None:
    found = Look(launches=24, half_width=0.118, cell="tcp pingpong 8 B a b", done=True, achieved=False)
    looks = [found, replace(found, done=False), replace(found, half_width=None), replace(found, achieved=True)]
    for look in looks:
        Relay(told.append, RULE).looked(look)
    Relay(told.append, Stop(launches_min=24, launches_max=24)).looked(found)
    begin = "after 24 launches of each stack the median of tcp pingpong 8 B a b"
    assert [str(one) for one in told] == [
        f"{begin} is known to 12 % (wanted: 5 %): not achieved",
        f"{begin} is known to 12 % (wanted: 5 %): it goes on",
        f"{begin} has no interval yet (wanted: 5 %): not achieved",
        "after 24 launches of each stack every median is known to 5 %: enough",
        f"{begin} is known to 12 %",
    ]
    assert [one.wanted for one in told if isinstance(one, Looked)] == [0.05] * 4 + [None]


def test_what_a_look_added_is_told_in_words(told: list[Event]) -> None:
    one = Addition(stack="tcp", ask="pingpong", near="a", far="b", sizes_bytes=(9, 10), why="a jump near 9 bytes",
                   knee=True, low_bytes=8, high_bytes=16)  # fmt: skip
    Relay(told.append, RULE).refined(Refined(blocks=8, additions=(one, one)))
    assert told[0] == told[1] and isinstance(told[0], SizesAdded) and told[0].sizes_bytes == (9, 10)
    assert str(told[0]) == "8 launches: tcp pingpong a b: a jump near 9 bytes: from now on also 9 10 B"


def test_launches_cells_and_warnings_have_plain_fields(told: list[Event]) -> None:
    relay = Relay(told.append, RULE)
    relay.launch_begins(LAUNCH, 1, 3, 125.0)
    relay.cell(LAUNCH, Cell(ask="pingpong", size_bytes=8, ns=[1]), 40_000.0)
    relay.cell(LAUNCH, Cell(ask="pingpong", size_bytes=8, ns=[None], lost=1), float("inf"))
    relay.warning("quiet", "nothing was heard")
    began, cell, lost, warned = told
    assert isinstance(began, LaunchBegan) and (began.number, began.block, began.stack) == (5, 1, "tcp[write=split]")
    assert isinstance(cell, CellTimed) and (cell.size_bytes, cell.median_ns, cell.sentinel) == (8, 40_000.0, False)
    assert str(began).endswith("demo1 to demo2 (3 launches, 2 min 5 s to the next look)")
    assert str(cell).endswith("8 B: 40.0 µs") and str(lost).endswith("8 B: lost")
    assert warned == Warned(code="quiet", text="nothing was heard")


def test_who_lost_its_time_is_told_with_the_worst_of_what_says_so(told: list[Event]) -> None:
    losses = tuple(Loss(witness="steal", where=f"cpu{n}", lost_ns=30_000_000 // n, of_ns=10**9) for n in (1, 2))
    lost = LostLaunch(launch=5, block=1, stack="tcp", ask="pingpong", near="a", far="b", sentinel=False, time=3,
                      losses=losses)  # fmt: skip
    for again in (True, False):
        Relay(told.append, RULE).lost(lost, again)
    begin = "launch 6: tcp pingpong lost 3.0 % of its time on cpu1 (30.0 ms, steal): "
    ends = "it is done again", "it is kept, and marked: it was done again often enough"
    assert [" ".join(str(one).split()) for one in told] == [begin + end for end in ends]
    assert isinstance(told[0], TimeLost) and (told[0].launch, told[0].time, told[0].losses) == (5, 3, losses)
