# SPDX-License-Identifier: BSD-3-Clause
"""Does a run know its own traffic? Launches of every stack with nobody else on the network, and beside a stranger.

    python bench/strangers.py [--launches N] [--share S] [--stacks A,B] [--ask pingpong|fanout]

Counts how many launches say "shared-path". The stranger is a third host of the lab that sends datagrams to the far end,
so many that they are always that share of all bytes at that host's interface.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import repeat
from ratio import Ratio

from vaiven.lab import lab as labs
from vaiven.lab import topology
from vaiven.lab.hosts import LabHost
from vaiven.plan.design import Available
from vaiven.run import place
from vaiven.store import query

LAUNCHES = 200
SHARE = 0.05
FOUND_LEAST = 0.975  # 195 of 200
ASKS = ("pingpong", "fanout")
LAB = "free"
_ELSEWHERE = ("null", "llc-jumbo", "llc-kernel")  # no network; longer frames; no such sockets in a lab
PAYLOAD_BYTES = 1400
FRAME_BYTES = PAYLOAD_BYTES + 42  # with the headers of UDP, IPv4 and Ethernet

_PLAN = """
title = "bench"
lab = "{lab}"
stacks = {stacks}
questions = ["{ask}"]
sizes = [64, 1000, 8000]
{where}
seed = {seed}
[effort]
samples = 30
samples_min = 8
cell_ms = 30
[stop]
launches_min = {launches}
launches_max = {launches}
level = 0.5
"""
_WHERE = {"pingpong": f'pairs = [["{LAB}1", "{LAB}2"]]', "fanout": "receivers = [2]"}
# Sends datagrams from the host of process argv[2] to that of argv[1], at the address argv[3], when they are less than
# the share argv[4] of what has crossed that host's interface. It goes before everything else that this machine does.
_STRANGER = f"""
import ctypes, os, socket, sys, time
to, own, address, share = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
counters = os.open(f"/proc/{{to}}/net/dev", os.O_RDONLY)
def crossed():
    line = next(line for line in os.pread(counters, 65536, 0).splitlines() if line.lstrip().startswith(b"eth0:"))
    numbers = line.split(b":")[1].split()
    return int(numbers[0]) + int(numbers[8])
