# SPDX-License-Identifier: BSD-3-Clause
"""Ping-pong over LLC type 2 against TCP, both spinning, on a free lab: what it saves not to have TCP/IP.

Each round is one launch of either stack, all sizes in it, fresh processes, in random order; a stack's time at a size is
the median round trip of its launch. Both ends are pinned, each to a processor of its own, since they spin.
"""

from __future__ import annotations

import json
import random
import secrets
import statistics
import subprocess

from ratio import Ratio, ratio

from vaiven import resources
from vaiven.lab.lab import Lab

GOALS = {1: 0.50, 13: 0.50, 100: 0.50, 1024: 0.55, 1408: 0.55}  # of the time of TCP
OPTIONS = ["--wait", "spin", "--key-stdin"]
EFFORT = ["--sizes", ",".join(map(str, GOALS)), "--samples", "5000", "--cell-ms", "500", "--timeout-ms", "10000"]


def _medians_ns(lab: Lab, stack: str) -> dict[int, float]:
    """Size -> median round trip of one launch."""
    probe, key = str(resources.program("vaiven-probe")), secrets.token_hex(16) + "\n"
    near_host, far_host = lab.hosts[:2]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    far_command = [probe, "far", stack, "--bind", far_host.address, "--cpu", "1", *OPTIONS]
    far = subprocess.Popen(far_host.argv(far_command), **pipes)
    try:
        far.stdin.write(key)
        far.stdin.flush()
        peer = f"{far_host.address}:{json.loads(far.stdout.readline())['port']}"
        near_command = [probe, "near", stack, "--peer", peer, "--cpu", "0", *OPTIONS, *EFFORT]
        near = subprocess.Popen(near_host.argv(near_command), **pipes)
        near.stdin.write(key)
        near.stdin.flush()
        records = [json.loads(line) for line in near.stdout]
        near.wait()
    finally:
        far.kill()
        far.wait()
    if records[-1]["type"] != "bye":
        raise RuntimeError(f"{stack}: {records[-1]}")
    return {cell["size_bytes"]: statistics.median(cell["rtt_ns"]) for cell in records if cell["type"] == "cell"}


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
