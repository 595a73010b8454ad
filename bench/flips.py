# SPDX-License-Identifier: BSD-3-Clause
"""Would another run of the papers' plans have said the opposite? Draws of eight blocks from runs that have many.

    vaiven measure papers/d --length quick --launches 24 --runs /tmp/flips
    python bench/flips.py /tmp/flips [--draws N]

Eight launches are what a plan of a paper makes at least, and a run of so many is what a reader judges. Each draw takes
eight blocks of each run, no block twice, and judges all claims on them together, as `vaiven reproduce` does. Of every
pair of draws of a claim at most one in a hundred may say opposite words; and a claim that is four standard errors of a
run of eight from its border, by all blocks, keeps its word in nine draws of ten. Draws of the same blocks are more like
each other than runs of their own would be: of n blocks they spread by sqrt(1 - 8/n) of what these do (sampling without
replacement; Cochran, Sampling Techniques, 1977, 2.3).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from vaiven.errors import VaivenError
from vaiven.papers.claims import Claim, published
from vaiven.papers.judge import TOLD, Candidate, Verdict, Word, judge
from vaiven.papers.measured import Measured
from vaiven.stats.launches import LAUNCHES_MIN
from vaiven.store import query
from vaiven.store.record import Manifest

BLOCKS = LAUNCHES_MIN  # of a draw
OF_LEAST = 24  # blocks of a run
DRAWS = 1000
CHUNK = 10  # draws that a process takes at once
OPPOSITE_MOST = 0.01  # of the pairs of draws of a claim
FAR_SE = 4.0  # a claim so many standard errors of a run of BLOCKS from its border
KEPT_LEAST = 0.9  # says the same in so many draws at least
ROUNDING = 1e-9  # of the logarithm of a margin: draws that differ by less do not differ


@dataclass(frozen=True)
class Whole:
    """A run with all its blocks."""

    manifest: Manifest
    measured: Measured


@dataclass(frozen=True)
class Told:
    """What the draws say of a claim. word: by all blocks, of which there are so many. words: of the draws. margins: of
    these; of a fact all 1."""

    claim: Claim
    blocks: int
    word: Word
    margin: float
    words: tuple[Word, ...]
    margins: tuple[float, ...]

    @property
    def opposite(self) -> float:
        """The share of pairs of draws of which one says that it holds and the other that it does not."""
        said = Counter(self.words)
        pairs = len(self.words) * (len(self.words) - 1) / 2
        return said[Word.HOLDS] * said[Word.DOES_NOT_HOLD] / pairs

    @property
    def kept(self) -> float:
        """The share of draws that say what all blocks say."""
        return Counter(self.words)[self.word] / len(self.words)

    @property
    def distance_se(self) -> float:
        """How many standard errors of a run of eight blocks lie between its margin and its border, which is 1."""
        spread = float(np.std(np.log(self.margins))) / (1 - BLOCKS / self.blocks) ** 0.5
        return abs(float(np.log(self.margin))) / spread if spread > ROUNDING else float("inf")

    @property
    def holds(self) -> bool:
        """Whether it flips as seldom as it may."""
        return self.opposite <= OPPOSITE_MOST and (self.distance_se < FAR_SE or self.kept >= KEPT_LEAST)


def sound(root: Path) -> list[query.Run]:
    """The runs below that directory. Raises VaivenError where one is damaged."""
    found = []
    for run in query.runs(root):
        if isinstance(run, VaivenError):
            raise run
        found.append(run)
    return found


def wholes(root: Path) -> list[Whole]:
    """The runs below that directory that have blocks enough. Raises VaivenError where one is damaged."""
    found = [Whole(run.manifest, Measured.of_run(run)) for run in sound(root)]
    return [one for one in found if len(one.measured.blocks) >= OF_LEAST]


def drawn(whole: Whole, rng: np.random.Generator) -> Candidate:
    """A run of eight of its blocks."""
    measured = whole.measured
    chosen = rng.choice(measured.blocks, BLOCKS, replace=False).tolist()

    def kept(by_key: Mapping[Any, Mapping[int, Any]]) -> dict[Any, dict[int, Any]]:
        return {key: {block: of[block] for block in chosen if block in of} for key, of in by_key.items()}

    rows = [row for cell in kept(measured.cells).values() for row in cell.values()]
    few = Measured(whole.manifest, rows, kept(measured.crossed), bursts=kept(measured.bursts))
    return Candidate.of(whole.manifest, lambda: few)


_asked: list[tuple[Sequence[Whole], Sequence[Claim]]] = []  # of the workers, which are forked when it is there


def _judged(seed: int) -> tuple[Verdict, ...]:
    """The verdicts of one draw."""
    runs, claims = _asked[-1]
    rng = np.random.default_rng(seed)
    return judge(claims, [drawn(whole, rng) for whole in runs])


def flips(runs: Sequence[Whole], claims: Sequence[Claim], draws: int) -> list[Told]:
    """Each claim that all blocks can tell, and what the draws say of it."""
    by_all = judge(claims, [Candidate.of(one.manifest, lambda one=one: one.measured) for one in runs])
    told = {one.claim.id: one for one in by_all if one.word in TOLD}
    asked = [claim for claim in claims if claim.id in told]
    _asked.append((runs, asked))
    with ProcessPoolExecutor(mp_context=get_context("fork")) as workers:
        found = list(workers.map(_judged, range(draws), chunksize=CHUNK))
    _asked.pop()
    blocks = min(len(one.measured.blocks) for one in runs)
    return [
        Told(
            claim,
            blocks,
            told[claim.id].word,
            _margin(told[claim.id]),
            tuple(verdicts[number].word for verdicts in found),
            tuple(_margin(verdicts[number]) for verdicts in found),
        )
        for number, claim in enumerate(asked)
    ]


def _margin(verdict: Verdict) -> float:
    """Of what is not measurable or a fact, which has no border, 1."""
    return 1.0 if verdict.margin is None or verdict.claim.kind == "fact" else verdict.margin


def table(found: Sequence[Told]) -> str:
    """Markdown, a line for each claim."""
    lines = [
        "| claim | by all blocks | distance | draws: holds, does not, not settled | opposite | kept | as it may |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        said = Counter(one.words)
        counts = ", ".join(str(said[word]) for word in TOLD)
        lines.append(
            f"| {one.claim.id} | {one.word} | {one.distance_se:.1f} | {counts} | {100 * one.opposite:.1f} % "
            f"| {100 * one.kept:.0f} % | {'yes' if one.holds else '**no**'} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Prints the table, and how many claims flip."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("runs", type=Path, help=f"a directory of runs; those of {OF_LEAST} blocks count")
    options.add_argument("--draws", type=int, default=DRAWS)
    given = options.parse_args()
    runs = wholes(given.runs)
    if not runs:
        options.error(f"no run in {given.runs} has {OF_LEAST} blocks")
    found = flips(runs, published(), given.draws)
    far = [one for one in found if one.distance_se >= FAR_SE]
    worst = max(one.opposite for one in found)
    print(
        f"{table(found)}\n\n{len(runs)} runs, {given.draws} draws of {BLOCKS} blocks, {len(found)} claims. "
        f"{sum(one.opposite > OPPOSITE_MOST for one in found)} say the opposite in more than 1 % of pairs, the worst "
        f"in {100 * worst:.1f} %. Of {len(far)} that are {FAR_SE:g} standard errors from their border "
        f"{sum(one.kept < KEPT_LEAST for one in far)} keep their word in fewer than 90 %."
    )
    return 0 if all(one.holds for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
