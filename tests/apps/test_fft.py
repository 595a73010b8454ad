# SPDX-License-Identifier: BSD-3-Clause
"""vaiven-fft: its transform is numpy's, over shared memory, over TCP and over LLC; and what it says of its time."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.lab.texts import lab_text

from vaiven.run import mpi
from vaiven.run.place import Place

from ..joined import hosts_of

pytestmark = pytest.mark.needs("mpirun.openmpi", "pkg-config")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Built as its maker would, by mpicc."""
    built = tmp_path_factory.mktemp("fft") / "vaiven-fft"
    source = Path(__file__).parents[2] / "apps/fft/fft.c"
    asked = ["pkg-config", "--cflags", "--libs", "kissfft-float"]
    flags = subprocess.run(asked, capture_output=True, text=True, check=True)
    subprocess.run(["mpicc.openmpi", "-O2", source, *flags.stdout.split(), "-lm", "-o", built], check=True)
    return str(built)


def here(program: str, ranks: int, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    command += ["--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "vader,self", program, *words]
    return subprocess.run(
        command, env=os.environ | AS_ROOT, capture_output=True, text=True, timeout=90, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def check(record: dict[str, object], directory: Path, points: int, ranks: int) -> None:
    """What was saved is what numpy makes of what was transformed."""
    before, after = (np.fromfile(directory / name, np.complex64).astype(complex) for name in ("in", "out"))
    expected = np.fft.fft(before)
    assert len(before) == points and np.abs(before).max() > 0.5
    assert np.abs(after - expected).max() < 1e-5 * np.abs(expected).max()
    assert (record["type"], record["points"], record["ranks"]) == ("fft", points, ranks)
    assert record["error"] < 1e-4


@pytest.mark.parametrize(("points", "ranks"), [(1, 1), (16, 4), (1 << 16, 2), (3 * 5 * 7 * 9 * 16, 3), (1 << 12, 8)])
def test_it_is_the_transform_of_numpy(program: str, tmp_path: Path, points: int, ranks: int) -> None:
    if points == 1:
        done = here(program, ranks, "--points", "1", "--times", "1")
        assert done.returncode == 0 and json.loads(done.stdout)["error"] == 0
        return
    done = here(program, ranks, "--points", str(points), "--times", "2", "--save", str(tmp_path))
    assert done.returncode == 0, done.stderr
    check(json.loads(done.stdout), tmp_path, points, ranks)


@pytest.mark.parametrize(
    ("ranks", "words", "said"),
    [
        (3, ("--points", "1024"), "take a multiple of 9"),
        (1, ("--points",), "usage:"),
        (1, ("--times", "0"), "usage:"),
        (1, ("--times", "2", "--times-min", "3"), "usage:"),
        (1, ("--within-ms", "0"), "usage:"),
    ],
)
def test_what_it_cannot_do_it_says(program: str, ranks: int, words: tuple[str, ...], said: str) -> None:
    done = here(program, ranks, *words)
    assert done.returncode != 0 and said in done.stderr and done.stdout == ""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Place:
    with hosts_of(lab_text("fft-test", 2, prefix="f"), tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.mark.lab
@pytest.mark.parametrize("llc", [False, True], ids=["tcp", "llc"])
def test_the_same_program_runs_over_tcp_and_over_llc(program: str, tmp_path: Path, two: Place, llc: bool) -> None:
    points = 1 << 18
    command = (program, "--points", str(points), "--times", "3", "--save", str(tmp_path))
    ranks = [mpi.Rank(host, command) for host in two.hosts.values()]
    with mpi.job("openmpi", ranks, mpi.Manner(yields=True, llc=llc)) as words:
        argv = ranks[0].host.argv(words)
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    check(record, tmp_path, points, 2)
    assert len(record["whole_ns"]) == 3 and [len(each) for each in record["each_ns"]] == [3, 3]
    assert record["whole_ns"] == [max(each) for each in zip(*record["each_ns"], strict=True)]
    parts = zip(record["whole_ns"], record["computing_ns"], record["communicating_ns"], strict=True)
    assert all(
        min(computing, talking) > 0 and abs(whole - computing - talking) <= 2 for whole, computing, talking in parts
    )


@pytest.mark.parametrize(("words", "times"), [(("--times-min", "2"), 2), (("--times-min", "40"), 40), ((), 1)])
def test_it_goes_on_no_longer_than_it_may(program: str, words: tuple[str, ...], times: int) -> None:
    done = here(program, 2, "--points", str(1 << 18), "--times", "1000", "--within-ms", "1", *words)
    assert done.returncode == 0 and len(json.loads(done.stdout)["whole_ns"]) == times
