# SPDX-License-Identifier: BSD-3-Clause
"""How long `history` and `compare` take beside 200 runs of the demo's size: one is measured, the others are its copies.

Each copy is a day later than the one before, and its medians are as much slower or faster as runs of other days are.
"""

from __future__ import annotations

import datetime
import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import repeat
from ratio import Ratio, bound

from vaiven import resources
from vaiven.store import digest, query
from vaiven.store.query import Run
from vaiven.store.record import END, MANIFEST, MEDIANS

RUNS = 200
ROUNDS = 7
SECONDS_MOST = 3.0
WHOLE, CELL = 0.01, 0.005  # by how much runs differ as a whole, and each of their cells beyond that


def history(seed: int) -> list[Ratio]:
    """Both commands, as whole processes."""
    vaiven = str(Path(sys.executable).parent / "vaiven")
    with tempfile.TemporaryDirectory() as scratch:
        root, ids = recorded(Path(scratch), seed)
        commands = {
            f"vaiven history beside {RUNS} runs, seconds": ["history", "plan"],
            f"vaiven compare beside {RUNS} runs, seconds": ["compare", ids[-2], ids[-1]],
        }
        return [
            bound(what, [_seconds([vaiven, *words, "--runs", str(root)]) for _ in range(ROUNDS)], SECONDS_MOST, "s")
            for what, words in commands.items()
        ]


def recorded(scratch: Path, seed: int) -> tuple[Path, list[str]]:
    """Where all of them are, and their ids, oldest first."""
    _, made = repeat.measure((resources.ready("plans") / "demo.toml").read_text(), scratch)
    return made.parent, [made.name, *copies(query.open_run(made), RUNS - 1, seed)]


def copies(run: Run, count: int, seed: int) -> list[str]:
    """The ids of so many later runs beside that one."""
    rng = np.random.default_rng(seed)
    began = datetime.datetime.fromisoformat(run.manifest.created_utc)
    table = pl.read_parquet(run.path / MEDIANS)
    ids = []
    for day in range(1, count + 1):
        luck = np.exp(WHOLE * rng.standard_normal() + CELL * rng.standard_normal(table.height))
        at = began + datetime.timedelta(days=day)
        ids.append(f"{at:%Y%m%d-%H%M%S}-day-{day}")
        _copy(run, run.path.parent / ids[-1], f"{at:%Y-%m-%dT%H:%M:%SZ}", table.with_columns(ns=pl.col("ns") * luck))
    return ids


def _copy(run: Run, path: Path, created_utc: str, medians: pl.DataFrame) -> None:
    """Its launches are the same files; what says when it was made, and its medians, are its own."""
    for source in run.path.rglob("*"):
        target = path / source.relative_to(run.path)
        if source.is_file() and source.name not in (MANIFEST, MEDIANS, END):
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(source, target)
    buffer = io.BytesIO()
    medians.write_parquet(buffer, compression="zstd")
    (path / MEDIANS).write_bytes(buffer.getvalue())
    assert run.end
    end = msgspec.structs.replace(run.end, digests=run.end.digests | {MEDIANS: digest.of(buffer.getvalue())})
    manifest = msgspec.structs.replace(run.manifest, id=path.name, created_utc=created_utc)
    for name, document in ((MANIFEST, manifest), (END, end)):
        (path / name).write_bytes(digest.sealed(msgspec.json.encode(document)))


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
