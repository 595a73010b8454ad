# SPDX-License-Identifier: BSD-3-Clause
"""The map of ARCHITECTURE.md is the tree: no room missing, none empty, none unknown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOMS = re.compile(r"(?:[\w.-]+/)+(?: (?:[\w.-]+/)+)*")
# Rooms of tests that mirror nothing: what they need, or what they look at.
_TESTS_ALONE = {"browser", "docs", "fuzz", "house", "rules"}


def rooms(map_text: str) -> set[str]:
    """Directories named by the map: indented lines lie inside the last line that is indented less."""
    found: set[str] = set()
    inside: list[tuple[int, str]] = []  # (indentation, directory), outermost first
    for line in map_text.splitlines():
        indent = len(line) - len(line.lstrip())
        inside = [(i, d) for i, d in inside if i < indent]
        parent = inside[-1][1] if inside else ""
        for chunk in re.split(r"\s{2,}", line.strip()):
            if _ROOMS.fullmatch(chunk):
                names = [parent + name.rstrip("/") for name in chunk.split()]
                found.update(names)
                if len(inside) == 0 or inside[-1][0] < indent:
                    inside.append((indent, names[-1] + "/"))
    return found


def map_of(architecture: str) -> str:
    """The first code block under the heading Map."""
    return architecture.split("## Map", 1)[1].split("```", 2)[1]


def directories(files: list[str]) -> set[str]:
    """All directories that hold a file, at any depth."""
    return {parent.as_posix() for f in files for parent in Path(f).parents if parent.as_posix() != "."}


def rooms_of_tests(map_text: str) -> set[str]:
    """Rooms of tests that mirror nothing: those that the map's line about tests names."""
    line = next((line for line in map_text.splitlines() if line.startswith("tests/")), "")
    return set(re.findall(r"(?<= )(\w+)/(?= )", line))


def missing_rooms(mapped: set[str], files: list[str]) -> set[str]:
    """Rooms of the map that do not exist or are empty."""
    return mapped - directories(files)


def unknown_rooms(mapped: set[str], files: list[str], alone: set[str]) -> set[str]:
    """Directories that the map does not know. It goes as deep as python/vaiven/X; tests mirror the rest of it."""
    known = mapped | {p.as_posix() for room in mapped for p in Path(room).parents}
    names = {room.split("/")[-1] for room in mapped} | alone

    def is_known(directory: str) -> bool:
        parts = directory.split("/")
        if parts[0].startswith("."):
            return True
        if parts[0] == "tests" and len(parts) > 1:
            return parts[1] in names
        depth = 3 if parts[0] == "python" else 1 if parts[0] != "src" else len(parts)
        return "/".join(parts[:depth]) in known

    return {d for d in directories(files) if not is_known(d)}


@pytest.fixture(scope="module")
def mapped(root: Path) -> set[str]:
    return rooms(map_of((root / "ARCHITECTURE.md").read_text()))


@pytest.fixture(scope="module")
def names(files: list[Path], root: Path) -> list[str]:
    return [f.relative_to(root).as_posix() for f in files]


def test_no_room_is_missing_or_empty(mapped: set[str], names: list[str]) -> None:
    assert {"src/core/wire", "src/io/os", "python/vaiven/model", "plans", "docs"} <= mapped
    assert missing_rooms(mapped, names) == set()


def test_no_room_is_unknown(mapped: set[str], names: list[str], root: Path) -> None:
    alone = rooms_of_tests(map_of((root / "ARCHITECTURE.md").read_text()))
    assert "house" in alone and unknown_rooms(mapped, names, alone) == set()


def test_a_wrong_map_is_found() -> None:
    text = "src/\n  core/   pure\n    base/   rng\n  io/os/   clocks, like lab/ too\na/ b/   two   c/  third\n"
    mapped = rooms(text)
    assert mapped == {"src", "src/core", "src/core/base", "src/io/os", "a", "b", "c"}
    tree = ["src/core/base/rng.c", "src/io/os/clock.c", "a/x", "b/x"]
    assert missing_rooms(mapped, tree) == {"c"}
    assert unknown_rooms(mapped, [*tree, "src/core/junk/x.c"], set()) == {"src/core/junk"}
    tests = ["tests/junk/x", "tests/base/x", "tests/house/x"]
    assert unknown_rooms(mapped | {"tests"}, [*tree, "junk/x", *tests], {"house"}) == {"junk", "tests/junk"}


def test_rooms_of_tests_are_read_from_the_map() -> None:
    assert rooms_of_tests("a/  b\ntests/   mirrors src; house/ docs/ for others\n") == {"house", "docs"}
