# SPDX-License-Identifier: BSD-3-Clause
"""What makes whole runs differ on a quiet machine with its processors held awake? Short runs, and what was around them.

    python bench/unlike.py [--minutes M] [--out FILE]

In each period two labs are raised afresh, and short runs are measured on them in turns, in random order. So what
belongs to the hour (a neighbour of the virtual machine, its clock), to a lab (where the kernel put its cables) and to
nothing but a run are told apart by their shares of the variance; and each thing that is recorded around a run is tried
by how its rank goes with the run's (Spearman). --out keeps a line of JSON for each run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import repeat
import scipy

from vaiven.lab import lab as labs
from vaiven.lab import topology
from vaiven.lab.lab import Lab
from vaiven.stats.arrays import Floats
from vaiven.store import query

LABS = ("one", "other")
TURNS = 3  # runs on each lab of a period
LEVEL = 0.01

_LAB = """
name = "{name}"
[fabric]
kind = "switch"
class = "timed"
rate_mbps = 100
[[hosts]]
prefix = "h"
count = 2
"""
_PLAN = """
title = "unlike"
lab = "{lab}"
stacks = ["udp", "tcp", "eth"]
sizes = [8, 1448, 4096, 10000]
seed = {seed}
[effort]
samples = 40
cell_ms = 20
[stop]
launches_min = 8
launches_max = 8
level = 0.5
"""
_CHASE_BYTES = {"first-level": 1 << 14, "second-level": 1 << 18, "memory": 1 << 26}


@dataclass(frozen=True)
class Ran:
    """One run: the medians of its cells, and what was recorded around it."""

    period: int
    lab: str
    turn: int
    ns: tuple[float, ...]
    around: dict[str, float]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, default=5.5, help="no period begins that would end later")
    options.add_argument("--out", type=Path, help="a file that gets a line for each run")
    given = options.parse_args()
    runs = list(measured(60 * given.minutes))
    if given.out:
        given.out.write_text("".join(f"{json.dumps(asdict(run))}\n" for run in runs))
    print(report(runs))
    return 0


def measured(seconds: float) -> Iterator[Ran]:
    """Periods until the next would be too long."""
    begun, longest, order = time.monotonic(), 0.0, random.Random(1)
    period = 0
    while time.monotonic() - begun + longest < seconds:
        start = time.monotonic()
        yield from _period(period, order)
        longest = max(longest, time.monotonic() - start)
        period += 1


def _period(period: int, order: random.Random) -> Iterator[Ran]:
    with tempfile.TemporaryDirectory() as name, _raised(Path(name)) as here:
        for turn in range(TURNS):
            for lab in order.sample(LABS, len(LABS)):
                yield _run(period, lab, turn, here[lab], Path(name))


@contextmanager
def _raised(scratch: Path) -> Iterator[dict[str, Lab]]:
    """Both labs under their own names, where nobody else looks."""
    os.environ["VAIVEN_STATE_DIR"] = str(scratch / "state")
    up: dict[str, Lab] = {}
    try:
        for name in LABS:
            (scratch / f"{name}.toml").write_text(_LAB.format(name=name))
            up[name] = labs.up(topology.load(scratch / f"{name}.toml"), bound=True)
        yield up
    finally:
        for lab in up.values():
            labs.down(lab)


def _run(period: int, name: str, turn: int, lab: Lab, scratch: Path) -> Ran:
    speeds, before = processor_speeds(), counters()
    _, made = repeat.measure(_PLAN.format(lab=scratch / f"{name}.toml", seed=secrets.randbelow(1 << 30)), scratch)
    after = counters()
    run = query.open_run(made)
    cells = query.launches(run).group_by("stack", "size_bytes").agg(
        ns=_median("ns_median"), near=_median("cpu_near_ns"), far=_median("cpu_far_ns")
    ).sort("stack", "size_bytes")  # fmt: skip
    calibration = run.manifest.calibration or {}
    around = {
        **{f"delta {what}": float(after[what] - before.get(what, 0)) for what in after},
        **{f"speed {what}": ns for what, ns in speeds.items()},
        **{f"lab pid {host.name}": float(host.namespace.pid % 64) for host in lab.hosts},
        "lead": float(calibration.get("lead_ns") or 0),
        "processor time near": float(np.log(cells["near"].cast(float)).mean() or 0.0),
        "processor time far": float(np.log(cells["far"].cast(float)).mean() or 0.0),
        "turn": float(turn),
    }
    return Ran(period, name, turn, tuple(cells["ns"].to_list()), around)


def _median(column: str):
    import polars as pl

    return pl.col(column).median()


def counters() -> dict[str, float]:
    """What the machine counts since it runs: stolen and interrupted time, interrupts by kind, pages that were moved."""
    found: dict[str, float] = {}
    for line in Path("/proc/stat").read_text().splitlines():
        words = line.split()
        if words[0].startswith("cpu"):
            names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
            found |= {f"{words[0]} {name}": float(word) for name, word in zip(names, words[1:], strict=False)}
        elif words[0] in ("ctxt", "processes", "intr"):
            found[words[0]] = float(words[1])
    for line in Path("/proc/interrupts").read_text().splitlines()[1:]:
        kind, *words = line.split()
        numbers = [float(word) for word in words if word.isdigit()][: os.cpu_count()]
        found |= {f"interrupt {kind}{n}": number for n, number in enumerate(numbers)}
    moved = ("pgmigrate", "thp_", "compact_", "numa_", "pgfault", "pgsteal")
    for line in Path("/proc/vmstat").read_text().splitlines():
        name, number = line.split()
        if name.startswith(moved):
            found[f"vm {name}"] = float(number)
    return found


def processor_speeds() -> dict[str, float]:
    """ns for a step of a chain of loads through so much memory, on each processor, and for a step of arithmetic."""
    found, usual = {}, os.sched_getaffinity(0)
    try:
        for cpu in sorted(usual):
            os.sched_setaffinity(0, {cpu})
            found[f"arithmetic on {cpu}"] = _best(lambda: sum(range(20_000)), 20_000)
            for name, size in _CHASE_BYTES.items():
                table = _chains[name]
                found[f"{name} on {cpu}"] = _best(lambda table=table: table[table].sum(), size // 8)
    finally:
        os.sched_setaffinity(0, usual)
    return found


def _best(work, steps: int) -> float:
    """The quickest of a few."""
    times = []
    for _ in range(3):
        start = time.perf_counter_ns()
        work()
        times.append(time.perf_counter_ns() - start)
    return min(times) / steps


_chains = {name: np.random.default_rng(1).permutation(size // 8) for name, size in _CHASE_BYTES.items()}


def report(runs: Sequence[Ran]) -> str:
    """How much runs differ, what of it belongs to periods, labs and runs, and what goes with it."""
    logs = np.log(np.array([run.ns for run in runs]))
    moved = logs - np.median(logs, axis=0)
    whole = moved.mean(axis=1)
    apart = np.corrcoef(moved.T)[np.triu_indices(moved.shape[1], 1)]
    lines = [
        f"{len(runs)} runs in {len({run.period for run in runs})} periods, two labs each",
        f"run medians differ by {100 * whole.std(ddof=1):.2f} % as a whole (standard deviation), "
        f"{100 * np.ptp(whole):.1f} % at most; each cell by {100 * np.median(moved.std(axis=0, ddof=1)):.2f} %; "
        f"correlation of two cells {np.median(apart):.2f}",
        *(f"of the variance {100 * share:.0f} % {what}" for what, share in shares(runs, whole).items()),
        "", "| around the run | Spearman's rho | p, all together (Holm) |", "|---|---|---|",
    ]  # fmt: skip
    lines += [f"| {name} | {rho:+.2f} | {p:.3g} |" for name, rho, p in correlations(runs, whole)[:25]]
    return "\n".join(lines)


def shares(runs: Sequence[Ran], whole: Floats) -> dict[str, float]:
    """Of the variance, by the sums of squares of a nested design with as many runs in each lab."""
    periods, here = np.array([run.period for run in runs]), np.array([LABS.index(run.lab) for run in runs])
    by_lab = {key: whole[(periods == key[0]) & (here == key[1])] for key in zip(periods, here, strict=True)}
    within = np.mean([cell.var(ddof=1) for cell in by_lab.values()])
    means = np.array([[by_lab[period, lab].mean() for lab in range(len(LABS))] for period in np.unique(periods)])
    of_labs = max(0.0, float(means.var(axis=1, ddof=1).mean()) - within / TURNS)
    several = len(means) > 1
    of_periods = (
        float(means.mean(axis=1).var(ddof=1)) - means.var(axis=1, ddof=1).mean() / len(LABS) if several else 0.0
    )
    of_periods = max(0.0, of_periods)
    total = within + of_labs + of_periods
    return {"belongs to the period": of_periods / total, "to the lab as it was raised": of_labs / total,
            "to the run alone": float(within / total)}  # fmt: skip


def correlations(runs: Sequence[Ran], whole: Floats) -> list[tuple[str, float, float]]:
    """(what, rho, p adjusted for all), the strongest first."""
    found = []
    for name in runs[0].around:
        values = np.array([run.around.get(name, np.nan) for run in runs])
        if np.isfinite(values).all() and np.ptp(values) > 0:
            rho, p = scipy.stats.spearmanr(values, whole)
            found.append((name, float(rho), float(p)))
    found.sort(key=lambda one: one[2])
    most, adjusted = 0.0, []
    for rank, (name, rho, p) in enumerate(found):
        most = max(most, min(1.0, p * (len(found) - rank)))
        adjusted.append((name, rho, most))
    return adjusted


if __name__ == "__main__":
    sys.exit(main())
