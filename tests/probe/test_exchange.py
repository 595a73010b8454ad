# SPDX-License-Identifier: BSD-3-Clause
"""Every end sends to every other at once, on loopback: all messages arrive, whoever is late is not counted."""

from __future__ import annotations

import pytest

from .test_fanout import check_many


@pytest.mark.parametrize(("stack", "ends"), [("tcp", 1), ("tcp", 4), ("tcp-nagle", 2), ("udp", 3)])
def test_everybody_gets_a_message_from_everybody(ask_many, stack: str, ends: int) -> None:
    near, fars = ask_many("exchange", stack, ends, "--one-clock", sizes=(1, 8, 20_000))
    assert near.status == 0 and [far.status for far in fars] == [0] * ends
    for cell in near.cells:
        check_many(cell, "exchange", ends, 4)
        assert len(cell["each_ns"]) == ends + 1  # the near end is one of them
        assert cell["resent"] is None if stack == "udp" else len(cell["resent"]) == ends + 1


def test_messages_that_fill_every_buffer_do_not_block_each_other(ask_many) -> None:
    near, _ = ask_many("exchange", "tcp", 2, "--one-clock", sizes=(30_000_000,), samples=2)
    check_many(near.cells[0], "exchange", 2, 2)


def test_without_one_clock_all_begin_by_bounded_clocks_or_by_a_barrier(ask_many) -> None:
    near, _ = ask_many("exchange", "tcp", 2, sizes=(1, 3_000_000))
    for cell in near.cells:
        check_many(cell, "exchange", 2, 4)
        assert cell["clock"]["kind"] in ("bounded", "barrier") and cell["clock"]["error_ns"] > 0


@pytest.mark.parametrize(("hops", "on_medium"), [(1, 6), (2, 2)])
def test_the_wire_is_taken_by_all_on_a_hub_and_by_each_port_on_a_switch(ask_many, hops: int, on_medium: int) -> None:
    wire = ("--mtu", "1500", "--rate-bps", "10000000", "--hops", str(hops))
    near, _ = ask_many("exchange", "udp", 2, "--one-clock", *wire, sizes=(1472,), samples=1)
    frame_ns = 1538 * 8 * 100
    assert near.cells[0]["wire"] == {"frames": 2, "bytes": 2 * 1538, "ns": (on_medium + hops - 1) * frame_ns}


def test_a_far_end_that_is_gone_ends_the_exchange(probe) -> None:
    (first, one), (second, two) = probe.far("tcp"), probe.far("tcp")
    sizes = ",".join(["1000"] * 5000)
    command = ("near", "tcp", "--peer", one, "--also", two, "--ask", "exchange", "--sizes", sizes, "--one-clock")
    near = probe.start(*command, "--samples", "2")
    near.ready()  # hello
    near.lines.append(near.process.stdout.readline())  # a cell: all are joined
    second.process.kill()
    ended = near.end()
    assert ended.status == 1 and ended.error["code"] in ("peer-gone", "no-answer")
    assert first.end().status == 1
