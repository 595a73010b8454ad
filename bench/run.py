# SPDX-License-Identifier: BSD-3-Clause
"""`make bench`: every number of bench/RESULTS.md, measured here and now, as ratios with their spread."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import broadcast
import data
import days
import exchange
import foretold
import group
import latency
import llc
import manners
import matmul
import repeat
import served
import sides
import strangers
import transport
import wheels
import witness
from ratio import Ratio, bound, ratio

from vaiven import resources
from vaiven.lab import check, topology
from vaiven.lab import lab as labs
from vaiven.lab.lab import Lab
from vaiven.run import mpi

HERE = Path(__file__).parent
LATENCY_MOST = 1.03  # of the field's tools
Round = Callable[[Lab, random.Random], latency.Pairs]


@contextmanager
def raised(name: str) -> Iterator[Lab]:
    """A ready lab under a name of its own, that ends with this process whatever happens to it."""
    lab = labs.up(topology.ready(name), f"bench-{secrets.token_hex(3)}", bound=True)
    try:
        yield lab
    finally:
        labs.down(lab)


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def startup(rounds: int) -> list[Ratio]:
    """`vaiven --help`, and `vaiven model` of a run of the demo, as whole processes."""
    vaiven = str(Path(sys.executable).parent / "vaiven")
    with tempfile.TemporaryDirectory() as scratch:
        _, run = repeat.measure((resources.ready("plans") / "demo.toml").read_text(), Path(scratch))
        asked = {"--help": ([vaiven, "--help"], 0.15), "model": ([vaiven, "model", str(run)], 0.8)}
        found = []
        for what, (command, goal) in asked.items():
            _seconds(command)
            spent = [_seconds(command) for _ in range(rounds)]
            found.append(bound(f"vaiven {what}, seconds", spent, goal, "s"))
    return found


def lab_up(rounds: int) -> list[Ratio]:
    """A lab of 16 hosts raised, from the call to the last host answering."""
    spent = []
    for _ in range(rounds):
        start = time.perf_counter()
        with raised("inpe"):
            spent.append(time.perf_counter() - start)
    return [bound("lab of 16 hosts up, seconds", spent, 3, "s")]


def worst(report: check.CheckReport) -> float:
    """The largest error of a check, in what is allowed of its row; of a count that is wrong, infinite."""
    claimed = [row for row in report.rows if row.limit is not None]
    return max(
        abs(row.error) / row.limit if row.limit else (0.0 if row.error == 0 else float("inf")) for row in claimed
    )


def timed(rounds: int) -> list[Ratio]:
    """Whole checks of labs that claim to be timed, by the strict limits of `vaiven lab check`."""
    found = []
    for name in ("lqt", "lidi", "inpe"):
        with raised(name) as lab:
            found.append(
                bound(f"lab check {name}, worst row", [worst(check.run(lab)) for _ in range(rounds)], 1, "limit")
            )
    return found


def against(one_round: Round, rounds: int, seed: int, pool: Path | None) -> list[Ratio]:
    """The probe against a tool of the field; with a pool, over what is in it of that tool too."""
    order = random.Random(seed)
    known = [json.loads(line) for line in pool.read_text().splitlines()] if pool and pool.exists() else []
    found = []
    with raised("free") as lab:
        for _ in range(rounds):
            found.append(one_round(lab, order))
            if pool:
                with pool.open("a") as lines:
                    lines.write(json.dumps(found[-1]) + "\n")
    found += [pairs for pairs in known if pairs.keys() == found[0].keys()]
    return [ratio(what, [pairs[what] for pairs in found], LATENCY_MOST) for what in found[0]]


def quiet_llc(rounds: int, seed: int) -> list[Ratio]:
    """LLC type 2 where nothing is lost."""
    with raised("free") as lab:
        return llc.spinning(lab, rounds, seed) + llc.processor(lab, rounds, seed)


def llc_in_trouble(rounds: int, seed: int) -> list[Ratio]:
    """LLC type 2 against TCP on a wire that loses frames, and with everybody sending to one."""
    lab = labs.up(topology.parse(llc.LOSSY), f"bench-{secrets.token_hex(3)}", bound=True)
    try:
        found = llc.on_a_bad_wire(lab, rounds, seed)
    finally:
        labs.down(lab)
    with raised("inpe") as many:
        return found + llc.incast(many, rounds, seed)


def runs() -> list[Ratio]:
    """Whole measurements beside NetPIPE's."""
    with raised("demo") as lab:
        return repeat.against_netpipe_runs(lab)


def witnesses(rounds: int, seed: int) -> list[Ratio]:
    """Ping-pongs beside the witnesses of a timed lab."""
    with raised("free") as lab:
        return witness.disturbance(lab, rounds, seed)


def machine() -> str:
    """One line on where these numbers are from."""
    cpuinfo = Path("/proc/cpuinfo").read_text().splitlines()
    model = next(line.split(":")[1].strip() for line in cpuinfo if line.startswith("model name"))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout
    today = datetime.date.today().isoformat()
    return f"{today}, commit {commit.strip()}, {model}, {os.cpu_count()} CPUs, Linux {platform.release()}"


