# SPDX-License-Identifier: BSD-3-Clause
"""Whole measurements beside NetPIPE's, on the timed demo lab: how long a 2 % answer takes, and how well runs agree.

NetPIPE runs as it comes: no option but the largest message and no perturbations; its times are as it writes them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import latency
import numpy as np
from ratio import Ratio, bound

from vaiven.lab.lab import Lab
from vaiven.model.line import weighted_line

SIZE_MAX = 65536  # of NetPIPE's sweep and of ours
SIZES = 24
NETPIPE_RUNS = 7
REPEATS = 10
STACKS = '["icmp", "eth", "udp", "tcp", "tcp-nagle"]'

_PLAN = """
title = "bench"
lab = "demo"
stacks = {stacks}
sizes = {sizes}
pairs = [["demo1", "demo2"]]
seed = {seed}
[stop]
launches_min = {launches_min}
launches_max = {launches_max}
half_width = 0.02
"""


def _sizes() -> list[int]:
    """SIZES sizes in equal steps of the logarithm, all within every stack's limits."""
    return sorted({round(float(n)) for n in np.geomspace(8, 65000, SIZES)})


def measure(plan: str, scratch: Path) -> tuple[float, Path]:
    """(seconds, run directory) of `vaiven measure` with that plan, as a whole process."""
    file = scratch / "plan.toml"
    file.write_text(plan)
    return timed([str(file)], scratch / "runs")


def timed(words: Sequence[str], runs: Path, *, well: Sequence[int] = (0,), page: bool = False) -> tuple[float, Path]:
    """The same of `vaiven measure` with these words. well: statuses with which it may end. page: it writes one."""
    known = set(runs.iterdir()) if runs.is_dir() else set()
    vaiven, written = str(Path(sys.executable).parent / "vaiven"), "--page" if page else "--no-page"
    command = [vaiven, "measure", *words, "--runs", str(runs), written]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    spent = time.perf_counter() - start
    if done.returncode not in well:
        raise RuntimeError(f"vaiven measure: {done.stderr.strip()}")
    (made,) = set(runs.iterdir()) - known
    return spent, made


def sizes(run: Path) -> list[dict[str, Any]]:
    """What each size of each stack of a run takes, as `vaiven model --json` says."""
    vaiven = str(Path(sys.executable).parent / "vaiven")
    said = subprocess.run([vaiven, "model", str(run), "--json"], check=True, capture_output=True).stdout
    return json.loads(said)["sizes"]


def _points(run: Path, stack: str) -> tuple[np.ndarray, np.ndarray]:
    """(sizes, one-way medians in ns) of one stack of a run."""
    rows = [one for one in sizes(run) if one["stack"] == stack]
    return np.array([one["size_bytes"] for one in rows]), np.array([one["one_way_ns"] for one in rows])


def _netpipe(lab: Lab) -> tuple[float, np.ndarray, np.ndarray]:
    """(seconds, sizes, one-way times in ns) of one NetPIPE run up to SIZE_MAX."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "np"
        start = time.perf_counter()
        flags = ["-u", str(SIZE_MAX), "-p", "0"]
        server = ["NPtcp", *flags, "-o", "/dev/null"]
        far = subprocess.Popen(lab.hosts[1].argv(server), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            latency.until_listening(lab, 5002)
            command = ["NPtcp", "-h", lab.hosts[1].address, *flags, "-o", str(out)]
            subprocess.run(lab.hosts[0].argv(command), check=True, capture_output=True, timeout=600)
        finally:
            far.kill()
            far.wait()
        spent = time.perf_counter() - start
        rows = np.loadtxt(out)
        return spent, rows[:, 0], rows[:, 2] * 1e9


def _spread(values: list[float]) -> float:
    """Standard deviation over mean."""
    return float(np.std(values, ddof=1) / np.mean(values))


def time_to_answer(lab: Lab, netpipe_s: list[float], netpipe_sizes: int) -> list[Ratio]:
    """Five stacks and SIZES sizes until every median is known to 2 %, against NETPIPE_RUNS runs of NetPIPE over TCP.

    NetPIPE's time is scaled to as many sizes as ours.
    """
    plan = _PLAN.format(stacks=STACKS, sizes=_sizes(), seed=1, launches_min=8, launches_max=32)
    with tempfile.TemporaryDirectory() as scratch:
        spent, run = measure(plan, Path(scratch))
        end = json.loads((run / "end.json").read_text())
    print(f"five stacks to 2 %: {spent:.0f} s, ended as {json.dumps(end)[:300]}")
    seven_s = NETPIPE_RUNS * float(np.mean(netpipe_s)) * SIZES / netpipe_sizes
    what = f"5 stacks x {SIZES} sizes to 2 %, against {NETPIPE_RUNS} runs of NetPIPE ({seven_s:.0f} s)"
    return [bound(what, [spent / seven_s], 0.5, "of its time")]


def agreement(lab: Lab, netpipe: list[tuple[np.ndarray, np.ndarray]]) -> list[Ratio]:
    """Spread of alpha and of beta over REPEATS runs, against NetPIPE's, both fitted by relative least squares."""
    ours = []
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(REPEATS):
            plan = _PLAN.format(stacks='["tcp"]', sizes=_sizes(), seed=seed + 1, launches_min=8, launches_max=8)
            _, run = measure(plan, Path(scratch))
            ours.append(weighted_line(*_points(run, "tcp")))
    theirs = [weighted_line(sizes[sizes >= 8], ns[sizes >= 8]) for sizes, ns in netpipe]
    found = []
    for index, name in enumerate(("alpha", "beta")):
        mine, other = (_spread([float(line[index]) for line in lines]) for lines in (ours, theirs))
        print(f"spread of {name} over {REPEATS} runs: vaiven {100 * mine:.2f} %, NetPIPE {100 * other:.2f} %")
        found.append(bound(f"spread of {name} over {REPEATS} runs, against NetPIPE's", [mine / other], 0.5, "of its"))
    return found


def against_netpipe_runs(lab: Lab) -> list[Ratio]:
    """Both numbers; NetPIPE's runs serve for both."""
    runs = [_netpipe(lab) for _ in range(REPEATS)]
    seconds = [spent for spent, _, _ in runs]
    return agreement(lab, [(sizes, ns) for _, sizes, ns in runs]) + time_to_answer(lab, seconds, len(runs[0][1]))
