# SPDX-License-Identifier: BSD-3-Clause
"""src/core knows no clock, socket, file or thread, allocates nothing and keeps no state of its own.

Judged by what the compiler made: the symbols that the static library needs from outside, and the sections that its
objects live in. Sources are searched too, so that the offending line is named even when it was optimised away.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# What core may call: plain memory and string functions, assertions, and what compilers add by themselves.
ALLOWED = re.compile(
    r"mem(cpy|set|cmp|move|chr)|str(len|n?cmp|nlen|chr)|__mem(cpy|set|move)_chk|__assert_fail|__stack_chk_fail"
    r"|_GLOBAL_OFFSET_TABLE_|__(u?div|u?mod|mul|popcount|clz|ctz|bswap)[a-z]*[dst]i[0-9]"
)
WORDS = re.compile(
    r"\b(clock_gettime|gettimeofday|time|nanosleep|usleep|sleep|socket|sendto|sendmsg|recv|recvmsg|bind|open|fopen"
    r"|read|write|close|printf|fprintf|malloc|calloc|realloc|free|alloca|pthread_\w+|rand|srand|random|drand48|getenv"
    r"|vv_clock_\w+)\s*\("
)
_COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.DOTALL)


def foreign_symbols(archive: Path) -> set[str]:
    """Symbols that the archive needs and neither defines nor may need."""
    listing = subprocess.run(["nm", archive], capture_output=True, text=True, check=True).stdout
    rows = [line.split()[-2:] for line in listing.splitlines() if len(line.split()) >= 2]
    defined = {name for kind, name in rows if kind in "TtRrDdBbWwVv"}
    needed = {name for kind, name in rows if kind == "U"}
    return {name for name in needed - defined if not ALLOWED.fullmatch(name)}


def mutable_symbols(archive: Path) -> set[str]:
    """Variables of the archive that can change while the program runs."""
    listing = subprocess.run(["nm", "-f", "sysv", archive], capture_output=True, text=True, check=True).stdout
    rows = [[cell.strip() for cell in line.split("|")] for line in listing.splitlines() if line.count("|") == 6]
    changing = re.compile(r"\.(data|bss|tdata|tbss)(?!\.rel\.ro)|\*COM\*")
    return {row[0] for row in rows if changing.match(row[6])}


def impure_words(text: str) -> list[str]:
    """Calls in the text that core must not make; comments and strings do not count."""
    return WORDS.findall(_COMMENT_OR_STRING.sub(" ", text))


def _archive(directory: Path, text: str) -> Path:
    (directory / "bad.c").write_text(text)
    subprocess.run(["cc", "-O0", "-c", "bad.c", "-o", "bad.o"], cwd=directory, check=True)
    subprocess.run(["ar", "rcs", "bad.a", "bad.o"], cwd=directory, check=True)
    return directory / "bad.a"


@pytest.fixture(scope="module")
def library(libraries: Path) -> Path:
    """libvaiven-core.a."""
    return libraries / "core/libvaiven-core.a"


def test_core_needs_nothing_from_outside(library: Path) -> None:
    assert foreign_symbols(library) == set()


def test_core_keeps_no_state(library: Path) -> None:
    assert mutable_symbols(library) == set()


def test_core_names_nothing_impure(root: Path) -> None:
    files = sorted((root / "src/core").rglob("*.[ch]"))
    assert files
    assert [(f.name, word) for f in files for word in impure_words(f.read_text())] == []


@pytest.mark.parametrize(
    "call",
    [
        "#include <time.h>\nlong f(void) { return time(0); }",
        "#include <stdlib.h>\nvoid *f(void) { return malloc(9); }",
        "#include <sys/socket.h>\nint f(void) { return socket(1, 2, 3); }",
        '#include <fcntl.h>\nint f(void) { return open("x", 0); }',
        "#include <pthread.h>\nint f(pthread_t t) { return pthread_join(t, 0); }",
    ],
)
def test_an_impure_call_is_found(call: str, tmp_path: Path) -> None:
    assert foreign_symbols(_archive(tmp_path, call))
    assert impure_words(call)


def test_state_is_found_and_constants_are_not(tmp_path: Path) -> None:
    state = "static int n; int f(void) { return n++; } int m = 3;"
    assert mutable_symbols(_archive(tmp_path, state)) == {"n", "m"}
    constant = (
        '#include <string.h>\nstatic const char *const a[] = {"x"}; unsigned long f(int i) { return strlen(a[i]); }'
    )
    archive = _archive(tmp_path, constant)
    assert mutable_symbols(archive) == set()
    assert foreign_symbols(archive) == set()


def test_comments_are_no_calls() -> None:
    assert impure_words("/* never malloc(3) */ int runtime(int x); // time()\n") == []
