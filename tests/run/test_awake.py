# SPDX-License-Identifier: BSD-3-Clause
"""Processors of real hosts are held awake by a keeper there, which ends with whoever measures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.joined import until
from tests.run.conftest import Cluster

from vaiven.errors import VaivenError
from vaiven.lab.awake import LATENCY, SPINNERS
from vaiven.run import awake
from vaiven.run.hosts import Host
from vaiven.store import query

# argv: a word that nobody else says, the driver's file, the device. Prints when they are held, then waits for its end.
_HOLDER = """
import signal, sys
from vaiven.run import awake
from vaiven.run.hosts import Host
host = Host("here", "", "", "", (), lambda command: ["env", f"WORD={sys.argv[1]}", *command])
with awake.held([host], *sys.argv[2:]) as ways:
    print(ways["here"], flush=True)
    signal.pause()
"""


@pytest.fixture(params=["haltpoll", "none"], ids=["by the device", "by spinners"])
def machine(request, tmp_path: Path) -> tuple[Path, Path]:
    """(driver, device): of one whose processors sleep by a driver of that name, or by none."""
    driver, device = tmp_path / "current_driver", tmp_path / "cpu_dma_latency"
    driver.write_text(f"{request.param}\n")
    device.write_bytes(b"slow")
    return driver, device


def here(word: str, *before: str) -> Host:
    return Host("here", "", "", "", (), lambda command: ["env", f"WORD={word}", *before, *command])


def kept(word: str) -> set[int]:
    """The processes of this machine that have that word in their environment, but for those that have ended."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"WORD={word}".encode() in path.read_bytes().split(b"\0"):
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found


def spinning(word: str) -> list[set[int]]:
    """The processors of each of them that is of the idle class, in order."""
    found = []
    for pid in kept(word):
        with suppress(ProcessLookupError):
            found += [os.sched_getaffinity(pid)] if os.sched_getscheduler(pid) == os.SCHED_IDLE else []
    return sorted(found, key=min)


def until_gone(word: str) -> None:
    until(lambda: not kept(word))


def test_they_are_held_and_let_go(machine: tuple[Path, Path], tmp_path: Path) -> None:
    word = f"{tmp_path.name}-{os.getpid()}"
    with awake.held([here(word)], *machine) as ways:
        if machine[0].read_text() == "none\n":
            assert ways == {"here": SPINNERS} and machine[1].read_bytes() == b"slow"
            each = [{processor} for processor in sorted(os.sched_getaffinity(0))]
            until(lambda: spinning(word) == each)  # on a busy machine they take a while to get there
        else:
            assert ways == {"here": LATENCY} and machine[1].read_bytes() == bytes(4)
            assert kept(word)
    until_gone(word)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_they_are_let_go_however_the_measurer_ends(machine: tuple[Path, Path], tmp_path: Path, number: int) -> None:
    word = f"{tmp_path.name}-{os.getpid()}"
    command = [sys.executable, "-c", _HOLDER, word, *map(str, machine)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline().strip() in (LATENCY, SPINNERS)
        assert kept(word)
        process.send_signal(number)
    until_gone(word)


def test_a_host_where_neither_way_works_is_named(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    (tmp_path / "bin").mkdir()
    for name in ("sh", "env"):
        (tmp_path / "bin" / name).symlink_to(f"/bin/{name}")
    bare = here("bare", f"PATH={tmp_path / 'bin'}")
    with (
        pytest.raises(VaivenError, match="here cannot be held awake: chrt is not there") as told,
        awake.held([bare], nothing, nothing),
    ):
        pass
    assert told.value.code == "not-awake" and "--awake" in told.value.remedy


def test_hosts_that_differ_are_told_apart() -> None:
    assert awake.text({}) == "" and awake.text({"a": LATENCY, "b": LATENCY}) == LATENCY
    assert awake.text({"a": LATENCY, "b": SPINNERS}) == f"a by {LATENCY}, b by {SPINNERS}"


def test_a_lab_needs_no_word_for_it(vaiven) -> None:
    for words in (
        ["measure", "--lab", "free", "--awake"],
        ["run", "--lab", "free", "--stack", "openmpi", "--awake", "true"],
    ):
        done = vaiven(*words)
        assert done.returncode == 2 and "awake with a lab" in done.stderr


def processes(cluster: Cluster, name: str) -> str:
    """The command lines of that host."""
    command = cluster.lab.host(name).argv(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def measured(cluster: Cluster) -> Iterator[query.Run]:
    words = ["--stacks", "udp", "--sizes", "64", "--launches", "6", "--no-page", "--awake"]
    done = cluster.vaiven("measure", "--hosts", "localhost,node2", *words)
    assert done.returncode == 0, done.stderr
    assert "processors held awake (" in done.stdout
    (run,) = query.runs(cluster.home / "runs")
    assert isinstance(run, query.Run)
    yield run
    assert not any("cpu_dma_latency" in processes(cluster, name) for name in ("node1", "node2"))


@pytest.mark.lab
def test_hosts_over_ssh_and_this_one_are_measured_awake_and_the_run_says_so(measured: query.Run) -> None:
    held = measured.manifest.environment["held_awake"]
    assert held in (LATENCY, SPINNERS)
    assert measured.manifest.place.awake  # and so it is when it is resumed
