# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of a small lab in rounds, from the plan to what is recorded of each launch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

PLAN = """
title = "rounds"
lab = "./{}.toml"
stacks = ["tcp"]
questions = ["pingpong"]
pairs = "rounds"
sizes = [64]
[effort]
samples = 5
[stop]
launches_min = 2
launches_max = 2
level = 0.5
"""


def vaiven(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"VAIVEN_STATE_DIR": str(place / "state"), "COLUMNS": "200"}
    return subprocess.run([sys.executable, "-m", "vaiven", *words], cwd=place, env=environment, capture_output=True,
                          text=True, timeout=300, check=False)  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a plan for a switch and one for a hub."""
    for kind in ("switch", "hub"):
        lab = lab_text("rounds", 4, kind=kind, class_="timed", rate_mbps=10, prefix="r")
        (tmp_path / f"{kind}.toml").write_text(lab)
        (tmp_path / f"{kind}-plan.toml").write_text(PLAN.format(kind))
    return tmp_path


@pytest.mark.lab
def test_pairs_of_a_lab_are_measured_in_rounds(place: Path) -> None:
    done = vaiven(place, "measure", "switch-plan.toml", "--no-page")
    assert done.returncode == 0, done.stderr
    (run,) = (place / "runs").iterdir()
    records = [json.loads(path.read_text()) for path in sorted((run / "launches").glob("*.json"))]
    for one in (one for one in records if not one["sentinel"]):
        ((near, far),) = one["beside"]
        assert {near, far, one["near"], one["far"]} == {"r1", "r2", "r3", "r4"}
    assert all(one["beside"] == [] for one in records if one["sentinel"])
    assert len(records) == 2 * (6 + 1)
    warnings = [json.loads(line) for line in (run / "warnings.jsonl").read_text().splitlines()]
    (said,) = (one["text"] for one in warnings if one["code"] == "pairs-at-once")
    assert "share the processors of this machine" in said


def test_a_plan_says_who_is_beside_whom_and_is_refused_on_a_hub(place: Path) -> None:
    shown = vaiven(place, "plan", "show", "switch-plan.toml")
    assert shown.stdout.count("(beside ") == 3 and "note: in each round 2 pairs" in shown.stdout
    refused = vaiven(place, "plan", "check", "hub-plan.toml")
    assert refused.returncode != 0
    assert "2 pairs at the same time would share one medium" in refused.stderr and 'pairs = "all"' in refused.stderr
