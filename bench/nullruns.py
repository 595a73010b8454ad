# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs against the programmed transport, whose truth is known: probe, records, store, fit (for bench/aa.py).

Every launch is a process of vaiven-probe, started and heard by vaiven.run.launchers and recorded by vaiven.store;
what is fitted is what was read back. A launch's seed follows from that of the trial, so a bench can be repeated.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np
import scipy
from selftest import Kept

from vaiven import resources
from vaiven.model.half import half_rate, half_size
from vaiven.model.knees import Kind, find_knees
from vaiven.model.line import fit_line
from vaiven.model.times import LaunchTimes, Statistic
from vaiven.plan import stack as stacks
from vaiven.plan.design import Available
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort
from vaiven.plan.sweep import Limits
from vaiven.results.rows import launch_times, one_way
from vaiven.run import launchers
from vaiven.run.hosts import Host
from vaiven.store import query
from vaiven.store.record import CourseRecord, DesignRecord, HostsPlace, LaunchRecord, Manifest, Record

ALPHA_NS, BETA_NS, BEND_BYTES, BEND_NS = 30_000, 80, 1500, 60
# Launches differ in what a message costs to start, hardly in what a byte does.
NOISE, LAUNCH, START = 0.1, 0.01, 0.1
SAMPLES = 30
_LINE_SIZES = (0, 1, 16, 64, 128, 256, 512, 1024, 1448, 2048, 4096, 8192, 16384)
_KNEE_SIZES = tuple(int(n) for n in np.unique(np.round(np.geomspace(64, 16384, 32))))
_LINE = f"alpha_ns={ALPHA_NS},beta_ns={BETA_NS},noise={NOISE},launch={LAUNCH},start={START}"
_KNEE = f"{_LINE},knee={BEND_BYTES}:0:{BEND_NS}"
# Noise is exponential: its median stands above the floor in every time alike.
_TYPICAL = 1 + NOISE * log(2)
_NEAR, _FAR = "near", "far"


@dataclass(frozen=True)
class Trial:
    """What one run found. hits, refused: by name; a name that is missing was not looked for."""

    hits: dict[str, bool]
    refused: dict[str, bool]


def line_coverage(trials: int, seed: int, count: int = 12) -> list[Kept]:
    """How often the intervals of alpha, beta and n_1/2 contain what was programmed."""
    return _kept(_line_trial, trials, seed, count)


def knee_coverage(trials: int, seed: int, count: int = 12) -> list[Kept]:
    """How often the programmed bend is found, as one; and how often its interval contains its place."""
    return _kept(_knee_trial, trials, seed, count)


def _kept(trial: Callable[[int, int], Trial], trials: int, seed: int, count: int) -> list[Kept]:
    seeds = range(seed * trials, (seed + 1) * trials)
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = list(pool.map(trial, seeds, [count] * trials, chunksize=10))
    return [_one_kept(name, found, count) for name in found[0].hits]


def _one_kept(name: str, found: list[Trial], count: int, level: float = 0.95) -> Kept:
    """Of a knee, those runs count in which it was found."""
    refused = sum(one.refused[name] for one in found)
    trials = len(found) - refused if name == "knee" else len(found)
    least, most = (int(x) for x in scipy.stats.binom.ppf([0.005, 0.995], trials, level))
    hits = sum(one.hits[name] for one in found)
    return Kept(f"null {name}, {count} launches", level, max(trials, 1), hits, refused, least, most)


def _line_trial(seed: int, count: int) -> Trial:
    times = _measured(_LINE, _LINE_SIZES, seed, count)
    line = fit_line(times, np.random.default_rng(seed), resamples=1000)
    alpha, beta = ALPHA_NS * _TYPICAL, BETA_NS * _TYPICAL
    n_half = half_size(times.sizes_bytes, (alpha + beta * times.sizes_bytes)[None])[0]
    truth = {"alpha": alpha, "beta": beta, "n_half": float(n_half)}
    half = half_rate(times, np.random.default_rng(seed)).size
    found = {"alpha": line.alpha, "beta": line.beta, "n_half": half}
    return Trial(
        {name: one.known and one.low <= truth[name] <= one.high for name, one in found.items()},
        {name: not one.known for name, one in found.items()},
    )


def _knee_trial(seed: int, count: int) -> Trial:
    knees = find_knees(_measured(_KNEE, _KNEE_SIZES, seed, count), np.random.default_rng(seed)).knees
    found = len(knees) == 1 and knees[0].kind is Kind.BEND
    size = knees[0].size if found else None
    inside = size is not None and size.known and size.low <= BEND_BYTES <= size.high
    return Trial({"knee": inside}, {"knee": not found})


def _measured(program: str, sizes: tuple[int, ...], seed: int, count: int) -> LaunchTimes:
    """One run of `count` launches, as a user's would be: measured, recorded, read."""
    stack = f"null[{program}]"
    rng = np.random.default_rng(seed)
    with _directory() as root, Record.create(root, _manifest(stack)) as record:
        for number, launch_seed in enumerate(rng.integers(0, 2**50, count)):
            order = tuple(int(size) for size in rng.permutation(sizes))
            work = Launch(number, number, stacks.parse(f"{stack[:-1]},seed={launch_seed}]"), "pingpong", _NEAR, _FAR,
                          order)  # fmt: skip
            outcome = launchers.launch(work, _host(_NEAR), [_host(_FAR)], _SETTING, lambda _cell: None)
            if outcome.failure:
                raise outcome.failure
            record.add(
                LaunchRecord(launch=number, block=number, stack=stack, near=_NEAR, far=_FAR, ask="pingpong"),
                outcome.cells,
            )
        table = one_way(query.launches(query.open_run(record.path)))
        return launch_times(table, (_NEAR, _FAR, stack), Statistic.TYPICAL)


@contextmanager
def _directory() -> Iterator[Path]:
    """In memory where there is such a place: thousands of runs are synced."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


def _host(name: str) -> Host:
    return Host(name, "", "", "", (str(resources.program("vaiven-probe")),), list)


_SETTING = launchers.Setting(
    {"null": Available(Limits(0, 64 * 2**20), ("pingpong",), alone=True)},
    Effort(samples=SAMPLES, cell_ms=3_600_000),
    None,
    0.0,
)


def _manifest(stack: str) -> Manifest:
    return Manifest(
        title="null", plan_name="", plan_text="", plan={}, design=DesignRecord(courses=(CourseRecord(stack=stack),)),
        place=HostsPlace(), hosts={}, link=None, versions={}, environment={},
    )  # fmt: skip
