# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of ends that ping-pong at once, on loopback: all of them are whole, and they really run together."""

from __future__ import annotations

import pytest

LOOPBACK = "127.0.0.1"


@pytest.mark.parametrize("ask", ["pingpongs", "partners"])
@pytest.mark.parametrize(("stack", "sizes"), [("tcp", (1, 1000)), ("udp", (0, 8, 2000))])
def test_samples_are_taken_while_all_of_them_run(ask_many, ask: str, stack: str, sizes: tuple[int, ...]) -> None:
    near, fars = ask_many(ask, stack, 5, sizes=sizes, samples=20)
    assert near.status == 0 and [far.status for far in fars] == [0] * 5
    assert [(cell["ask"], cell["size_bytes"]) for cell in near.cells] == [(ask, size) for size in sizes]
    for cell in near.cells:
        assert cell["from"] == cell["far"] == [LOOPBACK] * 3 and [len(each) for each in cell["each_ns"]] == [20] * 3
        assert cell["rtt_ns"] == [ns for each in cell["each_ns"] for ns in each] and min(cell["rtt_ns"]) > 0
        assert (cell["lost"], cell["corrupt"]) == (0, 0) and cell["cpu_near_ns"] > 0 and cell["cpu_far_ns"] > 0
        # From when all of them ran until the first of them ended there is room for all samples of each.
        together_ns = min(cell["ended_ns"]) - max(cell["began_ns"])
        assert together_ns >= max(sum(each) for each in cell["each_ns"])


def test_one_is_enough(ask_many) -> None:
    near, _ = ask_many("pingpongs", "tcp", 1, sizes=(64,), samples=5)
    assert near.status == 0 and len(near.cells[0]["rtt_ns"]) == 5


def test_as_many_samples_as_are_wanted_come_home(ask_many) -> None:
    near, _ = ask_many("partners", "tcp", 3, sizes=(8,), samples=3000)
    assert [len(each) for each in near.cells[0]["each_ns"]] == [3000] * 2


def test_ends_that_are_no_pairs_are_refused(ask_many) -> None:
    near, fars = ask_many("partners", "tcp", 2, sizes=(8,))
    assert near.status == 1 and "3 ends are no pairs" in near.error["text"]
    assert fars[0].status == 1


@pytest.mark.parametrize("killed", [1, 2])  # one that answers, and one that asks
def test_a_far_end_that_is_gone_ends_all(probe, killed: int) -> None:
    fars = [probe.far("tcp") for _ in range(3)]
    sizes = ",".join(["1000"] * 5000)
    (_, one), *others = fars
    also = [word for _, peer in others for word in ("--also", peer)]
    near = probe.start("near", "tcp", "--peer", one, *also, "--ask", "pingpongs", "--sizes", sizes, "--samples", "2")
    near.ready()  # hello
    near.lines.append(near.process.stdout.readline())  # a cell: they run
    fars[killed][0].process.kill()
    ended = near.end()
    assert ended.status == 1 and ended.error["code"] in ("peer-gone", "no-answer")
    assert all(far.end().status in (0, 1) for number, (far, _) in enumerate(fars) if number != killed)


def test_a_stack_without_far_ends_is_refused(probe) -> None:
    ended = probe.alone("near", "icmp", "--peer", LOOPBACK, "--ask", "pingpongs", "--sizes", "8")
    assert ended.status == 2 and "far end" in ended.error["text"]
