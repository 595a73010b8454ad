# SPDX-License-Identifier: BSD-3-Clause
"""Lists of what there is: names that can be copied from any terminal, and one JSON document for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.store.made import cell, launch, manifest

from vaiven import resources
from vaiven.lab import calibration, topology
from vaiven.results.document import document
from vaiven.store.record import Record


@pytest.mark.parametrize("columns", ["50", "80"])
@pytest.mark.parametrize("verb", [("stacks",), ("plan", "list"), ("lab", "list")], ids=" ".join)
def test_every_name_of_a_list_stands_whole_on_a_line(vaiven, monkeypatch, tmp_path, verb, columns) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", columns)
    done, said = vaiven(*verb), json.loads(vaiven(*verb, "--json").stdout)
    assert done.returncode == 0 and said["schema"] == 1
    names = {
        "stacks": lambda: [name for name, one in said["stacks"].items() if not one["absent"]],
        "plan": lambda: [one["name"] for one in said["plans"]],
        "lab": lambda: [one["name"] for one in said["ready"]],
    }[verb[0]]()
    first = {line.split()[0] for line in done.stdout.splitlines() if line.strip() and not line.startswith(" ")}
    assert len(names) >= 10 and not set(names) - first, done.stdout
    assert max(map(len, done.stdout.splitlines())) <= int(columns) or verb == ("stacks",)  # why one is not here


def test_plans_say_where_and_how_long(vaiven) -> None:
    plans = {one["name"]: one for one in json.loads(vaiven("plan", "list", "--json").stdout)["plans"]}
    assert {path.stem for path in resources.ready("plans").glob("*.toml")} <= set(plans)
    demo, ladder = plans["demo"], plans["ladder"]
    assert demo["lab"] == "demo" and 0 < demo["least_s"] < demo["most_s"] and demo["title"]
    assert (ladder["lab"], ladder["least_s"], ladder["most_s"]) == ("", None, None)
    shown = vaiven("plan", "list").stdout
    assert "lab demo, about" in shown and "where you say: --lab or --hosts" in shown


def test_a_plan_that_this_machine_does_not_carry_hides_no_other(vaiven, monkeypatch, tmp_path) -> None:
    """As after a check of a lab that found it to carry too few frames."""
    monkeypatch.delenv("VAIVEN_STATE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calibration.store_frames_per_s(topology.ready("demo"), 1.0)
    plans = {one["name"]: one for one in json.loads(vaiven("plan", "list", "--json").stdout)["plans"]}
    assert {path.stem for path in resources.ready("plans").glob("*.toml")} <= set(plans)
    assert "measured to carry 1 on this machine" in plans["demo"]["refused"] and plans["demo"]["least_s"] is None
    assert plans["papers/b-tau"]["refused"] == "" and plans["papers/b-tau"]["least_s"] > 0
    assert "but not on this machine" in vaiven("plan", "list").stdout


def test_the_launches_of_a_plan_are_told_to_programs_as_to_people(vaiven) -> None:
    said = json.loads(vaiven("plan", "show", "demo", "--blocks", "2", "--json").stdout)
    assert said["schema"] == 1 and 0 < said["least_s"] < said["most_s"] and said["notes"]
    lines = [
        line for line in vaiven("plan", "show", "demo", "--blocks", "2").stdout.splitlines() if line[:5] == "block"
    ]
    first = [f"{one['stack']} {one['ask']} {one['near']} {one['far']}" for one in said["launches"]]
    assert len(first) == len(lines) > 10 and all(told in line for told, line in zip(first, lines, strict=True))


def test_a_plan_that_is_right_is_said_to_be_so_to_programs(vaiven) -> None:
    said = json.loads(vaiven("plan", "check", "demo", "--json").stdout)
    assert said["schema"] == 1 and said["plan"].endswith("demo.toml")
    assert all(f"note: {text}" in vaiven("plan", "check", "demo").stdout for text in said["notes"])


def test_runs_say_their_state_to_a_program(vaiven, tmp_path: Path) -> None:
    with Record.create(tmp_path, manifest("two words")) as record:
        record.add(launch(0, "tcp"), [cell(8, [1000, 2000])])
        record.warn("tail", "long")
    (tmp_path / "20260101-000000-broken").mkdir()
    (tmp_path / "20260101-000000-broken" / "manifest.json").write_text("{}")
    said = json.loads(vaiven("runs", "--runs", str(tmp_path), "--json").stdout)
    (one,) = said["listing"]
    assert (one["title"], one["state"], one["launches"], one["warnings"]) == ("two words", "stopped", 1, 1)
    assert len(said["unreadable"]) == 1 and "broken" in said["unreadable"][0]


def test_a_verdict_on_a_number_as_json(vaiven) -> None:
    done = vaiven("plausible", "93 MB/s", "100 Mbps", "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 3 and said["plausible"] is False and said["correction"]["unit"] == "Mb/s"


def test_json_steers_no_terminal_and_says_the_same() -> None:
    text = 'a\x9b31m\u202ee\x7f\U000e0041"\\ é α\n'
    shown = document({"text": text})
    assert json.loads(shown) == {"text": text}
    assert "é α" in shown and shown.isprintable()


@pytest.mark.lab
def test_labs_that_are_up_are_listed_for_programs(vaiven, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))
    up = json.loads(vaiven("lab", "up", "free", "--as", "one-that-is-up", "--json").stdout)
    assert up["name"] == "one-that-is-up" and up["hosts"][0]["full_name"] == "one-that-is-up/free1"
    try:
        (one,) = json.loads(vaiven("lab", "list", "--json").stdout)["up"]
        assert (one["name"], one["state"], len(one["hosts"])) == ("one-that-is-up", "up", 4)
    finally:
        assert vaiven("lab", "down", "one-that-is-up").returncode == 0
