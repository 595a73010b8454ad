# SPDX-License-Identifier: BSD-3-Clause
"""One list of the codes of errors: every code that the sources give is in it, and every code in it is given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROW = re.compile(r'^    \{"([\w-]+)", VV_CODE_(\w+), "[A-Z].*\."\},$', re.MULTILINE)
_GIVEN = re.compile(
    r'\b(?:vv_error_(?:set|errno)|usage|of_rank)\((?:error|[\w&>.-]+error|[^",]*),\s*(?:\w+,\s*)?"([a-z-]+)"'
)
_WARNED = re.compile(r'\bvv_record_warning\(\s*"([a-z-]+)"')
_BY_TEXT = re.compile(r"strn?cmp\([^;]*->code\b")


def given(text: str) -> set[str]:
    """Codes that a source gives to errors and warnings."""
    return {*_GIVEN.findall(text), *_WARNED.findall(text)}


@pytest.fixture(scope="module")
def listed(root: Path) -> list[tuple[str, str]]:
    return _ROW.findall((root / "src/io/os/code.c").read_text())


@pytest.fixture(scope="module")
def texts(root: Path) -> dict[str, str]:
    files = (root / "src").rglob("*.c")
    return {p.relative_to(root).as_posix(): p.read_text() for p in files if p.parent.name != "bpf"}


def test_every_code_is_listed(listed: list[tuple[str, str]], texts: dict[str, str]) -> None:
    known = {name for name, _ in listed}
    assert {code: file for file, text in texts.items() for code in given(text) if code not in known} == {}


def test_every_listed_code_is_given(listed: list[tuple[str, str]], texts: dict[str, str]) -> None:
    others = "".join(text for file, text in texts.items() if file != "src/io/os/code.c")
    assert len(listed) > 70 and [name for name, _ in listed if f'"{name}"' not in others] == []


def test_the_list_is_in_order_and_has_nothing_twice(listed: list[tuple[str, str]], root: Path) -> None:
    kinds = re.findall(r"^  VV_CODE_(\w+),", (root / "src/io/os/code.h").read_text(), re.MULTILINE)
    assert listed == sorted(set(listed), key=lambda row: (kinds.index(row[1]), row[0]))


def test_programs_decide_by_kind(texts: dict[str, str]) -> None:
    assert [file for file, text in texts.items() if _BY_TEXT.search(text)] == []


def test_a_code_that_is_given_is_found() -> None:
    text = """
  return vv_error_set(error, "no-memory", "no memory");
  vv_error_errno(trial->error, "socket", "x"), usage(error, "size-limit", "%s", x);
  vv_record_warning("corrupt", "%d", 3); of_rank(refusal, where, "rank-died", "x", error);
"""
    assert given(text) == {"no-memory", "socket", "size-limit", "corrupt", "rank-died"}
    assert _BY_TEXT.search('if (strcmp(error->code, "timeout") == 0)')
