# SPDX-License-Identifier: BSD-3-Clause
"""Processors are held awake while something is timed on a lab, and let go however their holder ends."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.lab import awake, topology

TIMED_TEXT = lab_text("two", 2, class_="timed", rate_mbps=100)
TIMED, FREE = topology.parse(TIMED_TEXT), topology.parse(lab_text("two", 2))

# argv: "kept" or "keep", the driver's file, the device. Prints when it holds them, then does what ends it.
_HOLDER = """
import os, signal, sys
from pathlib import Path
from vaiven.lab import awake, topology
how, awake.DRIVER, awake.DEVICE = sys.argv[1], *map(Path, sys.argv[2:4])
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may come ignored, from a shell's background
lab = topology.parse(sys.stdin.read())
if how == "keep":
    awake.keep(lab)
    os.execvp("sh", ["sh", "-c", "ls -l /proc/self/fd >&2; echo held; exec sleep 600"])
with awake.kept(lab):
    print("held", flush=True)
    signal.pause()
"""


@pytest.fixture(params=["haltpoll", "none"], ids=["by the device", "by spinners"])
def machine(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One whose processors sleep by a driver of that name, or by none; the device, a file that starts without a 0."""
    driver, device = tmp_path / "current_driver", tmp_path / "cpu_dma_latency"
    driver.write_text(f"{request.param}\n")
    device.write_bytes(b"slow")
    monkeypatch.setattr(awake, "DRIVER", driver)
    monkeypatch.setattr(awake, "DEVICE", device)
    return device


def by_spinners(machine: Path) -> bool:
    return machine.with_name("current_driver").read_text() == "none\n"


def descriptors(pid: int | str, path: Path) -> list[int]:
    return [int(fd.name) for fd in Path(f"/proc/{pid}/fd").iterdir() if os.path.realpath(fd) == str(path)]


def children(pid: int) -> set[int]:
    return {int(one) for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()}


def lives(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline_s, "did not become true in time"
        time.sleep(0.02)


def until_gone(pids: set[int]) -> None:
    until(lambda: not any(map(lives, pids)))


@contextlib.contextmanager
def holding(how: str, machine: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the processors awake."""
    command = [sys.executable, "-c", _HOLDER, how, str(awake.DRIVER), str(machine)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin and process.stdout
        process.stdin.write(TIMED_TEXT)
        process.stdin.close()
        try:
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_timed_lab_keeps_them_awake_and_says_how(machine: Path) -> None:
    before = children(os.getpid())
    with awake.kept(TIMED) as way:
        spinners = children(os.getpid()) - before
        held = descriptors("self", machine)
        if by_spinners(machine):
            assert (way, held, len(spinners)) == (awake.SPINNERS, [], len(os.sched_getaffinity(0)))
            until(lambda: {os.sched_getscheduler(pid) for pid in spinners} == {os.SCHED_IDLE})
            assert set.union(*map(os.sched_getaffinity, spinners)) == os.sched_getaffinity(0)
        else:
            assert (way, len(held), spinners) == (awake.LATENCY, 1, set())
            assert machine.read_bytes() == bytes(4)
            assert fcntl.fcntl(held[0], fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    assert children(os.getpid()) == before and not descriptors("self", machine)


def test_a_lab_that_keeps_no_time_lets_them_sleep(machine: Path) -> None:
    before = children(os.getpid())
    with awake.kept(FREE) as way:
        assert (way, children(os.getpid()), descriptors("self", machine)) == ("", before, [])
    awake.keep(FREE)
    assert children(os.getpid()) == before and machine.read_bytes() == b"slow"


def test_who_may_not_open_the_device_spins(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awake, "DEVICE", machine / "nobody" / "may")
    with awake.kept(TIMED) as way:
        assert way == awake.SPINNERS


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("how", ["kept", "keep"])
def test_they_are_let_go_however_the_holder_ends(how: str, number: int, machine: Path) -> None:
    with holding(how, machine) as process:
        keepers = children(process.pid)
        expected = len(os.sched_getaffinity(0)) if by_spinners(machine) else int(how == "keep")
        assert len(keepers) == expected and all(map(lives, keepers))
        process.send_signal(number)
        process.wait(60)
        until_gone(keepers)


def test_the_program_that_it_becomes_has_no_descriptor_of_it(machine: Path) -> None:
    with holding("keep", machine) as process:
        assert not descriptors(process.pid, machine)
        assert all(len(descriptors(keeper, machine)) == (not by_spinners(machine)) for keeper in children(process.pid))


@pytest.mark.lab
def test_lab_run_and_measure_hold_them_awake(vaiven, raise_lab, tmp_path: Path) -> None:
    raise_lab(TIMED_TEXT)
    command = [sys.executable, "-m", "vaiven", "lab", "run", "two/h1", "--", "cat"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        process.stdin.write("there\n")
        process.stdin.flush()
        assert process.stdout.readline() == "there\n"
        keepers = {pid for pid in children(process.pid) if b"pidfd_open" in Path(f"/proc/{pid}/cmdline").read_bytes()}
        assert len(keepers) in (1, len(os.sched_getaffinity(0)))
        process.stdin.close()
        process.wait(60)
        until_gone(keepers)
    (tmp_path / "two.toml").write_text(TIMED_TEXT)
    arguments = ("--stacks", "udp", "--sizes", "64", "--launches", "6", "--no-page", "--runs", str(tmp_path / "runs"))
    done = vaiven("measure", "--lab", str(tmp_path / "two.toml"), *arguments)
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    held = json.loads((run / "manifest.json").read_text())["environment"]["held_awake"]
    assert held in (awake.LATENCY, awake.SPINNERS)
