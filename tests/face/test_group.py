# SPDX-License-Identifier: BSD-3-Clause
"""Ranks in Python over the real libvaiven: any buffer, every byte, errors with their kinds, Ctrl-C."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import vaiven

KEY = bytes(range(1, 17))
ALONE = {"ranks": 1, "rank": 0, "address": "127.0.0.1", "meeting": "127.0.0.1:7000", "key": KEY}
BEGIN = """
import sys
import numpy as np
import vaiven
ranks, rank, meeting = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
where = {"ranks": ranks, "rank": rank, "address": "127.0.0.1", "meeting": meeting, "key": bytes(range(1, 17)),
         "timeout_s": 120}
"""


def free_port() -> int:
    """A port that is free, and the one after it, which the group needs, too."""
    while True:
        with socket.socket() as one, socket.socket() as next_one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            try:
                next_one.bind(("127.0.0.1", port + 1))
            except (OSError, OverflowError):
                continue
            return port


@pytest.fixture
def start() -> Iterator[Callable[..., list[subprocess.Popen[str]]]]:
    """Ranks that carry out a program: start(3, TEXT)."""
    started: list[subprocess.Popen[str]] = []

    def call(ranks: int, text: str) -> list[subprocess.Popen[str]]:
        meeting = f"127.0.0.1:{free_port()}"
        for rank in range(ranks):
            words = [sys.executable, "-c", BEGIN + text, str(ranks), str(rank), meeting]
            started.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        return started

    yield call
    for one in started:
        one.kill()
        one.wait()
        assert one.stdout
        one.stdout.close()


def said(ranks: list[subprocess.Popen[str]]) -> list[str]:
    texts = [one.communicate(timeout=240)[0] for one in ranks]
    assert [one.returncode for one in ranks] == [0] * len(ranks), texts
    return texts


def test_whatever_has_a_buffer_is_sent_as_it_is(start) -> None:
    texts = said(
        start(
            3,
            """
right = [
    np.arange(120_000, dtype=np.float64).reshape(300, 400),
    np.array([1 + 2j, 3 - 4j] * 9, dtype=np.complex128),
    np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i4"), ("x", "f8")]),
    bytearray(b"once for everybody"),
    np.array([], dtype=np.int8),
]
with vaiven.Group(**where) as group:
    for root, one in enumerate(right):
        root %= ranks
        own = one if rank == root else type(one)(len(one)) if isinstance(one, bytearray) else np.zeros_like(one)
        group.broadcast(own, root)
        assert bytes(own) == bytes(one), root
    frozen = b"read only" if rank == 0 else bytearray(9)
    group.broadcast(frozen)
    assert bytes(frozen) == b"read only"
    room = bytearray(1000)
    if rank == 1:
        group.broadcast(b"of some length", root=1)
    else:
        assert room[:group.receive(room, root=1)] == b"of some length"
    print(group.route, group.shared_bps, group.foreign, *group.repairs)
""",
        )
    )
    assert {text.split()[0] for text in texts} == {"multicast"}
    assert {text.split()[1] for text in texts} == {"None"}


def test_a_rank_that_dies_is_named_to_the_others(start) -> None:
    texts = said(
        start(
            3,
            """
group = vaiven.Group(**where)
try:
    group.broadcast(bytearray(8))
    if rank == 2:
        import os
        os._exit(0)
    for _ in range(10_000):
        group.broadcast(bytearray(100_000))
except vaiven.GroupError as error:
    print(error.code, error.kind, error.rank)
group.leave()
group.leave()
""",
        )
    )
    assert texts == ["rank-died gone 2\n"] * 2 + [""]


def test_a_child_of_fork_disturbs_nobody(start) -> None:
    texts = said(
        start(
            3,
            """
import os
group = vaiven.Group(**where)
group.broadcast(bytearray(8))
if rank == 1 and os.fork() == 0:
    try:
        group.broadcast(bytearray(100_000), root=1)
    except vaiven.GroupError as error:
        os.write(1, f"{error.code} {error.kind}".encode())
    group.leave()
    os._exit(0)
