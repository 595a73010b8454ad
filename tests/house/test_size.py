# SPDX-License-Identifier: BSD-3-Clause
"""Functions fit a screen, files fit a head: 70 lines and 800 lines, no exceptions."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.house.conftest import parsed

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 800

_NO_FUNCTION = re.compile(r"^(typedef\b|struct\b[^()]*$|enum\b[^()]*$|union\b[^()]*$|extern \")|=\s*\{$")


def c_functions(text: str) -> list[tuple[str, int]]:
    """(head, lines) of every function of a file formatted by clang-format: its body ends at a brace in column 1."""
    found, head, start = [], "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line == "}" and start:
            found.append((head, number - start + 1))
            start = 0
        elif not start and line[:1].isalpha() and not line.startswith("#"):
            head, first = line, number
            if line.endswith("{") and not _NO_FUNCTION.search(line):
                start = first
        elif not start and head and line.startswith(" ") and line.endswith(") {"):
            start = first
        if line.endswith(";") and not start:
            head = ""
    return found


def py_functions(text: str) -> list[tuple[str, int]]:
    """(name, lines) of every function of a Python file, docstrings not counted."""
    found = []
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            doc_lines = first.end_lineno - first.lineno + 1 if documented else 0
            found.append((node.name, node.end_lineno - node.lineno + 1 - doc_lines))
    return found


def test_functions_fit_a_screen(c_files: list[Path], py_files: list[Path], root: Path) -> None:
    functions = [(f, fn) for f in c_files for fn in c_functions(f.read_text())]
    functions += [(f, fn) for f in py_files for fn in py_functions(f.read_text())]
    assert len(functions) > 10
    long = [f"{f.relative_to(root)}: {head} has {n} lines" for f, (head, n) in functions if n > FUNCTION_LINES_MAX]
    assert long == []


def test_files_fit_a_head(c_files: list[Path], py_files: list[Path], root: Path) -> None:
    lengths = {f.relative_to(root).as_posix(): len(f.read_text().splitlines()) for f in c_files + py_files}
    assert {name: n for name, n in lengths.items() if n > FILE_LINES_MAX} == {}


def test_a_long_function_is_found() -> None:
    body = "  x();\n" * 80
    text = f"static const int a[] = {{\n{body}}};\nstruct s {{\n{body}}};\nint f(int a,\n      int b) {{\n{body}}}\n"
    assert c_functions(text) == [("int f(int a,", 83)]
    assert c_functions(f"int g(void) {{\n{body}}}\n") == [("int g(void) {", 82)]
    assert c_functions(f"struct s *g(void) {{\n{body}}}\n") == [("struct s *g(void) {", 82)]
    assert py_functions('def f():\n    """A.\n\n    B."""\n' + "    x()\n" * 80) == [("f", 81)]
