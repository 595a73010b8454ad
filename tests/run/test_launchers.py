# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the two ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vaiven.errors import VaivenError
from vaiven.plan import stack as stacks
from vaiven.plan.design import Available
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort
from vaiven.plan.sweep import Limits
from vaiven.run.hosts import Host
from vaiven.run.launchers import Setting, far_argv, in_pairs, near_argv

SOCKETS = Available(Limits(1, 2**26), ("pingpong", "fanout"))
RANKS = Available(Limits(0, 2**26), ("pingpong",), library="openmpi", ranked=True, spins=True)
KNOWN = {"tcp": SOCKETS, "raw": SOCKETS, "openmpi": RANKS}
SETTING = Setting(known=KNOWN, effort=Effort(), link=None, run_began_s=0.0)


def _processor(argv: list[str]) -> str | None:
    return argv[argv.index("--cpu") + 1] if "--cpu" in argv else None


def _places(stack: str, processors: tuple[int, ...]) -> tuple[str | None, str | None]:
    """(near's, far's) processor on hosts that share those."""
    host = Host("h", "10.0.0.1", "eth0", "x86_64", ("probe",), list, processors=processors)
    work = Launch(
        number=0,
        block=0,
        stack=stacks.parse(stack),
        ask="pingpong",
        near="h",
        far="h",
        sizes_bytes=(8,),
        sentinel=False,
    )
    return _processor(near_argv(work, host, ["10.0.0.2:1"], SETTING)), _processor(far_argv(work, host, SETTING))


def test_the_near_end_is_told_how_many_samples_it_takes_at_least() -> None:
    work = Launch(0, 0, stacks.parse("tcp"), "pingpong", "a", "b", (8,))
    host = Host("a", "10.0.0.1", "eth0", "x86_64", ("probe",), list)
    near = near_argv(work, host, ["10.0.0.2:1"], SETTING)
    assert near[near.index("--samples-min") + 1] == str(Effort().samples_min) == "8"


def test_ranks_are_told_no_peer_and_the_far_one_no_key() -> None:
    host = Host("h", "10.0.0.1", "eth0", "x86_64", ("probe",), list, libraries={"openmpi": ("probe-openmpi",)})
    work = Launch(0, 0, stacks.parse("openmpi"), "pingpong", "h", "h", (8,))
    near, far = near_argv(work, host, (), SETTING), far_argv(work, host, SETTING)
    assert near[0] == far[0] == "probe-openmpi"
    assert "--peer" not in near and "--key-stdin" in near and "--key-stdin" not in far


def test_a_host_without_the_probe_of_a_library_is_named() -> None:
    host = Host("h", "10.0.0.1", "eth0", "x86_64", ("probe",), list)
    with pytest.raises(VaivenError, match="h has no vaiven-probe-openmpi"):
        near_argv(Launch(0, 0, stacks.parse("openmpi"), "pingpong", "h", "h", (8,)), host, (), SETTING)


def test_several_far_ends_are_told_to_the_near_end_and_dealt_out_to_the_processors() -> None:
    host = Host("h", "10.0.0.1", "eth0", "x86_64", ("probe",), list, processors=(0, 1))
    work = Launch(0, 0, stacks.parse("raw[to=each]"), "fanout", "a", "b+c*2", (8,))
    setting = Setting(known=KNOWN, effort=Effort(), link=None, run_began_s=0.0, one_clock=True)
    near = near_argv(work, host, ["10.0.0.2:1", "10.0.0.3:2", "10.0.0.3:3"], setting)
    told = [word for word in near if word.startswith(("--peer", "--also", "10.0"))]
    assert told == ["--peer", "10.0.0.2:1", "--also", "10.0.0.3:2", "--also", "10.0.0.3:3"]
    assert "--one-clock" in near and "--cap-bps" not in near and near[near.index("--to") + 1] == "each"
    assert [_processor(far_argv(work, host, setting, place)) for place in (1, 2, 3)] == ["0", "1", "0"]
    assert (work.fars, work.hosts) == (("b", "c", "c"), {"a", "b", "c"})


def test_a_flood_is_capped_where_the_network_is_no_lab() -> None:
    host = Host("h", "10.0.0.1", "eth0", "x86_64", ("probe",), list)
    setting = replace(SETTING, effort=Effort(cap_mbps=2.5))
    work = Launch(0, 0, stacks.parse("tcp"), "fanout", "a", "b+c", (8,))
    near = near_argv(work, host, ["10.0.0.2:1", "10.0.0.3:2"], setting)
    assert near[near.index("--cap-bps") + 1] == "2500000" and "--one-clock" not in near
    assert "--cap-bps" not in near_argv(replace(work, ask="pingpongs"), host, ["10.0.0.2:1"], setting)


def test_each_of_several_ping_pongs_has_its_ends_on_both_hosts_and_on_one_processor() -> None:
    a, b = (Host(name, address, "eth0", "x86_64", ("probe",), list, processors=(0, 1))
            for name, address in (("a", "10.0.0.1"), ("b", "10.0.0.2")))  # fmt: skip
    work = Launch(0, 0, stacks.parse("tcp"), "pingpongs", "a", "b*3", (8,))
    assert [host.name for host in in_pairs(work, a, (b, b, b))] == ["b", "a", "b", "a", "b"]
    assert [host.name for host in in_pairs(replace(work, ask="stream"), a, (b, b))] == ["b", "b"]
    fars = [_processor(far_argv(work, a, SETTING, place)) for place in range(1, 6)]
    assert [_processor(near_argv(work, a, ["10.0.0.2:1"], SETTING)), *fars] == ["1", "1", "0", "0", "1", "1"]


@pytest.mark.parametrize("one_clock", [False, True])
def test_ends_of_a_question_one_way_are_told_whether_they_share_a_clock(one_clock: bool) -> None:
    host = Host("h", "10.0.0.1", "eth0", "x86_64", ("probe",), list)
    work = Launch(0, 0, stacks.parse("tcp"), "oneway", "a", "b", (64,))
    near = near_argv(work, host, ["10.0.0.2:1"], replace(SETTING, one_clock=one_clock))
    assert ("--one-clock" in near) == one_clock


@pytest.mark.parametrize(
    ("stack", "processors", "places"),
    [
        ("tcp", (), (None, None)),
        ("tcp", (0, 1), ("1", "1")),
        ("tcp[wait=spin]", (0, 1), ("1", "0")),
        ("tcp[wait=spin]", (3,), ("3", "3")),
        ("tcp[cpu=0]", (0, 1), ("0", "0")),
    ],
)
def test_ends_that_sleep_share_a_processor_and_ends_that_spin_do_not(stack, processors, places) -> None:
    assert _places(stack, processors) == places