if rank == 1:
    assert os.wait()[1] == 0
group.broadcast(bytearray(100_000), root=1)
group.leave()
""",
        )
    )
    assert texts == ["", "bad-call wrong", ""]


def test_ctrl_c_ends_a_wait(start) -> None:
    ranks = start(
        2,
        """
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started this may have it ignored
group = vaiven.Group(**where)
if rank == 0:
    try:
        print("waits", flush=True)
        group.broadcast(bytearray(8), root=1)
    except KeyboardInterrupt:
        os.write(1, b"interrupted\\n")
        os._exit(0)
time.sleep(600)
""",
    )
    assert ranks[0].stdout and ranks[0].stdout.readline() == "waits\n"
    until = time.monotonic() + 120
    while ranks[0].poll() is None and time.monotonic() < until:
        ranks[0].send_signal(signal.SIGINT)  # a signal ends a wait, but not one that it comes just before
        time.sleep(0.2)
    assert ranks[0].stdout.read() == "interrupted\n"


def test_groups_of_some_and_broadcasts_that_go_on_while_one_computes(start) -> None:
    texts = said(
        start(
            3,
            """
import select
with vaiven.Group(**where) as group:
    if rank != 1:
        with group.among([2, 0]) as two:
            assert (two.ranks, two.rank) == (2, 0 if rank == 2 else 1)
            one = np.full(1000, 5.0) if rank == 2 else np.zeros(1000)
            two.broadcast(one)
            assert one.sum() == 5000
    fields = [np.full(20_000, float(n)) if n == rank else np.zeros(20_000) for n in range(ranks)]
    begun = [group.begin_broadcast(field, root) for root, field in enumerate(fields)]
    room = bytearray(100)
    last = group.begin_broadcast(b"of some length") if rank == 0 else group.begin_receive(room)
    assert last.wait() and last.test() and last.size == 14 and (rank == 0 or room[:14] == b"of some length")
    assert all(one.test() for one in begun)
    assert [field[7] for field in fields] == [0.0, 1.0, 2.0]
    later, go = np.zeros(5), group.among(range(ranks))
    if rank == 0:
        waiting = group.begin_broadcast(later, 1)
        group.fileno()
        assert not waiting.test() and not waiting.wait(0.001)
        go.broadcast(np.zeros(1))
        while not waiting.test():
            assert select.select([group], [], [], 120)[0]
            group.turn()
    else:
        go.broadcast(np.zeros(1))  # rank 0 has begun, and nothing has come to it
        group.broadcast(later, 1)
    go.leave()
    print("right")
""",
        )
    )
    assert texts == ["right\n"] * 3


def test_ranks_meet_by_files(start, tmp_path) -> None:
    """Whatever gives each rank the records of all can start a group, without a port and a key."""
    texts = said(
        start(
            3,
            f"""
import time
from pathlib import Path
place = Path({str(tmp_path)!r})
def exchange(own):
    (place / f"{{rank}}.new").write_bytes(own)
    (place / f"{{rank}}.new").rename(place / str(rank))
    others = [place / str(n) for n in range(ranks)]
    while not all(one.exists() for one in others):
        time.sleep(0.01)
    return [one.read_bytes() for one in others]
del where["meeting"], where["key"]
try:
    vaiven.Group(**where, exchange=lambda own: [own])
except ValueError as error:
    assert "3 ranks" in str(error)
with vaiven.Group(**where, exchange=exchange) as group:
    field = np.full(10, 7.0) if rank == 1 else np.zeros(10)
    group.broadcast(field, root=1)
    print(field.sum())
