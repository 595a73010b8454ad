# SPDX-License-Identifier: BSD-3-Clause
"""What reaches a terminal: text of others made printable, and tables as wide as it is, whose numbers are never cut.

Names, titles and warnings come from elsewhere: from runs that somebody sent, and from hosts. None of them is read as
markup, and no control character of theirs gets through, be it by `say` or by what `open_console` gives.
"""

from __future__ import annotations

import codecs
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO, cast

from vaiven.letters import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderHook, RenderResult
    from rich.table import Table as RichTable
    from rich.text import Text

    from vaiven.report.table import Table

Style = Callable[[str], str]

_WORDS = {
    "α": "alpha", "β": "beta", "µ": "u", "−": "-", "–": "-", "→": "->", "↓": "v", "×": "x", "½": "1/2", "±": "+-",
    "⁶": "^6", "…": "...", "•": "*", "─": "-", "│": "|", "█": "#", "━": "-",
    "\u00a0": " ", "\u202f": " ",
}  # fmt: skip
_JOINTS = re.compile(r"(?<=[-=, ])|(?=\[)")  # where a long heading may be broken


def say(text: str, to: TextIO | None = None) -> None:
    """A line, on standard output unless said otherwise."""
    print(printable(text), file=to or sys.stdout, flush=True)


def open_console(*, stderr: bool = False) -> Console:
    """What rich prints to."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False)
    made.push_render_hook(cast("RenderHook", _Printable()))
    return made


class _Printable:
    """A render hook of rich: what is printed is printable; what rich itself tells the terminal is left alone."""

    def process_renderables(self, renderables: list[RenderableType]) -> list[RenderableType]:
        return [_Shown(one) for one in renderables]


@dataclass(frozen=True)
class _Shown:
    what: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self.what, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def accept_any_text() -> None:
    """Makes a terminal of few letters (ASCII, Latin-1) get words instead of the letters that it has not.

    And what libraries warn of is text like any other.
    """
    codecs.register_error("vaiven.words", _in_words)
    warnings.showwarning = lambda message, *_: say(f"warning: {message}", sys.stderr)  # of libraries, about names
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None: it was closed before we began
        stream.reconfigure(errors="vaiven.words")


def _in_words(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_WORDS.get(one, "?") for one in error.object[error.start : error.end]), error.end


def rich_table(table: Table, style: Style | None = None) -> RenderableType:
    """The table for a terminal. style: what rich calls it, for the text of a cell beside the labels.

    Columns that do not fit on the terminal go to a second table under the first, each beside the labels: those that the
    table names, or the first two where both are words, if they leave room; the first column at least.
    """
    return _Fitted(table, style or (lambda text: ""))


_GAP = 2  # what rich puts between the columns of such a table


@dataclass(frozen=True)
class _Fitted:
    """Knows its width only when it is printed."""

    table: Table
    style: Style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        wide = options.update(max_width=10_000)
        room = options.max_width * 3 // 5

        each = range(len(self.table.columns))
        alone = [console.measure(self._part([number], room), options=wide).minimum for number in each]

        def width(columns: Sequence[int]) -> int:
            return sum(alone[number] for number in columns) + _GAP * (len(columns) - 1)

        wanted = list(range(max(self.table.labels, 2 if self._two_words() else 1)))
        labels = wanted if 2 * width(wanted) <= options.max_width else [0]
        left = [number for number in each if number not in labels]
        if self.table.caption:
            yield Text(self.table.caption, style="bold")
        while left:
            take = len(left)
            while take > 1 and width([*labels, *left[:take]]) > options.max_width:
                take -= 1
            yield self._part([*labels, *left[:take]], room)
            yield ""
            left = left[take:]
        yield from (Text(note, style="dim") for note in self.table.notes)

    def _two_words(self) -> bool:
        """Do the first two columns say together what a row is about, such as hosts and stack?"""
        return [column.number for column in self.table.columns[:3]] == [False, False, True]

    def _part(self, numbers: Sequence[int], room: int) -> RichTable:
        """These columns. room: how wide one of words may insist on being."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for number in numbers:
            column = self.table.columns[number]
            cells = [row[number] for row in self.table.rows]
            width = max((len(line) for cell in cells for line in cell.split("\n")), default=0)
            justify: Literal["right", "left"] = "right" if column.number else "left"
            # No word is broken that leaves room for others: it may be an id, which will be copied.
            word = max((len(word) for cell in cells for word in cell.split()), default=0)
            least = width if column.number else min(word, room)
            whole = column.number or width == least
            head = Text(_head(column.name, width))
            shown.add_column(head, justify=justify, no_wrap=whole, overflow="fold", min_width=least)
        for row in self.table.rows:
            shown.add_row(*(_cell(row[number], self.style(row[number]) if number else "") for number in numbers))
        return shown


def _head(name: str, width: int) -> str:
    """A heading in lines no wider than its column, as far as it has joints to break it at."""
    lines = [""]
    for piece in _JOINTS.split(name):
        if lines[-1] and len((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _cell(text: str, style: str) -> Text:
    """The second line of a cell, an interval as a rule, is shown less brightly."""
    from rich.text import Text

    first, _, below = text.partition("\n")
    return Text.assemble((first, style), *([("\n" + below, "dim")] if below else []))
