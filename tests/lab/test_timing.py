# SPDX-License-Identifier: BSD-3-Clause
"""Every frame of a timed fabric takes its time, judged by what a busy machine cannot spoil.

How near the formula a frame comes is a question for a machine that does nothing else: `vaiven lab check` answers it.
Here neither exits nor doors free frames early to make up for software. Then no frame can come early, and whatever else
this machine does can only make it later; so the quickest of many must come soon after its time. How soon, a slow
machine may say for itself: what the same messages take where there is no wire is its own. A wrong fabric is off by
whole frames, or by a share of a train, to either side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest
from tests.lab.texts import lab_text

from vaiven.lab import awake, exits, fabric, oneway
from vaiven.lab.lab import Lab
from vaiven.lab.oneway import Talk, Trains

pytestmark = [pytest.mark.lab, pytest.mark.alone]

EARLY_NS = 10_000  # what a timer is precise to (VV_TIMER_MIN_NS), twice
TRIES = 8


@dataclass(frozen=True)
class Question:
    """One host sends trains of such messages to one other, or to all."""

    stack: str
    sizes: tuple[int, ...]
    train: int = 1
    segment: bool = False
    to_all: bool = False


SINGLES = [
    Question("udp", (18, 500, 1472)),
    Question("eth", (27, 509, 1481)),
    Question("udp", (1472,), to_all=True),
]
TRAINS = [
    Question("udp", (1472,), train=30),
    Question("eth", (1481,), train=30),
    Question("udp", (1472,), train=30, segment=True),
    Question("udp", (1472,), train=30, to_all=True),
]


@pytest.fixture(params=[("hub", 10), ("switch", 100)], ids=["hub", "switch"])
def lab(request: pytest.FixtureRequest, raise_lab: Callable[..., Lab]) -> Iterator[Lab]:
    """Its processors are held awake, as while something is timed on it: one that slept frees a frame late."""
    kind, rate_mbps = request.param
    lab = raise_lab(lab_text("timing", 4, kind=kind, class_="timed", rate_mbps=rate_mbps))
    exits.command(lab, (f"exit {exit_.interface} lead_ns=0 door_ns=0" for exit_ in fabric.wire_exits(lab.topology)))
    with awake.kept(lab.topology):
        yield lab


@pytest.fixture
def own_ns(raise_lab: Callable[..., Lab]) -> Callable[[Question], int]:
    """What this machine needs, at its quickest, until the last message of that question is there, without any wire.

    One by one: where no wire cuts a train, it would cross as one piece.
    """
    free = raise_lab(lab_text("wireless", 4))

    def call(question: Question) -> int:
        return max(min(got.last_ns, default=0) for _ in range(2) for got in ask(free, replace(question, segment=False)))

    return call


def ask(lab: Lab, question: Question) -> list[Trains]:
    """What each receiver got, of each size."""
    first, *others = lab.hosts
    talk = Talk(near=first, far=tuple(others if question.to_all else others[:1]))
    samples = 20 if question.train == 1 else 4
    return oneway.ask([talk], lab.topology, question.stack, question.sizes, samples=samples, train=question.train,
                      segment=question.segment)[0]  # fmt: skip


def is_early(got: Trains) -> bool:
    return any(ns < got.wire_ns - EARLY_NS for ns in got.last_ns)


def is_late(got: Trains, frame_ns: float, own_ns: int) -> bool:
    """Whether even the quickest came more after its time than half a frame, 2 %, and what this machine takes itself."""
    return min(got.last_ns, default=10**12) > got.wire_ns + max(frame_ns / 2, 0.02 * got.wire_ns, own_ns)


def is_right(lab: Lab, question: Question, tries: int, own_ns: int = 0) -> bool:
    """Whether nothing is early, and in one of the tries nothing is lost and something is in time everywhere."""
    frame_ns = 1538 * fabric.byte_ns(lab.topology.fabric)
    for _ in range(tries):
        asked = ask(lab, question)
        if any(map(is_early, asked)):
            return False
        if not any(got.lost or is_late(got, frame_ns, own_ns) for got in asked):
            return True
    return False


@pytest.mark.parametrize("question", SINGLES + TRAINS, ids=str)
def test_frames_come_in_time_and_never_early(lab: Lab, own_ns: Callable[[Question], int], question: Question) -> None:
    assert is_right(lab, question, TRIES, own_ns(question))


def test_a_fabric_of_another_rate_is_not_taken_for_right(lab: Lab) -> None:
    """5 % more or less than it says."""
    byte_ns = fabric.byte_ns(lab.topology.fabric)
    for share in (0.95, 1.05):
        exits.command(lab, (f"exit {exit_.interface} byte_ns_q16={round(share * byte_ns * 65536)}"
                            for exit_ in fabric.wire_exits(lab.topology) if exit_.byte_ns))  # fmt: skip
        assert not is_right(lab, TRAINS[0], tries=2)


def test_frames_freed_at_the_start_of_their_time_are_found_early(lab: Lab) -> None:
    """What a token bucket does: it takes a frame's time after the frame, so the first one comes at once."""
    exits.command(lab, (f"exit {exit_.interface} byte_ns_q16=0" for exit_ in fabric.wire_exits(lab.topology)))
    assert not is_right(lab, SINGLES[0], tries=1)


def test_a_fabric_that_loses_frames_is_not_taken_for_right(lab: Lab) -> None:
    """A queue of no length drops what has to wait."""
    exits.command(lab, (f"exit {exit_.interface} queue_ns=0" for exit_ in fabric.wire_exits(lab.topology)))
    assert not is_right(lab, TRAINS[0], tries=2)
