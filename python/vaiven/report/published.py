# SPDX-License-Identifier: BSD-3-Clause
"""Published results and what became of them here, as one HTML page: paper by paper its figures drawn again, then each
result with what was printed, what was measured, the verdict, and what it means today."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vaiven.model.chart import Chart, Series
from vaiven.model.numbers import DASH, digits, several_text
from vaiven.plot.interactive import chart_figure
from vaiven.report import html
from vaiven.report.table import Column, Table
from vaiven.report.widget import Choice, Widget

ROWS_MAX = 400  # of the numbers beside a figure
_TELLING = ("holds", "does not hold", "not settled")


@dataclass(frozen=True, slots=True)
class Result:
    """One published result, in words.

    word: of the verdict. figure: where the paper has it, "" for its text alone. printed: the number, with its unit.
    measured: the comparison that decides, with its intervals; rests: margin, its interval and p. facts: (heading, text)
    of whatever else there is to say: what the paper erred in, what it means today, which plan measures it.
    """

    id: str
    word: str
    says: str
    figure: str
    printed: str
    measured: str
    rests: str
    facts: tuple[tuple[str, str], ...]

    @property
    def told(self) -> bool:
        return self.word.startswith(_TELLING)


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of a paper. name: as it is cited. chart: as a run drew it, or None, and `missing` says what it takes."""

    name: str
    title: str
    chart: Chart | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """letter: A to E. results, pictures: in its own order."""

    letter: str
    title: str
    language: str
    results: tuple[Result, ...]
    pictures: tuple[Picture, ...]


def published_page(papers: Sequence[Paper], runs: Sequence[str]) -> str:
    """The whole document. runs: the ids of those that were judged on."""
    drawn = {paper.letter: [_widget(paper, one, one.chart) for one in paper.pictures if one.chart] for paper in papers}
    sections = [
        {
            "paper": paper,
            "counts": _counts(paper.results),
            "widgets": drawn[paper.letter],
            "missing": [picture for picture in paper.pictures if not picture.chart],
            "table": _overview(paper),
        }
        for paper in papers
    ]
    results = [result for paper in papers for result in paper.results]
    return html.document(
        "published.html",
        [widget for widgets in drawn.values() for widget in widgets],
        question="Which published results hold here?",
        about=f"judged on {several_text(list(runs), 3)}" if runs else "judged on no run",
        sections=sections,
        counts=_counts(results),
        is_model=any("model" in result.word for result in results),
    )


def _counts(results: Iterable[Result]) -> str:
    """How many have which verdict, in words."""
    found = Counter(re.sub(r" \(.*", "", result.word) for result in results)
    return ", ".join(f"{count} {word}" for word, count in found.most_common())


def _overview(paper: Paper) -> Table:
    columns = (
        Column("claim", number=False),
        Column("verdict", number=False),
        Column("what it says", number=False),
        Column("printed", "the paper's number, in its unit", number=False),
        Column("measured", "the comparison that decides, with 95 % intervals over launches", number=False),
    )
    told = [result for result in paper.results if result.told]
    rows = tuple((one.id, one.word, one.says, one.printed or DASH, one.measured or DASH) for one in told)
    return Table(f"Paper {paper.letter}: what these runs tell", columns, rows)


def _widget(paper: Paper, picture: Picture, chart: Chart) -> Widget:
    name = f"figure-{paper.letter}-{re.sub('[^0-9A-Za-z]+', '-', picture.name)}".lower()
    title = f"Paper {paper.letter}, figure {picture.name}: {picture.title}"
    return Widget(name, title, chart.says, (Choice("", chart_figure(chart), _numbers(chart, title)),))


def _numbers(chart: Chart, title: str) -> Table:
    columns = (Column("line", number=False), Column(chart.x.title), Column(chart.y.title), Column("95 % interval"))
    rows = [row for one in chart.series for row in _rows(one)]
    notes = (f"{len(rows) - ROWS_MAX} more are in the run.",) if len(rows) > ROWS_MAX else ()
    return Table(title, columns, tuple(rows[:ROWS_MAX]), notes)


def _rows(one: Series) -> Iterable[tuple[str, ...]]:
    for x, y, low, high in zip(one.x, one.y, one.low, one.high, strict=True):
        yield one.name, digits(x, 6), digits(y), DASH if low != low else f"[{digits(low)}, {digits(high)}]"
