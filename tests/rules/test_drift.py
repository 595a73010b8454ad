# SPDX-License-Identifier: BSD-3-Clause
"""A network that changes while it is measured marks the run; every look of the stopping rule is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.rules.conftest import Bench, codes

from vaiven.cli.measure import measure
from vaiven.lab import faults
from vaiven.lab.lab import Lab
from vaiven.lab.topology import Fault
from vaiven.plan.order import Launch
from vaiven.run import launchers
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
MARKS = {"drift", "block-off", "two-groups"}


@pytest.fixture
def slower_from(monkeypatch: pytest.MonkeyPatch) -> Callable[[Lab, int], None]:
    """slower_from(lab, block): from that block on what comes to b takes 1 ms more, thrice a round trip."""
    launch = launchers.launch

    def prepare(lab: Lab, block: int) -> None:
        delays = iter([Fault(host="b", kind="delay", delay_us=1000)])

        def changed(work: Launch, *rest: Any) -> launchers.Outcome:
            for delay in delays if work.block >= block else ():
                faults.change(lab, delay)
            return launch(work, *rest)

        monkeypatch.setattr(launchers, "launch", changed)

    return prepare


@pytest.mark.lab
@pytest.mark.parametrize("at_block", [5, 8])
def test_a_delay_that_comes_during_the_run_is_marked(
    bench: Bench, slower_from: Callable[[Lab, int], None], at_block: int
) -> None:
    bench.write(LAB)
    (bench.path / "plan.toml").write_text(
        'lab = "./lab.toml"\nstacks = ["udp"]\nsizes = [64]\n[effort]\nsamples = 1000000\ncell_ms = 200\n'
        "[stop]\nlaunches_min = 10\nlaunches_max = 10\n"
    )
    slower_from(bench.up(), at_block)
    measure("plan.toml", page=False)
    run = query.find("last", bench.path / "runs")
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
