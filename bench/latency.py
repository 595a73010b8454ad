# SPDX-License-Identifier: BSD-3-Clause
"""Ping-pong of vaiven-probe against NetPIPE and sockperf, on a free lab of two hosts: TCP, all blocking, and Open MPI.

Each tool's number is taken as that tool defines it, and ours is computed from our samples by the same
definition and from as many exchanges: NetPIPE's is the lowest mean of seven trials; sockperf's are the
minimum and the median of its log. Both ends of every tool are pinned, near to one processor and far to
another: left to the scheduler, a launch runs on one or on two, and the ratio says only which. Over Open MPI both are
ranks of a job with the same settings.
"""

from __future__ import annotations

import csv
import random
import secrets
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ends
import numpy as np

from vaiven import resources
from vaiven.lab.lab import Lab
from vaiven.plan import stack as stacks
from vaiven.run import mpi
from vaiven.run.hosts import Host

TRIALS = 7
PER_TRIAL = 1000
EXCHANGES = TRIALS * PER_TRIAL
SOCKPERF_SIZES = {14: "14 B", 64: "64 B", 1024: "1 KiB", 65507: "65507 B"}  # its own limits are 14 and 65507
NETPIPE_SIZES = {1: "1 B", 64: "64 B", 1024: "1 KiB", 65536: "64 KiB"}


Pairs = dict[str, tuple[float, float]]  # what -> (our time, theirs), in ns
Tool = Callable[[Lab, int], np.ndarray]  # (lab, size) -> times in ns


def until_listening(lab: Lab, port: int) -> None:
    """Waits until the far host listens on the TCP port, by its own /proc/net/tcp."""
    wanted = f":{port:04X} "
    for _ in range(500):
        table = subprocess.run(lab.hosts[1].argv(["cat", "/proc/net/tcp"]), capture_output=True, text=True).stdout
        if any(wanted in line and " 0A " in line for line in table.splitlines()):
            return
        time.sleep(0.01)
    raise RuntimeError(f"nothing listens on port {port}")


