# SPDX-License-Identifier: BSD-3-Clause
"""The conversation by which hosts find out whether multicast reaches them."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from vaiven.run import multicast
from vaiven.run.multicast import Heard

ALL = {"a": 9, "b": 9, "c": 9}


def test_hosts_that_hear_each_other_have_no_finding() -> None:
    assert multicast.judge({host: Heard(ALL, ALL, 0) for host in ALL}, 4) == []


def test_a_deaf_host_is_named_with_those_that_it_does_not_hear() -> None:
    found = multicast.judge({"a": Heard(ALL, ALL, 0), "b": Heard({"b": 9}, {"b": 9}, 0), "c": Heard(ALL, ALL, 0)}, 4)
    assert [(f.host, f.code) for f in found] == [("b", "multicast-deaf")] and "of a, c" in found[0].what


def test_multicast_that_stops_is_told_from_multicast_that_never_came() -> None:
    found = multicast.judge({"a": Heard(ALL, {"a": 9}, None), "b": Heard(ALL, ALL, None)}, 10)
    assert [(f.host, f.code) for f in found] == [("a", "multicast-stops")]


def test_a_host_that_began_late_was_heard_all_the_same() -> None:
    late = Heard({"a": 5}, ALL, None)
    assert multicast.judge({"a": late, "b": Heard(ALL, ALL, None)}, 4) == []


def test_a_host_that_took_no_part_is_not_called_deaf_nor_mute() -> None:
    found = multicast.judge({"a": Heard({"a": 9}, {"a": 9}, 0), "b": None}, 4)
    assert [(f.host, f.code) for f in found] == [("b", "multicast-unknown")]


@pytest.mark.parametrize(
    ("seconds", "queries", "codes"), [(4, 0, []), (130, 0, ["igmp-querier"]), (130, 1, []), (130, None, [])]
)
def test_a_querier_is_missed_only_when_it_must_have_spoken(seconds: int, queries: int | None, codes: list[str]) -> None:
    found = multicast.judge({"a": Heard(ALL, ALL, queries), "b": Heard(ALL, ALL, queries)}, seconds)
    assert [f.code for f in found] == codes


@pytest.mark.parametrize("text", ["", "bash: python3: not found", "[]", '{"first": {}}'])
def test_no_answer_is_none(text: str) -> None:
    assert multicast.read(text) is None


def test_two_speakers_on_one_card_hear_each_other_and_no_stranger() -> None:
    ours, theirs = multicast.convene(1.2), multicast.convene(1.2)
    stranger = multicast.Conversation(ours.group, ours.port, theirs.key, theirs.seconds)
    commands = [talk.argv(name, "lo") for talk, name in ((ours, "a;$(b)"), (ours, "c"), (stranger, "x"))]
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda c: subprocess.run(c, capture_output=True, text=True, check=True), commands))
    heard = [multicast.read(one.stdout) for one in done]
    assert [h and set(h.first) for h in heard] == [{"a;$(b)", "c"}, {"a;$(b)", "c"}, {"x"}]
