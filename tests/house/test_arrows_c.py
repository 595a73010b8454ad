# SPDX-License-Identifier: BSD-3-Clause
"""Who may include whom in src: core <- io <- stack <- probe, and the floors inside core, io and probe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

# area -> areas it may include from, besides itself; a room stands before the area that it lies in. bpf is two worlds:
# programs for the kernel and their loader.
ARROWS = {
    "core/base": [],
    "core/wire": ["core/base"],
    "core/ethernet": ["core/wire", "core/base"],
    "core/llc": ["core/wire", "core/base"],
    "core/coll": ["core/wire", "core/base"],
    "core/road": ["core/wire", "core/base"],
    "core/group": ["core/wire", "core/base"],
    "io/os": ["core"],
    "io/port": ["io/os", "core"],
    "io/boot": ["io/os", "core"],
    "io/engine": ["io/port", "io/os", "core"],
    "io/job": ["io/boot", "io/port", "io/os", "core"],
    "stack": ["io", "core"],
    "probe/base": ["stack", "io", "core"],
    "probe/show": ["probe/base", "stack", "io", "core"],
    "probe/link": ["probe/base", "stack", "io", "core"],
    "probe/kit": ["probe/link", "probe/show", "probe/base", "stack", "io", "core"],
    "probe/ask": ["probe/kit", "probe/link", "probe/show", "probe/base", "stack", "io", "core"],
    "probe": ["stack", "io", "core"],
    "bpf": ["io", "core"],
    "sim": ["core"],
    "mpi/base": [],
    "mpi/btl": ["mpi/base", "io", "core"],
    "mpi/coll": ["mpi/base", "io", "core"],
    "mpi": [],
    "raw": [],
}
CORE_HEADERS = {"stdint.h", "stddef.h", "stdbool.h", "string.h", "assert.h", "limits.h", "errno.h"}

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
_CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b\s*(.*)$", re.MULTILINE)


def _area(name: str) -> str | None:
    return next((area for area in ARROWS if name.startswith(area + "/")), None)


def wrong_arrows(name: str, text: str) -> list[str]:
    """Offences of one file; name is its path below src."""
    area = _area(name)
    if area is None:
        return [f"src/{name}: lies in no room of the map"]
    found = []
    for kind, target in _INCLUDE.findall(text):
        if kind == "<":
            if area.startswith("core/") and target not in CORE_HEADERS:
                found.append(f"src/{name}: core must not include <{target}>")
            continue
        if target.startswith("vaiven/"):  # a public header, in include: it includes nothing of ours
            continue
        if "/" not in target:  # a neighbour, or a header that the build makes (skeletons of BPF programs)
            continue
        if not target.startswith((area + "/", *(allowed + "/" for allowed in ARROWS[area]))):
            found.append(f'src/{name}: {area} must not include "{target}"')
    return found


def conditions(name: str, text: str) -> list[str]:
    """Conditional compilation where neither systems nor releases of Open MPI differ; include guards do not count."""
    if name.startswith("io/os/") or name == "mpi/base/openmpi.h":
        return []
    guard = f"VV_{re.sub(r'[^A-Z0-9]', '_', name.upper())}"
    return [f"src/{name}: #if {what.strip()}" for what in _CONDITION.findall(text) if what.strip() != guard]


def _sources(root: Path) -> list[tuple[str, str]]:
    src = root / "src"
    return [(p.relative_to(src).as_posix(), p.read_text()) for p in sorted(src.rglob("*.[ch]"))]


def test_includes_follow_the_arrows(root: Path) -> None:
    assert [o for name, text in _sources(root) for o in wrong_arrows(name, text)] == []


def test_conditional_compilation_only_where_systems_or_releases_differ(root: Path) -> None:
    assert [o for name, text in _sources(root) for o in conditions(name, text)] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("core/base/rng.c", '#include "io/os/clock.h"\n'),
        ("core/base/rng.c", '#include "core/wire/lpdu.h"\n'),
        ("core/wire/llc.c", '#include "core/ethernet/message.h"\n'),
        ("core/wire/llc.c", "#include <time.h>\n"),
        ("core/wire/llc.c", "#  include <stdlib.h>\n"),
        ("io/os/clock.c", '#include "stack/stack.h"\n'),
        ("io/port/cast.c", '#include "io/job/reach.h"\n'),
        ("probe/kit/series.c", '#include "probe/ask/question.h"\n'),
        ("probe/link/session.c", '#include "probe/options.h"\n'),
        ("stack/tcp.c", '#include "probe/near.h"\n'),
        ("mpi/btl/courier.c", '#include "stack/stack.h"\n'),
        ("mpi/btl/courier.c", '#include "mpi/coll/area.h"\n'),
        ("mpi/base/release.c", '#include "io/os/clock.h"\n'),
        ("misc/x.c", ""),
    ],
)
def test_a_wrong_arrow_is_found(name: str, text: str) -> None:
    assert wrong_arrows(name, text)


def test_a_right_arrow_is_left_alone() -> None:
    good = '#include <sys/socket.h>\n#include "core/wire/lpdu.h"\n#include "io/os/clock.h"\n#include "stack/stack.h"\n'
    assert wrong_arrows("stack/eth.c", good) == []
    assert wrong_arrows("core/ethernet/message.c", '#include <stdint.h>\n#include "core/wire/lpdu.h"\n') == []


def test_a_condition_is_found() -> None:
    guarded = "#ifndef VV_STACK_STACK_H\n#define VV_STACK_STACK_H\n#endif\n"
    assert conditions("stack/stack.h", guarded) == []
    assert conditions("stack/tcp.c", "#ifdef __linux__\n#endif\n")
    assert conditions("io/os/clock.c", "#ifdef __linux__\n#endif\n") == []
