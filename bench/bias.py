# SPDX-License-Identifier: BSD-3-Clause
"""How far single frames on timed labs are from their time: the wire's, by formula, and software's, measured.

On each fabric, for each stack, size and way to wait: fresh launches of a ping-pong, in turn with the same on a free lab
in the same state (vaiven.lab.lone). A launch is in time within 2 us or 2 % of the wire, whichever is more. How
many launches of the free lab are as near to their own median is the floor: no fabric does better on this machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator

from vaiven.lab import awake, lone, topology
from vaiven.lab import lab as labs
from vaiven.lab.lone import Lone

FABRICS = (("switch", 100), ("switch", 50), ("switch", 10), ("hub", 10))
STACKS = ("udp", "eth")
FRAMES = (60, 128, 256, 542, 1024, 1514)
LAUNCHES = {100: 24, 50: 20, 10: 12}  # by Mb/s: about a minute for each fabric
_LAB = """
name = "bias"
[fabric]
kind = "{kind}"
class = "timed"
rate_mbps = {rate}
[[hosts]]
prefix = "bias"
count = 4
"""


def measured(kind: str, rate_mbps: float, stacks: tuple[str, ...], launches: int) -> list[Lone]:
    """Single frames of these stacks on a lab of four hosts that is raised for it."""
    lab = labs.up(topology.parse(_LAB.format(kind=kind, rate=rate_mbps)), f"bias-{os.getpid()}", bound=True)
    try:
        with awake.kept(lab.topology):
            return lone.measure(*lab.hosts[:2], lab.topology, stacks, FRAMES, launches=launches, samples=24)
    finally:
        labs.down(lab)


def rows(kind: str, rate_mbps: float, found: list[Lone]) -> Iterator[str]:
    """A line of Markdown for each, and one for all together."""
    for one in found:
        errors = sorted(error / 1000 for error in one.errors_ns)
        yield (
            f"| {kind}, {rate_mbps} Mb/s | {one.stack}, {lone.WAITS[one.wait]} | {one.frame_bytes} B "
            f"| {one.wire_ns / 1000:.1f} | {one.software_ns / 1000:.1f} | {statistics.median(errors):+.1f} "
            f"| {errors[0]:+.1f} to {errors[-1]:+.1f} | {one.limit_ns / 1000:.1f} | {one.in_time} of {len(errors)} "
            f"| {one.free_in_time} of {len(one.free_ns)} |"
        )
    launches = sum(len(one.launches_ns) for one in found)
    medians = sum(abs(statistics.median(one.errors_ns)) <= one.limit_ns for one in found)
    yield (
        f"| {kind}, {rate_mbps} Mb/s | all | | | | medians: {medians} of {len(found)} | | "
        f"| {sum(one.in_time for one in found)} of {launches} "
        f"| {sum(one.free_in_time for one in found)} of {sum(len(one.free_ns) for one in found)} |"
    )


def main() -> None:
    """Prints the table of the fabrics that were asked for, as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fabric", action="append", help="such as switch:100; all without it")
    parser.add_argument("--stacks", default=",".join(STACKS))
    parser.add_argument("--launches", type=int, help="of each")
    asked = parser.parse_args()
    fabrics = [(kind, int(rate)) for kind, rate in (one.split(":") for one in asked.fabric or ())] or FABRICS
    columns = (
        "fabric | stack, ends | frame | wire | software | error of the median | of launches | allowed | in time | free"
    )
    print(f"Times in us.\n\n| {columns} |\n{'|---' * 10}|")
    began_s = time.monotonic()
    for kind, rate in fabrics:
        found = measured(kind, rate, tuple(asked.stacks.split(",")), asked.launches or LAUNCHES[rate])
        print("\n".join(rows(kind, rate, found)), flush=True)
    print(f"\n{time.monotonic() - began_s:.0f} s, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
