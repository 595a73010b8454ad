# SPDX-License-Identifier: BSD-3-Clause
"""The command of a side and its environment: the user's own words, carried out as they stand, and never for ever."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from vaiven.plan.schema import Side
from vaiven.run import sides, signals
from vaiven.run.hosts import Host

HOST = Host("a; touch owned", "127.0.0.1", "", "x", ("probe",), list)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def until_gone(pid: int) -> None:
    """Waits until that process has ended; who is nobody's child any more may stay a zombie for long."""
    deadline_s = time.monotonic() + 60
    while time.monotonic() < deadline_s:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return
        except OSError:
            return
        time.sleep(0.01)
    raise AssertionError(f"process {pid} still runs")


def test_a_command_is_carried_out_by_a_shell_as_it_stands(place: Path) -> None:
    side = Side(name="after", command="""printf '%s|' "a b" 'it'\\''s; $(touch owned) `x`' "$(echo c)" > said""")
    assert sides.prepare(side) is None
    assert (place / "said").read_text() == "a b|it's; $(touch owned) `x`|c|"
    assert sides.prepare(Side(name="before")) is None
    assert [one.name for one in place.iterdir()] == ["said"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("exit 3", "the command of the side after ended with status 3"),
        ("echo one; echo 'no such card\033[2J' >&2; exit 1", "no such card"),
        ("kill -KILL $$", "was ended by SIGKILL"),
        ("no-such-program", "ended with status 127"),
        ("read word && exit 0", "ended with status 1"),
        ("if", "ended with status 2"),
    ],
)
def test_a_command_that_fails_says_how(command: str, words: str) -> None:
    failure = sides.prepare(Side(name="after", command=command))
    assert failure is not None
    assert failure.code == "side-failed" and words in str(failure)


def test_a_command_that_does_not_end_is_ended_with_what_it_has_started(place: Path) -> None:
    side = Side(name="after", command="sleep 600 & echo $! $$ >pids; wait", timeout_s=1)
    failure = sides.prepare(side)
    assert failure is not None
    assert (failure.code, failure.what) == ("side-failed", "the command of the side after has not ended after 1 s")
    for pid in (place / "pids").read_text().split():
        until_gone(int(pid))


def test_what_a_command_leaves_running_is_left(place: Path) -> None:
    """It holds the command's output open, for which nobody waits."""
    assert sides.prepare(Side(name="after", command="sleep 600 & echo $! >pid")) is None
    pid = int((place / "pid").read_text())
    os.kill(pid, 9)
    until_gone(pid)


def test_ctrl_c_ends_a_command(place: Path) -> None:
    side = Side(name="after", command="echo $$ >pid; kill -TERM $PPID; exec sleep 600", timeout_s=600)
    with pytest.raises(KeyboardInterrupt), signals.interruptible():
        sides.prepare(side)
    until_gone(int((place / "pid").read_text()))


def test_an_environment_is_around_every_command_of_a_host_word_by_word(place: Path) -> None:
    side = Side(
        name="after", environment={"FIRST": "a 'b\" $(touch owned)\n", "SECOND": "", "PATH": os.environ["PATH"]}
    )
    host = sides.dressed(HOST, side)
    done = subprocess.run(host.argv(["printenv", "FIRST", "SECOND"]), capture_output=True, check=True, text=True)
    assert done.stdout == "a 'b\" $(touch owned)\n\n\n"
    assert replace(host, argv=HOST.argv) == HOST
    assert not (place / "owned").exists()


@pytest.mark.parametrize("side", [None, Side(name="before", command="true")])
def test_without_an_environment_a_host_is_what_it_was(side: Side | None) -> None:
    assert sides.dressed(HOST, side) is HOST and not sides.assigned(side)
