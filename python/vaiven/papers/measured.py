# SPDX-License-Identifier: BSD-3-Clause
"""What the launches of a run say of each cell, as arrays: what the run says, then what resamples of its blocks say.

A block of a run has every stack once, so all numbers of a resample are those of the same blocks: what makes a block
slow as a whole makes no ratio uncertain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from vaiven.model.slow_start import look
from vaiven.papers.needs import Scene
from vaiven.plan import ends
from vaiven.questions import PROGRAMS
from vaiven.stats.arrays import Floats
from vaiven.stats.bootstrap import RESAMPLES, launch_draws, resampled
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import END_PART, Manifest

MANY = ("fanout", "exchange", "pingpongs", "stream", "partners")
FIRST_MESSAGES = (50, 60, 70, 80, 90, 100)  # so many of a launch, as paper B averaged them

Row = Mapping[str, Any]
Look = tuple[str, str, str, int]


class Cell(NamedTuple):
    """ask: "pingpong" of the round trips of `steps`, too. part: "" of the whole. far: of several the names of all."""

    ask: str
    stack: str
    part: str
    near: str
    far: str
    fars: int
    size_bytes: int


class Measured:
    """The cells of a run by block, as rows of store.query.

    scene: where it was. asked: the cells by question, stack and part. hosts: that take part in any. crossed: (stack,
    far ends) -> block -> bytes that left the first host for each byte of payload of a fanout, as its interface counted.
    bursts: (near, far, stack, bytes) -> block -> segments of a connection's first message in each round.
    """

    def __init__(
        self,
        manifest: Manifest,
        rows: Iterable[Row],
        crossed: Mapping[tuple[str, int], Mapping[int, float]] | None = None,
        resamples: int = RESAMPLES,
        bursts: Mapping[Look, Mapping[int, tuple[int, ...]]] | None = None,
    ) -> None:
        """Where two rows are the same cell of one block, the later one counts, in all that it knows."""
        self.scene = Scene.of(manifest)
        self.cells: dict[Cell, dict[int, Row]] = {}
        for row in rows:
            if row["ns_median"] is not None:
                of_block = self.cells.setdefault(_cell(row), {})
                known = of_block.get(row["block"], {})
                of_block[row["block"]] = known | {name: value for name, value in row.items() if value is not None}
        self.asked: dict[tuple[str, str, str], list[Cell]] = {}
        for cell in self.cells:
            self.asked.setdefault((cell.ask, cell.stack, cell.part), []).append(cell)
        self.hosts = {host for cell in self.cells for host in (cell.near, *ends.split(cell.far))}
        self.crossed = crossed or {}
        self.bursts = bursts or {}
        self.blocks = sorted({block for cell in self.cells.values() for block in cell})
        rng = np.random.default_rng(manifest.design.seed)
        self._draws = launch_draws(max(1, len(self.blocks)), resamples, rng)
        self._known: dict[tuple[Cell, str], Floats] = {}

    @classmethod
    def of_run(cls, run: Run) -> Self:
        """Those of a run: round trips are of ping-pongs, or of steps where these alone were asked."""
        asked = query.launches(run)
        frames = [query.of_question(run, "steps"), query.with_first(run, asked.filter(ask="pingpong"), FIRST_MESSAGES)]
        frames += [asked.filter(ask=ask) for ask in MANY]
        frames += [query.of_question(run, ask) for ask in ("first", *PROGRAMS)]
        rows = (row for frame in frames for row in frame.iter_rows(named=True))
        return cls(run.manifest, rows, _crossed(run), bursts=_bursts(run))

    def has(self, cell: Cell, column: str) -> bool:
        """Whether every launch of that cell has that column: one of 80 messages has no mean of the first 100."""
        return cell in self.cells and all(column in row for row in self.cells[cell].values())

    def seconds(self, cell: Cell, column: str = "ns_median") -> Floats:
        """A time of a cell that was measured: of the run, then of each resample of the blocks."""
        if (cell, column) not in self._known:
            ns = self.by_block({block: row[column] for block, row in self.cells[cell].items()})
            # As logarithms, in which one slow launch weighs little; of one more, for a step may take no time at all.
            self._known[cell, column] = np.expm1(self.centre(np.log1p(ns), np.nanmedian)) * 1e-9
        return self._known[cell, column]

    def of_processes(self, whole: Cell) -> list[Floats]:
        """The time of each process of a whole program, by its number; of `whole` itself where these were not told."""
        parts = (whole._replace(part=f"{END_PART}{number}") for number in range(whole.fars + 1))
        return [self.seconds(cell) for cell in parts if cell in self.cells] or [self.seconds(whole)]

    def by_block(self, values: Mapping[int, float]) -> Floats:
        """One value per block, NaN where it has none."""
        return np.array([values.get(block, np.nan) for block in self.blocks], dtype=np.float64)

    def centre(self, values: Floats, median: Any) -> Floats:
        """What values by block say: their median, and the smooth median of each resample."""
        drawn = resampled(values[:, np.newaxis], self._draws)[:, 0]
        return np.concatenate(([median(values)], drawn))

    def each(self, values: Floats) -> Floats:
        """(1 + resamples, blocks): values by block, then those of each resample."""
        return np.concatenate((values[np.newaxis], values[self._draws]))

    def range(self, values: Floats) -> Floats:
        """By what share the largest of values by block exceeds the smallest; the same of each resample."""
        each = self.each(values)
        return np.nanmax(each, axis=1) / np.nanmin(each, axis=1) - 1


def _cell(row: Row) -> Cell:
    ask = row.get("ask", "pingpong")
    ask = "pingpong" if ask == "steps" else ask
    return Cell(ask, row["stack"], row["part"], row["near"], row["far"], row["fars"], row["size_bytes"])


def _bursts(run: Run) -> dict[Look, dict[int, tuple[int, ...]]]:
    found: dict[Look, dict[int, tuple[int, ...]]] = {}
    for (near, far, stack, size, block), rows in query.looked_at(run, "first"):
        if seen := look(rows):
            found.setdefault((near, far, stack, size), {})[block] = seen.bursts
    return found


def _crossed(run: Run) -> dict[tuple[str, int], dict[int, float]]:
    """Of each fanout that was counted; warm-up messages are payload, too."""
    payload = query.payloads(run, "fanout")
    found: dict[tuple[str, int], dict[int, float]] = {}
    for one in query.launch_records(run) if payload else ():
        sent = one.path.get("tx_bytes")
        if sent and payload.get(one.launch):
            found.setdefault((one.stack, one.fars), {})[one.block] = sent / payload[one.launch]
    return found
