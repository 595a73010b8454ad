# SPDX-License-Identifier: BSD-3-Clause
"""A host that is unlike the others is found from times alone, and so is the layer that makes it so."""

from __future__ import annotations

import numpy as np
import pytest

from vaiven.model.odd import MACHINE, odd_hosts, parts_of
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.array([8, 1000, 60_000])
STACKS = ("icmp", "udp", "tcp", "pvm-default-xdr", "pvm-direct-xdr", "pvm-direct-trans")
OVER_TCP = ("tcp", "pvm-direct-xdr", "pvm-direct-trans")
HOSTS = ("b", "c", "d", "e")


def run(
    slow: dict[tuple[str, str], float], hosts: tuple[str, ...] = HOSTS, stacks: tuple[str, ...] = STACKS,
    launches: int = 8,
) -> dict[tuple[str, str], LaunchTimes]:  # fmt: skip
    """Times from a, in which long messages of some (stack, host) take so many times as long."""
    rng = np.random.default_rng(3)
    found = {}
    for place, far in enumerate(hosts):
        for stack in stacks:
            ns = (1 + 0.1 * place) * (1e6 + 900.0 * SIZES) * np.exp(0.02 * rng.standard_normal((launches, 3)))
            ns[:, 1:] *= slow.get((stack, far), 1.0)
            kind = stack, Direction.ONE_WAY, Statistic.TYPICAL
            numbers = np.arange(launches)
            found[stack, far] = LaunchTimes(*kind, SIZES, numbers, numbers, ns, np.full(ns.shape, 9), "a", far)
    return found


def test_a_bad_tcp_is_named_though_every_layer_above_it_is_slow() -> None:
    (found,) = odd_hosts(run(dict.fromkeys(((stack, "d") for stack in OVER_TCP), 30.0)))
    assert (found.near, found.far, found.suspects) == ("a", "d", ("TCP",))
    assert {seen.stack for seen in found.seen if seen.odd} == set(OVER_TCP)
    assert {seen.stack for seen in found.seen if seen.sound} == set(STACKS) - set(OVER_TCP)
    worst = found.seen[-1]
    assert worst.size_bytes > 8 and worst.ratio.number() == pytest.approx(30, rel=0.2)


@pytest.mark.parametrize(
    ("stacks", "suspects"),
    [
        (STACKS, (MACHINE,)),
        (("pvm-direct-xdr", "pvm-default-xdr"), ("encoding",)),
        (("pvm-default-xdr",), ("PVM's daemons",)),
        (("pvm-direct-trans",), ("translation",)),
        (("icmp",), ("ICMP",)),
        (("udp", "tcp"), ()),  # neither UDP nor TCP explains both, and what both have ICMP has, too
    ],
)
def test_the_layer_is_what_only_slow_stacks_have(stacks: tuple[str, ...], suspects: tuple[str, ...]) -> None:
    (found,) = odd_hosts(run(dict.fromkeys(((stack, "d") for stack in stacks), 5.0)))
    assert found.suspects == suspects


def test_hosts_that_are_only_unlike_are_not_odd() -> None:
    assert odd_hosts(run({})) == () and odd_hosts({}) == ()


def test_of_two_hosts_nobody_knows_which_is_odd() -> None:
    assert odd_hosts(run({("tcp", "b"): 9.0}, hosts=("b", "c"))) == ()


def test_few_launches_tell_nothing_for_certain() -> None:
    assert odd_hosts(run({("tcp", "d"): 9.0}, launches=3)) == ()


def test_two_odd_hosts_are_both_found() -> None:
    slow = dict.fromkeys(((stack, far) for stack in OVER_TCP for far in ("d", "e")), 30.0)
    found = odd_hosts(run(slow, hosts=("b", "c", "d", "e", "f")))
    assert [(one.far, one.suspects) for one in found] == [("d", ("TCP",)), ("e", ("TCP",))]


def test_what_a_stack_is_made_of() -> None:
    assert parts_of("tcp-nagle[write=split]@before") == (MACHINE, "IP", "TCP")
    assert parts_of("pvm-default-inplace") == (MACHINE, "IP", "UDP", "PVM", "PVM's daemons", "data in place")
    assert parts_of("nobody's") == (MACHINE,)
