# SPDX-License-Identifier: BSD-3-Clause
"""Questions with several far ends, from a plan to their tables, on a lab whose frames take their time.

Nothing is quicker than its frames, whatever else this machine does: times are held from below, and against each
other only where one is several times the other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from typing import Any

import pytest
from tests.lab.texts import lab_text

LAB = lab_text("many", 4, class_="timed", rate_mbps=10, prefix="m")
PLAN = """
title = "many"
lab = "./lab.toml"
stacks = ["raw", "raw[to=multicast]", "tcp"]
questions = ["fanout", "exchange", "stream"]
pairs = [["m1", "m2"]]
receivers = [1, 3]
hosts_at_once = [2, 3]
at_once = [1, 3]
sizes = [50000]
[effort]
samples = 3
cell_ms = 2000
[stop]
launches_min = 2
launches_max = 2
level = 0.5
"""
SIZE = 50_000

pytestmark = [pytest.mark.slow, pytest.mark.lab]


@pytest.fixture(scope="module")
def audiences(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What `vaiven model --ask ASK --json` says of one run of the plan."""
    place = tmp_path_factory.mktemp("many")
    (place / "lab.toml").write_text(LAB)
    (place / "plan.toml").write_text(PLAN)
    environment = os.environ | {"VAIVEN_STATE_DIR": str(place / "state"), "COLUMNS": "200"}

    def vaiven(*words: str) -> str:
        done = subprocess.run([sys.executable, "-m", "vaiven", *words], cwd=place, env=environment, capture_output=True,
                              text=True, timeout=300, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    printed = vaiven("measure", "plan.toml", "--no-page")
    assert "One message for many" in printed and "Everybody to everybody" in printed and "Several conn" in printed
    asked = tomllib.loads(PLAN)["questions"]
    found = [one for ask in asked for one in json.loads(vaiven("model", "--ask", ask, "--json"))["audiences"]]
    assert {one["ask"] for one in found} == set(asked)
    (manifest,) = place.glob("runs/*/manifest.json")
    assert json.loads(manifest.read_text())["plan"]["receivers"] == [1, 3]
    assert not list((place / "state").glob("*/lab.json"))
    return found


def one(audiences: list[dict[str, Any]], ask: str, stack: str, fars: int) -> dict[str, Any]:
    (found,) = (a for a in audiences if (a["ask"], a["stack"], a["fars"]) == (ask, stack, fars))
    return found


def test_one_transmission_is_for_all_and_many_take_many_times_as_long(audiences: list[dict[str, Any]]) -> None:
    for stack in ("raw", "raw[to=multicast]"):
        alone, wide = one(audiences, "fanout", stack, 1), one(audiences, "fanout", stack, 3)
        assert alone["wire_ns"] == wide["wire_ns"] <= 1.05 * min(alone["typical_ns"], wide["typical_ns"])
    alone, wide = one(audiences, "fanout", "tcp", 1), one(audiences, "fanout", "tcp", 3)
    assert wide["wire_ns"] > 2.9 * alone["wire_ns"] and wide["typical_ns"] > 0.95 * wide["wire_ns"]
    assert wide["typical_ns"] > 2.5 * one(audiences, "fanout", "raw", 3)["wire_ns"]
    assert wide["to_one"] > 0 and wide["to_raw"] > 0


def test_times_are_by_one_clock_and_every_end_has_its_own(audiences: list[dict[str, Any]]) -> None:
    for found in audiences:
        assert (found["clock"], found["clock_error_ns"]) == ("common", 0)
        assert len(found["each_ns"]) == found["fars"] + (found["ask"] == "exchange")
        assert found["rounds"] >= 2 and found["far"].startswith("m2")


def test_connections_share_one_link_and_hosts_do_not(audiences: list[dict[str, Any]]) -> None:
    line_bytes_per_s = 10e6 / 8
    for k in (1, 3):
        stream = one(audiences, "stream", "tcp", k)
        assert stream["far"] == ("m2" if k == 1 else "m2*3")
        assert k * SIZE / stream["typical_ns"] * 1e9 < line_bytes_per_s
        assert stream["typical_ns"] > 0.95 * stream["wire_ns"]
    for hosts in (2, 3):
        exchange = one(audiences, "exchange", "tcp", hosts - 1)
        assert exchange["typical_ns"] > 0.95 * exchange["wire_ns"]
