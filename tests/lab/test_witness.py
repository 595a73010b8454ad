# SPDX-License-Identifier: BSD-3-Clause
"""Witnesses of a timed lab see that a processor is not there, whatever takes it; they end with who asked for them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.lab import topology, witness
from vaiven.lab.witness import Witnesses
from vaiven.measuring.events import CellTimed, Event, TimeLost
from vaiven.measuring.measure import measure
from vaiven.measuring.request import Changes, Reach, requested
from vaiven.report.outcome import closing
from vaiven.results.results import Results

TIMED_TEXT = lab_text("two", 2, class_="timed", rate_mbps=100)
TIMED, FREE = topology.parse(TIMED_TEXT), topology.parse(lab_text("two", 2))
PATIENCE_S = 60

# Takes a processor for so many ms, as something real-time of another, and before the witnesses: argv: processor, ms.
_TAKER = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
until = time.monotonic() + int(sys.argv[2]) / 1000
while time.monotonic() < until: pass
"""
_HOLDER = """
import sys, time
from vaiven.lab import topology, witness
with witness.kept(topology.parse(sys.stdin.read())):
    print("held", flush=True)
    time.sleep(600)
"""


def of_ours(parent: int) -> list[int]:
    """The witnesses that this process has started."""
    found = []
    for task in Path(f"/proc/{parent}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread, or a child, that ends meanwhile
            for pid in (task / "children").read_text().split():
                if b"\0witness\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(int(pid))
    return found


def freeze(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.15)
    os.kill(pid, signal.SIGCONT)


def until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, "did not become true in time"
        time.sleep(0.02)


@pytest.fixture
def witnesses() -> Iterator[Witnesses]:
    with witness.kept(TIMED) as found:
        assert found
        yield found


def taken_ns(witnesses: Witnesses, what: Callable[[], object]) -> dict[int, int]:
    """By how much each processor was lost meanwhile."""
    before = witnesses.lost_ns()
    what()
    after = witnesses.lost_ns()
    return {processor: after[processor] - before[processor] for processor in after}


@pytest.mark.root
def test_each_processor_of_a_timed_lab_has_one_of_the_real_time_class(witnesses: Witnesses) -> None:
    pids = of_ours(os.getpid())
    assert witnesses.processors == tuple(sorted(os.sched_getaffinity(0))) == tuple(sorted(witnesses.lost_ns()))
    assert {os.sched_getscheduler(pid) for pid in pids} == {os.SCHED_FIFO}
    assert sorted(processor for pid in pids for processor in os.sched_getaffinity(pid)) == list(witnesses.processors)


def test_a_lab_that_is_not_timed_has_none() -> None:
    with witness.kept(FREE) as found:
        assert found is None and of_ours(os.getpid()) == []


@pytest.mark.root
def test_a_processor_that_something_real_time_takes_was_lost(witnesses: Witnesses) -> None:
    processor = witnesses.processors[-1]
    taker = [sys.executable, "-IS", "-c", _TAKER, str(processor), "100"]
    assert taken_ns(witnesses, lambda: subprocess.run(taker, check=True))[processor] > 50_000_000


@pytest.mark.root
def test_a_processor_that_everybody_uses_is_not_lost(witnesses: Witnesses) -> None:
    """A witness comes before all that: who spins there takes the processor from our ends, not from it. A machine that
    is robbed meanwhile says so by itself, and is asked again."""
    spinner = [sys.executable, "-IS", "-c", _TAKER.replace("os.sched_setscheduler", "#"), str(witnesses.processors[0])]
    tries = (taken_ns(witnesses, lambda: subprocess.run([*spinner, "200"], check=True)) for _ in range(10))
    assert any(found[witnesses.processors[0]] < 100_000_000 for found in tries)


@pytest.mark.root
def test_a_witness_that_is_frozen_says_so_and_one_that_ends_is_asked_no_more(witnesses: Witnesses) -> None:
    first, *others = sorted(of_ours(os.getpid()), key=lambda pid: sorted(os.sched_getaffinity(pid)))

    assert taken_ns(witnesses, lambda: freeze(first))[witnesses.processors[0]] > 50_000_000
    os.kill(first, signal.SIGKILL)
    left = witnesses.processors[1:]
    assert tuple(sorted(witnesses.lost_ns())) == witnesses.processors == left and len(others) == len(left)


def test_who_may_not_be_real_time_has_no_witnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = tmp_path / "vaiven-probe"
    refused.write_text('#!/bin/sh\necho \'{"type":"error","code":"no-permission","text":"no"}\'; exit 1\n')
    refused.chmod(0o755)
    monkeypatch.setenv("VAIVEN_NATIVE", str(tmp_path))
    with witness.kept(TIMED) as found:
        assert found and found.processors == () and found.lost_ns() == {}
    assert of_ours(os.getpid()) == []


@pytest.mark.root
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_they_end_with_who_holds_them_however_that_ends(number: int) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _HOLDER], stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdin and holder.stdout
        holder.stdin.write(TIMED_TEXT)
        holder.stdin.close()
        assert holder.stdout.readline() == "held\n"
        pids = of_ours(holder.pid)
        assert len(pids) == len(os.sched_getaffinity(0))
        holder.send_signal(number)
        holder.wait(PATIENCE_S)
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


@pytest.mark.lab
def test_a_launch_whose_time_is_taken_is_done_again_or_marked(state_dir: Path, tmp_path: Path) -> None:
    """The witness of a processor is frozen while one launch runs, and whenever another one does: it is as if the
    processor had been away."""
    (tmp_path / "two.toml").write_text(TIMED_TEXT)
    events: list[Event] = []
    once, always = 1, 4

    def on_event(event: Event) -> None:
        events.append(event)
        robbed = {one.launch for one in events if isinstance(one, TimeLost)}
        if isinstance(event, CellTimed) and (event.launch == always or event.launch == once not in robbed):
            freeze(of_ours(os.getpid())[0])

    request = requested("", Changes(lab=str(tmp_path / "two.toml"), stacks=("udp", "tcp"), sizes=("64",), launches=6,
                                    quick=True), Reach(), "full")  # fmt: skip
    run = measure(request, tmp_path / "runs", on_event)
    lost = [event for event in events if isinstance(event, TimeLost)]
    assert {(one.launch, one.time, one.again) for one in lost} >= {
        (once, 1, True), (always, 1, True), (always, 2, True), (always, 3, False),
    }  # fmt: skip
    said = Results(run)
    assert always in {one.launch for one in said.lost_times if one.kept}
    assert said.lost_times.done_again >= 3 and said.outcome.launches == 3 * 6
    assert "done again because time was lost" in closing(said.outcome)
    assert run.manifest.environment["watched"] == [f"cpu{n}" for n in sorted(os.sched_getaffinity(0))]
    marked = {one.stack for one in lost if one.launch == always and not one.sentinel}
    assert {one.stack for one in said.sizes if one.point.marked} >= marked
