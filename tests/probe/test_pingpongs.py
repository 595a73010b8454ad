# SPDX-License-Identifier: BSD-3-Clause
"""Several ping-pongs at once on loopback: all of them are whole, and they really run together."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(("stack", "sizes"), [("tcp", (1, 1000)), ("udp", (0, 8, 2000))])
def test_samples_are_taken_while_all_of_them_run(ask_many, stack: str, sizes: tuple[int, ...]) -> None:
    near, fars = ask_many("pingpongs", stack, 3, sizes=sizes, samples=20)
    assert near.status == 0 and [far.status for far in fars] == [0, 0, 0]
    assert [cell["size_bytes"] for cell in near.cells] == list(sizes)
    for cell in near.cells:
        assert cell["far"] == ["127.0.0.1"] * 3 and [len(each) for each in cell["each_ns"]] == [20] * 3
        assert cell["rtt_ns"] == [ns for each in cell["each_ns"] for ns in each] and min(cell["rtt_ns"]) > 0
        assert (cell["lost"], cell["corrupt"]) == (0, 0)
        # From when the last began until the first ended there is room for all samples of each.
        together_ns = min(cell["ended_ns"]) - max(cell["began_ns"])
        assert together_ns >= max(sum(each) for each in cell["each_ns"])


def test_one_is_enough(ask_many) -> None:
    near, _ = ask_many("pingpongs", "tcp", 1, sizes=(64,), samples=5)
    assert near.status == 0 and len(near.cells[0]["rtt_ns"]) == 5


def test_a_far_end_that_is_gone_ends_all(probe) -> None:
    (first, one), (second, two) = probe.far("tcp"), probe.far("tcp")
    sizes = ",".join(["1000"] * 5000)
    command = ("near", "tcp", "--peer", one, "--also", two, "--ask", "pingpongs", "--sizes", sizes)
    near = probe.start(*command, "--samples", "2")
    near.ready()  # hello
    near.lines.append(near.process.stdout.readline())  # a cell: they run
    second.process.kill()
    ended = near.end()
    assert ended.status == 1 and ended.error["code"] in ("peer-gone", "no-answer", "probe-gone")
    assert first.end().status in (0, 1)


def test_a_stack_without_far_ends_is_refused(probe) -> None:
    ended = probe.alone("near", "icmp", "--peer", "127.0.0.1", "--ask", "pingpongs", "--sizes", "8")
    assert ended.status == 2 and "far end" in ended.error["text"]
