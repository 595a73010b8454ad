# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the papers, drawn again from a run: the same axes, the curves of today.

Their own curves are lost or were never printed as numbers, so nothing of theirs stands in the picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from vaiven import tomlfile
from vaiven.errors import VaivenError
from vaiven.model.chart import Axis, Chart, Series
from vaiven.model.numbers import size_text
from vaiven.papers.claims import Letter, Text
from vaiven.papers.judge import Candidate, unfit
from vaiven.papers.measured import FIRST_MESSAGES, Cell, Measured
from vaiven.papers.needs import Needs
from vaiven.plan import ends
from vaiven.questions import PROGRAMS
from vaiven.stats.arrays import Floats
from vaiven.stats.bootstrap import interval
from vaiven.stats.launches import LAUNCHES_MIN
from vaiven.store.query import first_column

X = Literal["bytes", "bits", "floats", "receivers", "round", "processes"]
Y = Literal["us", "ms", "us/byte", "MB/s", "MiB/s", "Mb/s", "segments"]
By = Literal["host", "stack", "size", "count", "connections", "class", "pair", "processes"]

_X = {
    "bytes": (1.0, Axis("message size, bytes", log=True)),
    "bits": (8.0, Axis("message size, bits", log=True)),
    "floats": (0.25, Axis("message size, floats")),
    "receivers": (1.0, Axis("receivers")),
    "round": (1.0, Axis("round trip")),
    "processes": (1.0, Axis("processes", log=True)),
}
_RATES = {"MB/s": 1e-6, "MiB/s": 2.0**-20, "Mb/s": 8e-6}
_TIMES = {"us": 1e6, "ms": 1e3, "us/byte": 1e6}
_COLUMNS = {"median": "ns_median", "minimum": "ns_min"}
_EVEN_BYTES = 10_000  # an axis that ends before is even, as those of papers D and E


