# SPDX-License-Identifier: BSD-3-Clause
"""What disturbed a run: one line for each kind, with the cells that it concerns and its remedy once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.store import made

from vaiven.results.marks import grouped, marks
from vaiven.stats.noise import Mark, tail_mark
from vaiven.store import query
from vaiven.store.record import Record

NOISY = Mark("wide", "launches spread by 12 %", "more launches")


def test_a_kind_is_told_once_with_its_cells_and_its_remedy() -> None:
    tail = Mark("tail", "a tail", "measure again")
    found = [("udp at 8 B", NOISY), ("udp at 8 B", tail), ("tcp at 8 B", NOISY), ("tcp at 9 B", NOISY)]
    assert list(grouped(found)) == [
        ("wide", "udp at 8 B: launches spread by 12 %; likewise tcp at 8 B, tcp at 9 B; more launches"),
        ("tail", "udp at 8 B: a tail; measure again"),
    ]


def test_the_worst_cell_is_told_in_full() -> None:
    """A reader who stops at the first number has seen the worst one."""
    found = [(f"tcp at {size} B", mark) for size in (8, 9) for mark in tail_mark(1, size)]
    ((_, text),) = grouped(found)
    assert text.startswith("tcp at 9 B: one message in a hundred takes 9 times") and "likewise tcp at 8 B;" in text


def test_many_cells_are_counted() -> None:
    ((_, text),) = grouped([(f"tcp at {size} B", NOISY) for size in range(20)])
    assert "likewise tcp at 1 B, " in text and text.endswith("tcp at 6 B, 13 more; more launches")


def test_times_one_way_by_two_clocks_say_what_they_may_be_wrong_by(tmp_path: Path) -> None:
    clocks = {"ask": "oneway", "clock": "bounded"}
    with Record.create(tmp_path, made.manifest()) as record:
        for number, error_ns in enumerate((7_000, 12_300, 9_000)):
            cells = [replace(made.cell(size, [10**6] * 3), clock_error_ns=error_ns, **clocks) for size in (8, 100)]
            record.add(replace(made.launch(number, "udp"), ask="oneway"), cells)
    said = dict(marks(query.open_run(record.path)))
    assert "udp at 8 B: times one way are right to 12.3 us" in said["bounded-clocks"]
    assert "likewise udp at 100 B;" in said["bounded-clocks"]


def test_cells_of_a_run_are_named_by_what_tells_them_apart(tmp_path: Path) -> None:
    with Record.create(tmp_path, made.manifest()) as record:
        for number in range(16):
            ns = [[1000, 1500, 2000, 2500][number // 2 % 4] * 1000] * 3
            launch = made.launch(number, ("tcp", "udp")[number % 2])
            record.add(replace(launch, block=number // 2), [made.cell(8, ns)])
    ((code, text),) = marks(query.open_run(record.path))
    assert (code, text.count("more launches")) == ("wide", 1)
    assert text.startswith("tcp at 8 B: launches spread by") and "likewise udp at 8 B;" in text


def test_bytes_that_no_host_of_a_launch_had_sent_are_others_traffic(tmp_path: Path) -> None:
    """Where none of its hosts can tell that alone."""
    ends = [{"seen_bytes": 1000, "own_bytes": 1000, "foreign_bytes": 0}] * 3
    for name, path in (("alone", {"ends": ends}), ("beside", {"ends": ends, "unsent_bytes": 100})):
        with Record.create(tmp_path / name, made.manifest()) as record:
            for number in range(8):
                record.add(replace(made.launch(number, "udp"), path=path), [made.cell(8, [10**6] * 3)])
        said = dict(marks(query.open_run(record.path)))
        assert said.get("traffic", "").startswith("all launches: 10 % of the bytes") == (name == "beside")


def test_what_is_sent_again_is_told_by_the_bytes_that_left_its_host(tmp_path: Path) -> None:
    """Sent to each of five receivers no message is sent again; ICMP's may be too long to be answered."""
    for name, stack, times in (("each", "tcp", 5), ("again", "tcp", 15), ("long", "icmp", 15)):
        path = {"tx_bytes": times * 10**6, "tx_frames": times * 700, "expected_tx_bytes": 10**6}
        with Record.create(tmp_path / name, made.manifest()) as record:
            for number in range(8):
                launch = replace(made.launch(number, stack), path=path, fars=5)
                record.add(launch, [made.cell(10**6, [10**6] * 3)])
        text = dict(marks(query.open_run(record.path))).get("sent-again", "")
        assert ("in 8 of 8 launches, at most 3.0 times" in text) == (name == "again")
