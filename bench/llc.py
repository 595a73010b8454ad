# SPDX-License-Identifier: BSD-3-Clause
"""Ping-pong over LLC type 2 against TCP, both spinning, on a free lab: what it saves not to have TCP/IP.

Each round is one launch of either stack, all sizes in it, fresh processes, in random order; a stack's time at a size is
the median round trip of its launch. Both ends are pinned, each to a processor of its own, since they spin.
"""

from __future__ import annotations

import random
import statistics

import ends
from ratio import Ratio, ratio

from vaiven.lab.lab import Lab

GOALS = {1: 0.50, 13: 0.50, 100: 0.50, 1024: 0.55, 1408: 0.55}  # of the time of TCP
EFFORT = ["--sizes", ",".join(map(str, GOALS)), "--samples", "5000", "--cell-ms", "500", "--timeout-ms", "10000"]


def _medians_ns(lab: Lab, stack: str) -> dict[int, float]:
    """Size -> median round trip of one launch."""
    found = ends.cells(lab, stack, EFFORT, ["--wait", "spin"])
    return {cell["size_bytes"]: statistics.median(cell["rtt_ns"]) for cell in found}


def against_tcp(lab: Lab, rounds: int, seed: int) -> list[Ratio]:
    """One ratio for each size."""
    order = random.Random(seed)
    found = []
    for _ in range(rounds):
        found.append({stack: _medians_ns(lab, stack) for stack in order.sample(["llc", "tcp"], k=2)})
    return [
        ratio(f"llc / tcp, {size} B, both spinning", [(one["llc"][size], one["tcp"][size]) for one in found], most)
        for size, most in GOALS.items()
    ]
