# SPDX-License-Identifier: BSD-3-Clause
"""How a run goes on, on a terminal (bar, remaining time, live medians) or in a log (a line for each block).

Nothing is drawn while a launch measures: a screen that refreshes itself would be the noise that it shows.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vaiven.cli.terminal import open_console, say
from vaiven.measuring.events import Began, CellTimed, Ended, Event, LaunchBegan
from vaiven.model.numbers import duration_text, size_text, time_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

# Said once, at the beginning of a run, to whoever does not know them.
WORDS = """launch: one stack, in fresh processes; block: every stack once, in random order, with the sentinel, a launch
that is always the same and shows drift; look: is all known well enough to stop?"""
_SIZE_WIDTH = 11  # of a column of the live table


@contextmanager
def watching(path: Path | None = None) -> Iterator[Lines]:
    """The watcher that fits standard error: a terminal or not. path: of a run that is there already."""
    console = open_console(stderr=True)
    if not console.is_terminal:
        yield Lines(path)
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield Screen(path, console, live)


class Lines:
    """A line for each block and each warning. path: of the run, as soon as there is one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._block = -1

    def __call__(self, event: Event) -> None:
        if isinstance(event, Began):
            self.path = event.path
            self._say(_begin_text(event))
        elif isinstance(event, LaunchBegan):
            self._launch(event)
        elif isinstance(event, CellTimed):
            self._cell(event)
        elif not isinstance(event, Ended):  # the tables that follow say it better
            self._say(str(event))

    def _launch(self, event: LaunchBegan) -> None:
        if event.block != self._block:
            self._block = event.block
            left = f"{event.launches_left} launches, {duration_text(event.left_s)} to the next look"
            self._say(f"block {event.block + 1}, from launch {event.number + 1} on ({left})")

    def _cell(self, event: CellTimed) -> None:
        """A line for each block is enough."""

    def _say(self, text: str) -> None:
        say(text, sys.stderr)


class Screen(Lines):
    """A bar, the time left and the medians so far, redrawn between launches."""

    def __init__(self, path: Path | None, console: Console, live: Live) -> None:
        super().__init__(path)
        self._console = console
        self._live = live
        self._done = 0
        self._medians_ns: dict[str, dict[int, list[float]]] = {}

    def _launch(self, event: LaunchBegan) -> None:
        what = "sentinel" if event.sentinel else f"{event.stack} {event.ask}"
        now = f"block {event.block + 1}: {what}, {event.near} to {event.far}"
        self._live.update(self._picture(now, event.launches_left, event.left_s))
        self._live.refresh()
        self._done += 1

    def _cell(self, event: CellTimed) -> None:
        if not event.sentinel:
            row = self._medians_ns.setdefault(f"{event.stack} {event.ask}", {})
            row.setdefault(event.size_bytes, []).append(event.median_ns)

    def _say(self, text: str) -> None:
        self._console.print(text, style="yellow" if text.startswith("warning: ") else "", soft_wrap=True)

    def _picture(self, now: str, launches_left: int, left_s: float) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        left = Text(f"{duration_text(left_s)} to the next look", no_wrap=True)
        room = self._console.width - len(left) - 4
        bar = ProgressBar(total=self._done + launches_left, completed=self._done, width=max(1, min(30, room)))
        line = Table.grid(padding=(0, 2))
        line.add_row(bar, left)
        # The bar stands on top: of a table that is higher than the terminal the end is not shown.
        return Group(line, Text(now, no_wrap=True, overflow="ellipsis"), self._table())

    def _table(self) -> RenderableType:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        sizes = sorted({size for row in self._medians_ns.values() for size in row})
        names = min(max(map(len, self._medians_ns), default=0), self._console.width // 2)
        shown = _spread(sizes, (self._console.width - names - 4) // _SIZE_WIDTH)
        table = Table(
            box=box.SIMPLE_HEAD,
            title="median so far, as measured: round trips (the tables at the end: one way)",
            title_justify="left",
        )
        table.add_column("", no_wrap=True, overflow="ellipsis", max_width=names)
        for size in shown:
            table.add_column(size_text(size), justify="right")
        for name, row in sorted(self._medians_ns.items()):
            cells = [_median_text(row[size]) if size in row else "" for size in shown]
            table.add_row(Text(name), *cells)
        return table


def _median_text(several_ns: list[float]) -> str:
    """Of launches, one of which may have no answer."""
    ns = statistics.median(several_ns)
    return "lost" if math.isinf(ns) else time_text(ns)


def _spread(sizes: list[int], most: int) -> list[int]:
    """At most so many of them, evenly, the first and the last among them."""
    if most < 2 or len(sizes) <= most:
        return sizes[: max(1, most)]
    return [sizes[round(k * (len(sizes) - 1) / (most - 1))] for k in range(most)]


def _begin_text(event: Began) -> str:
    """Where the run is, what it will be, and the words that are needed to follow it."""
    from vaiven.cli.plan import summary

    return f"{event.path}\n{summary(event.design, event.plan, event.ground)}\n{WORDS}"
