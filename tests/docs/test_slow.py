# SPDX-License-Identifier: BSD-3-Clause
"""What the page about slow messages says of its patients can be read off the runs that it makes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.docs.test_commands import environment_of_a_reader, run_by, steps

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/slow.md"

pytestmark = [pytest.mark.lab, pytest.mark.slow]
Points = dict[tuple[str, str, int], dict[str, Any]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Points]:
    """(far end, stack, size) -> what the run of each command of the page says of it, in order."""
    place = tmp_path_factory.mktemp("reader")
    environment = environment_of_a_reader(tmp_path_factory.mktemp("shell"))
    found = []
    for step in steps(PAGE.read_text()):
        (place / step.file).write_text(step.text)
    for commands in run_by(PAGE.read_text(), Path(__file__).name):
        for command in (commands, "vaiven model last --json"):
            done = subprocess.run(
                ["bash", "-euc", command], cwd=place, env=environment, capture_output=True, text=True, timeout=600,
                check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        sizes = json.loads(done.stdout)["sizes"]
        found.append({(one["far"], one["stack"], one["size_bytes"]): one for one in sizes})
    assert len(found) == 2
    return found


@pytest.mark.parametrize("stack", ["icmp", "udp", "tcp"])
def test_an_old_host_is_seen_at_small_messages(runs: list[Points], stack: str) -> None:
    old, well = (runs[0][host, stack, 8] for host in ("old", "well2"))
    assert old["floor_ns"] - old["wire_ns"] >= 200_000 > well["floor_ns"] - well["wire_ns"]


@pytest.mark.parametrize("stack", ["icmp", "udp", "tcp"])
def test_a_port_that_fell_back_is_seen_at_large_messages(runs: list[Points], stack: str) -> None:
    port, well = (runs[0][host, stack, 30000] for host in ("port", "well2"))
    assert port["wire_ns"] / port["one_way_ns"] <= 0.13
    assert port["floor_ns"] > 5 * well["floor_ns"]


@pytest.mark.parametrize("stack", ["icmp", "udp"])
def test_a_bad_cable_is_seen_at_what_is_lost(runs: list[Points], stack: str) -> None:
    lost = {host: sum(runs[0][host, stack, size]["lost"] for size in (8, 1448, 30000)) for host in ("cable", "well2")}
    assert lost["cable"] > lost["well2"]


def test_two_writes_are_seen_with_nagle(runs: list[Points]) -> None:
    split, whole = (runs[1]["well2", stack, 8]["floor_ns"] for stack in ("tcp-nagle[write=split]", "tcp"))
    assert split > 100 * whole
