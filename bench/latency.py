# SPDX-License-Identifier: BSD-3-Clause
"""TCP ping-pong of vaiven-probe against NetPIPE and sockperf, on a free lab of two hosts, all blocking.

Each tool's number is taken as that tool defines it, and ours is computed from our samples by the same
definition and from as many exchanges: NetPIPE's is the lowest mean of seven trials; sockperf's are the
minimum and the median of its log. Both ends of every tool are pinned, near to one processor and far to
another: left to the scheduler, a launch runs on one or on two, and the ratio says only which.
"""

from __future__ import annotations

import csv
import json
import random
import secrets
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from vaiven import resources
from vaiven.lab.lab import Lab

TRIALS = 7
PER_TRIAL = 1000
EXCHANGES = TRIALS * PER_TRIAL
SOCKPERF_SIZES = {14: "14 B", 64: "64 B", 1024: "1 KiB", 65507: "65507 B"}  # its own limits are 14 and 65507
NETPIPE_SIZES = {1: "1 B", 64: "64 B", 1024: "1 KiB", 65536: "64 KiB"}


NEAR_CPU, FAR_CPU = "0", "1"
Pairs = dict[str, tuple[float, float]]  # what -> (our time, theirs), in ns


def _near(lab: Lab, command: list[str]) -> list[str]:
    return lab.hosts[0].argv(["taskset", "-c", NEAR_CPU, *command])


def _far(lab: Lab, command: list[str]) -> list[str]:
    return lab.hosts[1].argv(["taskset", "-c", FAR_CPU, *command])


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
    far = subprocess.Popen(_far(lab, server), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until_listening(lab, port)
        return client()
    finally:
        far.kill()
        far.wait()


def vaiven_ns(lab: Lab, size: int) -> np.ndarray:
    """Half round trips of EXCHANGES messages by vaiven-probe, in nanoseconds."""
    probe, key = str(resources.program("vaiven-probe")), secrets.token_hex(16) + "\n"
    address = lab.hosts[1].address
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    far = subprocess.Popen(_far(lab, [probe, "far", "tcp", "--bind", address, "--key-stdin"]), **pipes)
    try:
        far.stdin.write(key)
        far.stdin.flush()
        ready = json.loads(far.stdout.readline())
        effort = ["--samples", str(EXCHANGES), "--cell-ms", "60000", "--timeout-ms", "10000"]
        question = ["--key-stdin", "--ask", "pingpong", "--sizes", str(size), *effort]
        command = [probe, "near", "tcp", "--peer", f"{address}:{ready['port']}", *question]
        near = subprocess.Popen(_near(lab, command), **pipes)
        near.stdin.write(key)
        near.stdin.flush()
        records = [json.loads(line) for line in near.stdout]
        near.wait()
    finally:
        far.kill()
        far.wait()
    if records[-1]["type"] != "bye":
        raise RuntimeError(f"vaiven-probe: {records[-1]}")
    (cell,) = [record for record in records if record["type"] == "cell"]
    return np.array(cell["rtt_ns"][:EXCHANGES]) / 2


def netpipe_ns(lab: Lab, size: int) -> np.ndarray:
    """NetPIPE's one-way time, the lowest mean of its seven trials: one number."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "np"
        flags = ["-l", str(size), "-u", str(size), "-p", "0", "-n", str(PER_TRIAL)]

        def client() -> np.ndarray:
            command = ["NPtcp", "-h", lab.hosts[1].address, *flags, "-o", str(out)]
            subprocess.run(_near(lab, command), check=True, capture_output=True, timeout=60)
            return np.array([float(out.read_text().split()[2]) * 1e9])

        server = ["NPtcp", *flags, "-o", "/dev/null"]
        return _with_server(lab, server, 5002, client)


def sockperf_ns(lab: Lab, size: int) -> np.ndarray:
    """sockperf's log: one-way times of at most EXCHANGES messages."""
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "log.csv"
        address = lab.hosts[1].address

        def client() -> np.ndarray:
            command = ["sockperf", "pp", "--tcp", "-i", address, "-p", "11111", "-m", str(size), "-t", "1"]
            subprocess.run(_near(lab, [*command, "--full-log", str(log)]), check=True, capture_output=True, timeout=60)
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


def netpipe_round(lab: Lab, order: random.Random) -> Pairs:
    """One round of each size: NetPIPE's definition of a time, by it and by us."""
    found = {}
    for size in order.sample(list(NETPIPE_SIZES), k=len(NETPIPE_SIZES)):
        ours, theirs = _pair(size, lambda n: vaiven_ns(lab, n), lambda n: netpipe_ns(lab, n), order)
        found[size] = _best_trial(ours), float(theirs[0])
    return {f"TCP {name}, lowest trial, against NetPIPE": found[size] for size, name in NETPIPE_SIZES.items()}


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
