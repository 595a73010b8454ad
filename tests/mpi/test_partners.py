# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of hosts at once, from a plan to what a run says, over MPI and over TCP on a lab whose frames take their time.

Nothing is quicker than its frames, whatever else this machine does: times are held from below.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

pytestmark = pytest.mark.slow
LAB = lab_text("pairs", 4, class_="timed", rate_mbps=10, prefix="m")
PLAN = """
title = "pairs"
lab = "./lab.toml"
stacks = ["openmpi", "tcp"]
questions = ["partners", "bisection"]
pairs = [["m1", "m2"]]
hosts_at_once = [4]
sizes = [4200]
[effort]
samples = 3
cell_ms = 200
[stop]
launches_min = 2
launches_max = 2
level = 0.5
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict]:
    """By question and stack, what one run of the plan says."""
    place: Path = tmp_path_factory.mktemp("pairs")
    (place / "lab.toml").write_text(LAB)
    (place / "plan.toml").write_text(PLAN)
    environment = os.environ | {"VAIVEN_STATE_DIR": str(place / "state")}
    words = ("measure", "plan.toml", "--no-page", "--json")
    done = subprocess.run([sys.executable, "-m", "vaiven", *words], cwd=place, env=environment, capture_output=True,
                          text=True, timeout=300, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {(one["ask"], one["stack"]): one for one in json.loads(done.stdout)["audiences"]}


@pytest.mark.parametrize("stack", ["openmpi", "tcp"])
def test_each_pair_of_hosts_has_its_round_trip(found, stack: str) -> None:
    one = found["partners", stack]
    assert (one["near"], one["far"], one["fars"], one["overlap"]) == ("m1", "m2+m3+m4", 3, 1)
    assert len(one["each_ns"]) == 2 and min(one["each_ns"]) > 0.95 * 2 * one["wire_ns"]


@pytest.mark.parametrize("stack", ["openmpi", "tcp"])
def test_each_host_has_the_rate_of_its_cable_both_ways_at_once(found, stack: str) -> None:
    one = found["bisection", stack]
    assert len(one["each_ns"]) == 4 and one["typical_ns"] > 0.95 * one["wire_ns"]
    assert one["rate_bytes_per_s"] == pytest.approx(4200 / one["typical_ns"] * 1e9)
