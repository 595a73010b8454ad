# SPDX-License-Identifier: BSD-3-Clause
"""Would a regression on the sentinel find more, where one run is held against its history? Made-up runs try it.

    python bench/sentinel.py [--trials N] [--seed N]

The cells of a run move together, and its sentinel with them (correlation 0.8 to 0.87 of recorded runs). So each cell's
logarithm could be held against a line through the sentinels of its history instead of against their mean. Both rules
are given the limit with which they call one of 100 identical runs different in some cell, and are then asked for a
change of 5 %: of one cell; of all cells, but not of the sentinel; and of everything, the sentinel too, as after most
changes of a system. And for identical runs of which one in eight falls into another mode that some cells have alone.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import log

import numpy as np

from vaiven.stats.arrays import Floats

RUNS, CELLS = 8, 12
LEVEL = 0.01
TOGETHER, ALONE = 0.014, 0.006  # deviations of logarithms: of what a run has in common (0.84 of a cell's variance), not
CHANGE = log(1.05)
MODE, MODE_SHARE, MODE_CELLS = 0.06, 1 / 8, 4


@dataclass(frozen=True)
class Row:
    """Shares of runs in which some cell is called different, by the mean of the history and by the line."""

    what: str
    by_mean: float
    by_line: float


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--trials", type=int, default=20_000, help="runs of each kind")
    options.add_argument("--seed", type=int, default=1, help="of what is drawn by lot")
    given = options.parse_args()
    print("| made-up runs | by the mean | by a line through the sentinel |\n|---|---|---|")
    for row in tried(given.trials, given.seed):
        print(f"| {row.what} | {100 * row.by_mean:.1f} % | {100 * row.by_line:.1f} % |")


def tried(trials: int, seed: int) -> list[Row]:
    """Each kind of runs, by both rules."""
    rng = np.random.default_rng(seed)
    limits = [float(np.quantile(far, 1 - LEVEL)) for far in _both(*_made(trials, rng))]
    one, every = np.zeros(CELLS + 1), np.full(CELLS + 1, CHANGE)
    one[0] = CHANGE
    cells = np.append(every[:-1], 0.0)
    kinds = {
        "nothing changed": _made(trials, rng),
        "one cell 5 % slower": _made(trials, rng, one),
        "all cells 5 % slower, the sentinel not": _made(trials, rng, cells),
        "everything 5 % slower, the sentinel too": _made(trials, rng, every),
        "nothing changed, one run in eight in another mode": _made(trials, rng, modes=True),
    }
    return [
        Row(what, *(float(np.mean(far > limit)) for far, limit in zip(_both(*runs), limits, strict=True)))
        for what, runs in kinds.items()
    ]


def _made(
    trials: int, rng: np.random.Generator, change: Floats | None = None, modes: bool = False
) -> tuple[Floats, Floats]:
    """(trials, RUNS + 1, CELLS) logarithms and (trials, RUNS + 1) of the sentinel; the last run is the one judged."""
    logs = TOGETHER * rng.standard_normal((trials, RUNS + 1, 1))
    logs = logs + ALONE * rng.standard_normal((trials, RUNS + 1, CELLS + 1))
    if modes:
        logs[..., :MODE_CELLS] += MODE * (rng.random((trials, RUNS + 1, 1)) < MODE_SHARE)
    if change is not None:
        logs[:, -1] += change
    return logs[..., :CELLS], logs[..., CELLS]


def _both(logs: Floats, sentinel: Floats) -> tuple[Floats, Floats]:
    """(trials,) twice: how far the farthest cell is from what either rule expects, in errors of that prediction."""
    known, new = logs[:, :-1], logs[:, -1]
    mean = known.mean(axis=1)
    error = known.std(axis=1, ddof=1) * np.sqrt(1 + 1 / RUNS)
    by_mean = np.abs(new - mean) / error
    before = sentinel[:, :-1] - sentinel[:, :-1].mean(axis=1, keepdims=True)
    now = sentinel[:, -1] - sentinel[:, :-1].mean(axis=1)
    spread = (before**2).sum(axis=1)
    slope = np.einsum("tr,trc->tc", before, known - mean[:, None]) / spread[:, None]
    left = known - mean[:, None] - slope[:, None] * before[..., None]
    deviation = np.sqrt((left**2).sum(axis=1) / (RUNS - 2))
    reach = np.sqrt(1 + 1 / RUNS + now**2 / spread)[:, None]
    by_line = np.abs(new - mean - slope * now[:, None]) / (deviation * reach)
    return by_mean.max(axis=1), by_line.max(axis=1)


if __name__ == "__main__":
    main()
