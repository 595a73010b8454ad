# SPDX-License-Identifier: BSD-3-Clause
"""A few launches alone on their network, and beside a stranger, by the bench that makes 200 of every stack."""

from __future__ import annotations

from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def strangers(bench: dict[str, ModuleType]) -> ModuleType:
    return bench["strangers"]


@pytest.mark.slow
@pytest.mark.lab
@pytest.mark.root
@pytest.mark.parametrize(("ask", "stacks"), [("pingpong", "icmp,udp,tcp"), ("fanout", "group")])
def test_nobody_is_no_stranger_and_one_of_twenty_bytes_is(strangers: ModuleType, ask: str, stacks: str) -> None:
    for share in (0.0, strangers.SHARE):
        for one in strangers.counted((ask,), 6, share, stacks):
            assert one.launches == 6
            assert one.warned == 0 if share == 0 else one.warned >= 3, one  # a busy machine may hold up a stranger


def test_rows_say_the_worst(strangers: ModuleType) -> None:
    quiet = [strangers.Warned("pingpong", name, 200, number) for name, number in (("udp", 0), ("tcp", 1))]
    beside = [strangers.Warned("pingpong", name, 200, number) for name, number in (("udp", 200), ("tcp", 194))]
    false, found = strangers.rows(quiet, beside, 0.05)
    assert (false.middle, false.holds) == (1, False) and (found.middle, found.holds) == (0.97, False)
    assert strangers.rows(quiet[:1], beside[:1], 0.05)[1].holds
    assert "| pingpong | tcp | 1 of 200 | 194 of 200 |" in strangers.table(quiet, beside)