def _with_server(lab: Lab, server: list[str], port: int, client: Callable[[], np.ndarray]) -> np.ndarray:
    far = subprocess.Popen(ends.argv(lab, 1, server), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until_listening(lab, port)
        return client()
    finally:
        far.kill()
        far.wait()


def _question(size: int) -> list[str]:
    effort = ["--samples", str(EXCHANGES), "--cell-ms", "60000", "--timeout-ms", "10000"]
    return ["--ask", "pingpong", "--sizes", str(size), *effort]


def _half_ns(cells: list[dict[str, Any]]) -> np.ndarray:
    (cell,) = cells
    return np.array(cell["rtt_ns"][:EXCHANGES]) / 2


def vaiven_ns(lab: Lab, size: int) -> np.ndarray:
    """Half round trips of EXCHANGES messages by vaiven-probe, in nanoseconds."""
    return _half_ns(ends.cells(lab, "tcp", _question(size)))


def _job(lab: Lab, commands: list[list[str]], text: str = "") -> str:
    """What a job of Open MPI prints that has one rank at each end, with these commands; `text` is rank 0's input."""
    hosts = [Host(one.name, one.address, one.interface, one.arch, (), one.argv, here=True) for one in lab.hosts[:2]]
    ranks = [mpi.Rank(host, tuple(ends.pinned(end, commands[end]))) for end, host in enumerate(hosts)]
    with mpi.job("openmpi", ranks, mpi.manner(stacks.parse("openmpi"), ranks)) as words:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        with subprocess.Popen(hosts[0].argv(words), **pipes) as job:
            job.stdin.write(text)
            job.stdin.flush()
            said = job.stdout.read()  # with its input open: a probe ends when it closes
    if job.returncode != 0:
        raise RuntimeError(f"{commands[0][0]}: {said[-300:]}")
    return said


def vaiven_openmpi_ns(lab: Lab, size: int) -> np.ndarray:
    """Half round trips of EXCHANGES messages over Open MPI by vaiven-probe-openmpi, in nanoseconds."""
    probe = str(resources.program("vaiven-probe-openmpi"))
    near = [probe, "near", "openmpi", *_question(size), "--key-stdin"]
    far = [probe, "far", "openmpi", "--bind", lab.hosts[1].address]
    return _half_ns(ends.cells_of(_job(lab, [near, far], secrets.token_hex(16) + "\n").splitlines(), "openmpi"))


def _netpipe_words(size: int, out: str | Path) -> list[str]:
    return ["-l", str(size), "-u", str(size), "-p", "0", "-n", str(PER_TRIAL), "-o", str(out)]


def _netpipe_time(out: Path) -> np.ndarray:
    return np.array([float(out.read_text().split()[2]) * 1e9])


def netpipe_openmpi_ns(lab: Lab, size: int) -> np.ndarray:
    """The same of NPopenmpi, as two ranks of a job: one number."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "np"
        _job(lab, [["NPopenmpi", *_netpipe_words(size, out)]] * 2)
        return _netpipe_time(out)


def netpipe_ns(lab: Lab, size: int) -> np.ndarray:
    """NetPIPE's one-way time, the lowest mean of its seven trials: one number."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "np"

        def client() -> np.ndarray:
            command = ["NPtcp", "-h", lab.hosts[1].address, *_netpipe_words(size, out)]
            subprocess.run(ends.argv(lab, 0, command), check=True, capture_output=True, timeout=60)
            return _netpipe_time(out)

        return _with_server(lab, ["NPtcp", *_netpipe_words(size, "/dev/null")], 5002, client)


def sockperf_ns(lab: Lab, size: int) -> np.ndarray:
    """sockperf's log: one-way times of at most EXCHANGES messages."""
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "log.csv"
        address = lab.hosts[1].address

        def client() -> np.ndarray:
            command = ["sockperf", "pp", "--tcp", "-i", address, "-p", "11111", "-m", str(size), "-t", "1"]
            words = ends.argv(lab, 0, [*command, "--full-log", str(log)])
            subprocess.run(words, check=True, capture_output=True, timeout=60)
            with log.open() as lines:
                rows = [row for row in csv.reader(lines) if len(row) == 4 and row[0].strip().isdigit()]
            return np.array([float(row[3]) * 1e3 for row in rows[:EXCHANGES]])

        return _with_server(lab, ["sockperf", "sr", "--tcp", "-i", address, "-p", "11111"], 11111, client)


def _best_trial(samples_ns: np.ndarray) -> float:
    return float(samples_ns[: TRIALS * PER_TRIAL].reshape(TRIALS, -1).mean(axis=1).min())


def _pair(
    size: int, ours: Callable[[int], np.ndarray], theirs: Callable[[int], np.ndarray], order: random.Random
) -> tuple[np.ndarray, np.ndarray]:
    """(ours, theirs) at that size, one right after the other, in random order."""
    found = {}
    for tool in order.sample([ours, theirs], k=2):
        found[tool] = tool(size)
    return found[ours], found[theirs]


def _lowest_trials(lab: Lab, order: random.Random, what: str, ours: Tool, theirs: Tool) -> Pairs:
    """One round of each size: NetPIPE's definition of a time, by it and by us."""
    found = {}
    for size in order.sample(list(NETPIPE_SIZES), k=len(NETPIPE_SIZES)):
        mine, other = _pair(size, lambda n: ours(lab, n), lambda n: theirs(lab, n), order)
        found[size] = _best_trial(mine), float(other[0])
    return {f"{what} {name}, lowest trial, against NetPIPE": found[size] for size, name in NETPIPE_SIZES.items()}


def netpipe_round(lab: Lab, order: random.Random) -> Pairs:
    """One round of each size over TCP."""
    return _lowest_trials(lab, order, "TCP", vaiven_ns, netpipe_ns)


def openmpi_round(lab: Lab, order: random.Random) -> Pairs:
    """One round of each size over Open MPI, its ranks spinning."""
    return _lowest_trials(lab, order, "Open MPI", vaiven_openmpi_ns, netpipe_openmpi_ns)


def sockperf_round(lab: Lab, order: random.Random) -> Pairs:
    """One round of each size: floor (minimum) and median of equally many messages, by sockperf and by us."""
    found = {}
    for size in order.sample(list(SOCKPERF_SIZES), k=len(SOCKPERF_SIZES)):
        ours, theirs = _pair(size, lambda n: vaiven_ns(lab, n), lambda n: sockperf_ns(lab, n), order)
        count = min(len(ours), len(theirs))
        found[size] = ours[:count], theirs[:count]
    return {
        f"TCP {name}, {word}, against sockperf": (float(pick(found[size][0])), float(pick(found[size][1])))
        for size, name in SOCKPERF_SIZES.items()
        for word, pick in (("floor", np.min), ("median", np.median))
    }
