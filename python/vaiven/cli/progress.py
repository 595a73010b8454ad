# SPDX-License-Identifier: BSD-3-Clause
"""How a run goes on, on a terminal (bar, remaining time, live medians) or in a log (a line for each launch).

Nothing is drawn while a launch measures: a screen that refreshes itself would be the noise that it shows.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

    from vaiven.plan.order import Launch
    from vaiven.plan.stop import Look
    from vaiven.run.carry import Watcher
    from vaiven.store.record import Cell, End, Refined

_SIZE_WIDTH = 11  # of a column of the live table


def duration_text(seconds: float) -> str:
    """ "8 s", "3 min 20 s", "2 h 5 min"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def time_text(ns: float) -> str:
    """ "28.1 us", "1.24 ms", "lost"."""
    if ns == float("inf"):
        return "lost"
    for unit, factor in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if ns < 999.5 * factor:
            return f"{_three(ns / factor)} {unit}"
    return f"{_three(ns / 1e9)} s"


def _three(value: float) -> str:
    """Three digits, all of them: "40.0", "28.1", "493"."""
    return f"{value:#.3g}".rstrip(".")


def look_text(look: Look, wanted: float) -> str:
    """What a look of the stopping rule found, in words."""
    if look.achieved:
        return f"{look.launches} launches: every median is known to {100 * wanted:g} %: enough"
    width = "has no interval yet" if look.half_width is None else f"is known to {100 * look.half_width:.2g} %"
    state = "not achieved" if look.done else "goes on"
    return f"{look.launches} launches: the median of {look.cell} {width} (wanted: {100 * wanted:g} %): {state}"


def end_text(end: End) -> str:
    """What a run reached that did not reach what its plan wanted."""
    from vaiven.plot.units import percent_text

    width = "has no interval" if end.half_width is None else f"is known to {percent_text(end.half_width)} only"
    return f"after {end.blocks} launches the median of {end.cell} {width}; more launches or a quieter machine tell more"


def refined_text(refined: Refined) -> Iterator[str]:
    """What a look added, in words: one line for each reason."""
    for one in refined.additions:
        sizes = " ".join(map(str, one.sizes_bytes))
        where = f"{one.stack} {one.ask} {one.near} {one.far}"
        yield f"{refined.blocks} launches: {where}: {one.why}: from now on also {sizes} B"


@contextmanager
def watching(half_width: float) -> Iterator[Watcher]:
    """The watcher that fits standard error: a terminal or not."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False)
    if not console.is_terminal:
        yield Lines(half_width)
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield Screen(console, live, half_width)


class Lines:
    """A line for each launch and each warning."""

    def __init__(self, half_width: float) -> None:
        self._half_width = half_width

    def launch_begins(self, launch: Launch, block: int, launches_left: int, left_s: float) -> None:
        what = "sentinel" if launch.sentinel else f"{launch.stack.name} {launch.ask}"
        left = f"{launches_left} launches, {duration_text(left_s)} to the next look"
        self._print(f"block {block + 1}, launch {launch.number + 1}: {what} {launch.near} {launch.far} ({left})")

    def cell(self, launch: Launch, cell: Cell, median_ns: float) -> None:
        pass  # one line for each launch is enough

    def warning(self, code: str, text: str) -> None:
        self._print(f"warning: {code}: {text}")

    def looked(self, look: Look) -> None:
        self._print(look_text(look, self._half_width))

    def refined(self, refined: Refined) -> None:
        for line in refined_text(refined):
            self._print(line)

    def _print(self, text: str) -> None:
        print("".join(c if c.isprintable() else "?" for c in text), file=sys.stderr, flush=True)


class Screen:
    """A bar, the time left and the medians so far, redrawn between launches."""

    def __init__(self, console: Console, live: Live, half_width: float) -> None:
        self._console = console
        self._live = live
        self._half_width = half_width
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
        self._console.print(look_text(look, self._half_width))

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
        table = Table(box=box.SIMPLE_HEAD, title="median so far, as measured (round trip)", title_justify="left")
        table.add_column("", no_wrap=True, overflow="ellipsis", max_width=names)
        for size in shown:
            table.add_column(f"{size} B", justify="right")
        for name, row in sorted(self._medians_ns.items()):
            cells = [time_text(statistics.median(row[size])) if size in row else "" for size in shown]
            table.add_row(Text(name), *cells)
        return table


def _spread(sizes: list[int], most: int) -> list[int]:
    """At most so many of them, evenly, the first and the last among them."""
    if most < 2 or len(sizes) <= most:
        return sizes[: max(1, most)]
    return [sizes[round(k * (len(sizes) - 1) / (most - 1))] for k in range(most)]