""",
        )
    )
    assert texts == ["70.0\n"] * 3


def test_what_was_begun_in_a_group_that_is_left_is_gone() -> None:
    with vaiven.Group(**ALONE) as group:
        begun, alone = group.begin_broadcast(np.zeros(4)), group.among([0])
        alone.broadcast(np.zeros(4))
        with pytest.raises(vaiven.GroupError) as error:
            group.among([0, 1])
        assert error.value.code == "bad-rank"
        with pytest.raises(vaiven.GroupError):
            group.fileno()
    for late in (begun.test, begun.wait, lambda: group.among([0]), lambda: group.begin_receive(bytearray(1))):
        with pytest.raises(vaiven.GroupError) as error:
            late()
        assert error.value.code == "bad-call"
    alone.leave()


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"key": b"short"}, "bad-key"),
        ({"key": bytes(16)}, "bad-key"),
        ({"key": None}, "bad-key"),
        ({"meeting": None}, "bad-config"),
        ({"rank": 1}, "bad-rank"),
        ({"timeout_s": 0}, "bad-config"),
        ({"ranks": 2, "address": "nowhere"}, "bad-address"),
    ],
)
def test_what_cannot_be_is_said(wrong: dict, code: str) -> None:
    with pytest.raises(vaiven.GroupError) as error:
        vaiven.Group(**ALONE | wrong)
    assert (error.value.code, error.value.kind, error.value.rank) == (code, "wrong", None)
    assert isinstance(error.value, vaiven.VaivenError)


def test_buffers_that_cannot_be_taken_are_refused_before_anything_is_sent() -> None:
    with vaiven.Group(**ALONE) as group:
        with pytest.raises(BufferError, match="ascontiguousarray"):
            group.broadcast(np.zeros((4, 4))[:, ::2])
        with pytest.raises(BufferError, match="cannot be written"):
            group.receive(b"read only")
        with pytest.raises(TypeError):
            group.broadcast(7)
        group.broadcast(np.zeros(4))
    with pytest.raises(vaiven.GroupError) as error:
        group.broadcast(np.zeros(4))
    assert error.value.code == "bad-call"


COLLECT = """
with vaiven.Group(**where) as group:
    own = np.arange(5.0) + rank
    everything, total, part = np.zeros(5 * ranks), np.zeros(5), np.zeros(5)
    group.allgather(own, everything)
    group.allreduce(own, total)
    group.scatter(everything if rank == 1 else None, part, root=1)
    lowest = np.zeros(5, np.float64) if rank == 2 else None
    group.reduce(own, lowest, op="min", root=2)
    odd = np.zeros(3 * ranks, np.int32)
    group.allgather(np.full(rank, rank, np.int32), odd, counts=range(ranks))
    begun = group.begin_collective("allreduce", own, part, op="max")
    group.barrier()
    begun.wait()
    if rank == 0:
        group.send(b"a word", 1)
    if rank == 1:
        word = bytearray(16)
        assert bytes(word[:group.take(word, 0)]) == b"a word"
    group.barrier()
    print(everything.tolist(), total.tolist(), part.tolist(), lowest is not None and lowest.tolist(), odd.tolist())
"""


def test_numbers_are_collected(start: Callable[..., list[subprocess.Popen[str]]]) -> None:
    ranks = start(3, COLLECT)
    said = [one.communicate(timeout=120)[0] for one in ranks]
    everything = [float(i + rank) for rank in range(3) for i in range(5)]
    total, most = [3.0 * i + 3 for i in range(5)], [float(i + 2) for i in range(5)]
    lowest, odd = [float(i) for i in range(5)], [1, 2, 2, 0, 0, 0, 0, 0, 0]
    assert said == [f"{everything} {total} {most} {lowest if rank == 2 else False} {odd}\n" for rank in range(3)]


def test_what_cannot_be_collected_is_refused() -> None:
    with vaiven.Group(**ALONE) as group:
        for given, result in ((np.zeros(3), np.zeros(2)), (np.zeros(3), np.zeros(3, np.int64)), (["a"], np.zeros(3))):
            with pytest.raises((BufferError, TypeError)):
                group.allreduce(given, result)
        with pytest.raises(ValueError, match="as many counts"):
            group.allgather(np.zeros(3), np.zeros(3), counts=[1, 2])
        with pytest.raises(vaiven.GroupError) as refused:
            group.allreduce(np.zeros(3), np.zeros(3), op="xor")
        assert refused.value.code == "bad-type" and refused.value.kind == "wrong"
        whole = np.zeros(3)
        group.allreduce(np.arange(3.0), whole)
        assert whole.tolist() == [0, 1, 2]
