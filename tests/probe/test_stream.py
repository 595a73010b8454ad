# SPDX-License-Identifier: BSD-3-Clause
"""Messages to several far ends at once, each over a connection of its own, on loopback."""

from __future__ import annotations

import pytest

from .test_fanout import check_many


@pytest.mark.parametrize("stack", ["tcp", "tcp-nagle", "udp"])
def test_every_connection_carries_every_message(ask_many, stack: str) -> None:
    near, fars = ask_many("stream", stack, 4, "--one-clock", sizes=(1, 1000, 60_000))
    assert near.status == 0 and [far.status for far in fars] == [0] * 4
    for cell in near.cells:
        check_many(cell, "stream", 4, 4)
        assert (cell["resent"] is None) == (stack == "udp")


def test_messages_that_fill_every_buffer_arrive_whole(ask_many) -> None:
    near, _ = ask_many("stream", "tcp", 2, "--one-clock", sizes=(30_000_000,), samples=2)
    check_many(near.cells[0], "stream", 2, 2)


@pytest.mark.parametrize(
    ("stack", "options", "words"),
    [
        ("eth", (), "one message after the other"),
        ("tcp", ("--write", "split"), "one write"),
        ("udp", ("--sizes", "0"), "empty"),
    ],
)
def test_what_cannot_be_asked_is_refused(probe, stack: str, options: tuple[str, ...], words: str) -> None:
    ended = probe.alone("near", stack, "--peer", "127.0.0.1:9", "--ask", "stream", "--sizes", "8", *options)
    assert ended.status == 2 and words in ended.error["text"]
