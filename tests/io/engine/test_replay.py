# SPDX-License-Identifier: BSD-3-Clause
"""A whole group is recorded, every datagram and every byte of TCP, and said again to the next one of the same key."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vaiven.lab.lab import Lab

OBSERVER = str(Path(__file__).with_name("observer.py"))
PORT = 7000
PATIENCE_S = 60
CASTS = [(0, 1000), (0, 100_000), (0, 1_000_000), (1, 1_000_000), (2, 8)]


@contextmanager
def observed(lab: Lab, files: dict[int, Path]) -> Iterator[None]:
    """Everything that passes those hosts is written down."""
    observers = []
    for number, path in files.items():
        command = lab.hosts[number].argv([sys.executable, OBSERVER, "record", str(path)])
        observers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    try:
        for observer in observers:
            assert observer.stdout and observer.stdout.readline() == "begun\n"
        yield
    finally:
        for observer in observers:
            observer.kill()
            observer.communicate()


def observe(lab: Lab, *words: str) -> list[int]:
    """What the observer says when it repeats something from the fourth host."""
    command = lab.hosts[3].argv([sys.executable, OBSERVER, *words])
    return [int(line) for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]


def own_port(lab: Lab, number: int) -> int:
    """The UDP port of a host that is bound to its own address."""
    host = lab.hosts[number]
    table = subprocess.run(host.argv(["cat", "/proc/net/udp"]), capture_output=True, text=True, check=True).stdout
    own = socket.inet_aton(host.address)[::-1].hex().upper()
    places = [line.split()[1].split(":") for line in table.splitlines()[1:]]
    return next(int(port, 16) for address, port in places if address == own)


def tell(group, seed: int, root: int, size: int, *only: int) -> None:
    for i in only:
        group.ranks[i].tell(f"cast {root} {size} {seed}")


def record_a_group(lab: Lab, start: Callable, files: dict[int, Path]) -> None:
    """Broadcasts from every root, with a rank that is late, and the death of one."""
    with observed(lab, files):
        group = start(0, 1, 2)
        assert group.opened() == {"open multicast"}
        for seed, (root, size) in enumerate(CASTS):
            tell(group, seed, root, size, 0, 1, 2)
            assert group.done() == ["done"] * 3
        tell(group, 99, 0, 1000, 1, 2)
        group.ranks[0].signal(signal.SIGKILL)
        assert all(rank.hear().startswith("failed rank-died 0 ") for rank in group.ranks[1:])


def kinds(files: dict[int, Path]) -> set[str]:
    """The first bytes, in hex, of the datagrams that were recorded."""
    lines = [line.split() for path in files.values() for line in path.read_text().splitlines()]
    return {line[3][:2] for line in lines if len(line) == 4 and line[0] == "17"}


def await_datagram(path: Path) -> list[str]:
    """One that went to everybody; who records may be late."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for line in path.read_text().splitlines():
            words = line.split()
            if len(words) == 4 and words[0] == "17" and words[2] == str(PORT) and len(words[3]) >= 32:
                return words
        time.sleep(0.05)
    raise AssertionError("nothing was recorded")


@pytest.fixture
def start(lab: Lab, make_group: Callable, rank_program: Path) -> Callable:
    """Starts those ranks of a group of three, on the first three hosts of the lab."""
    meeting = f"{lab.hosts[0].address}:{PORT}"

    def call(*ranks: int):
        words = {i: [str(rank_program), "3", str(i), lab.hosts[i].address, meeting, "7", "multicast"] for i in ranks}
        return make_group([lab.hosts[i].argv(words[i]) for i in ranks])

    return call


@pytest.mark.slow
@pytest.mark.lab
def test_nothing_of_one_group_is_believed_in_the_next(lab: Lab, start: Callable, tmp_path: Path) -> None:
    """Neither its messages, nor its acknowledgements, nor its death, nor its joins; and nothing is made wrong by it."""
    files = {i: tmp_path / f"host{i}" for i in range(3)}
    names = ",".join(map(str, files.values()))
    record_a_group(lab, start, files)
    assert {"a0", "a1", "a3", "a5", "a8"} <= kinds(files)  # trials, HEAD, DATA, ACK, FAIL

    group = start(0, 1, 2)  # rank 0's meeting of before lingers nowhere: all meet at once
    assert group.opened() == {"open multicast"}
    today = tmp_path / "today"
    with observed(lab, {3: today}):
        tell(group, 100, *CASTS[0], 0, 1, 2)
        assert group.done() == ["done"] * 3
        last = await_datagram(today)
    places = [
        f"{last[1]}:{PORT}",
        f"{last[1]}:{PORT + 1}",
        *(f"{lab.hosts[i].address}:{own_port(lab, i)}" for i in range(3)),
    ]

    def replay() -> None:
        assert observe(lab, "replay", lab.hosts[3].address, names, last[3][2:8], *places)[0] > 1000

    tell(group, 101, *CASTS[1], 1, 2)  # the root is late: what comes now is not from it
    replay()
    assert not any(rank.has_spoken() for rank in group.ranks)
    tell(group, 101, *CASTS[1], 0)
    assert group.done() == ["done"] * 3
    tell(group, 102, *CASTS[2], 0, 1)  # rank 2 is late: the root must wait for it
    replay()
    assert not group.ranks[0].has_spoken()
    tell(group, 102, *CASTS[2], 2)
    assert group.done() == ["done"] * 3
    for seed, (root, size) in enumerate(CASTS[3:]):
        tell(group, 200 + seed, root, size, 0, 1, 2)
        replay()
        assert group.done() == ["done"] * 3
    assert group.leave() == ["left"] * 3


@pytest.mark.slow
@pytest.mark.lab
def test_who_repeats_a_join_is_not_let_in(lab: Lab, start: Callable, tmp_path: Path) -> None:
    """In the next meeting: it gets a challenge, 20 bytes, and nothing more; the ranks meet as if it were not there."""
    files = {0: tmp_path / "host0"}
    record_a_group(lab, start, files)
    early, meeting = start(0), f"{lab.hosts[0].address}:{PORT}"
    said = observe(lab, "letters", str(files[0]), meeting)
    assert len(said) >= 2 and set(said) == {20}
    late = start(1, 2)
    assert early.opened() | late.opened() == {"open multicast"}
