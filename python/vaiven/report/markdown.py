# SPDX-License-Identifier: BSD-3-Clause
"""A run as Markdown, for a page of a wiki, an issue or a merge request: the tables that a terminal shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from vaiven import outputs
from vaiven.letters import printable
from vaiven.report.table import Table
from vaiven.report.views import tables
from vaiven.results.results import Results

_MARK = "<!-- vaiven export markdown -->"
_MEANING = re.compile(r"[\\`*_<>|&~#]|\](?=\()")  # what Markdown and HTML would take for theirs


def write(text: str, output: Path) -> Path:
    """Writes what `document` gave. Raises VaivenError ("cannot-write")."""
    return outputs.write(output, text, _MARK.encode())


def document(said: Results) -> str:
    """Everything that a run says, in the order of its JSON document: where and when, tables with their notes."""
    facts = said.facts
    blocks = [_MARK, f"# Run {_escaped(facts.id)}", _escaped(f"{facts.started}; {facts.fabric}")]
    return "\n\n".join((*blocks, *(_table(table) for part in said for table in tables(part)))) + "\n"


def _table(table: Table) -> str:
    caption = [f"## {_escaped(table.caption)}"] if table.caption else []
    rows = "\n".join(_rows(table)) if table.rows else ""
    notes = "\n".join(f"* {_escaped(note)}" for note in table.notes)
    return "\n\n".join(filter(None, (*caption, rows, notes)))


def _rows(table: Table) -> Iterator[str]:
    yield _row(column.name for column in table.columns)
    yield f"|{'|'.join('---:' if column.number else '---' for column in table.columns)}|"
    yield from (_row(cells) for cells in table.rows)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    """Text in one line that means nothing but itself."""
    return _MEANING.sub(lambda found: f"\\{found[0]}", printable(" ".join(text.splitlines())))
