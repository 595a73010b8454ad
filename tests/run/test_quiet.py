# SPDX-License-Identifier: BSD-3-Clause
"""Traffic of others before a run: heard on every host, judged by what the link carries."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from vaiven.plan.schema import Link
from vaiven.run import quiet
from vaiven.run.hosts import Host
from vaiven.run.path import Counters

FAST = Link(100_000_000, 2, 1500)


def heard(*received_bytes: int) -> dict[str, quiet.Heard]:
    """h1, h2, ... of which each received so much."""
    before = Counters(5, 1, 7, 1, 0, 0)
    return {
        f"h{number}": (before, Counters(5, 1, 7 + received, 9, 0, 0))
        for number, received in enumerate(received_bytes, start=1)
    }


@pytest.mark.parametrize(
    ("received", "link", "named"),
    [
        ((0, 0), FAST, []),
        ((25_000, 0), FAST, []),  # 0.7 Mb/s of 100
        ((60_000, 0), FAST, ["h1"]),
        ((60_000, 90_000), FAST, ["h1", "h2"]),
        ((60_000, 0), Link(10**9, 2, 1500), []),
        ((15_000, 0), None, []),  # 10 kB for each host may be its neighbours looking for it
        ((25_000, 0), None, ["h1"]),
    ],
)
def test_more_than_a_little_is_somebody_else(received: Sequence[int], link: Link | None, named: list[str]) -> None:
    found = quiet.findings(heard(*received), link, seconds=0.3)
    assert [text.partition(":")[0] for code, text in found if code == "busy-network"] == named


def test_the_rate_is_said() -> None:
    ((_, text),) = quiet.findings(heard(375_000), FAST, seconds=0.3)
    assert "10 Mb/s crossed its interface" in text and "wait until it stops" in text


def machine(said: str) -> Host:
    """A machine of its own, whose shell prints that."""
    return Host("far", "10.0.0.9", "eth0", "x86_64", (), lambda _: ["printf", "%s", said])


def test_both_readings_are_one_command() -> None:
    dev = "  eth0: {} 10 0 0 0 0 0 0 {} 20 0 0 0 0 0 0\n"
    host = machine(dev.format(1000, 2000) + "---\n" + dev.format(91_000, 3000))
    ((before, after),) = quiet.listen({"far": host}, seconds=0).values()
    assert (after.since(before).rx_bytes, after.since(before).tx_bytes) == (90_000, 1000)


def test_who_cannot_say_is_left_out() -> None:
    silent = Host("gone", "10.0.0.8", "eth0", "x86_64", (), lambda _: ["false"])
    nameless = Host("odd", "10.0.0.7", "", "x86_64", (), list)
    assert quiet.listen({"gone": silent, "odd": nameless, "empty": machine("")}, seconds=0) == {}
    assert quiet.findings({}, FAST) == []
