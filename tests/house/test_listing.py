# SPDX-License-Identifier: BSD-3-Clause
"""Nothing is forgotten: every C source is built, every C test is run, every Python test is collected."""

from __future__ import annotations

import re
from pathlib import Path


def unlisted_tests(build: str, names: list[str]) -> set[str]:
    """C test files (paths below tests) whose name tests/meson.build does not list, in c_tests or library_c_tests."""
    lists = re.findall(r"c_tests = \[(.*?)\]", build, re.DOTALL)
    listed = {name for body in lists for name in re.findall(r"'([\w/-]+)'", body)}
    return {n for n in names if re.sub(r"(^|/)test_([^/]+)\.c$", r"\1\2", n) not in listed}


_LIST = re.compile(r"^(\w+) = \[\n((?:  '\w+',\n)+)\]", re.MULTILINE)
_LOOP = re.compile(r"^foreach (\w+) : (\w+)\n  \w+ \+= files\('(\w+)' / \1 \+ '\.c'\)", re.MULTILINE)


def named_sources(build: str) -> set[str]:
    """What a meson.build names: 'room/noun.c', or a list of nouns and a loop that makes files of them."""
    lists = {name: re.findall(r"'(\w+)'", body) for name, body in _LIST.findall(build)}
    looped = {f"{room}/{noun}.c" for _, name, room in _LOOP.findall(build) for noun in lists[name]}
    return looped | set(re.findall(r"'([\w./]+\.c)'", build))


def unbuilt_sources(build_files: dict[str, str], names: list[str]) -> set[str]:
    """C sources (paths below src) that no meson.build above them names."""
    named = {place: named_sources(build) for place, build in build_files.items()}

    def is_built(name: str) -> bool:
        parents = [p.as_posix() for p in Path(name).parents]
        return any(Path(name).relative_to(p).as_posix() in named.get(p, set()) for p in parents)

    return {n for n in names if not is_built(n)}


def test_every_c_test_is_listed(root: Path) -> None:
    tests = root / "tests"
    names = [p.relative_to(tests).as_posix() for p in tests.rglob("test_*.c")]
    assert unlisted_tests((tests / "meson.build").read_text(), names) == set()


def test_every_c_file_of_tests_is_used(root: Path) -> None:
    """By the build, or by a Python test beside it that compiles it."""
    tests = root / "tests"
    build = (tests / "meson.build").read_text()
    others = [p for p in tests.rglob("*.c") if not p.name.startswith("test_")]
    beside = {p: "".join(q.read_text() for q in p.parent.glob("*.py")) for p in others}
    assert [p.name for p in others if p.name not in build + beside[p]] == []


def test_every_source_is_built(root: Path) -> None:
    src = root / "src"
    build_files = {p.parent.relative_to(src).as_posix(): p.read_text() for p in src.rglob("meson.build")}
    names = [p.relative_to(src).as_posix() for p in src.rglob("*.c")]
    assert names and unbuilt_sources(build_files, names) == set()


def test_every_python_test_is_collected(root: Path) -> None:
    found = [p for p in (root / "tests").rglob("*.py") if p.name not in ("conftest.py", "__init__.py")]
    holds_tests = re.compile(r"^\s*(async )?def test_", re.MULTILINE)
    assert [p.name for p in found if not p.name.startswith("test_") and holds_tests.search(p.read_text())] == []


def test_a_forgotten_file_is_found() -> None:
    build = "c_tests = [\n  'core/base/rng',\n]\nx = ['core/base/other']"
    assert unlisted_tests(build, ["core/base/test_rng.c"]) == set()
    assert unlisted_tests(build, ["core/base/test_other.c"]) == {"core/base/test_other.c"}
    build_files = {"core": "files('base/rng.c')", "io": "files('os/clock.c')"}
    assert unbuilt_sources(build_files, ["core/base/rng.c", "io/os/error.c"]) == {"io/os/error.c"}
    asked = "asked = [\n  'what',\n]\nall = []\nforeach one : asked\n  all += files('ask' / one + '.c')\nendforeach\n"
    assert unbuilt_sources({"probe": asked}, ["probe/ask/what.c", "probe/ask/who.c"]) == {"probe/ask/who.c"}
    assert unbuilt_sources(build_files, ["core/base/rng.c", "io/os/error.c"]) == {"io/os/error.c"}
