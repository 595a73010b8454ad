# SPDX-License-Identifier: BSD-3-Clause
"""How far what is measured on a timed lab lies from what the wire takes, by stack and size.

A measured time is the wire's, which is known exactly, and software's, which is not: the same messages on a free lab
say what software takes where nothing has to be waited for. On a timed lab part of that is done while the wire is busy
with other frames of the message, so the bias lies between two bounds: (measured - wire - software) / wire if no part
is, (measured - wire) / wire if all of it is. For messages of one frame the lower bound is the bias.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from repeat import costs, measure

SIZES = (64, 500, 1400, 16384, 60000)
LABS = {"hub8": "hub, 10 Mb/s", "demo": "switch, 100 Mb/s"}
_PLAN = """
title = "bias"
lab = "{lab}"
hosts = ["{near}", "{far}"]
stacks = ["icmp", "eth", "udp", "tcp"]
sizes = {sizes}
seed = 1
[stop]
launches_min = 8
launches_max = 8
"""
_HOSTS = {"hub8": ("hub1", "hub2"), "demo": ("demo1", "demo2"), "free": ("free1", "free2")}

Points = dict[tuple[str, int], dict[str, float]]  # (stack, bytes) -> a point of `vaiven model --json`


def _points(lab: str) -> Points:
    near, far = _HOSTS[lab]
    with tempfile.TemporaryDirectory() as scratch:
        plan = _PLAN.format(lab=lab, near=near, far=far, sizes=list(SIZES))
        _, run = measure(plan, Path(scratch))
        return {(cost["stack"], point["size_bytes"]): point for cost in costs(run) for point in cost["points"]}


def table() -> str:
    """Both bounds for each lab, stack and size, as Markdown; times one way, medians over 8 launches."""
    software = _points("free")
    lines = [
        "| lab | stack | size | wire | measured | software alone | bias between |",
        "|---|---|---|---|---|---|---|",
    ]
    for lab, words in LABS.items():
        for (stack, size), point in _points(lab).items():
            wire, ours, alone = point["wire_ns"], point["typical_ns"], software[stack, size]["typical_ns"]
            low, high = (100 * (ours - wire - less) / wire for less in (alone, 0.0))
            times = " | ".join(f"{ns / 1000:.1f} us" for ns in (wire, ours, alone))
            lines.append(f"| {words} | {stack} | {size} B | {times} | {low:+.1f} and {high:+.1f} % |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
