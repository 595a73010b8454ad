# SPDX-License-Identifier: BSD-3-Clause
"""On which line of a TOML text each table, key and array element stands, so that an error can name it.

The text was read by tomllib before: its syntax is right, and this only finds places in it.
"""

from __future__ import annotations

import re

Place = tuple[str | int, ...]  # ("hosts", 2, "memory_mb"): one value of a document

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*""")
_STRING = re.compile(r'"""(?s:.)*?(?<!\\)"{3,5}|' r"'''(?s:.)*?'{3,5}|" r'"(?:[^"\\\n]|\\.)*"|' r"'[^'\n]*'")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[^,\]}#\n]*")


def lines(text: str) -> dict[Place, int]:
    """The place of each table, key and array element -> its line, counted from 1."""
    return _Finder(text).found


class _Finder:
    """Walks over the text once and marks what it comes to."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.found: dict[Place, int] = {}
        self._tables: dict[Place, int] = {}
        self._document()

    def _document(self) -> None:
        table: Place = ()
        self._skip(_BLANK)
        while self.at < len(self.text):
            table = self._header() if self.text[self.at] == "[" else self._pair(table)
            self._skip(_BLANK)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at + 1
        return match.group(0) if match else ""

    def _mark(self, path: Place) -> None:
        self.found.setdefault(path, self.text.count("\n", 0, self.at) + 1)

    def _dotted(self) -> Place:
        keys = [self._skip(_KEY).strip().strip("\"'")]
        while self.text[self.at : self.at + 1] == ".":
            self.at += 1
            keys.append(self._skip(_KEY).strip().strip("\"'"))
        return tuple(keys)

    def _header(self) -> Place:
        start, many = self.at, self.text.startswith("[[", self.at)
        self.at += 2 if many else 1
        path = self._dotted()
        self.at = start
        self._mark(path)
        if many:
            path = (*path, self._tables.get(path, 0))
            self._tables[path[:-1]] = int(path[-1]) + 1
            self._mark(path)
        self.at = (self.text + "\n").index("\n", start)
        return path

    def _pair(self, table: Place) -> Place:
        start = self.at
        path = (*table, *self._dotted())
        self.at, after = start, self.at
        self._mark(path)
        self.at = after + 1  # "="
        self._value(path)
        return table

    def _value(self, path: Place) -> None:
        self._skip(_SPACE)
        first = self.text[self.at : self.at + 1]
        if first in ('"', "'"):
            self._skip(_STRING)
        elif first == "[":
            self._items(path)
        elif first == "{":
            self._inline(path)
        else:
            self._skip(_BARE)

    def _items(self, path: Place) -> None:
        self.at += 1
        count = 0
        while not self._closed("]"):
            self._mark((*path, count))
            self._value((*path, count))
            count += 1

    def _inline(self, path: Place) -> None:
        self.at += 1
        while not self._closed("}"):
            self._pair(path)

    def _closed(self, end: str) -> bool:
        self._skip(_BLANK)
        if self.text[self.at : self.at + 1] == ",":
            self.at += 1
            self._skip(_BLANK)
        if self.text[self.at : self.at + 1] in (end, ""):
            self.at += 1
            return True
        return False
