# SPDX-License-Identifier: BSD-3-Clause
"""Several runs as one value: which of them, what they have in common, and what is left out and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report import made_up

from vaiven.errors import VaivenError
from vaiven.results.overlay import DRAWN_MAX, overlay
from vaiven.store.query import Run


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Ten runs of one plan, a day apart."""
    return made_up.write_days(tmp_path_factory.mktemp("runs"), 10, sizes=(1, 64))


def test_runs_stand_in_order_of_time_each_with_what_it_measured(days: list[Run]) -> None:
    found = overlay([days[2], days[0], days[1]])
    assert found.runs == tuple(run.name for run in days[:3])
    assert [one.run.id for one in found.drawn] == [run.id for run in days[:3]]
    assert {one.pair for one in found.drawn} == {("h1", "h2")} and {one.plan for one in found.drawn} == {"demo"}
    assert set(found.stacks) == {"udp", "tcp"} and found.headline == ("tcp", 1) and found.one_link
    assert found.history is not None and found.history.runs == tuple(run.id for run in days[:3])
    point = found.drawn[0].point("tcp", 1)
    assert point is not None and point.typical_ns == pytest.approx(found.history.items[0].ns[0])
    assert found.notes == ()


def test_of_many_runs_some_are_drawn_and_the_history_has_all(days: list[Run]) -> None:
    found = overlay(days)
    drawn = [one.run.id for one in found.drawn]
    assert len(drawn) == DRAWN_MAX and (drawn[0], drawn[-1]) == (days[0].id, days[-1].id)
    assert found.history is not None and len(found.history) == len(days)
    assert found.notes == (f"curves of {DRAWN_MAX} of the 10 runs are drawn, spread over them",)


def test_runs_of_other_hosts_sizes_and_links_have_curves_and_no_history(days: list[Run], tmp_path: Path) -> None:
    other = made_up.write_run(
        tmp_path, pairs=(("a", "b"),), stacks=("tcp", "eth"), sizes=(8, 512), blocks=2, link=False
    )
    found = overlay([days[0], other])
    assert found.history is None and found.headline is None and not found.one_link
    assert found.stacks == ("tcp",) and {one.pair for one in found.drawn} == {("h1", "h2"), ("a", "b")}
    text = " ".join(found.notes)
    assert f"eth is in {other.id} alone" in text and f"udp is in {days[0].id} alone" in text and "no history: " in text


def test_the_reader_chooses_the_pair_and_it_must_be_in_every_run(days: list[Run], tmp_path: Path) -> None:
    two = made_up.write_run(tmp_path, pairs=(("h1", "h2"), ("h1", "h3")), stacks=("tcp",), sizes=(1, 64), blocks=2)
    assert [one.pair for one in overlay([days[0], two], ("h1", "h2")).drawn] == [("h1", "h2")] * 2
    with pytest.raises(VaivenError, match=f"the run {days[0].id} has no pair h1,h3"):
        overlay([days[0], two], ("h1", "h3"))


def test_a_run_named_twice_or_without_a_ping_pong_is_refused_by_its_id(days: list[Run], tmp_path: Path) -> None:
    with pytest.raises(VaivenError, match=f"{days[1].id} is named twice") as twice:
        overlay([days[1], days[0], days[1]])
    assert twice.value.code == "same-run"
    with pytest.raises(VaivenError, match="one run is nothing to lay over others"):
        overlay(days[:1])
    fanout = made_up.write_fanout(tmp_path, blocks=2)
    with pytest.raises(VaivenError, match=fanout.id) as nothing:
        overlay([days[0], fanout])
    assert nothing.value.code == "nothing-measured"


def test_a_run_whose_wire_cannot_be_believed_says_so_first(days: list[Run], tmp_path: Path) -> None:
    below = made_up.write_run(tmp_path, stacks=("tcp",), sizes=(1, 64, 1472), blocks=2, wire_factor=3.0)
    found = overlay([days[0], below])
    assert [{one.code for one in run.alarms} for run in found.drawn] == [set(), {"below-wire"}]


def test_links_that_are_not_alike_are_known(days: list[Run]) -> None:
    found = overlay(days[:2])
    other = replace(found.drawn[1], run=replace(found.drawn[1].run, rate_bits_per_s=10**7))
    assert found.one_link and not replace(found, drawn=(found.drawn[0], other)).one_link
