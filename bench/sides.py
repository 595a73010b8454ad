# SPDX-License-Identifier: BSD-3-Clause
"""What two sides of one run find: 26 launches of each of three stacks at four sizes, on the lab `free`, in turns.

Nothing was changed between the sides; then every time of one of them is made 5 % longer, as in bench/between.py.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import between
import repeat
from ratio import Ratio, bound

from vaiven.store import query

RUNS = 6
LAUNCHES = 26  # of each side
UNSEEN_PERCENT_MOST = 10.0
SECONDS_MOST = 20.0

_PLAN = f"""
title = "bench"
lab = "free"
stacks = ["udp", "tcp", "eth"]
sizes = [8, 1448, 4096, 10000]
pairs = [["free1", "free2"]]
seed = {{seed}}
[effort]
samples = 60
cell_ms = 1000
[stop]
launches_min = {2 * LAUNCHES}
launches_max = {2 * LAUNCHES}
level = 0.5
"""


def sides(seed: int) -> list[Ratio]:
    """Of each of RUNS runs: the share of its cells in which 5 % go unseen, and how long it measured."""
    with tempfile.TemporaryDirectory() as scratch:
        plans = [_PLAN.format(seed=seed + n) for n in range(RUNS)]
        spent_s, runs = zip(*(repeat.measure(plan, Path(scratch)) for plan in plans), strict=True)
        found = [between.two_sides(between.medians([query.open_run(run)]), seed) for run in runs]
    many = f"sides of {LAUNCHES} launches: "
    return [
        bound(f"{many}cells of 12 in which +5 % go unseen, %", [100 * (1 - one.finds_all) for one in found],
              UNSEEN_PERCENT_MOST, "%"),
        bound(f"{many}cells falsely called different, %", [100 * one.false_cells for one in found], 1.0, "%"),
        bound(f"{many}whole command, seconds", list(spent_s), SECONDS_MOST, "s"),
    ]  # fmt: skip
