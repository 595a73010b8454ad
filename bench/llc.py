# SPDX-License-Identifier: BSD-3-Clause
"""LLC type 2 beside the bare frame through the same ring, the floor of this kernel, and beside TCP: what it costs to be
reliable, what it saves not to have TCP/IP, and what it does on a bad wire and under incast.

Each round is one launch of each stack, all sizes in it, fresh processes, in random order; a stack's time at a size is
the median round trip of its launch. Both ends are pinned, each to a processor of its own.

T1 of LLC follows the measured round trip, from 2 ms to 1 s; TCP's retransmission timeout is at least 200 ms.
"""

from __future__ import annotations

import random
import statistics
from concurrent.futures import ThreadPoolExecutor

import ends
import numpy as np
from ratio import Ratio, anchor, ratio

from vaiven.lab.lab import Lab

SIZES = (1, 13, 100, 1024, 1408)
FRAME_MOST = 1.08  # of the bare frame
EFFORT = ["--sizes", ",".join(map(str, SIZES)), "--samples", "5000", "--cell-ms", "500", "--timeout-ms", "10000"]


def _medians_ns(lab: Lab, stack: str) -> dict[int, float]:
    """Size -> median round trip of one launch."""
    found = ends.cells(lab, stack, EFFORT, ["--wait", "spin"])
    return {cell["size_bytes"]: statistics.median(cell["rtt_ns"]) for cell in found}


def spinning(lab: Lab, rounds: int, seed: int) -> list[Ratio]:
    """LLC over the bare frame, and both over TCP, which is beside them: the kernel's share is in all three."""
    order = random.Random(seed)
    stacks = ["llc", "eth", "tcp"]
    found = [{stack: _medians_ns(lab, stack) for stack in order.sample(stacks, k=3)} for _ in range(rounds)]

    def pairs(ours: str, theirs: str, size: int) -> list[tuple[float, float]]:
        return [(one[ours][size], one[theirs][size]) for one in found]

    rows = [ratio(f"llc / eth, {size} B, both spinning", pairs("llc", "eth", size), FRAME_MOST) for size in SIZES]
    for ours in ("llc", "eth"):
        rows += [anchor(f"{ours} / tcp, {size} B, both spinning", pairs(ours, "tcp", size), None) for size in SIZES]
    return rows


LOSSY = """\
name = "lossy"
[fabric]
kind = "switch"
class = "timed"
rate_mbps = 100
[[hosts]]
prefix = "h"
count = 2
[[faults]]
host = "h2"
kind = "loss"
direction = "both"
probability = 0.005
"""
SMALL = (64, 1024)
LARGE_BYTES = 1_000_000
INCAST_BYTES = 60_000


def processor(lab: Lab, rounds: int, seed: int) -> list[Ratio]:
    """CPU time of both ends for one message there and back, blocking. The kernel's share of the frames is in it."""
    order, found = random.Random(seed), []
    sizes = ("1", "1024")
    question = ["--sizes", ",".join(sizes), "--samples", "5000", "--cell-ms", "500", "--timeout-ms", "10000"]
    for _ in range(rounds):
        cells = {stack: ends.cells(lab, stack, question) for stack in order.sample(["llc", "tcp"], k=2)}
        found.append({stack: [c["cpu_near_ns"] + c["cpu_far_ns"] for c in of] for stack, of in cells.items()})
    what = "llc / tcp, {} B, CPU per exchange, blocking"
    return [
        anchor(what.format(size), [(one["llc"][i], one["tcp"][i]) for one in found], None)
        for i, size in enumerate(sizes)
    ]


def on_a_bad_wire(lab: Lab, rounds: int, seed: int) -> list[Ratio]:
    """0.5 % of the frames lost, each way: the tail of small messages, and the throughput of large ones."""
    order, found = random.Random(seed), []
    small = ["--sizes", ",".join(map(str, SMALL)), "--samples", "4000", "--cell-ms", "60000", "--timeout-ms", "60000"]
    large = ["--sizes", str(LARGE_BYTES), "--samples", "20", "--cell-ms", "60000", "--timeout-ms", "60000"]
    for _ in range(rounds):
        one = {}
        for stack in order.sample(["llc", "tcp"], k=2):
            tails = [np.quantile(cell["rtt_ns"], 0.999) for cell in ends.cells(lab, stack, small)]
            one[stack] = [*tails, statistics.fmean(ends.cells(lab, stack, large)[0]["rtt_ns"])]
        found.append(one)
    goals = [(f"{size} B, 0.5 % loss, 99.9 % of round trips within", 0.1) for size in SMALL]
    goals += [(f"{LARGE_BYTES} B, 0.5 % loss, mean time", 1 / 0.95)]
    return [
        ratio(f"llc / tcp, {what}", [(one["llc"][i], one["tcp"][i]) for one in found], most)
        for i, (what, most) in enumerate(goals)
    ]


def _incast_ns(lab: Lab, stack: str) -> float:
    """What a byte takes while all other hosts send to the first: the inverse of the sum of their rates."""
    question = ["--sizes", str(INCAST_BYTES), "--samples", "100", "--cell-ms", "8000", "--timeout-ms", "60000"]
    others = range(1, len(lab.hosts))
    with ThreadPoolExecutor(len(others)) as pool:
        launches = [pool.submit(ends.cells, lab, stack, question, (), (host, 0)) for host in others]
        found = [launch.result()[0]["rtt_ns"] for launch in launches]
    return 1 / sum(INCAST_BYTES / statistics.fmean(rtt_ns) for rtt_ns in found)


def incast(lab: Lab, rounds: int, seed: int) -> list[Ratio]:
    """All hosts but one in a ping-pong of large messages with that one."""
    order, found = random.Random(seed), []
    for _ in range(rounds):
        found.append({stack: _incast_ns(lab, stack) for stack in order.sample(["llc", "tcp"], k=2)})
    what = f"llc / tcp, {len(lab.hosts) - 1} senders to one, {INCAST_BYTES} B, time of a byte"
    return [ratio(what, [(one["llc"], one["tcp"]) for one in found], 1.25)]
