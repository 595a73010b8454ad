# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the report on a terminal: as wide as it is, numbers never cut, names never read as markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table as RichTable
    from rich.text import Text

    from vaiven.report.tables import Table

Style = Callable[[str], str]

_JOINTS = re.compile(r"(?<=[-=, ])|(?=\[)")  # where a long heading may be broken


def rich_table(table: Table, style: Style | None = None) -> RenderableType:
    """The table for a terminal. style: what rich calls it, for the text of a cell beside the labels.

    Columns that do not fit on the terminal go to a second table under the first, each beside the labels: the first
    column, or the first two where both are words and leave room.
    """
    return _Fitted(table, style or (lambda text: ""))


@dataclass(frozen=True)
class _Fitted:
    """Knows its width only when it is printed."""

    table: Table
    style: Style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        wide = options.update(max_width=10_000)

        def width(columns: Sequence[int]) -> int:
            return console.measure(self._part(columns), options=wide).minimum

        labels = [0, 1] if self._two_words() and 2 * width([0, 1]) <= options.max_width else [0]
        left = [number for number in range(len(self.table.columns)) if number not in labels]
        if self.table.caption:
            yield Text(self.table.caption, style="bold")
        while left:
            take = len(left)
            while take > 1 and width([*labels, *left[:take]]) > options.max_width:
                take -= 1
            yield self._part([*labels, *left[:take]])
            yield ""
            left = left[take:]
        yield from (Text(note, style="dim") for note in self.table.notes)

    def _two_words(self) -> bool:
        """Do the first two columns say together what a row is about, such as hosts and stack?"""
        return [column.number for column in self.table.columns[:3]] == [False, False, True]

    def _part(self, numbers: Sequence[int]) -> RichTable:
        """These columns."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for number in numbers:
            column = self.table.columns[number]
            width = max((len(line) for row in self.table.rows for line in row[number].split("\n")), default=0)
            justify = "right" if column.number else "left"
            least = width if column.number else min(width, 16)
            head = Text(_head(column.name, width))
            shown.add_column(head, justify=justify, no_wrap=column.number, overflow="fold", min_width=least)
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
