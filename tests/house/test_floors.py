# SPDX-License-Identifier: BSD-3-Clause
"""The plan of the C house: no circle among the objects of a library, no name given twice, one prefix for one object.

Circles and symbols are read from what the compiler made (nm), tags and prefixes from the sources.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from tests.house.conftest import LIBRARIES

# A header's names begin with vv_NOUN or vv_ROOM_NOUN. These headers hold more than their noun, or another:
ALSO = {
    "core/base/siphash.h": ["vv_key"],
    "core/base/time.h": ["vv_ns", "vv_never", "vv_us", "vv_ms", "vv_sec"],
    "core/ethernet/faults.h": ["vv_drop"],
    "core/ethernet/message.h": ["vv_path"],
    "core/wire/bytes.h": ["vv_get", "vv_put"],
    "core/wire/frame.h": ["vv_mac"],
    "probe/base/config.h": ["vv_probe", "vv_command"],
    "probe/kit/series.h": ["vv_outcome"],
    "stack/stack.h": ["vv_acks", "vv_end", "vv_got", "vv_limits", "vv_steps", "vv_to", "vv_wait", "vv_write"],
}
# Rooms whose names all begin with the room's, whatever the noun.
ROOMS = {"core/llc": "vv_llc", "sim": "vv_sim"}
# Programs for the kernel and what loads them: their names meet no others.
APART = ("bpf/",)
# An abstract type, of which each file of src/stack has its own.
ABSTRACT = {"vv_end"}
# Named by a public header, which tells nothing of what is in them.
OPAQUE = {"vv_group", "vv_group_operation"}
# One word for what a caller wants of an object: config. These said the same.
SYNONYMS = re.compile(r"_(?:wanted|plan|settings|params|wishes)$")

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_TAG = re.compile(r"^(?:typedef |static (?:const )?)?(?:struct|enum|union) (\w+) \{", re.MULTILINE)
_FUNCTION = re.compile(r"^(?!typedef|#|return)(?:static inline )?[a-z][\w *]*?[ *](vv_\w+)\(", re.MULTILINE)
_VARIABLE = re.compile(r"^extern [^;(]*?\b(vv_\w+)(?:\[\])*;", re.MULTILINE)
_MACRO = re.compile(r"^#define (VV_\w+)", re.MULTILINE)
_ENUM = re.compile(r"^enum(?: \w+)? \{(.*?)\}", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\bu?int64_t (?:\*|const |\(\*)*(?:\w+_ns|ns)\b")
_BARE_TIME = re.compile(r"(?:_ns|_NS|tv_n?sec)\b.*?(?<![\w.])\d+000(?:u|ULL|LL)?\b(?! \* VV_)")
_SYMBOL = re.compile(r"^[^:]+:([^:]+):\s*[0-9a-f]*\s+([A-Za-z]) (\w+)$", re.MULTILINE)


def symbols(archive: Path) -> list[tuple[str, str, str]]:
    """(object, kind, name) of all symbols of an archive; kind as nm writes it."""
    listing = subprocess.run(["nm", "-A", archive], capture_output=True, text=True, check=True).stdout
    return [(Path(unit).name.removesuffix(".c.o"), kind, name) for unit, kind, name in _SYMBOL.findall(listing)]


def uses(rows: Iterable[tuple[str, str, str]]) -> dict[str, set[str]]:
    """Object -> objects whose symbols it needs."""
    rows = list(rows)
    home = {name: unit for unit, kind, name in rows if kind in "TDBRCVW"}
    found: dict[str, set[str]] = {unit: set() for unit, _, _ in rows}
    for unit, kind, name in rows:
        if kind == "U" and home.get(name, unit) != unit:
            found[unit].add(home[name])
    return found


def circles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """Sets of two or more nodes that all reach each other."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = [start]
        while ahead:
            for node in arrows[ahead.pop()] - seen:
                seen.add(node)
                ahead.append(node)
        return seen

    reach = {node: reached(node) for node in arrows}
    knots = {frozenset({node} | {n for n in reach[node] if node in reach[n]}) for node in arrows if node in reach[node]}
    return sorted(sorted(knot) for knot in knots if len(knot) > 1)


