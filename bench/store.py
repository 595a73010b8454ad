# SPDX-License-Identifier: BSD-3-Clause
"""How long ten million samples take to load and summarise, in how much memory, and how long they take to a page.

    python bench/store.py [SAMPLES]

Writes a run of 200 launches to a temporary directory, then reads it in a fresh process and prints one line. Exit
status 1 if it took 10 s or 2 GiB, or the page 30 s from the start of its process.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from vaiven.report.files import write_page
from vaiven.results.results import Results
from vaiven.store import query
from vaiven.store.record import Cell, LaunchRecord, Manifest, Record

LAUNCHES = 200
SIZES = 25
SECONDS_MAX, BYTES_MAX, PAGE_SECONDS_MAX = 10.0, 2 * 2**30, 30.0


def write(root: Path, samples: int) -> Path:
    """A run whose times look like measured ones: skewed, with digits that do not compress."""
    rng = np.random.default_rng(1)
    manifest = Manifest(
        title="bench", plan_name="", plan_text="", plan={}, design={}, place={}, hosts={}, link=None, versions={},
        environment={},
    )  # fmt: skip
    each = samples // (LAUNCHES * SIZES)
    with Record.create(root, manifest) as record:
        for number in range(LAUNCHES):
            launch = LaunchRecord(
                launch=number, block=number // 5, stack="tcp", near="a", far="b", ask="pingpong", took_s=1.0
            )
            cells = []
            for size in range(SIZES):
                ns = (20_000 + 100 * size + rng.exponential(3000, each)).astype(np.int64)
                cells.append(Cell(ask="pingpong", size_bytes=64 * size, ns=ns.tolist(), warmup=10))
            record.add(launch, cells)
        return record.path


def read(path: Path) -> None:
    """Prints seconds, peak bytes, rows and samples of one reading process."""
    begin = time.perf_counter()
    rows = query.launches(query.open_run(path))
    took_s = time.perf_counter() - begin
    print(took_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, rows.height, rows["count"].sum())


def draw(path: Path) -> None:
    """Writes the page of the run beside it."""
    write_page(Results(query.open_run(path)).findings(), path.with_suffix(".html"))


def in_fresh_process(what: str, path: Path) -> tuple[str, float]:
    """(what it prints, seconds from its start to its end)."""
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, what, path], capture_output=True, text=True, check=True)
    return done.stdout, time.perf_counter() - begin


def main() -> int:
    if len(sys.argv) == 3:
        {"--read": read, "--draw": draw}[sys.argv[1]](Path(sys.argv[2]))
        return 0
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as root:
        path = write(Path(root), samples)
        said, _ = in_fresh_process("--read", path)
        _, page_s = in_fresh_process("--draw", path)
    took_s, peak_bytes, rows, count = (float(word) for word in said.split())
    print(
        f"{count:.0f} samples, {rows:.0f} cells: {took_s:.2f} s, peak {peak_bytes / 2**20:.0f} MiB; page {page_s:.1f} s"
    )
    return int(took_s >= SECONDS_MAX or peak_bytes >= BYTES_MAX or page_s >= PAGE_SECONDS_MAX)


if __name__ == "__main__":
    sys.exit(main())
