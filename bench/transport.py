# SPDX-License-Identifier: BSD-3-Clause
"""What MPI over LLC costs beside MPI over TCP, and beside LLC and TCP without a library: ping-pongs where there is no
wire, on a switch of 100 Mb/s and on one that loses frames; large messages frame by frame; with many idle peers; a
Fourier transform; all to all.

Each round is one launch, or one job, of each stack, in random order; a time is the median of its launch.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import jobs
import numpy as np
from llc import LOSSY
from ratio import Ratio, anchor, highest, ratio

from vaiven import questions, resources
from vaiven.lab import topology
from vaiven.plan.schema import Effort
from vaiven.run.place import Place

LLC, TCP = "openmpi-llc", "openmpi"
BELOW = {LLC: "llc[wait=spin]", TCP: "tcp[wait=spin]"}  # the same without a library
SMALL = (1, 100, 1024, 1408)
LIBRARY_US_MOST = 0.8  # of one way, that Open MPI adds to LLC
SHARE_MOST = 0.05  # by so much of TCP's time the gain under Open MPI may be less than without it
WIRE_MOST = {1: 0.90, 100: 0.90, 1024: 0.95, 4096: 0.975, 65536: 0.975, 1_000_000: 0.975}
LARGE_MOST = {65536: 1.2, 1 << 20: 1.2}
LOSSY_SIZES, LOSSY_MOST = (64, 1024), 0.05
IDLE, IDLE_MOST = (2, 8, 16), 1.10  # ranks; over two
FFT_RANKS, FFT_MOST, POINTS = (2, 4, 8), 0.97, 1 << 20
ALLTOALL_BYTES = (1024, 32768)
QUICK = Effort(samples=5000, samples_min=8, cell_ms=500, timeout_ms=10_000)
WHOLE = Effort(samples=4000, samples_min=4000, cell_ms=60_000, timeout_ms=60_000, launch_s=600)
SLOW = Effort(samples=40, samples_min=8, cell_ms=2_000, timeout_ms=10_000)
BY_FRAMES = "offloads = false", 'congestion_control = "reno"'  # this kernel's BBR would time its own pacing
Times = Mapping[int, float]


def _rounds(rounds: int, seed: int, stacks: Sequence[str], times: Callable[[str], Times]) -> list[dict[str, Times]]:
    """For each round stack -> size -> time."""
    order = random.Random(seed)
    return [{stack: times(stack) for stack in order.sample(stacks, len(stacks))} for _ in range(rounds)]


def _ratios(found: Sequence[Mapping[str, Times]], what: str, most: Mapping[int, float]) -> list[Ratio]:
    return [
        ratio(f"{LLC} / {TCP}, {size} B{what}", [(one[LLC][size], one[TCP][size]) for one in found], goal)
        for size, goal in most.items()
    ]


def _one_way(where: Place, sizes: Sequence[int], effort: Effort, share: float = 0.5) -> Callable[[str], Times]:
    """stack -> size -> that share of one way, in ns: the median, unless another is said."""

    def times(stack: str) -> Times:
        taken = jobs.pingpong(where, stack, sizes, effort)
        return {size: float(np.quantile(ns, share)) / 2 for size, ns in taken.items()}

    return times


def software(rounds: int, seed: int) -> list[Ratio]:
    """Where there is no wire: what the library adds to LLC, what of LLC's gain is left under it, and large messages."""
    stacks = [*BELOW, *BELOW.values()]
    with jobs.hosts("free", 2) as where:
        found = _rounds(rounds, seed, stacks, _one_way(where, SMALL, QUICK))
    with jobs.hosts_of(_free(2, BY_FRAMES)) as where:
        large = _rounds(rounds, seed, [LLC, TCP], _one_way(where, tuple(LARGE_MOST), SLOW))
    rows = []
    for size in SMALL:
        more_us = [(one[LLC][size] - one[BELOW[LLC]][size]) / 1e3 for one in found]
        rows.append(highest(f"{LLC} - llc, {size} B, one way", more_us, LIBRARY_US_MOST, "us"))
    for over, under in ((LLC, TCP), (BELOW[LLC], BELOW[TCP])):
        for size in SMALL:
            rows.append(
                anchor(f"{over} / {under}, {size} B", [(one[over][size], one[under][size]) for one in found], None)
            )
    for size in SMALL:
        lost = [one[LLC][size] / one[TCP][size] - one[BELOW[LLC]][size] / one[BELOW[TCP]][size] for one in found]
        rows.append(highest(f"{LLC} / {TCP} - llc / tcp, {size} B", lost, SHARE_MOST, ""))
    return rows + _ratios(large, ", no wire, frame by frame", LARGE_MOST)


