# SPDX-License-Identifier: BSD-3-Clause
"""A network that changes while it is measured marks the run; every look of the stopping rule is kept."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from tests.rules.conftest import Bench, codes

from vaiven.lab import faults
from vaiven.lab.lab import Lab
from vaiven.lab.topology import Fault
from vaiven.store import query

LAB = """
name = "changing"
[fabric]
kind = "hub"
class = "timed"
rate_mbps = 10
[[hosts]]
name = "a"
[[hosts]]
name = "b"
"""
BLOCKS, LAUNCHES_PER_BLOCK = 10, 2  # one of them the sentinel's
MARKS = {"drift", "block-off", "two-groups"}


def slower(lab: Lab, runs: Path, launches: int) -> None:
    """Delays what comes to b by 300 us, more than a round trip takes, once so many launches are finished."""
    deadline = time.monotonic() + 60
    while not any(query.launch_count(run) >= launches for run in query.runs(runs) if isinstance(run, query.Run)):
        if time.monotonic() > deadline:
            return  # the test says that no mark came
        time.sleep(0.01)
    faults.change(lab, Fault(host="b", kind="delay", delay_us=300))


@pytest.mark.lab
@pytest.mark.parametrize("at_block", [5, 8])
def test_a_delay_that_comes_during_the_run_is_marked(bench: Bench, at_block: int) -> None:
    bench.write(LAB)
    # Launches of half a second: the change takes a while too, and must come before the last of them.
    (bench.path / "plan.toml").write_text(
        'stacks = ["udp"]\nsizes = [64]\n[effort]\nsamples = 1000000\ncell_ms = 500\n'
        f"[stop]\nlaunches_min = {BLOCKS}\nlaunches_max = {BLOCKS}\n"
    )
    lab = bench.up()
    change = threading.Thread(target=slower, args=(lab, bench.path / "runs", at_block * LAUNCHES_PER_BLOCK))
    change.start()
    run = bench.measure("plan.toml")
    change.join()
    told = [line["text"] for line in query.warnings(run) if line["code"] in MARKS]
    assert any(text.startswith("sentinel udp 64 B a b") for text in told), query.warnings(run)
    sentinel = query.sentinels(run).sort("block")["ns_median"]
    assert sentinel[-1] > 1.5 * sentinel[0]


@pytest.mark.lab
def test_every_scheduled_look_is_in_the_end_of_the_run(bench: Bench) -> None:
    bench.write(LAB)
    (bench.path / "plan.toml").write_text(
        'stacks = ["udp"]\nsizes = [64]\n[effort]\nsamples = 20\n'
        "[stop]\nlaunches_min = 3\nlaunches_max = 6\nlooks = [3, 4]\nlevel = 0.5\nhalf_width = 1e-9\n"
    )
    run = bench.measure("plan.toml")
    assert run.end is not None
    assert [look.launches for look in run.end.looks] == [3, 4, 6]
    assert all(look.half_width is None or look.half_width > 1e-9 for look in run.end.looks)
    assert (run.end.reason, run.end.half_width) == ("not-achieved", run.end.looks[-1].half_width)
    assert "launch-failed" not in codes(run)
