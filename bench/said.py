# SPDX-License-Identifier: BSD-3-Clause
"""What OSU's, Intel's and NetPIPE's benchmarks would have said of broadcasts whose times are known at every rank.

    python bench/said.py RUN [--stack NAME] [--size BYTES]         of a recorded fanout, the largest without these
    python bench/said.py --lab NAME [--size BYTES] [--rounds N]    of MPI_Bcast on a lab, by Open MPI (bench/said.c)

A fanout records when each receiver had the message, and not when the sender's call returned: only the second way
tells what a benchmark that counts the sender would have said.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vaiven.errors import VaivenError
from vaiven.stats.arrays import Floats
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import END_PART

HERE = Path(__file__).parent
TRIALS = 7  # of NetPIPE


@dataclass(frozen=True)
class Broadcasts:
    """(rounds, ranks) instants in ns at which each rank began and ended its part, by one clock; the sender is rank 0.

    NaN where nobody knows.
    """

    began_ns: Floats
    ended_ns: Floats

    @property
    def last_ns(self) -> Floats:
        """(rounds,) from the begin at the sender until the last has the message."""
        return np.nanmax(self.ended_ns, axis=1) - self.began_ns[:, 0]

    @property
    def own_ns(self) -> Floats:
        """(ranks,) the mean over rounds of what each rank saw of it: from its own begin to its own end."""
        return (self.ended_ns - self.began_ns).mean(axis=0)


def until_last(told: Broadcasts) -> float:
    """vaiven's answer: the median over rounds of the time until the last rank has the message, ns."""
    return float(np.median(told.last_ns))


def average(told: Broadcasts) -> float:
    """OSU's "Avg Latency" (osu_bcast.c), Intel's t_avg (IMB_bcast.c): the mean over ranks of each rank's own mean."""
    return float(np.nanmean(told.own_ns))


def least(told: Broadcasts) -> float:
    """OSU's "Min Latency", Intel's t_min: of the rank that saw least of it, as a rule the one that only sends."""
    return float(np.nanmin(told.own_ns))


def most(told: Broadcasts) -> float:
    """OSU's "Max Latency", Intel's t_max: of the rank that saw most of it, from when that rank itself began."""
    return float(np.nanmax(told.own_ns))


def sender(told: Broadcasts) -> float:
    """A stopwatch around MPI_Bcast in rank 0: its call may return while all of the message is still in its buffers."""
    return float(told.own_ns[0])


def lowest(told: Broadcasts) -> float:
    """NetPIPE knows no broadcast; its choice (netpipe.c) of those times would be the lowest of seven trials' means."""
    return float(min(trial.mean() for trial in np.array_split(told.last_ns, TRIALS) if trial.size))


SAID = {
    "until the last has it (vaiven)": until_last,
    "average over ranks (OSU's Avg, Intel's t_avg)": average,
    "least over ranks (OSU's Min, Intel's t_min)": least,
    "most over ranks (OSU's Max, Intel's t_max)": most,
    "the sender's own stopwatch": sender,
    "the lowest of seven trials (NetPIPE's choice)": lowest,
}


def of_run(run: Run, stack: str = "", size_bytes: int = 0) -> Broadcasts:
    """A recorded fanout to as many as the run has, of that stack and size; without these the first and the largest.

    All ends wait when a round begins, so each counts from the sender's first send. Raises VaivenError
    ("nothing-measured").
    """
    import polars as pl

    table = query.samples(run).filter(pl.col("part").str.starts_with(END_PART), ask="fanout", sentinel=False)
    table = table.filter((pl.col("stack") == stack) if stack else pl.lit(True))
    table = table.filter((pl.col("size_bytes") == size_bytes) if size_bytes else pl.lit(True))
    if table.is_empty():
        raise VaivenError("the run has no such fanout", "vaiven measure fanout", code="nothing-measured")
    for column in ("fars", "size_bytes"):
        table = table.filter(pl.col(column) == pl.col(column).max())
    table = table.filter(pl.col("stack") == pl.col("stack").min()).with_columns(
        rank=pl.col("part").str.strip_prefix(END_PART).cast(pl.Int32)
    )
    whole = table.pivot("rank", index=["launch", "seq"], values="ns").drop_nulls()
    ranks = sorted((name for name in whole.columns if name.isdigit()), key=int)
    receivers = whole.select(ranks).to_numpy().astype(float)
    ended = np.column_stack([np.full(len(receivers), np.nan), receivers])
    return Broadcasts(np.zeros_like(ended), ended)


def of_lines(text: str) -> Broadcasts:
    """What bench/said.c prints."""
    rows = np.array([[int(word) for word in line.split()] for line in text.splitlines()])
    rounds, ranks = rows[:, 0].max() + 1, rows[:, 1].max() + 1
    began, ended = np.full((rounds, ranks), np.nan), np.full((rounds, ranks), np.nan)
    from_ns = rows[:, 2].min()  # floats hold what is left of the clock to the nanosecond
    began[rows[:, 0], rows[:, 1]] = rows[:, 2] - from_ns
    ended[rows[:, 0], rows[:, 1]] = rows[:, 3] - from_ns
    return Broadcasts(began, ended)


def on_lab(lab: str, size_bytes: int, rounds: int) -> Broadcasts:
    """Open MPI's MPI_Bcast to all hosts of a lab, as `vaiven run` starts it; the environment chooses its algorithm."""
    vaiven = str(Path(sys.executable).parent / "vaiven")
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "said"
        subprocess.run(["mpicc.openmpi", "-O2", "-o", program, HERE / "said.c"], check=True)
        command = [vaiven, "run", "--lab", lab, "--stack", "openmpi", "--", program, str(size_bytes), str(rounds)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return of_lines(done.stdout)


def table(told: Broadcasts) -> str:
    """Markdown; a dash where a number needs what nobody recorded."""
    lines = [f"| of the same {len(told.last_ns)} broadcasts | ms |", "|---|---|"]
    for what, number in SAID.items():
        ns = number(told)
        lines.append(f"| {what} | {'-' if np.isnan(ns) else f'{ns / 1e6:.3g}'} |")
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("run", nargs="?", type=Path, metavar="RUN", help="a directory of a run of a fanout")
    options.add_argument("--stack", default="")
    options.add_argument("--size", type=int, default=0, metavar="BYTES")
    options.add_argument("--lab", default="")
    options.add_argument("--rounds", type=int, default=21)
    given = options.parse_args()
    if bool(given.run) == bool(given.lab):
        options.error("either RUN or --lab")
    if given.run:
        told = of_run(query.open_run(given.run), given.stack, given.size)
    else:
        told = on_lab(given.lab, given.size or 1_000_000, given.rounds)
    print(table(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
