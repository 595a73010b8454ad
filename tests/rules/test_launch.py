# SPDX-License-Identifier: BSD-3-Clause
"""The launch is the unit: the same program against itself, from the probe to the verdict."""

from __future__ import annotations

import pytest
from tests.rules.conftest import Bench

from vaiven.model.compare import compare_stacks
from vaiven.model.times import Statistic
from vaiven.results.rows import launch_times, one_way
from vaiven.stats.verdict import Rules
from vaiven.store import query

LAB = '\nname = "same"\n[fabric]\nkind = "switch"\nclass = "free"\n[[hosts]]\nprefix = "n"\ncount = 3\n'
LAUNCHES, SAMPLES = 11, 200
ALPHA = 0.001  # so that this test fails once in a thousand times by chance, and 2^(1-11) reaches it


@pytest.mark.lab
def test_a_stack_is_not_told_apart_from_itself(bench: Bench) -> None:
    """`null` has no far end, so what n1 measures with n2 and with n3 is one program, launched in the same blocks."""
    bench.write(LAB)
    (bench.path / "plan.toml").write_text(
        f'stacks = ["null"]\nsizes = [64]\n[effort]\nsamples = {SAMPLES}\n[sentinel]\nstack = "null"\n'
        f"[stop]\nlaunches_min = {LAUNCHES}\nlaunches_max = {LAUNCHES}\n"
    )
    run = bench.measure("plan.toml")
    table = one_way(query.launches(run))
    sides = [
        launch_times(table.filter(table["far"] == far), ("n1", far, "null"), Statistic.MEAN) for far in ("n2", "n3")
    ]
    (verdict,) = compare_stacks(sides, Rules(alpha=ALPHA)).verdicts
    assert verdict.evidence.launches == (LAUNCHES, LAUNCHES)  # and not that many times 200 samples
    assert verdict.evidence.paired and verdict.evidence.test.p_least == 2.0 ** (1 - LAUNCHES)
    assert not verdict.different, verdict
