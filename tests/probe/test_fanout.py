# SPDX-License-Identifier: BSD-3-Clause
"""One message for several far ends on loopback: every end has it whole, its time is the last one's, losses are told."""

from __future__ import annotations

import signal
import time

import pytest

SIZES = (1, 7, 8, 1000, 60_000)


@pytest.fixture
def ask(ask_many):
    def call(*arguments, **options):
        return ask_many("fanout", *arguments, **{"sizes": SIZES, **options})

    return call


def check_many(cell: dict, ask: str, ends: int, samples: int) -> None:
    """What holds of every cell of several far ends, of which nothing was lost. A round that an end began too late, as
    on a busy machine, has no time: it is counted and tried again, until the time of the cell is up."""
    timed = len(cell["last_ns"])
    assert cell["ask"] == ask and cell["far"] == ["127.0.0.1"] * ends
    assert {len(each) for each in cell["each_ns"]} == {timed}
    assert timed == samples or (cell["late"] > 0 and 1 <= timed < samples)
    assert cell["last_ns"] == [max(each) for each in zip(*cell["each_ns"], strict=True)]
    assert (cell["lost"], cell["missing"], cell["corrupt"]) == (0, [0] * ends, 0)
    assert cell["cpu_near_ns"] >= 0 and cell["cpu_far_ns"] > 0


def check_cell(cell: dict, ends: int, samples: int) -> None:
    check_many(cell, "fanout", ends, samples)
    assert len(cell["each_ns"]) == ends and cell["late"] == 0
    assert all(ns > 0 for each in cell["each_ns"] for ns in each)


@pytest.mark.parametrize(
    ("stack", "both"),
    [
        ("tcp", ()),
        ("tcp-nagle", ("--write", "split")),
        ("udp", ("--buffers", "cold")),
        ("raw", ()),
        pytest.param("raw", ("--to", "multicast"), marks=pytest.mark.native),
        ("raw", ("--to", "each")),
        ("group", ()),
    ],
)
def test_everybody_gets_every_message(ask, stack: str, both: tuple[str, ...]) -> None:
    near, fars = ask(stack, 3, "--one-clock", both=both)
    assert near.status == 0 and [far.status for far in fars] == [0, 0, 0]
    assert [cell["size_bytes"] for cell in near.cells] == list(SIZES)
    for cell in near.cells:
        check_cell(cell, 3, 4)
        assert cell["clock"] == {"kind": "common", "error_ns": 0}
        assert (cell["resent"] is None) == (not stack.startswith(("tcp", "group")))


def test_one_far_end_is_enough(ask) -> None:
    near, _ = ask("tcp", 1, "--one-clock", sizes=(100,))
    check_cell(near.cells[0], 1, 4)


def test_a_message_for_many_is_on_the_wire_as_often_as_it_is_sent(ask) -> None:
    wire = ("--mtu", "1500", "--rate-bps", "100000000", "--hops", "2")
    once = ask("raw", 2, "--one-clock", *wire, sizes=(1_000_000,), samples=1)[0].cells[0]["wire"]
    each = ask("raw", 2, "--one-clock", *wire, both=("--to", "each"), sizes=(1_000_000,), samples=1)[0].cells[0]["wire"]
    assert once["frames"] == 687  # 1456 bytes in each, the header of a fragment beside them
    assert each["frames"] == 2 * once["frames"] and each["bytes"] == 2 * once["bytes"]
    assert 84_000_000 < once["ns"] < 85_000_000 < 168_000_000 < each["ns"] < 170_000_000


