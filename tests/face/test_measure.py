# SPDX-License-Identifier: BSD-3-Clause
"""Measuring from Python: on this host, in a lab, stopped and gone on with; and what is refused beforehand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import vaiven
from vaiven.measuring.events import Began, CellTimed, Ended, Event, LaunchBegan
from vaiven.plan.schema import Plan

FEW = {"hosts": ["localhost", "localhost"], "stacks": ["udp", "tcp"], "sizes": [8, "1k"], "launches": 6}


def test_a_run_on_this_host_tells_how_it_goes_on(tmp_path: Path) -> None:
    heard: list[Event] = []
    run = vaiven.measure(**FEW, runs=tmp_path, on_event=heard.append)
    assert run.state == "ended" and run.path.parent == tmp_path
    assert isinstance(heard[0], Began) and heard[0].path == run.path
    assert isinstance(heard[-1], Ended) and heard[-1].launches == 18  # two stacks and a sentinel in six blocks
    begun = [one for one in heard if isinstance(one, LaunchBegan)]
    numbers = [one.number for one in begun]  # a launch from which the machine took time is done again
    assert list(dict.fromkeys(numbers)) == list(range(18)) and begun[0].launches_left == 18
    timed = [one for one in heard if isinstance(one, CellTimed) and not one.sentinel]
    assert {(one.stack, one.size_bytes) for one in timed} == {("udp", 8), ("udp", 1000), ("tcp", 8), ("tcp", 1000)}
    assert all(str(one) for one in heard)
    assert set(run.launches()["stack"]) == {"udp", "tcp"} and run.results().outcome.achieved


def test_a_plan_may_be_a_value_and_a_word_may_be_one(tmp_path: Path) -> None:
    plan = Plan(title="Mine", hosts=("localhost",), pairs=(("localhost", "localhost"),))
    run = vaiven.measure(plan, stacks="udp", sizes=[8], launches=6, seed=3, runs=tmp_path)
    assert run.title == "Mine" and set(run.launches()["stack"]) == {"udp"}


def test_what_was_interrupted_goes_on(tmp_path: Path) -> None:
    def stop_in_block_3(event: Event) -> None:
        if isinstance(event, LaunchBegan) and event.block == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vaiven.measure(**FEW, runs=tmp_path, on_event=stop_in_block_3)
    stopped = vaiven.open(runs=tmp_path)
    assert stopped.state == "stopped" and stopped.launches()["block"].max() == 2
    heard: list[Event] = []
    ended = vaiven.resume(stopped, on_event=heard.append)
    assert ended.id == stopped.id and ended.launches()["block"].max() == 5
    assert min(one.block for one in heard if isinstance(one, LaunchBegan)) == 3
    with pytest.raises(vaiven.VaivenError, match="has ended"):
        vaiven.resume(runs=tmp_path)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, "measure where"),
        ({"plan": "nosuch"}, "there is no plan 'nosuch'"),
        ({"lab": "nosuch"}, "nosuch"),
        ({"lab": "free", "stacks": ["sctp"]}, "sctp"),
        ({"lab": "free", "hosts": ["nobody"]}, "nobody"),
        ({"lab": "free", "sizes": ["many"]}, "many"),
        ({"lab": "free", "link": "100 Mb/s"}, "a lab says itself"),
        ({"lab": "free", "before": "true"}, "belong together"),
        ({"hosts": ["localhost"], "ports": "all"}, "LO-HI"),
        ({"hosts": ["localhost"], "bind": {"other": "10.0.0.1"}}, "bind names 'other'"),
        ({"lab": "free", "launches": -3}, "launches_min"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(asked: dict, says: str, tmp_path: Path) -> None:
    with pytest.raises(vaiven.VaivenError) as caught:
        vaiven.measure(**{"stacks": ["udp"], "sizes": [8], "quick": True} | asked, runs=tmp_path)
    assert says in str(caught.value) and list(tmp_path.iterdir()) == []


@pytest.mark.lab
def test_a_lab_lasts_as_long_as_its_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    os.makedirs(tmp_path / "state")
    with vaiven.lab("free") as lab:
        assert lab.name.startswith("free-") and len(lab.hosts) >= 2 and lab.name in repr(lab)
        one, other = lab.hosts[:2]
        assert lab.run(one, ["cat", "/etc/hostname"]) or lab.run(one, ["hostname"]).strip() == one
        assert lab.address(other) != lab.address(one)
        with pytest.raises(vaiven.VaivenError, match="exit status 3"):
            lab.run(one, ["sh", "-c", "exit 3"])
        with pytest.raises(vaiven.VaivenError, match="nobody"):
            lab.address("nobody")
        runs = [
            vaiven.measure(lab=lab, stacks=["udp"], sizes=[8], launches=6, runs=tmp_path / "runs") for _ in range(2)
        ]
        assert {run.hosts[0] for run in runs} == {one}
        with vaiven.lab(lab.name) as same:
            assert same.name == lab.name
        assert lab.run(other, ["true"]) == ""  # it was not taken down by who found it
    with pytest.raises(vaiven.VaivenError, match="no lab"), vaiven.lab(lab.name):
        pass


def test_a_lab_that_there_is_not_is_said() -> None:
    with pytest.raises(vaiven.VaivenError, match="nosuch"), vaiven.lab("nosuch"):
        pass
