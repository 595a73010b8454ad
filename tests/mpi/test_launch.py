# SPDX-License-Identifier: BSD-3-Clause
"""Launches of the MPI stacks: what they measure, what they say of themselves, and what becomes of what goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from dataclasses import replace

import pytest

from vaiven import resources
from vaiven.run import mpi, path
from vaiven.run.place import Place

from ..joined import counters, processes, until
from ..pvm.frames import captured

STACKS = ("openmpi", "openmpi-nagle", "mpich")
KEY = b"000102030405060708090a0b0c0d0e0f\n"


def running(where: Place, program: str) -> list[int]:
    """The processes there that have that program on their command line: ranks, and what starts them."""
    return [pid for pid, words in processes(where).items() if program in " ".join(words)]


@pytest.mark.parametrize("stack", STACKS)
def test_messages_of_all_sizes_come_back_sound_over_the_cable(launch, two, stack: str) -> None:
    before = counters(two)
    outcome = launch(stack, 0, 1, 70_000, 1_000_000)
    grown = counters(two).since(before)
    assert outcome.failure is None, outcome.failure
    assert [cell.size_bytes for cell in outcome.cells] == [0, 1, 70_000, 1_000_000]
    assert all(cell.corrupt == cell.lost == 0 and min(cell.ns) > 0 for cell in outcome.cells)
    assert path.refused(outcome.crossed) is None and {one.end for one in outcome.crossed} == {"near", "far"}
    assert grown.tx_bytes > sum(len(cell.ns) * cell.size_bytes for cell in outcome.cells)


def test_messages_that_did_not_cross_the_cable_are_refused(launched, two, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ranks on one host of an MPICH that takes their memory, by UCX: by its own, MPICH 4.0.2 loses one in 50."""
    memory = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "posix,self"}
    monkeypatch.setattr(mpi, "_tcp_only", lambda _host, _manner: memory)
    outcome = launched(replace(two, hosts=dict.fromkeys(two.hosts, two.hosts["m1"])), "mpich", 100_000)
    assert outcome.failure is None, outcome.failure
    refused = path.refused(outcome.crossed)
    assert refused and refused.code == "another-path"


