# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven history`: runs in order of time, with what changed for good and what was changed there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report import made_up
from tests.store.made import changed

from vaiven.report.history import summary
from vaiven.results.history import history
from vaiven.store.query import Run


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven runs, then six that are a fifth slower beyond the wire, with another kernel on h1."""
    runs = tmp_path_factory.mktemp("runs")
    made_up.write_days(runs, 7, sizes=(1, 64))
    for run in made_up.write_days(runs, 6, sizes=(1, 64), slower=1.2, day=10, seed=2):
        hosts = {**run.manifest.hosts, "h1": {**run.manifest.hosts["h1"], "kernel": "6.18"}}
        changed(run.path / "manifest.json", hosts=hosts)
    return runs


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_a_step_has_its_place_its_size_and_what_was_changed_there(vaiven, root: Path) -> None:
    done = vaiven("history", "demo", "--runs", str(root))
    text = one_line(done.stdout)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "13 runs of demo, 2026-01-02 00:00 to 2026-01-16 00:00; 4 cells (pingpong)" in text
    assert text.count("step between ") == 1 and "4 of 4 cells changed, most of all" in text
    assert "settings that changed there: hosts.h1.kernel: none, then 6.18" in text
    assert "step; changed: hosts.h1.kernel" in text and max(map(len, done.stdout.splitlines())) <= 80


def test_json_has_the_history(vaiven, root: Path) -> None:
    document = json.loads(
        vaiven("history", "./plans/demo.toml", "--stacks", "tcp", "--runs", str(root), "--json").stdout
    )
    rows = document["history"]
    assert [row["size_bytes"] for row in rows] == [1, 64] * 13 and len(document["runs"]) == 13
    (step,) = document["steps"]
    assert step["before"] == document["runs"][7]
    assert [row["run"] for row in rows if row["after_step"]] == [step["before"]] * 2
    assert document["settings"] == {step["before"]: {"hosts.h1.kernel": ["", "6.18"]}}


def test_runs_with_other_hosts_sizes_or_files_in_it_are_left_out_with_a_sentence(tmp_path: Path) -> None:
    made_up.write_days(tmp_path, 8, sizes=(1, 64))
    made_up.write_days(tmp_path, 1, sizes=(3, 5), day=9, seed=2)
    odd: list[Run] = made_up.write_days(tmp_path, 2, sizes=(1, 64), day=12, seed=4)
    made_up.write_days(tmp_path, 2, sizes=(1, 64), day=15, seed=5)
    (odd[0].path / "medians.parquet").write_bytes(b"torn")
    changed(odd[1].path / "manifest.json", schema=99)
    found = history("demo", tmp_path)
    assert len(found.runs) == 10 and len(found.cells) == 4
    notes = " ".join(found.left_out)
    assert "1 run left out: written by a newer vaiven" in notes and "medians.parquet" in notes
    assert "1 run left out: other hosts, stacks or sizes than the latest" in notes
    assert "no step" in " ".join(summary(found))


def test_few_runs_are_listed_and_no_step_is_looked_for(tmp_path: Path) -> None:
    made_up.write_days(tmp_path, 3, sizes=(1,))
    found = history("demo", tmp_path)
    assert found.steps == () and "7 more are wanted" in " ".join(summary(found))


@pytest.mark.parametrize(
    ("args", "says"),
    [(["nosuch"], "no finished run of a plan 'nosuch'"), (["demo", "--stacks", "eth"], "no run has eth"),
     (["demo", "--ask", "connect"], "has no connect; it has pingpong")],
)  # fmt: skip
def test_what_is_not_there_is_named(vaiven, root: Path, args: list[str], says: str) -> None:
    done = vaiven("history", *args, "--runs", str(root))
    assert done.returncode == 1 and says in done.stderr and done.stdout == ""