def table(results: list[Ratio]) -> str:
    """The results as a Markdown table."""
    lines = ["| what | ratio or value | 95 % interval | rounds | goal | holds |", "|---|---|---|---|---|---|"]
    for r in results:
        word = "yes" if r.holds else "**no**"
        lines.append(f"| {r.what} | {r.middle:.3f} | {r.low:.3f} - {r.high:.3f} | {r.rounds} | {r.goal} | {word} |")
    return "\n".join(lines)


Case = Callable[[argparse.Namespace], list[Ratio]]
CASES: dict[str, Case] = {
    "startup": lambda _: startup(11),
    "lab": lambda _: lab_up(6),
    "timed": lambda _: timed(3),
    "netpipe": lambda a: against(latency.netpipe_round, a.rounds, a.seed, a.pool),
    "netpipe-openmpi": lambda a: against(latency.openmpi_round, a.rounds, a.seed, a.pool),
    "sockperf": lambda a: against(latency.sockperf_round, a.rounds, a.seed, a.pool),
    "llc": lambda a: quiet_llc(a.rounds, a.seed),
    "llc-trouble": lambda a: llc_in_trouble(a.rounds, a.seed),
    "openmpi-llc": lambda a: transport.software(min(a.rounds, 24), a.seed),
    "openmpi-llc-wire": lambda a: transport.wire(min(a.rounds, 12), a.seed),
    "openmpi-llc-programs": lambda a: transport.programs(min(a.rounds, 8), a.seed),
    "openmpi-llc-idle": lambda a: transport.idle(min(a.rounds, 12), a.seed),
    "runs": lambda _: runs(),
    "history": lambda a: days.history(a.seed),
    "witness": lambda a: witnesses(a.rounds, a.seed),
    "sides": lambda a: sides.sides(a.seed),
    "foretold": lambda _: foretold.foretold(),
    "served": lambda a: served.served("lidi", 8, min(a.rounds, 6)) + served.served("lidi", 4, min(a.rounds, 6)),
    "served-called": lambda a: manners.called(min(a.rounds, 8), a.seed),
    "served-crowd": lambda a: manners.crowd(min(a.rounds, 8), a.seed),
    "served-costs": lambda a: manners.costs(min(a.rounds, 12), a.seed),
    "matmul": lambda a: matmul.products(min(a.rounds, 6), a.seed),
    "matmul-tokens": lambda a: matmul.tokens(min(a.rounds, 8), a.seed),
    "served-wheels": lambda a: wheels.table(min(a.rounds, 6), a.seed, dict(a.osu)),
    "strangers": lambda a: strangers.strangers(a.rounds),
    "data": lambda _: data.against_memcpy(),
    "libraries": lambda a: broadcast.libraries(a.seed),
    "exchange": lambda a: exchange.exchanges(a.rounds),
    "group-among": lambda a: group.further(a.rounds),
    "group-attacked": lambda _: group.attacked(8),
    "group-flat": lambda a: group.flat(a.seed),
    "group-gigabit": lambda a: group.gigabit(a.seed),
    "group-instructions": lambda _: group.instructions(),
    "group-open": lambda a: group.opening(a.rounds),
    "group-roads": lambda a: group.roads(min(a.rounds, 12)),
    "group-sender": lambda _: group.sender(6),
    "group-lossy": lambda _: group.lossy(6),
    "group-thousand": lambda _: group.thousand(),
    **{f"broadcast-{lab}": lambda a, lab=lab: broadcast.goals(lab, a.seed) for lab in broadcast.FIELDS},
    **{f"unmodified-{lab}": lambda a, lab=lab: broadcast.unmodified(lab, a.seed) for lab in broadcast.FIELDS},
    **{f"peers-{lab}": lambda a, lab=lab: broadcast.peers(lab, a.seed) for lab in broadcast.FIELDS},
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(description=__doc__)
    found.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; all when none is named")
    found.add_argument("--rounds", type=int, default=30)
    found.add_argument("--seed", type=int, default=1)
    found.add_argument("--pool", type=Path, help="netpipe, sockperf: a file of rounds, so that short runs add up")
    found.add_argument(
        "--osu", type=_program, action="append", default=[], help="served-wheels: LIBRARY=PROGRAM, an osu_bcast of it"
    )
    return found


def _program(text: str) -> tuple[str, Path]:
    library, _, program = text.partition("=")
    if library not in mpi.LIBRARIES or not program:
        raise argparse.ArgumentTypeError(f"{text!r} is not LIBRARY=PROGRAM")
    return library, Path(program)


def main() -> int:
    """Runs the cases named on the command line (all by default) and prints the table."""
    arguments = parser().parse_args()
    results = [r for name in arguments.cases or CASES for r in CASES[name](arguments)]
    print(f"{machine()}\n\n{table(results)}")
    return 0 if all(r.holds for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
