# SPDX-License-Identifier: BSD-3-Clause
"""All pairs in rounds: everybody meets everybody once, nobody twice in a round, and who would disturb whom is said."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.plan import design as designs
from vaiven.plan import duration, order, tournament
from vaiven.plan.design import Available
from vaiven.plan.ground import Ground
from vaiven.plan.schema import Link, Plan
from vaiven.plan.sweep import Limits

HOSTS = tuple("abcdef")
QUESTIONS = ("pingpong", "prtt", "stream")
KNOWN = {
    "udp": Available(Limits(0, 65_507), QUESTIONS),
    "tcp": Available(Limits(0, 2**26), QUESTIONS),
    "mpich": Available(Limits(0, 2**26), QUESTIONS, spins=True),
}
PLAN = Plan(stacks=("udp", "tcp"), sizes=(8, 64, 1000), pairs="rounds")


def resolve(plan: Plan = PLAN, hosts: tuple[str, ...] = HOSTS) -> designs.Design:
    return designs.resolve(plan, hosts, KNOWN, lab=True)


@given(st.integers(0, 40))
def test_everybody_meets_everybody_once_and_nobody_twice_in_a_round(count: int) -> None:
    names = [f"h{n}" for n in range(count)]
    found = tournament.rounds(names)
    met = [frozenset(pair) for together in found for pair in together]
    assert Counter(met) == Counter(frozenset(pair) for pair in itertools.combinations(names, 2))
    for together in found:
        assert len({host for pair in together for host in pair}) == 2 * len(together) == 2 * (count // 2)


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(0, 5))
def test_a_block_holds_the_pairs_of_all_in_rounds(seed: int, count: int, number: int) -> None:
    """The same launches as one pair after the other; those of a round follow each other and have no host in common."""
    hosts = tuple(f"h{n}" for n in range(count))
    plans = [Plan(stacks=PLAN.stacks, sizes=(8, 64), pairs=word, seed=seed) for word in ("rounds", "all")]
    rounds, alone = (order.block(resolve(plan, hosts), number) for plan in plans)
    assert Counter(one.key for one in rounds) == Counter(one.key for one in alone)
    assert [one.number for one in rounds] == [one.number for one in alone]
    for together in order.rounds(rounds):
        assert [one.beside for one in together] == list(range(len(together)))
        assert len({(one.stack, one.ask, one.sentinel) for one in together}) == 1
        assert len(frozenset().union(*(one.hosts for one in together))) == 2 * len(together)
    assert all(len(together) == 1 for together in order.rounds(alone))


def neighbours(block: tuple[order.Launch, ...], stack: str) -> set[frozenset[tuple[str, str]]]:
    return {
        frozenset((one.near, one.far) for one in together)
        for together in order.rounds(block)
        if together[0].stack.id == stack and not together[0].sentinel
    }


def test_neighbours_change_from_block_to_block_and_are_the_same_for_all_stacks() -> None:
    design = resolve()
    blocks = [order.block(design, number) for number in range(6)]
    assert all(neighbours(block, "tcp") == neighbours(block, "udp") for block in blocks)
    assert len({frozenset(neighbours(block, "tcp")) for block in blocks}) > 1


def test_what_is_left_of_a_round_stays_one() -> None:
    """A run that goes on in the middle of a round does not take launches of two rounds for one."""
    block = order.block(resolve(Plan(stacks=("udp",), sizes=(8,), pairs="rounds")), 0)
    whole = [together for together in order.rounds(block) if len(together) > 1]
    left = [together[2] for together in whole]
    assert [len(together) for together in order.rounds(left)] == [1] * len(whole)


def test_a_design_in_rounds_is_as_it_was_after_a_manifest_and_without_a_host() -> None:
    design = resolve()
    assert designs.from_facts(json.loads(json.dumps(designs.to_facts(design)))) == design
    assert (design.pairs_at_once, resolve(Plan(stacks=("udp",), pairs="all")).pairs_at_once) == (3, 1)
    fewer = designs.without(design, ["c"])
    assert fewer.pairs_at_once == 2 and len(order.block(fewer, 0)) == 2 * 10 + 1


def test_courses_with_pairs_of_their_own_run_alone() -> None:
    design = resolve(Plan(stacks=("tcp",), questions=("stream",), sizes=(8,), pairs="rounds", at_once=(2,)))
    assert all(len(together) == 1 for together in order.rounds(order.block(design, 0)))


def test_rounds_take_as_many_turns_as_there_are_rounds() -> None:
    all_pairs = resolve(Plan(stacks=PLAN.stacks, sizes=PLAN.sizes, pairs="all"))
    nowhere = Ground()
    alone, rounds = (
        duration.block_s(design, PLAN, nowhere) - duration.sentinel_s(design, PLAN, nowhere)
        for design in (all_pairs, resolve())
    )
    assert alone / rounds == pytest.approx(3)


def test_pairs_that_would_measure_each_other_are_refused() -> None:
    hub, switch = Link(10**7, 1), Link(10**8, 2)
    tournament.require(resolve(), KNOWN, switch, 2)
    tournament.require(resolve(), KNOWN, None, None)
    with pytest.raises(VaivenError, match="3 pairs at the same time would share one medium") as caught:
        tournament.require(resolve(), KNOWN, hub, None)
    assert caught.value.code == "shared-medium" and 'pairs = "all"' in caught.value.remedy
    tournament.require(resolve(hosts=("a", "b", "c")), KNOWN, hub, None)  # one pair at a time, and one host pauses
    spinning = [
        Plan(stacks=("mpich",), sizes=(8,), pairs="rounds"),
        Plan(stacks=("tcp[wait=spin]",), sizes=(8,), pairs="rounds"),
        Plan(stacks=("tcp",), questions=("prtt",), sizes=(8,), pairs="rounds"),
    ]
    for plan in spinning:
        tournament.require(resolve(plan), KNOWN, switch, 6)
        tournament.require(resolve(plan), KNOWN, switch, None)
        with pytest.raises(VaivenError, match="3 pairs at the same time need 6, this machine has 5"):
            tournament.require(resolve(plan), KNOWN, switch, 5)


def test_pairs_that_may_disturb_each_other_are_marked() -> None:
    assert "share the processors" in tournament.note(resolve(), lab=True)
    assert "3 pairs" in tournament.note(resolve(), lab=False) and "hub" in tournament.note(resolve(), lab=False)
    assert tournament.note(resolve(Plan(stacks=("udp",), pairs="all")), lab=True) == ""
