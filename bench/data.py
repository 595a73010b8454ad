# SPDX-License-Identifier: BSD-3-Clause
"""Direct translation at the speed of memory: 1 MB of numbers turned, against memcpy of the same bytes."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from ratio import Ratio, ratio

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ["bench/data.c", "src/core/wire/data.c", "src/core/wire/turn.c", "src/core/wire/xdr.c"]


def against_memcpy() -> list[Ratio]:
    """One ratio for each type; goal 1.5. Built as the product is: -O2."""
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "data"
        subprocess.run(["cc", "-O2", "-g", "-Isrc", "-Iinclude", *SOURCES, "-o", program], cwd=ROOT, check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    rounds: dict[str, list[tuple[float, float]]] = {}
    for name, ours, copied in (line.split("\t") for line in lines):
        rounds.setdefault(name, []).append((float(ours), float(copied)))
    return [ratio(f"{name}, 1 MB / memcpy", pairs, 1.5) for name, pairs in rounds.items()]
