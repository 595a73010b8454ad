# SPDX-License-Identifier: BSD-3-Clause
"""What the witnesses of a timed lab cost what is timed: the same ping-pongs with them and without, in turn.

On a free lab, where no wire hides it. Each round is two launches of each stack, in random order.
"""

from __future__ import annotations

import random
from contextlib import ExitStack

import ends
import numpy as np
from ratio import Ratio, ratio

from vaiven.lab.lab import Lab
from vaiven.lab.witness import Witnesses

STACKS = ("udp", "tcp")
EFFORT = ("--ask", "pingpong", "--sizes", "64", "--samples", "4000", "--cell-ms", "60000", "--timeout-ms", "10000")
MOST = 1.02  # of a ping-pong's time that they may add


def disturbance(lab: Lab, rounds: int, seed: int) -> list[Ratio]:
    """For each stack the median round trip of a launch beside witnesses, over that of one without."""
    order = random.Random(seed)
    pairs: dict[str, list[tuple[float, float]]] = {stack: [] for stack in STACKS}
    for _ in range(rounds):
        turns = [(stack, watched) for stack in STACKS for watched in (True, False)]
        took = {turn: _median_ns(lab, *turn) for turn in order.sample(turns, k=len(turns))}
        for stack in STACKS:
            pairs[stack].append((took[stack, True], took[stack, False]))
    return [ratio(f"witnesses beside {stack}, 64 B", pairs[stack], MOST) for stack in STACKS]


def _median_ns(lab: Lab, stack: str, watched: bool) -> float:
    with ExitStack() as beside:
        if watched:
            beside.callback(Witnesses().end)
        (cell,) = ends.cells(lab, stack, list(EFFORT))
    return float(np.median(cell["rtt_ns"]))
