# SPDX-License-Identifier: BSD-3-Clause
"""Which runs are the history of another, and what somebody changed between two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report import made_up
from tests.store.made import changed

from vaiven.errors import VaivenError
from vaiven.store import digest, history, query
from vaiven.store.query import Run


def days(root: Path, count: int, **kw: object) -> list[Run]:
    return made_up.write_days(root, count, sizes=(1,), stacks=("udp",), **kw)


def again(run: Run, **members: object) -> Run:
    changed(run.path / "manifest.json", **members)
    return query.open_run(run.path)


def manifest(run: Run) -> dict:
    return json.loads(digest.opened((run.path / "manifest.json").read_bytes()))


def test_the_history_of_a_run_is_what_was_made_as_it_up_to_it(tmp_path: Path) -> None:
    runs = days(tmp_path, 5)
    found = history.like(runs[3], tmp_path)
    assert [run.id for run in found.runs] == [run.id for run in runs[:4]] and found.left_out == ()


def test_what_passes_by_itself_is_no_setting(tmp_path: Path) -> None:
    first, second = days(tmp_path, 2)
    hosts = manifest(second)["hosts"]
    hosts["h1"]["load_milli"] = 9000
    place = {
        **manifest(second)["place"],
        "instance": "demo-3f2a",
        "calibration": {"door_ns": 800, "error_ns": 1500, "checked_utc": "now"},
    }
    first = again(first, place={**place, "calibration": {"door_ns": 800, "error_ns": None, "checked_utc": ""}})
    second = again(second, hosts=hosts, place=place, title="Another", plan=manifest(second)["plan"] | {"seed": 9})
    assert history.changes(history.settings(first), history.settings(second)) == {}


def test_what_somebody_changed_has_a_name(tmp_path: Path) -> None:
    first, second = days(tmp_path, 2)
    hosts = manifest(second)["hosts"]
    hosts["h1"]["kernel"] = "6.18"
    hosts["h2"]["nics"][0]["offloads"]["generic-receive-offload"] = True
    second = again(second, hosts=hosts, versions={"vaiven": "0.2.0"}, environment={"held_awake": "spinners"})
    assert history.changes(history.settings(first), history.settings(second)) == {
        "hosts.h1.kernel": ("", "6.18"),
        "hosts.h2.nic.offloads.generic-receive-offload": ("false", "true"),
        "versions.vaiven": ("0.1.0", "0.2.0"),
        "held_awake": ("", "spinners"),
    }


def test_a_history_with_others_in_it_keeps_the_rest_and_says_so(tmp_path: Path) -> None:
    runs = days(tmp_path, 8)
    again(runs[0], plan={"sizes": [1, 2]})
    again(runs[1], hosts={})
    again(runs[2], versions={"vaiven": "0.0.9"})
    changed(runs[3].path / "manifest.json", schema=99)
    (runs[4].path / "end.json").unlink()
    (runs[5].path / "manifest.json").write_bytes(b"half a mani")
    found = history.like(runs[7], tmp_path)
    assert [run.id for run in found.runs] == [runs[6].id, runs[7].id]
    assert sorted(found.left_out) == [
        "1 earlier run of this plan left out: another state of the hosts",
        "1 earlier run of this plan left out: another text of the plan",
        "1 earlier run of this plan left out: another version of a program",
        "1 run left out: damaged",
        "1 run left out: not finished",
        "1 run left out: written by a newer vaiven",
    ]


def test_runs_of_other_plans_are_not_worth_a_word(tmp_path: Path) -> None:
    first, second = days(tmp_path, 2)
    again(first, plan_name="plans/other.toml")
    assert history.like(second, tmp_path) == history.History((second,), ())


def test_a_plan_is_called_by_its_file_or_by_its_title(tmp_path: Path) -> None:
    first, second = days(tmp_path, 2)
    second = again(second, plan_name="", title="By hand")
    assert (history.plan_of(first), history.plan_of(second)) == ("demo", "By hand")
    assert [run.id for run in history.of_plan("By hand", tmp_path).runs] == [second.id]
    with pytest.raises(VaivenError, match="no finished run of a plan 'dem'") as caught:
        history.of_plan("dem", tmp_path)
    assert caught.value.remedy == "it has By hand, demo"
