# SPDX-License-Identifier: BSD-3-Clause
"""vaiven-matmul: its product is numpy's over each library, its own check finds a false one, and a slower rank gets less
of it; what it says of its times, and of words that it does not know."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.lab.texts import lab_text

from vaiven import resources
from vaiven.run import mpi
from vaiven.run.place import Place

from ..joined import hosts_of

pytestmark = pytest.mark.needs("pkg-config")
Done = subprocess.CompletedProcess[str]
Vaiven = Callable[..., Done]
Run = Callable[..., Done]
ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "apps/matmul" / name for name in ("matmul.c", "matrix.c", "options.c", "tokens.c")]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# By ranks that share this machine, but for MPICH, which has its end from vaiven on hosts.
LIBRARIES = [
    pytest.param("openmpi", marks=pytest.mark.needs("mpirun.openmpi")),
    pytest.param("mpich", marks=[pytest.mark.needs("mpiexec.hydra"), pytest.mark.lab]),
    pytest.param("group"),
    pytest.param("pvm", marks=pytest.mark.needs("pvmd")),
]
SHAPES = [
    (1, ("--n", "1")),
    (2, ("--n", "64", "--equal")),
    (3, ("--n", "257", "--m", "33", "--float")),
    (4, ("--n", "300", "--overlap", "--panel", "37")),
    (5, ("--n", "3", "--m", "70")),  # some ranks have no rows
    (6, ("--n", "101", "--panel", "1", "--float", "--overlap")),
    (7, ("--n", "128", "--m", "1", "--overlap")),
    (8, ("--n", "200", "--slow", "7", "3")),
]


def _flags() -> list[str]:
    asked = ["pkg-config", "--cflags", "--libs", "openblas"]
    return [*subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split(), "-lm"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """program("mpich"): built at the first call, as its maker would."""
    home = tmp_path_factory.mktemp("matmul")

    @functools.cache
    def build(library: str) -> str:
        words: list[object] = ["gcc"]
        carrier, more = library, []
        if library in mpi.LIBRARIES:
            words, carrier = [f"mpicc.{library}"], "mpi"
        if library == "group":
            ours = resources.library().resolve()  # beside it is the name that the loader looks for
            more = ["-I", ROOT / "include", ours, f"-Wl,-rpath,{ours.parent}"]
        if library == "pvm":
            more = ["-lpvm3"]
        words += ["-O2", "-D_GNU_SOURCE", *SOURCES, ROOT / f"apps/matmul/carrier_{carrier}.c", *more, *_flags()]
        subprocess.run([*words, "-o", home / library], check=True)
        return str(home / library)

    return build


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts m1 to m8."""
    with hosts_of(lab_text("matmul-test", 8, prefix="m"), tmp_path_factory.mktemp("state")) as found:
        yield found


def on_hosts(where: Place, library: str, command: tuple[str, ...], ranks: int, *, group: bool = False) -> Done:
    """A rank on each of the first hosts."""
    members = [mpi.Rank(host, command) for host in list(where.hosts.values())[:ranks]]
    with mpi.job(library, members, mpi.Manner(yields=True, group=group)) as words:
        argv = members[0].host.argv(words)
        return subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90, check=False
        )  # fmt: skip