def twice(homes: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names with more than one home, of (name, home)."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, home in homes:
        found[name].add(home)
    return {name: sorted(where) for name, where in sorted(found.items()) if len(where) > 1}


def tags(text: str) -> list[str]:
    """Names of the structs, enumerations and unions that the text defines."""
    return _TAG.findall(_COMMENT.sub("", text))


def prefixes(name: str) -> list[str]:
    """With what the names of a header begin; name is its path below src, or include/."""
    path = Path(name)
    noun = path.stem
    if noun.endswith("s") and not noun.endswith("ss"):
        noun = noun[:-1]  # flows.h holds vv_flow and vv_flows_run
    room = next((prefix for room, prefix in ROOMS.items() if name.startswith(room + "/")), None)
    return [room] if room else [f"vv_{noun}", f"vv_{path.parent.name}_{noun}", *ALSO.get(name, [])]


def names(text: str) -> set[str]:
    """Everything that a header gives a name that others can see."""
    text = _COMMENT.sub("", text)
    constants = {
        c for body in _ENUM.findall(text) for c in re.findall(r"\b(VV_\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip())
    }
    macros = {macro for macro in _MACRO.findall(text) if not macro.endswith("_H")}
    return {*_TAG.findall(text), *_FUNCTION.findall(text), *_VARIABLE.findall(text), *macros, *constants}


def homeless(name: str, text: str, neighbours: Iterable[str]) -> set[str]:
    """Names of a header that begin with none of its prefixes; state.h may use those of its room."""
    own = prefixes(name)
    if Path(name).name == "state.h":
        own = [prefix for other in neighbours for prefix in prefixes(other)]
    return {n for n in names(text) if not any(n.lower().startswith(prefix) for prefix in own)}


def wrong_times(name: str, text: str) -> list[str]:
    """Lines that give a time another type than vv_ns, or a number of ns without its unit (VV_US, VV_MS, VV_SEC)."""
    lines = _STRING.sub("", _COMMENT.sub("", text)).splitlines()
    return [f"{name}: {line.strip()}" for line in lines if _TIME.search(line) or _BARE_TIME.search(line)]


@pytest.fixture(scope="module")
def archives(libraries: Path) -> dict[str, list[tuple[str, str, str]]]:
    """The symbols of all static libraries."""
    return {library: symbols(libraries / f"{library}.a") for library in LIBRARIES}


@pytest.fixture(scope="module")
def sources(root: Path) -> dict[str, str]:
    """Text of every C file of the product, by its path below src or include."""
    found = {}
    for room in ("src", "include"):
        found |= {p.relative_to(root / room).as_posix(): p.read_text() for p in (root / room).rglob("*.[ch]")}
    return {name: text for name, text in found.items() if not name.startswith(APART)}


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_circle_among_the_objects_of_a_library(archives: dict, library: str) -> None:
    assert archives[library] and circles(uses(archives[library])) == []


def test_no_library_needs_one_above_it(archives: dict) -> None:
    above = {name: number for number, library in enumerate(LIBRARIES) for _, kind, name in archives[library]
             if kind in "TDBRCVW"}  # fmt: skip
    floor = {library: number for number, library in enumerate(LIBRARIES)}
    wrong = [
        (library, unit, name)
        for library in LIBRARIES[:-1]
        for unit, kind, name in archives[library]
        if kind == "U" and above.get(name, 0) > floor[library] and name != "vv_stack_registry"
    ]
    assert wrong == []


def test_no_external_symbol_is_defined_twice(archives: dict) -> None:
    rows = [(name, f"{library}:{unit}") for library, rows in archives.items() for unit, kind, name in rows
            if kind in "TDBRCV"]  # fmt: skip
    assert rows and twice(rows) == {}


def test_no_tag_is_defined_twice(sources: dict[str, str]) -> None:
    rows = [(tag, name) for name, text in sources.items() for tag in tags(text)]
    assert rows and {tag: where for tag, where in twice(rows).items() if tag not in ABSTRACT} == {}


def test_an_abstract_type_stays_in_its_room(sources: dict[str, str]) -> None:
    where = {Path(name).parent.as_posix() for name, text in sources.items() if ABSTRACT & set(tags(text))}
    assert where == {"stack"}


def test_one_prefix_for_each_object(sources: dict[str, str]) -> None:
    headers = {name: text for name, text in sources.items() if name.endswith(".h")}
    rooms = defaultdict(list)
    for name in headers:
        rooms[Path(name).parent].append(name)
    wrong = {name: homeless(name, text, rooms[Path(name).parent]) for name, text in headers.items()}
    assert {name: sorted(found) for name, found in wrong.items() if set(found) - OPAQUE} == {}


def test_no_prefix_has_two_headers(sources: dict[str, str]) -> None:
    used = []
    for name, text in sources.items():
        if not name.endswith(".h") or Path(name).name == "state.h" or name.startswith(tuple(ROOMS)):
            continue
        given = {n.lower() for n in names(text)}
        used += [(prefix, name) for prefix in prefixes(name) if any(n.startswith(prefix) for n in given)]
    assert used and twice(used) == {}


def test_one_word_for_one_idea(sources: dict[str, str]) -> None:
    assert [(tag, name) for name, text in sources.items() for tag in tags(text) if SYNONYMS.search(tag)] == []


def test_time_has_one_type_and_its_unit(sources: dict[str, str]) -> None:
    product = {name: text for name, text in sources.items() if name != "core/base/time.h"}
    assert [wrong for name, text in product.items() for wrong in wrong_times(name, text)] == []


def test_nothing_is_done_by_default_in_a_protocol(sources: dict[str, str]) -> None:
    cores = {name: text for name, text in sources.items() if name.startswith(("core/llc/", "core/group/"))}
    assert len(cores) > 20 and [name for name, text in cores.items() if "default:" in _COMMENT.sub("", text)] == []


def test_a_wrong_time_is_found() -> None:
    assert (
        wrong_times("x.c", "  uint64_t now_ns = 0;\n  static const vv_ns wait_ns = 20000;\n  int64_t *each_ns;\n") != []
    )
    for line in (
        "int64_t (*clock_ns)(void);",
        "#define SETTLE_NS 30000000",
        "x.tv_sec = left_ns / 1000000000;",
        "int64_t ns;",
    ):
        assert wrong_times("x.c", line), line
    for line in (
        "vv_ns now_ns = 20 * VV_MS;",
        "/* 1000 ns */ vv_ns a_ns;",
        "uint64_t rate_bps = 1000;",
        "1000 * VV_SEC; x_ns",
    ):
        assert wrong_times("x.c", line) == [], line


def test_a_circle_is_found(tmp_path: Path) -> None:
    texts = {
        "a": "int b(void); int a(void) { return b(); }",
        "b": "int c(void); int b(void) { return c(); }",
        "c": "int b(void); int d(void); int c(void) { return b() + d(); }",
        "d": "int d(void) { return 1; }",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text(text)
        subprocess.run(["cc", "-c", f"{name}.c", "-o", f"{name}.c.o"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rcs", "x.a", *(f"{name}.c.o" for name in texts)], cwd=tmp_path, check=True)
    rows = symbols(tmp_path / "x.a")
    assert uses(rows) == {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}
    assert circles(uses(rows)) == [["b", "c"]]


def test_a_name_given_twice_is_found() -> None:
    assert twice([("parse", "probe"), ("parse", "sim"), ("emit", "sim")]) == {"parse": ["probe", "sim"]}
    assert tags("struct vv_a {\n};\nenum vv_b { X };\nstruct vv_c *f(void) {\n}\n/* struct vv_d { */\n") == [
        "vv_a",
        "vv_b",
    ]


def test_a_foreign_prefix_is_found() -> None:
    text = "#define VV_GAP_MAX 3\nstruct vv_gap {\n};\nvoid vv_gap_init(struct vv_gap *gap);\nbool vv_late(void);\n"
    assert homeless("core/group/gap.h", text, []) == {"vv_late"}
    assert homeless("core/group/state.h", text, ["core/group/gap.h"]) == {"vv_late"}
    assert homeless("core/base/x.h", "enum vv_x { VV_X_A, VV_Y_B = 2 };\nextern const int vv_z[];\n", []) == {
        "VV_Y_B",
        "vv_z",
    }
    assert homeless("core/llc/gap.h", "struct vv_llc_hole {\n};\n", []) == set()