if ctypes.CDLL(None, use_errno=True).setns(os.open(f"/proc/{{own}}/ns/net", os.O_RDONLY), 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
parent, begin, sent = os.getppid(), crossed(), 0
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    print("sending", flush=True)
    while os.getppid() == parent:
        owed = int((share * (crossed() - begin) - sent) / ((1 - share) * {FRAME_BYTES}))
        for _ in range(owed):
            out.sendto(bytes({PAYLOAD_BYTES}), (address, 9))
        sent += owed * {FRAME_BYTES}
        time.sleep(0.0003)
"""


@dataclass(frozen=True)
class Warned:
    """Of the launches of a stack that worked, how many say that somebody else was sending."""

    ask: str
    stack: str
    launches: int
    warned: int


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--launches", type=int, default=LAUNCHES, help="of each stack, quiet and beside a stranger")
    options.add_argument("--share", type=float, default=SHARE, help="of the stranger, of all bytes")
    options.add_argument("--stacks", default="", help="only these, with commas between; all that are here")
    options.add_argument("--ask", choices=ASKS, action="append", help="only this question; both")
    given = options.parse_args()
    asks = given.ask or ASKS
    quiet = counted(asks, given.launches, 0.0, given.stacks)
    beside = counted(asks, given.launches, given.share, given.stacks)
    print(table(quiet, beside))
    return 0 if all(one.holds for one in rows(quiet, beside, given.share)) else 1


def strangers(launches: int) -> list[Ratio]:
    """For `make bench`: both counts over all stacks, after the table by stack."""
    quiet, beside = counted(ASKS, launches, 0.0), counted(ASKS, launches, SHARE)
    print(table(quiet, beside), file=sys.stderr)
    return rows(quiet, beside, SHARE)


def counted(asks: Sequence[str], launches: int, share: float, only: str = "") -> list[Warned]:
    """So many launches of every stack that answers each question, beside a stranger of that share, or alone."""
    found = []
    wanted = [word for word in only.split(",") if word]
    with tempfile.TemporaryDirectory() as name, _raised(Path(name)) as lab:
        for ask in asks:
            stacks = [one for one in stacks_of(ask, place.known_stacks().stacks) if not wanted or one in wanted]
            with _stranger(lab.host(f"{LAB}4"), lab.host(f"{LAB}2"), share):
                found += _warned(ask, stacks, launches, Path(name))
    return found


def stacks_of(ask: str, known: dict[str, Available]) -> list[str]:
    """Those that are here, answer that question over a network and travel in frames as usual."""
    return [name for name, one in known.items() if ask in one.questions and not one.absent and name not in _ELSEWHERE]


@contextmanager
def _raised(scratch: Path) -> Iterator[labs.Lab]:
    """The lab under its own name, where nobody else looks, so that runs use it as it is."""
    before = os.environ.get("VAIVEN_STATE_DIR")
    os.environ["VAIVEN_STATE_DIR"] = str(scratch / "state")
    lab = labs.up(topology.ready(LAB), bound=True)
    try:
        yield lab
    finally:
        labs.down(lab)
        if before is None:
            del os.environ["VAIVEN_STATE_DIR"]
        else:
            os.environ["VAIVEN_STATE_DIR"] = before


def _warned(ask: str, stacks: Sequence[str], launches: int, scratch: Path) -> list[Warned]:
    names = "[" + ", ".join(f'"{name}"' for name in stacks) + "]"
    plan = _PLAN.format(lab=LAB, stacks=names, ask=ask, where=_WHERE[ask], seed=1, launches=launches)
    _, made = repeat.measure(plan, scratch)
    run = query.open_run(made)
    stack_of = {one.launch: one.stack for one in query.launch_records(run) if not one.sentinel}
    done = Counter(stack_of.values())
    said = {line["launch"] for line in query.warnings(run) if line["code"] == "shared-path" and "launch" in line}
    warned = Counter(stack_of[number] for number in said if number in stack_of)
    return [Warned(ask, name, done[name], warned[name]) for name in stacks]


@contextmanager
def _stranger(host: LabHost, to: LabHost, share: float) -> Iterator[None]:
    """While it lasts that share of what crosses the interface of `to` is the stranger's. Takes root."""
    if not share:
        yield
        return
    words = [to.namespace.pid, host.namespace.pid, to.address, share]
    command = [sys.executable, "-IS", "-c", _STRANGER, *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sender:
        try:
            assert sender.stdout and sender.stdout.readline() == "sending\n"
            yield
        finally:
            sender.kill()


def rows(quiet: Sequence[Warned], beside: Sequence[Warned], share: float) -> list[Ratio]:
    """How many quiet launches warn in all, and the share of found strangers of the stack that finds the fewest."""
    false, launches = sum(one.warned for one in quiet), sum(one.launches for one in quiet)
    least = min(one.warned / max(one.launches, 1) for one in beside)
    most = max(one.warned / max(one.launches, 1) for one in beside)
    return [
        Ratio(f"launches of {len(quiet)} stacks that warn of a stranger where there is none", false, false, false,
              launches, "0", false == 0),
        Ratio(f"share of launches that find a stranger of {100 * share:g} %, least of any stack", least, least, most,
              sum(one.launches for one in beside), f">= {FOUND_LEAST:g}", least >= FOUND_LEAST),
    ]  # fmt: skip


def table(quiet: Sequence[Warned], beside: Sequence[Warned]) -> str:
    """Markdown, a line for each stack and question."""
    lines = ["| question | stack | quiet: warn | beside a stranger: warn |", "|---|---|---|---|"]
    for alone, other in zip(quiet, beside, strict=True):
        lines.append(
            f"| {alone.ask} | {alone.stack} | {alone.warned} of {alone.launches} | {other.warned} of {other.launches} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
