# SPDX-License-Identifier: BSD-3-Clause
"""What counts as lost time: what witnesses of the machine counted between two readings, against the launch."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from vaiven.run import lost, reading
from vaiven.run.hosts import Host
from vaiven.run.place import Place
from vaiven.store.record import HostsPlace, Loss

SECOND = 10**9
STAT = """cpu  3 1 2 9 0 0 5 7 0 0
cpu0 1 1 1 4 0 0 2 3 0 0
cpu1 2 0 1 5 0 0 3 4 0 0
intr 512 0 0 0 0 0 0 9 1
"""


def seen(ns: int, witness: str = "real-time", where: str = "cpu1") -> dict[tuple[str, str], int]:
    return {(witness, where): ns}


def test_stolen_time_is_told_by_processor_and_host() -> None:
    assert lost.stolen(STAT) == {("steal", "cpu0"): 30_000_000, ("steal", "cpu1"): 40_000_000}
    assert set(lost.stolen(STAT, "h7")) == {("steal", "h7 cpu0"), ("steal", "h7 cpu1")}
    assert lost.stolen("") == lost.stolen("cpu0 1 2 3") == lost.stolen("cpu0 1 1 1 4 0 0 2 x") == {}


@pytest.mark.parametrize(
    ("lost_ns", "of_ns", "counts"),
    [
        (0, SECOND, False),
        (SECOND // 100, SECOND, False),
        (SECOND // 100 + 1, SECOND, True),
        (2_000_000, SECOND // 20, False),
        (2_000_001, SECOND // 20, True),
        (-5, SECOND, False),
    ],
)
def test_lost_is_more_than_a_hundredth_and_more_than_an_interrupt(lost_ns: int, of_ns: int, counts: bool) -> None:
    found = lost.losses(seen(7), seen(7 + lost_ns), of_ns)
    assert found == ((Loss(witness="real-time", where="cpu1", lost_ns=lost_ns, of_ns=of_ns),) if counts else ())


def test_of_ticks_the_first_may_have_been_full_before() -> None:
    before, one, two = (seen(ticks * 10_000_000, "steal") for ticks in (5, 6, 7))
    assert lost.losses(before, one, SECOND // 10) == ()
    (found,) = lost.losses(before, two, SECOND // 10)
    assert (found.witness, found.lost_ns, found.share) == ("steal", 10_000_000, 0.1)


def test_the_gravest_comes_first_and_a_witness_that_went_or_came_says_nothing() -> None:
    before = seen(0) | seen(0, where="cpu0") | seen(0, where="gone")
    after = seen(SECOND // 9) | seen(SECOND // 5, where="cpu0") | seen(SECOND, where="new")
    found = lost.losses(before, after, SECOND)
    assert [one.where for one in found] == ["cpu0", "cpu1"]
    worse = tuple(msgspec.structs.replace(one, lost_ns=one.lost_ns * 2) for one in found[1:])
    assert lost.gravest([found, worse]) == (worse[0], found[0])
    assert lost.gravest([(), ()]) == ()


def test_a_launch_cannot_lose_more_than_it_took() -> None:
    assert lost.losses(seen(0), seen(9 * SECOND), SECOND)[0].share == 1.0


def test_hosts_say_what_was_stolen_beside_their_counters() -> None:
    """One that is reached by a command, one that says nothing; the processors of this machine have no other name."""
    here = Host("a", "127.0.0.1", "lo", "x", (), list)
    silent = Host("b", "127.0.0.1", "lo", "x", (), lambda _: ["false"])
    found = reading.read(here, silent, Place({}, {}, {}, None, HostsPlace()))
    assert found.near and not found.far and {where.split()[0] for _, where in found.counted} == {"a"}
    ours = replace(here, here=True)
    again = reading.read(ours, ours, Place({}, {}, {}, None, HostsPlace()))
    assert again.far is None and {where[:3] for _, where in again.counted} == {"cpu"}