def wire(rounds: int, seed: int) -> list[Ratio]:
    """On a switch of 100 Mb/s, and where it loses one frame in 200."""
    with jobs.hosts("lidi", 2) as where:
        found = _rounds(rounds, seed, [LLC, TCP], _one_way(where, tuple(WIRE_MOST), SLOW))
    with jobs.hosts_of(topology.parse(LOSSY)) as where:
        tails = _rounds(min(rounds, 8), seed, [LLC, TCP], _one_way(where, LOSSY_SIZES, WHOLE, 0.999))
    rows = _ratios(found, ", 100 Mb/s", WIRE_MOST)
    return rows + _ratios(tails, ", 0.5 % loss, 99.9 % within", dict.fromkeys(LOSSY_SIZES, LOSSY_MOST))


def programs(rounds: int, seed: int) -> list[Ratio]:
    """A Fourier transform at 100 Mb/s; all to all of 16 at 50 Mb/s."""
    with jobs.hosts("lidi") as where:
        found = _rounds(rounds, seed, [LLC, TCP], lambda stack: {n: _fft_ns(where, stack, n) for n in FFT_RANKS})
    what = f"{LLC} / {TCP}, a Fourier transform of 2^20 points by {{}}, 100 Mb/s"
    rows = [
        ratio(what.format(count), [(one[LLC][count], one[TCP][count]) for one in found], FFT_MOST)
        for count in FFT_RANKS
    ]
    with tempfile.TemporaryDirectory() as scratch, jobs.hosts("ufpr") as where:
        program = jobs.built("openmpi", jobs.HERE / "transport.c", Path(scratch))
        found = _rounds(
            rounds, seed, [LLC, TCP],
            lambda stack: {size: _said_ns(where, stack, program, "alltoall", size) for size in ALLTOALL_BYTES},
        )  # fmt: skip
    what = f"{LLC} / {TCP}, MPI_Alltoall of 16, {{}} B for each, 50 Mb/s"
    return rows + [
        anchor(what.format(size), [(one[LLC][size], one[TCP][size]) for one in found], None) for size in ALLTOALL_BYTES
    ]


def idle(rounds: int, seed: int) -> list[Ratio]:
    """What peers cost that are there and say nothing, where there is no wire."""
    with tempfile.TemporaryDirectory() as scratch, jobs.hosts_of(_free(max(IDLE))) as where:
        program = jobs.built("openmpi", jobs.HERE / "transport.c", Path(scratch))
        names = list(where.hosts)
        order = random.Random(seed)
        found = [
            {count: _said_ns(where, LLC, program, "idle", 1, names[:count]) for count in order.sample(IDLE, len(IDLE))}
            for _ in range(rounds)
        ]
    what = f"{LLC}, 1 B, {{}} ranks that are there / 2"
    return [ratio(what.format(count), [(one[count], one[min(IDLE)]) for one in found], IDLE_MOST) for count in IDLE[1:]]


def _free(count: int, tcp: Sequence[str] = ()) -> topology.Topology:
    """So many hosts without a wire, whose TCP is set so."""
    lines = ['name = "peers"', "[fabric]", 'kind = "switch"', 'class = "free"', "[tcp]", *tcp]
    return topology.parse("\n".join([*lines, "[[hosts]]", 'prefix = "h"', f"count = {count}"]))


def _said_ns(where: Place, stack: str, program: Path, what: str, size: int, names: Sequence[str] = ()) -> float:
    return jobs.numbers(jobs.job(where, stack, [str(program), what, str(size)], names))[what]


def _fft_ns(where: Place, stack: str, count: int) -> float:
    """Of a transform by so many ranks, until the last has its part."""
    program = str(resources.program(questions.FFT_PROGRAM.executable(stack)))
    names = list(where.hosts)[:count]
    said = json.loads(jobs.job(where, stack, [program, "--points", str(POINTS), "--times", "3"], names))
    return statistics.median(said["whole_ns"])
