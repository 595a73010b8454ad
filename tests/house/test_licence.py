# SPDX-License-Identifier: BSD-3-Clause
"""Every source file says its licence in its first line."""

from __future__ import annotations

from pathlib import Path

LINES = {
    ".c": "/* SPDX-License-Identifier: BSD-3-Clause */",
    ".h": "/* SPDX-License-Identifier: BSD-3-Clause */",
    ".py": "# SPDX-License-Identifier: BSD-3-Clause",
}
# Programs that the kernel runs must declare a licence that it accepts; theirs is both.
BPF = "/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-3-Clause) */"


def is_licensed(name: str, text: str) -> bool:
    """Whether a file of that name begins with the right line."""
    wanted = LINES.get(Path(name).suffix)
    first = next((line for line in text.splitlines() if not line.startswith("#!")), "")
    return wanted is None or first == wanted or (name.endswith(".bpf.c") and first == BPF)


def test_every_source_file_is_licensed(files: list[Path], root: Path) -> None:
    sources = [f for f in files if f.suffix in LINES]
    assert len(sources) > 10
    assert [str(f.relative_to(root)) for f in sources if not is_licensed(f.name, f.read_text())] == []


def test_a_missing_line_is_found() -> None:
    assert not is_licensed("a.c", "int x;\n")
    assert not is_licensed("a.py", "")
    assert not is_licensed("a.py", "import os\n# SPDX-License-Identifier: BSD-3-Clause\n")
    assert not is_licensed("a.c", BPF + "\n")
    assert is_licensed("a.py", "#!/usr/bin/env python3\n# SPDX-License-Identifier: BSD-3-Clause\n")
    assert is_licensed("fabric.bpf.c", BPF + "\n")
