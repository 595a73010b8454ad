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
from typing import TYPE_CHECKING

from vaiven.cli.terminal import open_console, say
from vaiven.model.numbers import duration_text, size_text, time_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

    from vaiven.plan.order import Launch
    from vaiven.plan.schema import Stop
    from vaiven.plan.stop import Look
    from vaiven.run.carry import Watcher
    from vaiven.store.record import Cell, Refined

_SIZE_WIDTH = 11  # of a column of the live table


def look_text(look: Look, stop: Stop) -> str:
    """What the stopping rule found when it looked, in words."""
    from vaiven.model.numbers import percent_text

    begin, wanted = f"after {look.launches} launches of each stack", f"{100 * stop.half_width:g} %"
    if look.achieved:
        return f"{begin} every median is known to {wanted}: enough"
    width = "has no interval yet" if look.half_width is None else f"is known to {percent_text(look.half_width)}"
    state = "" if stop.is_count else f" (wanted: {wanted}): {'not achieved' if look.done else 'it goes on'}"
    return f"{begin} the median of {look.cell} {width}{state}"


def refined_text(refined: Refined) -> Iterator[str]:
    """What a look added, in words: one line for each reason."""
    for one in refined.additions:
        sizes = " ".join(map(str, one.sizes_bytes))
        where = f"{one.stack} {one.ask} {one.near} {one.far}"
        yield f"{refined.blocks} launches: {where}: {one.why}: from now on also {sizes} B"


@contextmanager
def watching(stop: Stop) -> Iterator[Watcher]:
    """The watcher that fits standard error: a terminal or not."""
    console = open_console(stderr=True)
    if not console.is_terminal:
        yield Lines(stop)
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield Screen(console, live, stop)


class Lines:
    """A line for each block and each warning."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._block = -1

    def launch_begins(self, launch: Launch, block: int, launches_left: int, left_s: float) -> None:
        if block != self._block:
            self._block = block
            left = f"{launches_left} launches, {duration_text(left_s)} to the next look"
            self._print(f"block {block + 1}, from launch {launch.number + 1} on ({left})")

    def cell(self, launch: Launch, cell: Cell, median_ns: float) -> None:
        pass  # a line for each block is enough

    def warning(self, code: str, text: str) -> None:
        self._print(f"warning: {code}: {text}")

    def looked(self, look: Look) -> None:
        self._print(look_text(look, self._stop))

    def refined(self, refined: Refined) -> None:
        for line in refined_text(refined):
            self._print(line)

    def _print(self, text: str) -> None:
        say(text, sys.stderr)


class Screen:
    """A bar, the time left and the medians so far, redrawn between launches."""

    def __init__(self, console: Console, live: Live, stop: Stop) -> None:
        self._console = console
        self._live = live
        self._stop = stop
        self._done = 0
        self._medians_ns: dict[str, dict[int, list[float]]] = {}

    def launch_begins(self, launch: Launch, block: int, launches_left: int, left_s: float) -> None:
        what = "sentinel" if launch.sentinel else f"{launch.stack.name} {launch.ask}"
        now = f"block {block + 1}: {what}, {launch.near} to {launch.far}"
        self._live.update(self._picture(now, launches_left, left_s))
        self._live.refresh()
        self._done += 1

    def cell(self, launch: Launch, cell: Cell, median_ns: float) -> None:
        if not launch.sentinel:
            row = self._medians_ns.setdefault(f"{launch.stack.name} {launch.ask}", {})
            row.setdefault(cell.size_bytes, []).append(median_ns)

    def warning(self, code: str, text: str) -> None:
        self._console.print(f"warning: {code}: {text}", style="yellow")

    def looked(self, look: Look) -> None:
        self._console.print(look_text(look, self._stop))

    def refined(self, refined: Refined) -> None:
        for line in refined_text(refined):
            self._console.print(line)

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