class Figure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One, or several that differ in a number alone. by: what its lines are. of: each launch's median, or least time.
    Of a whole program it is the mean over the processes.

    least_bytes, most_bytes: of the sizes that it shows. round_trip: whether its times are not halved. needs: what a run
    must have to be drawn so.
    """

    paper: Letter
    numbers: tuple[Text, ...]
    title: Text
    by: By
    x: X
    y: Y
    of: Literal["median", "minimum"] = "median"
    least_bytes: int = 0
    most_bytes: int = 10**9
    round_trip: bool = False
    needs: Needs

    @property
    def name(self) -> str:
        """As it is cited: "C.6", "6, 7, 8"."""
        return ", ".join(self.numbers)


class Drawn(msgspec.Struct, frozen=True):
    """A figure, and what a run drew of it; or, in its place, why no run can."""

    figure: Figure
    run: str
    chart: Chart | None
    missing: str = ""


class Point(NamedTuple):
    """value: of the run, then of each resample. launches: that it is of."""

    value: Floats
    launches: int


class _Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    figure: tuple[Figure, ...]


@cache
def figures() -> tuple[Figure, ...]:
    """All of them, by paper, as they follow each other."""
    return tomlfile.load(Path(__file__).parent / "figures.toml", _Published).value.figure


def draw(figure: Figure, candidates: Sequence[Candidate]) -> Drawn:
    """That figure from the newest run that has what it needs."""
    newest = sorted(candidates, key=lambda one: (one.begun, one.id), reverse=True)
    missing: tuple[str, ...] = ()
    for run in newest:
        try:
            lacks = unfit(figure.needs, run)
            series = () if lacks else tuple(_series(figure, run.measured))
        except VaivenError as error:  # of a run that is damaged: the others are drawn
            lacks, series = (error.what,), ()
        if series:
            says = f"Run {run.id}. {'Whole round trips' if figure.round_trip else 'One way'}; intervals over launches."
            model = " Some of its hosts are slow, or have a defect, by a model." if run.scene.models else ""
            return Drawn(figure, run.id, Chart(figure.title, says + model, *_axes(figure, series), series))
        if lacks and (not missing or len(lacks) < len(missing)):
            missing = lacks
    return Drawn(figure, "", None, "; ".join(missing) or "there is no run")


def _axes(figure: Figure, series: Sequence[Series]) -> tuple[Axis, Axis]:
    """Logarithmic where they span much, as in the papers; rates never."""
    x = _X[figure.x][1]
    if x.log and max(max(one.x) for one in series) <= _EVEN_BYTES * (figure.x == "bytes"):
        x = Axis(x.title)
    kind = "rate" if figure.y in _RATES else "segments so far" if figure.y == "segments" else "time"
    title = kind if figure.y == "segments" else f"{kind}, {figure.y.replace('us', 'µs')}"
    return x, Axis(title, log=figure.y in _TIMES and (x.log or figure.x == "receivers"))


def _series(figure: Figure, measured: Measured) -> Iterator[Series]:
    """Its lines, by name."""
    if figure.y == "segments":
        yield from _bursts(figure, measured)
        return
    question = "pingpong" if figure.needs.question == "steps" else figure.needs.question
    lines: dict[str, dict[float, list[Point]]] = {}
    for stack in _stacks(figure, measured, question):
        for cell in measured.asked.get((question, stack, ""), ()):
            if figure.least_bytes <= cell.size_bytes <= figure.most_bytes:
                for name, x, value in _points(figure, measured, cell):
                    point = Point(value, len(measured.cells[cell]))
                    lines.setdefault(name, {}).setdefault(x, []).append(point)
    for name, points in lines.items():
        places = sorted(points)
        each = [_said(points[x]) for x in places]
        yield Series(name, tuple(places), *(tuple(one) for one in zip(*each, strict=True)))


def _stacks(figure: Figure, measured: Measured, question: str) -> Sequence[str]:
    """Those that it needs; where lines are stacks, every one that was asked the same."""
    if figure.by != "stack":
        return figure.needs.stacks
    return [stack for ask, stack, part in measured.asked if (ask, part) == (question, "")]


def _points(figure: Figure, measured: Measured, cell: Cell) -> Iterator[tuple[str, float, Floats]]:
    """(line, place, value of the run and of each resample) of a cell."""
    if figure.by == "host" and (cell.near != measured.scene.near or cell.fars > 1):
        return
    if figure.by == "pair" and cell.fars != (figure.needs.at_once or 1):
        return
    if figure.by == "count":
        yield from _by_count(figure, measured, cell)
        return
    whole = cell.ask in ("fanout", "stream", "exchange", *PROGRAMS) or figure.round_trip
    each = measured.of_processes(cell) if cell.ask in PROGRAMS else [measured.seconds(cell, _COLUMNS[figure.of])]
    seconds = np.mean(each, axis=0) / (1 if whole else 2)
    messages = cell.fars if cell.ask == "stream" else 1
    scale, axis = _X[figure.x]
    counted: Mapping[str, float] = {"receivers": cell.fars, "processes": cell.fars + 1}
    x = float(counted.get(figure.x, scale * cell.size_bytes))
    if axis.log and not x:
        return
    value = (
        _RATES[figure.y] * messages * cell.size_bytes / seconds if figure.y in _RATES else _TIMES[figure.y] * seconds
    )
    yield _line(figure, cell), x, value


def _by_count(figure: Figure, measured: Measured, cell: Cell) -> Iterator[tuple[str, float, Floats]]:
    """What each byte takes beyond the smallest message, of the first so many: of no more than every launch sent."""
    least = min(one.size_bytes for one in measured.asked["pingpong", cell.stack, ""])
    both = cell, cell._replace(size_bytes=least)
    for count in FIRST_MESSAGES if cell.size_bytes > least else ():
        column = first_column(count)
        if all(measured.has(one, column) for one in both):
            long, short = (measured.seconds(one, column) / 2 for one in both)
            per_byte = (long - short) / (cell.size_bytes - least)
            yield f"{count} messages", float(cell.size_bytes), _TIMES[figure.y] * per_byte


def _line(figure: Figure, cell: Cell) -> str:
    """The name of the line that a cell belongs to."""
    near, far = (host.rstrip("0123456789") for host in (cell.near, ends.split(cell.far)[0]))
    names: Mapping[str, str] = {
        "host": cell.far, "stack": cell.stack, "size": f"{cell.stack}, {size_text(cell.size_bytes)}",
        "connections": f"{cell.fars} connection{'s' * (cell.fars > 1)}", "pair": f"{near} – {far}",
        "processes": f"{cell.stack}, {cell.fars + 1} processes",
    }  # fmt: skip
    return names[figure.by]


def _bursts(figure: Figure, measured: Measured) -> Iterator[Series]:
    """Segments so far by round, as most launches saw them."""
    for (near, _, stack, size), launches in measured.bursts.items():
        if stack in figure.needs.stacks and size in figure.needs.sizes:
            seen = max(launches.values(), key=list(launches.values()).count)
            rounds, sums = tuple(map(float, range(1, len(seen) + 1))), tuple(map(float, accumulate(seen)))
            gaps = (float("nan"),) * len(sums)
            yield Series(near.rstrip("0123456789"), rounds, sums, gaps, gaps)


def _said(points: Sequence[Point]) -> tuple[float, float, float]:
    """The mean of several cells and its interval, NaN where there is none."""
    mean = np.mean([one.value for one in points], axis=0)
    value, gap = float(mean[0]), float("nan")
    launches = min(one.launches for one in points)
    if launches < LAUNCHES_MIN:
        return value, gap, gap
    found = interval(mean[1:], value, "", launches)
    return value, gap if found.low is None else found.low, gap if found.high is None else found.high
