# SPDX-License-Identifier: BSD-3-Clause
"""Programs of MPI as they are come to their end, and what ranks of MPICH preload for that disturbs no other program."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.plan.stack import Stack
from vaiven.run import mpi
from vaiven.run.place import Place

from ..joined import hosts_of

RANKS_MAX = 16
LAB = lab_text("ends", RANKS_MAX, prefix="e")
# Every rank has a connection to every other one when MPI_Finalize begins.
PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
static char bytes[100000];
int main(int argc, char **argv) {
  int rank, ranks, there[64] = {0}, back[64], provided;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Alltoall(there, 1, MPI_INT, back, 1, MPI_INT, MPI_COMM_WORLD);
  for (int root = 0; root < ranks; root++) MPI_Bcast(bytes, sizeof bytes, MPI_CHAR, root, MPI_COMM_WORLD);
  printf("rank %d of %d\\n", rank, ranks);
  MPI_Finalize();
  return 0;
}
"""
# The same for one that loads the library for itself alone, as Python's modules do.
IN_PYTHON = """\
import ctypes, sys
mpi = ctypes.CDLL("libmpich.so.12", ctypes.RTLD_LOCAL)
world, byte, whole = 0x44000000, 0x4c00010d, 0x4c000405
rank, ranks = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(ranks))
there, back = (ctypes.c_int * 64)(), (ctypes.c_int * 64)()
mpi.MPI_Alltoall(there, 1, whole, back, 1, whole, world)
sys.stdout.write(f"rank {rank.value} of {ranks.value}\\n")
mpi.MPI_Finalize()
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with hosts_of(LAB, tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """PROGRAM of each library."""
    home = tmp_path_factory.mktemp("programs")
    (home / "program.c").write_text(PROGRAM)
    for library in mpi.LIBRARIES:
        subprocess.run([f"mpicc.{library}", "program.c", "-o", library], cwd=home, check=True)
    return {library: str(home / library) for library in mpi.LIBRARIES}


def ended(library: str, members: Sequence[mpi.Rank], manner: mpi.Manner, timeout_s: float = 60) -> list[str]:
    """The lines of a job that came to its end."""
    with mpi.job(library, members, manner) as words:
        done = subprocess.run(members[0].host.argv(words), capture_output=True, text=True, timeout=timeout_s)
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


@pytest.fixture
def job(place: Place) -> Callable[..., None]:
    """job("mpich", 8, command): those ranks on as many hosts end, each with its line."""

    def call(library: str, count: int, command: Sequence[str], timeout_s: float = 60) -> None:
        members = [mpi.Rank(host, tuple(command)) for host in list(place.hosts.values())[:count]]
        lines = ended(library, members, mpi.manner(Stack(library), members), timeout_s)
        assert lines == sorted(f"rank {n} of {count}" for n in range(count))

    return call


@pytest.fixture
def ends() -> str:
    """Where the library is."""
    return str(resources.program(mpi.ENDS))


SAMPLE = [(library, 8, 2) for library in mpi.LIBRARIES]
WHOLE = [(library, count, 50) for library in mpi.LIBRARIES for count in (8, RANKS_MAX)]


@pytest.mark.parametrize(
    ("library", "count", "jobs"), [*SAMPLE, *(pytest.param(*one, marks=pytest.mark.slow) for one in WHOLE)]
)
def test_every_job_of_an_unmodified_program_ends(job, programs, library: str, count: int, jobs: int) -> None:
    for _ in range(jobs):
        job(library, count, [programs[library]])


@pytest.mark.parametrize("words", [["several threads"], []])
def test_ranks_with_threads_and_ranks_that_do_not_yield_end(job, programs, monkeypatch, words: list[str]) -> None:
    monkeypatch.setattr(mpi, "manner", lambda _stack, _ranks: mpi.Manner())
    job("mpich", 4, [programs["mpich"], *words])


def test_ranks_of_a_library_that_python_has_loaded_for_itself_end(job) -> None:
    for _ in range(3):
        job("mpich", 6, ["python3", "-c", IN_PYTHON])


BROADCASTS = """\
#include <mpi.h>
#include <stdio.h>
static char bytes[100000];
int main(int argc, char **argv) {
  double ms_min = 1e9;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int n = 0; n < 20; n++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime(), own_ms, ms;
    MPI_Bcast(bytes, sizeof bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    own_ms = 1e3 * (MPI_Wtime() - began);
    MPI_Reduce(&own_ms, &ms, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && ms < ms_min) ms_min = ms;
  }
  if (rank == 0) printf("%g\\n", ms_min);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.slow
def test_ranks_that_are_more_than_processors_do_not_spin_through_a_broadcast(place: Place, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(BROADCASTS)
    subprocess.run(["mpicc.mpich", "program.c", "-o", "program"], cwd=tmp_path, check=True)
    count = 4 * len(next(iter(place.hosts.values())).processors)
    members = [mpi.Rank(host, (str(tmp_path / "program"),)) for host in place.hosts.values()][:count]
    ms = {True: [], False: []}
    for yields in (True, False) * 3:
        (line,) = ended("mpich", members, mpi.Manner(yields=yields), timeout_s=120)
        ms[yields].append(float(line))
    assert min(ms[False]) > 1.5 * min(ms[True]), ms


@pytest.mark.slow
def test_without_it_the_jobs_of_this_mpich_hang(job, programs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would be time to take it away."""
    monkeypatch.setattr(mpi, "_preloaded", lambda _names, _host: [])
    with pytest.raises(subprocess.TimeoutExpired):
        for _ in range(12):
            job("mpich", 8, [programs["mpich"]], timeout_s=15)


def built(home: Path, name: str, text: str, *words: str) -> str:
    """A program or library of this C text."""
    (home / f"{name}.c").write_text(text)
    subprocess.run(["cc", f"{name}.c", "-o", name, *words], cwd=home, check=True)
    return str(home / name)


# A thread in read() and one in epoll_wait() are cancelled, and read() of what there is gives it.
THREADS = """\
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>
static int ends[2];
static void *reads(void *unused) { char byte; return read(ends[0], &byte, 1) ? unused : unused; }
static void *waits(void *unused) { struct epoll_event one; epoll_wait(epoll_create1(0), &one, 1, -1); return unused; }
int main(void) {
  void *(*bodies[])(void *) = {reads, waits}, *result;
  pthread_t thread;
  char word[6] = "";
  if (pipe(ends) != 0) return 1;
  for (int body = 0; body < 2; body++) {
    pthread_create(&thread, NULL, bodies[body], NULL);
    usleep(50000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) return 2;
  }
  if (write(ends[1], "hello", 5) != 5 || read(ends[0], word, 5) != 5) return 3;
  puts(word);
  return 0;
}
"""


@pytest.mark.parametrize("kind", ["shell", "python", "static", "threads"])
def test_a_program_that_is_no_rank_runs_as_before(tmp_path: Path, ends: str, kind: str) -> None:
    commands = {
        "shell": lambda: ["sh", "-c", "read word; cat /dev/null; echo $word"],
        "python": lambda: ["python3", "-c", "print(input())"],
        "static": lambda: [
            built(tmp_path, "program", 'int puts(); int main() { puts("hello"); return 0; }', "-static")
        ],
        "threads": lambda: [built(tmp_path, "program", THREADS, "-pthread")],
    }
    surroundings = os.environ | {"LD_PRELOAD": ends, "PMI_FD": "0", "VAIVEN_YIELD_WHEN_IDLE": "1"}
    done = subprocess.run(
        commands[kind](), input="hello\n", env=surroundings, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")


ASKS = """\
#include <sys/epoll.h>
int main(void) {
  struct epoll_event event;
  int epoll = epoll_create1(0);
  for (int n = 0; n < 7; n++) epoll_wait(epoll, &event, 1, 0);
  epoll_wait(epoll, &event, 1, 1);
  return 0;
}
"""
COUNTS = """\
#include <stdio.h>
static int calls;
int sched_yield(void) { return calls++ < 0; }
__attribute__((destructor)) static void tell(void) { printf("%d\\n", calls); }
"""


@pytest.mark.parametrize(("yields", "calls"), [({"VAIVEN_YIELD_WHEN_IDLE": "1"}, "7\n"), ({}, "0\n")])
def test_who_asks_for_news_and_hears_of_none_yields_where_that_is_wanted(
    tmp_path: Path, ends: str, yields: dict[str, str], calls: str
) -> None:
    program = built(tmp_path, "asks", ASKS)
    counter = built(tmp_path, "counts.so", COUNTS, "-xc", "-shared", "-fPIC")
    surroundings = os.environ | {"LD_PRELOAD": f"{counter}:{ends}"} | yields
    assert subprocess.run([program], env=surroundings, capture_output=True, text=True, check=True).stdout == calls


def test_what_the_user_preloads_comes_first(place: Place, ends: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    # Hydra dies of SIGPIPE where rank 0 is gone before it is told of the end of its standard input (1 job of 150).
    commands = ("cat; echo $LD_PRELOAD", "echo $LD_PRELOAD")
    members = [mpi.Rank(host, ("sh", "-c", text)) for host, text in zip(place.hosts.values(), commands, strict=False)]
    with mpi.job("mpich", members, mpi.Manner()) as words:
        done = subprocess.run(members[0].host.argv(words), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"libm.so.6:{ends}\n" * 2), done.stderr
    with mpi.job("openmpi", members, mpi.Manner()) as words:
        assert ends not in " ".join(words)


def test_a_directory_that_the_loader_cannot_name_is_refused(place: Place, tmp_path, monkeypatch) -> None:
    (tmp_path / "of mine").mkdir()
    (tmp_path / "of mine" / mpi.ENDS).write_bytes(b"")
    monkeypatch.setenv("VAIVEN_NATIVE", str(tmp_path / "of mine"))
    members = [mpi.Rank(host, ("true",)) for host in place.hosts.values()]
    with pytest.raises(VaivenError, match="cannot be preloaded") as caught, mpi.job("mpich", members, mpi.Manner()):
        pass
    assert caught.value.code == "bad-path"
