# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of ends that send both ways at once, on loopback: each end has one message from its partner, and no other."""

from __future__ import annotations

import pytest

from .test_fanout import check_many


@pytest.mark.parametrize(("stack", "ends"), [("tcp", 1), ("tcp", 5), ("udp", 3)])
def test_each_end_gets_the_message_of_its_partner(ask_many, stack: str, ends: int) -> None:
    near, fars = ask_many("bisection", stack, ends, "--one-clock", sizes=(1, 8, 20_000))
    assert near.status == 0 and [far.status for far in fars] == [0] * ends
    for cell in near.cells:
        check_many(cell, "bisection", ends, 4)
        assert len(cell["each_ns"]) == ends + 1  # the near end is one of them


def test_messages_that_fill_every_buffer_do_not_block_each_other(ask_many) -> None:
    near, _ = ask_many("bisection", "tcp", 3, "--one-clock", sizes=(30_000_000,), samples=2)
    check_many(near.cells[0], "bisection", 3, 2)


@pytest.mark.parametrize(("hops", "on_medium"), [(1, 4), (2, 1)])
def test_the_wire_is_taken_by_all_on_a_hub_and_by_one_message_on_a_switch(ask_many, hops: int, on_medium: int) -> None:
    wire = ("--mtu", "1500", "--rate-bps", "10000000", "--hops", str(hops))
    near, _ = ask_many("bisection", "udp", 3, "--one-clock", *wire, sizes=(1472,), samples=1)
    frame_ns = 1538 * 8 * 100
    assert near.cells[0]["wire"] == {"frames": 1, "bytes": 1538, "ns": (on_medium + hops - 1) * frame_ns}


def test_ends_that_are_no_pairs_are_refused(ask_many) -> None:
    near, _ = ask_many("bisection", "tcp", 2, "--one-clock", sizes=(8,))
    assert near.status == 1 and "3 ends are no pairs" in near.error["text"]
