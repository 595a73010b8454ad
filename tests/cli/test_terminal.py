# SPDX-License-Identifier: BSD-3-Clause
"""What is shown on terminals, narrow and wide: numbers are whole, the bar is in sight, names are only words."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from vaiven.cli import progress
from vaiven.cli.terminal import rich_table
from vaiven.measuring.events import CellTimed, LaunchBegan, Warned
from vaiven.report.table import Column, Table

TABLE = Table(
    "Costs",
    (Column("stack", "", number=False), *(Column(f"number {k}", "") for k in range(7))),
    tuple(
        (stack, *(f"{k}.{k}5 us\n[{k}.10, {k}.20]" for k in range(7)))
        for stack in ("icmp", "null[alpha_ns=50000,beta_ns=0.08,knee=5000:40000]", "[bold]x")
    ),
    ("a note",),
)


def shown(what: object, width: int, height: int = 24) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=False)
    console.print(what)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_a_table_loses_nothing_on_any_terminal(width: int) -> None:
    lines = shown(rich_table(TABLE), width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for k in range(7):
        assert text.count(f"{k}.{k}5 us") == text.count(f"[{k}.10, {k}.20]") == 3
    assert text.count("Costs") == text.count("a note") == 1
    assert "[bold]x" in text


@pytest.mark.parametrize("width", [80, 120])
def test_columns_in_a_second_table_keep_both_labels(width: int) -> None:
    hosts = Column("hosts", number=False)
    rows = tuple((f"h{k} to h2", *row) for k, row in enumerate(TABLE.rows[:1] * 3))
    lines = shown(rich_table(Table("", (hosts, *TABLE.columns), rows)), width)
    text = "\n".join(lines)
    assert max(map(len, lines)) <= width
    assert text.count("h1 to h2") == text.count("hosts") == text.count("stack") >= (2 if width == 80 else 1)
    assert text.count("icmp") == 3 * text.count("hosts")


def test_columns_stand_side_by_side_as_long_as_there_is_room() -> None:
    least = max(map(len, shown(rich_table(TABLE), 200)))
    parts = ["\n".join(shown(rich_table(TABLE), width)).count("icmp") for width in (least, least - 1)]
    assert parts == [1, 2]


def test_long_headings_break_at_their_joints_and_cells_have_their_style() -> None:
    name = "tcp[write=split] / udp[idle_ms=1]"
    table = Table("", (Column("size"), Column(name)), (("8 B", "−19 %"), ("64 B", "=")))
    assert [line.strip() for line in shown(rich_table(table), 40)[:4]] == ["tcp", "[write=", "split]", "/ udp"]
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    console.print(rich_table(table, lambda text: "green" if text.startswith("−") else ""))
    assert "\x1b[32m−19 %" in console.file.getvalue() and "\x1b[32m8 B" not in console.file.getvalue()


def test_a_table_without_rows_is_only_its_words() -> None:
    assert "Costs" in "".join(shown(rich_table(Table("Costs", TABLE.columns, ())), 80))


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0.5, "0.500 ns"), (493.2, "493 ns"), (40_000.0, "40.0 µs"), (999_600.0, "1.00 ms"), (2.5e9, "2.50 s"),
     (float("inf"), "lost")],
)  # fmt: skip
def test_times_have_three_digits(ns: float, text: str) -> None:
    assert progress._median_text([ns]) == text


def timed(size: int, stack: str = "tcp[write=split]") -> CellTimed:
    return CellTimed(
        launch=5, block=1, stack=stack, ask="pingpong", near="demo1", far="demo2", sentinel=False, size_bytes=size,
        median_ns=40_000.0,
    )  # fmt: skip


BEGAN = LaunchBegan(
    number=5, block=1, stack="tcp[write=split]", ask="pingpong", near="demo1", far="demo2", sentinel=False,
    launches_left=3, left_s=125.0,
)  # fmt: skip


def test_the_live_table_writes_as_the_tables_at_the_end_do_and_says_which_way() -> None:
    screen = progress.Screen(None, Console(width=100), None)
    for size in (8, 10_000):
        screen(timed(size))
    text = " ".join("\n".join(shown(screen._table(), 100)).split())
    assert "10 kB" in text and "40.0 µs" in text and "round trips (the tables at the end: one way)" in text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 10), (120, 40)])
def test_the_screen_shows_the_bar_the_time_left_and_medians_on_any_terminal(width: int, height: int) -> None:
    from rich.live import Live

    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    with Live(console=console, auto_refresh=False) as live:
        screen = progress.Screen(None, console, live)
        for number in range(30):
            for size in range(10, 200_000, 9_999):
                screen(timed(size, f"tcp[idle_ms={number + 1}]"))
        console.file.seek(0)
        console.file.truncate()
        screen(BEGAN)
        text = console.file.getvalue()
    assert "2 min 5 s to the next look" in text
    assert "block 2: tcp[write=split]"[: width - 1] in text
    assert "10 B" in text and "40.0 µs" in text
    assert text.count("\n") < height


def test_a_log_has_a_line_for_each_block_and_each_warning(capsys: pytest.CaptureFixture[str]) -> None:
    lines = progress.Lines(None)
    for event in (
        BEGAN,
        timed(8),
        replace(BEGAN, number=6),
        replace(BEGAN, number=9, block=2),
        Warned(code="x", text="y"),
    ):
        lines(event)
    assert capsys.readouterr().err.splitlines() == [
        "block 2, from launch 6 on (3 launches, 2 min 5 s to the next look)",
        "block 3, from launch 10 on (3 launches, 2 min 5 s to the next look)",
        "warning: x: y",
    ]
