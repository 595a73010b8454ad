# SPDX-License-Identifier: BSD-3-Clause
"""The remote shell that launchers of others are given."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaiven.run import rsh
from vaiven.run.hosts import Host


@pytest.fixture
def shell() -> Iterator[Path]:
    """One that knows this machine as h1 and 10.1.0.1."""
    here = Host("h1", "10.1.0.1", "", "", (), list)
    with rsh.serving([here], lambda host, private: {"WHERE": host.name, "TMPDIR": str(private)}) as script:
        yield script


def call(shell: Path, *words: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(shell), *words], capture_output=True, text=True, timeout=60, check=False, **options)


@pytest.mark.parametrize("before", [["h1"], ["-x", "h1"], ["10.1.0.1"], ["-l", "ana", "h1"], ["h1", "-l", "ana"]])
def test_a_command_runs_with_the_streams_of_whoever_asks(shell: Path, before: list[str]) -> None:
    done = call(shell, *before, "cat; echo $WHERE; ls $TMPDIR >&2;", "exit", "7", input="in\n")
    assert (done.stdout, done.stderr, done.returncode) == ("in\nh1\n", "rsh\nsocket\n", 7)


def test_a_host_of_nobody_is_refused(shell: Path) -> None:
    done = call(shell, "h9", "true")
    assert done.returncode == 255 and "'h9 true'" in done.stderr and "h1" in done.stderr


def test_a_command_ends_with_whoever_asked_for_it(shell: Path, tmp_path: Path) -> None:
    asking = subprocess.Popen([str(shell), "h1", f"echo $$ >{tmp_path}/pid; exec sleep 300"])
    pid = wait_for(tmp_path / "pid")
    asking.kill()
    asking.wait()
    until_gone(pid)


def test_what_runs_at_the_end_is_ended(tmp_path: Path) -> None:
    with rsh.serving([Host("h1", "", "", "", (), list)], lambda _host, _private: {}) as script:
        asking = subprocess.Popen([str(script), "h1", f"echo $$ >{tmp_path}/pid; exec sleep 300"])
        pid = wait_for(tmp_path / "pid")
    until_gone(pid)
    assert asking.wait(30) != 0 and not script.parent.exists()


def test_a_command_that_is_ended_by_a_signal_says_so(shell: Path) -> None:
    assert call(shell, "h1", "kill -TERM $$").returncode == 128 + signal.SIGTERM


def wait_for(path: Path) -> int:
    deadline = time.monotonic() + 30
    while not (path.exists() and path.read_text().strip()):
        assert time.monotonic() < deadline, "it never started"
        time.sleep(0.01)
    return int(path.read_text())


def until_gone(pid: int) -> None:
    deadline = time.monotonic() + 30
    while os.path.exists(f"/proc/{pid}"):
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.01)