def test_without_one_clock_the_clocks_are_compared(ask) -> None:
    """On one machine they are one: what the bounds say is true, and where they are too wide a barrier stands in."""
    near, _ = ask("tcp", 2, sizes=(1, 4_000_000), samples=3)
    assert near.status == 0, near.error
    small, large = near.cells
    kinds = [cell["clock"]["kind"] for cell in near.cells]
    assert set(kinds) <= {"bounded", "barrier"}
    for cell in (small, large):
        assert cell["clock"]["error_ns"] > 0
        rough = cell["clock"]["kind"] == "barrier"
        # A tenth at the most, of the times as they were before the clocks were read for the last time.
        assert rough or 8 * cell["clock"]["error_ns"] <= sorted(cell["last_ns"])[len(cell["last_ns"]) // 2]
        assert len(cell["last_ns"]) == 3 and all(ns >= 0 for each in cell["each_ns"] for ns in each)
    said = [record["code"] for record in near.of("warning")]
    assert said.count("barrier-clock") == kinds.count("barrier")


CELLS_MOST = 9  # an emulated end is slow, so that fewer of its cells have a barrier


def held_up(probe) -> tuple[dict, float]:
    """The cell of a fanout to two ends, the second of which stands still for 3 ms now and then; how long it took."""
    (first, one), (second, two) = probe.far("tcp"), probe.far("tcp")
    command = ("near", "tcp", "--peer", one, "--also", two, "--ask", "fanout", "--sizes", "1")
    near = probe.start(*command, "--samples", "500", "--cell-ms", "1500")
    near.ready()  # hello
    while near.process.poll() is None and near.seconds < 10:
        for held, for_s in ((signal.SIGSTOP, 0.003), (signal.SIGCONT, 0.020)):
            second.process.send_signal(held)
            time.sleep(for_s)
    ended = near.end()
    assert ended.status == 0, ended.error
    assert first.end().status == second.end().status == 0
    return ended.cells[0], ended.seconds


def test_an_end_that_was_not_there_when_a_round_began_gives_it_no_time(probe) -> None:
    """By a barrier an end counts from when it heard of it; one that was held up hears of it after its message.

    Where the messages take long, on a busy machine, the clocks are good enough and no barrier is used.
    """
    for _ in range(CELLS_MOST):
        cell, seconds = held_up(probe)
        assert max(cell["last_ns"]) < 10**9 * seconds
        if cell["clock"]["kind"] == "barrier" and cell["late"] > 0:
            return
    pytest.fail(f"no barrier in {CELLS_MOST} cells")


def test_a_cap_spaces_the_rounds(ask) -> None:
    """Two messages of 50000 B in each of at least 3 + 1 rounds, at 8 Mb/s: 100 ms from one round to the next."""
    near, _ = ask("tcp", 2, "--one-clock", "--cap-bps", "8000000", sizes=(50_000,), samples=3)
    rounds = near.cells[0]["warmup"] + len(near.cells[0]["last_ns"])
    assert near.status == 0 and near.seconds > 0.1 * (rounds - 1)


def test_a_receiver_that_is_gone_ends_a_stream(probe) -> None:
    (first, one), (second, two) = probe.far("tcp"), probe.far("tcp")
    sizes = ",".join(["1000"] * 5000)  # more than can be measured before the far end is gone
    command = ("near", "tcp", "--peer", one, "--also", two, "--ask", "fanout", "--sizes", sizes, "--one-clock")
    near = probe.start(*command, "--samples", "2")
    near.ready()  # hello
    near.lines.append(near.process.stdout.readline())  # a cell: all far ends are there
    second.process.kill()
    ended = near.end()
    assert len(ended.cells) >= 1
    assert ended.status == 1 and ended.error["code"] in ("peer-gone", "no-answer")
    assert first.end().status == 1


@pytest.mark.parametrize(
    ("stack", "options", "words"),
    [
        ("icmp", ("--sizes", "8"), "far ends"),
        ("udp", ("--sizes", "0,8"), "empty"),
        ("udp", ("--sizes", "8", "--to", "each"), "--to means nothing"),
    ],
)
def test_what_cannot_be_asked_is_refused(probe, stack: str, options: tuple[str, ...], words: str) -> None:
    ended = probe.alone("near", stack, "--peer", "127.0.0.1:9", "--ask", "fanout", *options)
    assert ended.status == 2 and words in ended.error["text"]


def test_raw_answers_nothing_else(probe) -> None:
    ended = probe.alone("near", "raw", "--peer", "127.0.0.1:9", "--sizes", "8")
    assert ended.status == 2 and "fanout" in ended.error["text"]


def test_both_ends_must_mean_the_same_everybody(probe) -> None:
    far, peer = probe.far("raw", "--to", "multicast")
    near = probe.near("raw", peer, "--ask", "fanout", "--sizes", "8")
    assert near.error["code"] == "peer-options" and far.end().status == 1
