# SPDX-License-Identifier: BSD-3-Clause
"""Results and pictures in a notebook: tables as HTML without scripts, figures as SVG that stays where it is saved.

Importing this module is what makes results show themselves so (results.views).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from vaiven import outputs
from vaiven.errors import VaivenError
from vaiven.plot.interactive import themed
from vaiven.report.html import environment, picture
from vaiven.report.page import answer_sections, host_widget, pair_sections
from vaiven.report.table import Table
from vaiven.report.views import tables
from vaiven.report.widget import Choice, Widget
from vaiven.results import views
from vaiven.results.findings import Findings
from vaiven.results.result import Result

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_STYLE = """<style>
.vaiven table { border-collapse: collapse; margin: 0.3em 0 0.6em }
.vaiven caption { text-align: left; font-weight: bold; padding: 0.2em 0 }
.vaiven th, .vaiven td { text-align: left; vertical-align: top; padding: 0.15em 0.7em 0.15em 0 }
.vaiven .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.vaiven small { display: block; opacity: 0.7 }
.vaiven .note { opacity: 0.7; margin: 0.1em 0 }
.vaiven .scroll { overflow-x: auto }
</style>"""
_TABLES = '{% from "table.html" import show_table %}{% for table in tables %}{{ show_table(table) }}{% endfor %}'


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure of a run: what it shows and says, and the numbers beside it. A notebook shows it.

    choices: it can be shown in several ways, such as of several message sizes, by their names; `choose` takes another.
    """

    title: str
    says: str
    widget: Widget
    chosen: int = 0

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(one.label for one in self.widget.choices)

    def choose(self, name: str) -> Picture:
        """The same in another way. Raises VaivenError ("no-choice")."""
        if name not in self.choices:
            there = ", ".join(filter(None, self.choices)) or "it has one"
            raise VaivenError(f"{self.title}: there is no choice {name!r}", there, code="no-choice")
        return replace(self, chosen=self.choices.index(name))

    @property
    def svg(self) -> str:
        """An SVG document, on white."""
        label = self._choice.label
        return picture(self._choice.figure, f"{self.title}{f', {label}' if label else ''}")

    @property
    def table(self) -> Table:
        """The numbers, as text."""
        return self._choice.table

    def save(self, path: str | Path) -> Path:
        """Writes the SVG document. Returns where. Raises VaivenError ("cannot-write")."""
        return outputs.write(Path(path), self.svg, outputs.SVG)

    def to_plotly(self) -> Figure:
        """The figure for plotly, to zoom in. Raises VaivenError ("no-plotly") where that is not installed."""
        try:
            from plotly.graph_objects import Figure
        except ImportError as error:
            raise VaivenError(
                "plotly is not installed", "pip install plotly; the SVG needs nothing", "no-plotly"
            ) from error
        return Figure(themed(self._choice.figure, "light"))

    @property
    def _choice(self) -> Choice:
        return self.widget.choices[self.chosen]

    def __repr__(self) -> str:
        more = f"; choose: {', '.join(self.choices)}" if len(self.choices) > 1 else ""
        return f"Picture: {self.title}{more}"

    def _repr_html_(self) -> str:
        more = f" Choose: {', '.join(self.choices)}." if len(self.choices) > 1 else ""
        return (
            f'<figure class="vaiven" style="max-width: 760px; margin: 0">{self.svg}'
            f"<figcaption>{escape(self.says + more)}</figcaption></figure>"
        )


class Pictures(dict[str, Picture]):
    """Name -> picture. A notebook shows all of them."""

    def _repr_html_(self) -> str:
        return "".join(f"<p><code>{escape(name)}</code></p>{one._repr_html_()}" for name, one in self.items())


def pictures(found: Findings) -> Pictures:
    """The figures of the pair that the findings are about, and of what the run says as a whole."""
    sections = pair_sections(found)[:1]
    answers = answer_sections(found)
    whole = host_widget(found)
    widgets = [one for section in sections for one in section.widgets]
    widgets += [*(widget for one in answers for widget in one.widgets), *([whole] if whole else [])]
    named = {one.id.removeprefix(f"{sections[0].id}-") if sections else one.id: one for one in widgets}
    return Pictures({name: Picture(title=one.title, says=one.says, widget=one) for name, one in named.items()})


def tables_html(several: Iterable[Table]) -> str:
    """Tables one below the other."""
    shown = environment().from_string(_TABLES).render(tables=list(several))
    return f'{_STYLE}<div class="vaiven">{shown}</div>'


@views.html.register
def _(said: Result) -> str:  # type: ignore[type-arg]  # singledispatch asks for a class
    return tables_html(tables(said))