@pytest.fixture
def run(program: Callable[[str], str], vaiven: Vaiven, request: pytest.FixtureRequest) -> Run:
    """run("group", 3, "--n", "100"): so many ranks of it."""

    def call(library: str, ranks: int, *words: str) -> Done:
        command = (program(library), *words)
        if library == "mpich":
            return on_hosts(request.getfixturevalue("eight"), library, command, ranks)
        if library == "openmpi":
            started = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
            started += ["--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "vader,self", *command]
            return subprocess.run(
                started, env=os.environ | AS_ROOT, capture_output=True, text=True, timeout=90, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        tasks = ("-n", "1") if library == "pvm" else ("-n", str(ranks))
        wanted = ("--ranks", str(ranks)) if library == "pvm" else ()
        return vaiven("run", "--hosts", "localhost", "--stack", library, *tasks, "--", *command, *wanted)

    return call


def check(done: Done, directory: Path, ranks: int, words: tuple[str, ...]) -> dict:
    """The record of a run whose product, as it was saved, is that of numpy."""
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    n, m, single = record["n"], record["m"], "--float" in words
    assert (record["type"], n, record["ranks"]) == ("matmul", int(words[words.index("--n") + 1]), ranks)
    assert m == (int(words[words.index("--m") + 1]) if "--m" in words else n)
    assert len(record["rows"]) == ranks and sum(record["rows"]) == n
    b, c, a = (np.fromfile(directory / name, np.float32 if single else np.float64).astype(float) for name in "bca")
    assert np.abs(b).max() > 0 and (len(b), len(c), len(a)) == (n * n, n * m, n * m)
    assert np.abs(a.reshape(n, m) - b.reshape(n, n) @ c.reshape(n, m)).max() < (1e-4 if single else 1e-11)
    assert 0 <= record["error"] < (1e-4 if single else 1e-11)
    return record


@pytest.mark.parametrize(("ranks", "words"), SHAPES, ids=[f"{ranks} ranks" for ranks, _ in SHAPES])
@pytest.mark.parametrize("library", LIBRARIES)
def test_it_is_the_product_of_numpy(
    run: Run, tmp_path: Path, library: str, ranks: int, words: tuple[str, ...]
) -> None:  # fmt: skip
    check(run(library, ranks, *words, "--times", "2", "--save", str(tmp_path)), tmp_path, ranks, words)


@pytest.mark.lab
@pytest.mark.parametrize("group", [False, True], ids=["its own", "group"])
@pytest.mark.parametrize(
    "library",
    [
        pytest.param("openmpi", marks=pytest.mark.needs("mpirun.openmpi")),
        pytest.param("mpich", marks=pytest.mark.needs("mpiexec.hydra")),
    ],
)
def test_on_hosts_an_mpi_broadcasts_by_itself_or_by_multicast(
    program: Callable[[str], str], eight: Place, tmp_path: Path, library: str, group: bool
) -> None:
    words = ("--n", "400", "--save", str(tmp_path))
    done = on_hosts(eight, library, (program(library), *words), 4, group=group)
    record = check(done, tmp_path, 4, words)
    assert record["carrier"] == "mpi" and record["panels"] == sum(rows > 0 for rows in record["rows"])
    parts = zip(record["whole_ns"], record["computing_ns"], record["communicating_ns"], strict=True)
    assert all(0 < computing + communicating <= whole + 2 for whole, computing, communicating in parts)
    assert record["whole_ns"] == [max(each) for each in zip(*record["each_ns"], strict=True)]
    share = sum(record["communicating_ns"]) / sum(record["whole_ns"])
    assert 0 < share < 1 and record["communicating_share"] == pytest.approx(share, abs=1e-4)


def test_a_slower_rank_gets_fewer_rows_unless_parts_are_to_be_equal(run: Run) -> None:
    slow = ("--n", "210", "--times", "1", "--slow", "1", "40")
    record = json.loads(run("group", 2, *slow).stdout)
    fast, slowed = record["rows"]
    assert fast + slowed == 210 and slowed < fast
    assert record["slowed"] == {"rank": 1, "factor": 40}
    speeds = record["speed_mflop_per_s"]
    assert slowed == pytest.approx(210 * speeds[1] / sum(speeds), abs=1)
    assert json.loads(run("group", 2, *slow, "--equal").stdout)["rows"] == [105, 105]


def test_communication_is_foretold_from_what_a_broadcast_costs(run: Run) -> None:
    costs = ("--alpha-ns", "1000", "--beta-ns-per-byte", "2.5")
    words = ("--n", "64", "--m", "10", "--equal", "--panel", "8", "--times", "1")
    record = json.loads(run("group", 2, *words, *costs).stdout)
    assert record["panels"] == 8 and record["predicted_ns"] == 8 * 1000 + 64 * 10 * 8 * 2.5
    assert json.loads(run("group", 2, *words).stdout)["predicted_ns"] is None
    assert json.loads(run("group", 1, *words, *costs).stdout)["predicted_ns"] == 0


@pytest.mark.parametrize(("words", "times"), [(("--times-min", "2"), 2), (("--times-min", "30"), 30), ((), 1)])
def test_it_goes_on_no_longer_than_it_may(run: Run, words: tuple[str, ...], times: int) -> None:
    done = run("group", 2, "--n", "400", "--equal", "--times", "1000", "--within-ms", "1", *words)
    record = json.loads(done.stdout)
    assert len(record["whole_ns"]) == times and [len(each) for each in record["each_ns"]] == [times, times]


@pytest.mark.parametrize("mesh", [(), ("--mesh",)], ids=["allgather", "mesh"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_number_of_a_token_arrives(run: Run, library: str, mesh: tuple[str, ...]) -> None:
    done = run(library, 4, "--tokens", "3", "--layers", "5", "--width", "400", *mesh)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert (record["type"], record["ranks"], record["mesh"], record["wrong"]) == ("tokens", 4, bool(mesh), 0)
    assert len(record["token_ns"]) == 3 and min(record["token_ns"]) > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bogus",), "there is no option --bogus"),
        (("--n",), "--n wants a number from 1 to 32768, not nothing"),
        (("--n", "0"), "--n wants a number from 1 to 32768, not 0"),
        (("--n", "12x"), "--n wants a number from 1 to 32768, not 12x"),
        (("--beta-ns-per-byte", "-1"), "--beta-ns-per-byte wants a number from 0 on, not -1"),
        (("--alpha-ns", "5"), "--alpha-ns and --beta-ns-per-byte tell something only together"),
        (("--slow", "1"), "--slow RANK wants a number from 1 to 1000, not nothing"),
        (("--slow", "2", "2"), "there is no rank 2 to be slow: the last one is 1"),
        (("--ranks", "3"), "--ranks says 3, and there are 2"),
        (("--times-min", "4"), "--times-min is more than --times"),
        (("--mesh",), "--mesh is a way of --tokens, and that is not asked for"),
        (("--save",), "--save wants a directory"),
        (
            ("--tokens", "1", "--width", "5"),
            "5 numbers cannot be dealt among 2 ranks: take a --width that is a multiple",
        ),
    ],
)
def test_what_it_cannot_do_it_says_in_a_sentence(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("group", 2, *words)
    assert (done.returncode, done.stdout) == (2, "")
    mine = [line for line in done.stderr.splitlines() if not line.startswith("vaiven: rank ")]  # who ended first
    assert mine == [f"vaiven-matmul: {said}"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_wrong_words_have_the_same_status_over_each_library(run: Run, library: str) -> None:
    done = run(library, 2, "--n", "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("--n wants a number from 1 to 32768, not none\n") == 1


def test_a_false_number_is_found(tmp_path: Path) -> None:
    library = tmp_path / "matrix.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", SOURCES[1], *_flags(), "-o", library], check=True)
    matrix = ctypes.CDLL(str(library))
    matrix.matrix_error.restype = ctypes.c_double
    n, m, first, rows = 50, 20, 10, 30
    b, c = np.zeros((n, n)), np.zeros((n, m))
    for which, numbers in enumerate((b, c)):
        matrix.matrix_fill(which, ctypes.c_uint64(0), numbers.ctypes, ctypes.c_size_t(numbers.size), False)
    assert -1 <= c.min() < -0.9 and 0.9 < c.max() <= 1 and abs(c.mean()) < 0.1

    def error() -> float:
        return matrix.matrix_error(a.ctypes, first, rows, n, m, False)

    a = np.ascontiguousarray((b @ c)[first : first + rows])
    assert error() < 1e-13
    for number in (0, a.size // 2, a.size - 1):
        right = a.flat[number]
        a.flat[number] += 1e-3
        assert error() > 1e-6
        a.flat[number] = np.nan
        assert error() == np.inf
        a.flat[number] = right
    assert error() < 1e-13
