# SPDX-License-Identifier: BSD-3-Clause
"""For tests of libraries that bring their ends together: two hosts of a lab, up for a file, and launches on them.

A conftest.py imports the fixtures that its room needs.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.lab.texts import lab_text

from vaiven.lab import topology
from vaiven.plan import ends
from vaiven.plan import stack as stacks
from vaiven.plan.order import Launch
from vaiven.plan.schema import Effort
from vaiven.run import launchers, path, place
from vaiven.run.launchers import Outcome, Setting
from vaiven.run.place import Place

LAB = lab_text("joined-test", 2, prefix="m")


@contextmanager
def hosts_of(text: str, state: Path) -> Iterator[Place]:
    """The hosts of a lab that nobody else sees; `state`: an empty directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAIVEN_STATE_DIR", str(state))
        with place.in_lab(topology.parse(text), ()) as found:
            yield found


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hosts m1 and m2."""
    with hosts_of(LAB, tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="session")
def known():
    """The stacks that are here."""
    return place.known_stacks().stacks


@pytest.fixture
def launched(known) -> Callable[..., Outcome]:
    """launched(place, "openmpi", 0, 1): a ping-pong of these sizes from m1 to m2; fanout: to so many far ends there,
    or another question of several, with so many `fars`; to: on each of these hosts instead."""

    def call(
        where: Place,
        stack: str,
        *sizes: int,
        ask: str = "pingpong",
        fanout: int = 0,
        fars: int = 1,
        to: Sequence[str] = ("m2",),
        on_cell=lambda _cell: None,
        **effort,
    ) -> Outcome:
        far = ends.join([name for name in to for _ in range(fanout or fars)])
        work = Launch(0, 0, stacks.parse(stack), "fanout" if fanout else ask, "m1", far, sizes)
        wanted = {"samples": 3, "cell_ms": 50, "timeout_ms": 20_000, "launch_s": 100} | effort
        setting = Setting(known, Effort(**wanted), None, 0.0, one_clock=True)
        near, *fars = (where.hosts[name] for name in ("m1", *work.fars))
        return launchers.launch(work, near, fars, setting, on_cell)

    return call


@pytest.fixture
def launch(two: Place, launched: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """The same in the lab of this file: launch("openmpi", 0, 1)."""
    return functools.partial(launched, two)


def counters(two: Place) -> path.Counters:
    """What has crossed the interface of m1 so far."""
    host = two.hosts["m1"]
    text = b"".join((host.proc_net / name).read_bytes() for name in path.FILES).decode()
    return path.counters(text, host.interface)


def processes(where: Place) -> dict[int, list[str]]:
    """The command line of every process on these hosts of a lab; other tests have theirs elsewhere."""
    networks = {os.stat(host.proc_net.parent / "ns/net").st_ino for host in where.hosts.values()}
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.stat(process / "ns/net").st_ino in networks:
                found[int(process.name)] = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    return found


def until(condition: Callable[[], bool], timeout_s: float = 60) -> None:
    """Waits for what must become true."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "did not become true in time"
        time.sleep(0.02)
