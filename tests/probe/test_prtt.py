# SPDX-License-Identifier: BSD-3-Clause
"""PRTT(k, d, s): exact on the programmed transport; on loopback every part, on streams and datagrams, with losses."""

from __future__ import annotations

import pytest

from . import by_hand
from .conftest import KEY

PARTS = {"one": "rtt_ns", "burst": "rtt_ns", "spaced": "rtt_ns", "send": "send_ns", "receive": "receive_ns"}
K = 10
SIZES = (0, 1, 100, 5000)
PROGRAM = "alpha_ns=20000,beta_ns=0.5,o_s=3000,o_r=4000,g=5000,G=0.8"


@pytest.fixture
def ask(probe):
    def call(program: str, *options: str, sizes=SIZES):
        return probe.alone("near", "null", "--ask", "prtt", "--sizes", ",".join(map(str, sizes)), "--null", program,
                           *options)  # fmt: skip

    return call


def parts(cells: list[dict], size: int) -> dict[str, dict]:
    return {cell["part"]: cell for cell in cells if cell["size_bytes"] == size}


def times(cells: list[dict], size: int) -> dict[str, list[int]]:
    return {name: cell[PARTS[name]] for name, cell in parts(cells, size).items()}


def test_every_part_is_the_programmed_one(ask) -> None:
    ended = ask(PROGRAM, "--samples", "20")
    assert ended.status == 0 and len(ended.cells) == len(PARTS) * len(SIZES)
    for size in SIZES:
        found, rtt = times(ended.cells, size), round(2 * (20000 + 0.5 * size))
        gap = parts(ended.cells, size)["spaced"]["gap_ns"]
        assert gap == rtt
        assert found["one"] == [rtt] * 20
        assert found["burst"] == [rtt + (K - 1) * round(5000 + 0.8 * size)] * 20
        assert found["spaced"] == [rtt + (K - 1) * (3000 + gap)] * 20
        assert found["send"] == [3000] * 20 and found["receive"] == [4000] * 20


def test_the_train_is_as_long_as_wanted(ask) -> None:
    cells = ask(PROGRAM, "--samples", "2", "--train", "3", sizes=[8]).cells
    assert times(cells, 8)["burst"] == [40008 + 2 * 5006] * 2
    assert {cell["part"]: cell["train"] for cell in cells} == {"one": 1, "burst": 3, "spaced": 3, "send": 3,
                                                               "receive": 1}  # fmt: skip


@pytest.mark.parametrize("size", [0, 1, 100])
def test_losses_late_and_wrong_answers_are_counted(ask, size: int) -> None:
    ended = ask("loss=0.05,late=0.02,corrupt=0.02,seed=1", "--samples", "500", "--cell-ms", "3600000", sizes=[size])
    assert ended.status == 0
    for name, cell in parts(ended.cells, size).items():
        assert len(cell[PARTS[name]]) + cell["lost"] + cell["corrupt"] == 500, name
        assert 10 < cell["lost"] < 70
        assert (cell["corrupt"] > 0) is (size > 0) or size == 1


def test_a_clock_that_goes_back_ends_the_launch(ask) -> None:
    ended = ask("back=300", "--samples", "1000", sizes=[64])
    assert ended.status == 1 and ended.error["code"] == "clock-backwards" and not ended.cells


def test_a_train_of_one_and_a_kernel_that_answers_are_refused(probe, ask) -> None:
    assert ask(PROGRAM, "--train", "1").status == 2
    ended = probe.alone("near", "icmp", "--peer", "127.0.0.1", "--ask", "prtt", "--sizes", "64")
    assert ended.status == 2 and "far end" in ended.error["remedy"]


@pytest.mark.parametrize(
    "stack", ["tcp", "tcp-nagle", "udp", pytest.param("eth", marks=[pytest.mark.root, pytest.mark.native])]
)
def test_between_two_ends(probe, stack: str) -> None:
    both = ("--iface", "lo") if stack == "eth" else ()
    near, far = probe.pair(stack, "--ask", "prtt", "--sizes", "1,3000", "--samples", "20", "--cell-ms", "10000",
                           both=both)  # fmt: skip
    assert near.status == far.status == 0
    for size in (1, 3000):
        found = times(near.cells, size)
        assert list(found) == list(PARTS)
        assert all(all(ns > 0 for ns in values) for values in found.values())
        assert all(len(found[name]) + cell["lost"] == 20 for name, cell in parts(near.cells, size).items())
        gap = parts(near.cells, size)["spaced"]["gap_ns"]
        assert min(found["spaced"]) > (K - 1) * gap > 0
        # What the answer costs that has come already is no round trip.
        assert min(found["receive"]) < min(found["one"])


def test_a_far_end_that_loses_part_of_a_train(probe) -> None:
    """It answers as a real one would that never got some of the messages, or got one twice."""
    state = {"tag": b"", "came": 0, "series": 0}

    def answers(number: int, message: bytes):
        if number % 97 == 5:
            return []  # lost on its way
        if message[:8] != state["tag"]:
            state["tag"], state["came"] = message[:8], 0
        state["came"] += 1
        if state["came"] % far.train:
            return []
        return [(0, message), (0, message)] if number % 41 == 0 else [(0, message)]

    far = by_hand.UdpFar(bytes.fromhex(KEY), answers)
    near = probe.near("udp", far.peer, "--ask", "prtt", "--sizes", "64", "--samples", "40", "--cell-ms", "60000",
                      "--timeout-ms", "50")  # fmt: skip
    assert near.status == 0, near.records
    found = parts(near.cells, 64)
    assert sum(cell["lost"] for cell in found.values()) > 0 and sum(cell["late"] for cell in found.values()) > 0
    assert all(len(cell[PARTS[name]]) + cell["lost"] == 40 and cell["corrupt"] == 0 for name, cell in found.items())
    assert near.seconds < 30