@pytest.mark.parametrize(
    ("stack", "words"),
    [
        ("openmpi", ("Open MPI v", " pml=ob1 ", " btl=tcp,self ", " coll=^group ", "_if_include=eth0", "use_nagle=0")),
        ("openmpi-nagle", ("Open MPI v", "use_nagle=1", "btl_tcp_eager_limit=", "mpi_yield_when_idle=0")),
        ("mpich", ("MPICH Version", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=eth0")),
    ],
)
def test_a_launch_says_which_library_and_settings_it_had(launch, stack: str, words: tuple[str, ...]) -> None:
    hello = launch(stack, 1).hello
    assert (hello["near"]["hostname"], hello["far"]["hostname"]) == ("m1", "m2")
    assert hello["options"]["wait"] == "spin" and hello["connect_ns"] == []
    assert [word for word in words if word not in hello["way"]] == [], hello["way"]


TRIED = ("openmpi", "openmpi:default", "openmpi:scatter-ring", "openmpi:chain", "mpich:default")
OTHERS = (f"openmpi:{name}" for name in mpi.BROADCASTS if f"openmpi:{name}" not in TRIED)


@pytest.mark.parametrize("stack", [*TRIED, *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)])
def test_a_broadcast_reaches_every_far_end(launch, stack: str) -> None:
    outcome = launch(stack, 1, 100_000, fanout=2, cell_ms=30_000)
    assert outcome.failure is None, outcome.failure
    whole = [cell for cell in outcome.cells if cell.whole]
    assert [cell.size_bytes for cell in whole] == [1, 100_000]
    assert all(cell.corrupt == cell.lost == 0 and len(cell.ns) == 3 for cell in whole)
    number, segmented = mpi.BROADCASTS.get(stack.partition(":")[2], (0, False))
    if stack.startswith("openmpi:"):
        assert f"coll_tuned_bcast_algorithm={number}" in outcome.hello["way"]
        assert ("segmentsize=8192" in outcome.hello["way"]) == segmented


def test_a_job_of_more_ranks_than_processors_yields_and_ends(launch, two) -> None:
    count = len(two.hosts["m2"].processors) + 3
    outcome = launch("mpich:default", 1000, fanout=count, cell_ms=30_000)
    assert outcome.failure is None, outcome.failure
    assert "VAIVEN_YIELD_WHEN_IDLE=1" in outcome.hello["way"]
    assert f"LD_PRELOAD={resources.program(mpi.ENDS)}" in outcome.hello["way"]
    until(lambda: running(two, str(resources.program("vaiven-probe-mpich"))) == [])


def test_ranks_yield_where_mpich_asks_for_news() -> None:
    probe, ends = (str(resources.program(name)) for name in ("vaiven-probe-mpich", mpi.ENDS))
    asked = os.environ | {"LD_BIND_NOW": "1", "LD_DEBUG": "bindings", "LD_PRELOAD": ends}
    done = subprocess.run([probe, "stacks"], env=asked, capture_output=True, text=True, timeout=60, check=True)
    bound = [line for line in done.stderr.splitlines() if "symbol `epoll_wait'" in line]
    assert bound and all(f"to {ends} " in line for line in bound)


def test_no_broadcast_of_mpi_uses_that_of_the_network(launch, two) -> None:
    with captured(two.hosts["m1"]) as seen:
        outcomes = [launch(stack, 1000, fanout=2) for stack in ("openmpi:default", "mpich:default")]
    assert [outcome.failure for outcome in outcomes] == [None, None]
    assert seen["tcp"] > 4000 and seen["group_frames"] == 0


def test_every_broadcast_algorithm_of_open_mpi_is_a_stack(known) -> None:
    found = {name for name in known if name.startswith("openmpi:")}
    assert found == {f"openmpi:{name}" for name in (*mpi.BROADCASTS, "group")}
    assert all(known[name].questions == ("fanout", "fft", "matmul") for name in found)


def test_ranks_yield_only_where_they_are_more_than_processors(two) -> None:
    near, far = two.hosts.values()
    both = [mpi.Rank(near, ()), mpi.Rank(far, ())]
    count = len(near.processors)
    assert mpi.manner(mpi.Stack("openmpi"), both * count).yields
    assert not mpi.manner(mpi.Stack("openmpi"), both[: min(2, count)]).yields


def test_a_launcher_that_is_not_there_is_named_with_its_package(launch, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = replace(mpi.LIBRARIES["openmpi"], names=("mpirun.nowhere",))
    monkeypatch.setitem(mpi.LIBRARIES, "openmpi", nowhere)
    failure = launch("openmpi", 1).failure
    assert failure.code == "no-mpi"
    assert "m1 has no mpirun.nowhere" in failure.what and "openmpi-bin" in failure.remedy


@pytest.mark.parametrize(("stack", "end"), [("openmpi", "far"), ("mpich", "near")])
def test_a_rank_that_dies_ends_the_launch_and_leaves_nothing(launch, two, stack: str, end: str) -> None:
    program = str(resources.program(f"vaiven-probe-{stack}"))
    before = counters(two)
    found = []
    ending = threading.Thread(target=lambda: found.append(launch(stack, 1000, samples=1_000_000, cell_ms=90_000)))
    ending.start()
    until(lambda: counters(two).since(before).tx_bytes > 500_000)  # messages are on their way
    victims = [pid for pid, words in processes(two).items() if words[:2] == [program, end]]
    assert len(victims) == 1
    os.kill(victims[0], signal.SIGKILL)
    ending.join(80)
    assert found and found[0].failure is not None
    until(lambda: running(two, program) == [])


def test_a_probe_under_the_launcher_of_another_library_says_so() -> None:
    probe = str(resources.program("vaiven-probe-mpich"))
    command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2", probe, "near", "mpich"]
    done = subprocess.run([*command, "--sizes", "1", "--key-stdin"], input=KEY, capture_output=True, timeout=60)
    assert done.returncode != 0
    assert b'"code":"mpi-alone"' in done.stdout and b"launcher of its MPI library" in done.stdout


def test_a_job_that_does_not_do_what_its_stack_promises_is_refused(two) -> None:
    probe = str(resources.program("vaiven-probe-openmpi"))
    near, far = two.hosts.values()
    ranks = [
        mpi.Rank(near, (probe, "near", "openmpi", "--sizes", "1", "--key-stdin")),
        mpi.Rank(far, (probe, "far", "openmpi", "--bind", far.address)),
    ]
    with mpi.job("openmpi", ranks, mpi.Manner(nagle=True)) as words:
        pipe = subprocess.PIPE
        with subprocess.Popen(near.argv(words), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as job:
            job.stdin.write(KEY)
            job.stdin.flush()
            said = job.stdout.read()
    assert job.returncode != 0
    assert b'"code":"mpi-setting"' in said and b"Nagle's algorithm is on" in said
