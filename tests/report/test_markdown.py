# SPDX-License-Identifier: BSD-3-Clause
"""A run as Markdown: the tables of the terminal, and no word of a stranger that means something."""

from __future__ import annotations

import re
from pathlib import Path

from tests.report import made_up

from vaiven.report import markdown
from vaiven.report.table import Column, Table
from vaiven.report.views import tables
from vaiven.results.results import Results
from vaiven.store.query import Run


def test_every_table_of_a_run_is_there_whole(run: Run) -> None:
    said = Results(run)
    text = markdown.document(said)
    shown = [table for part in said for table in tables(part)]
    assert len(shown) >= 10 and text.count("\n|---") == sum(1 for table in shown if table.rows)
    assert run.id.replace("_", "\\_") in text and "| tcp-nagle |" in text
    columns = [re.findall(r"(?<!\\)\|", line) for line in text.splitlines() if line.startswith("|")]
    assert len(columns) > 50 and min(map(len, columns)) >= 3


def test_cells_are_lines_of_words_that_mean_only_themselves() -> None:
    rows = (("a|b\n[1, 2]", "<img src=x>"), ("[x](javascript:y)", "`*_~&#\x1b\u202e"))
    text = markdown._table(Table("# cap", (Column("x", number=False), Column("n")), rows, ("a\nnote",)))
    assert text.splitlines() == [
        "## \\# cap", "", "| x | n |", "|---|---:|", "| a\\|b [1, 2] | \\<img src=x\\> |",
        "| [x\\](javascript:y) | \\`\\*\\_\\~\\&\\#\\\\x1b\\\\u202e |", "", "* a note",
    ]  # fmt: skip


def test_the_command_prints_it_or_writes_it_over_nothing_of_others(vaiven, tmp_path: Path) -> None:
    run = made_up.write_run(tmp_path, stacks=("tcp",), sizes=(1, 64), blocks=8, samples=9)
    printed = vaiven("export", "markdown", str(run.path))
    assert printed.returncode == 0 and printed.stdout == markdown.document(Results(run))
    (tmp_path / "README.md").write_text("mine")
    for name, status in (("run.md", 0), ("run.md", 0), ("README.md", 1)):
        done = vaiven("export", "markdown", str(run.path), "--output", name, cwd=tmp_path)
        assert done.returncode == status, done.stderr
    assert (tmp_path / "run.md").read_text() == printed.stdout and (tmp_path / "README.md").read_text() == "mine"
