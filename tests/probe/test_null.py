# SPDX-License-Identifier: BSD-3-Clause
"""The probe against the programmed transport, whose truth is known."""

from __future__ import annotations

import statistics

import pytest


@pytest.fixture
def ask(probe):
    def call(program: str, *options: str, sizes: str = "64"):
        return probe.alone("near", "null", "--sizes", sizes, "--null", program, *options)

    return call


def test_times_are_the_programmed_ones(ask) -> None:
    ended = ask("alpha_ns=20000,beta_ns=0.8,knee=1460:7000", "--samples", "9", sizes="0,1000,1460,1461,67108864")
    assert ended.status == 0
    expected = [40000, 41600, 42336, 56338, 2 * (20000 + 53687091.2 + 7000)]
    assert [set(cell["rtt_ns"]) for cell in ended.cells] == [{round(ns)} for ns in expected]
    assert all(cell["warm"] for cell in ended.cells[:4])
    assert ended.records[0]["clock"]["source"] == "null" and ended.records[0]["far"] is None


def test_the_same_seed_gives_the_same_records(ask) -> None:
    def samples(seed: int) -> list[int]:
        return ask(f"noise=0.2,launch=0.1,loss=0.01,seed={seed}", "--samples", "500").cells[0]["rtt_ns"]

    assert samples(1) == samples(1)
    assert samples(1) != samples(2)


def test_a_launch_has_luck_of_its_own_in_its_start_alone(ask) -> None:
    seen = set()
    for seed in range(8):
        cells = ask(f"alpha_ns=20000,beta_ns=1,start=0.1,seed={seed}", "--samples", "3", sizes="0,1000").cells
        first, second = (set(cell["rtt_ns"]) for cell in cells)
        assert len(first) == len(second) == 1
        seen |= first
        assert abs(max(second) - max(first) - 2000) <= 1
    assert len(seen) == 8 and all(36000 <= ns <= 44000 for ns in seen)


def test_noise_leaves_the_floor(ask) -> None:
    rtt_ns = ask("alpha_ns=50000,beta_ns=0,noise=0.1,seed=3", "--samples", "5000").cells[0]["rtt_ns"]
    assert 100000 <= min(rtt_ns) < 100100
    assert statistics.mean(rtt_ns) == pytest.approx(110000, rel=0.01)


def test_warm_up_is_waited_for(ask) -> None:
    """300 exchanges that begin 1 ms too slow: none of them may be among the samples."""
    cell = ask("alpha_ns=50000,beta_ns=0,warm=300:1000000", "--samples", "100").cells[0]
    assert cell["warm"] is True and cell["warmup"] >= 300
    assert set(cell["rtt_ns"]) == {100000}


def test_what_never_gets_warm_is_said(ask) -> None:
    cell = ask("alpha_ns=50000,beta_ns=0,warm=1400:100000000", "--samples", "100", "--cell-ms", "3600000").cells[0]
    assert cell["warm"] is False


def test_time_goes_into_samples_where_no_two_windows_fit(ask) -> None:
    """Exchanges of 5 ms in a cell of 20 ms: one to warm up, the first of the measured ones, two samples."""
    cell = ask("alpha_ns=2500000,beta_ns=0", "--samples", "100", "--cell-ms", "20").cells[0]
    assert (cell["warm"], cell["warmup"], cell["rtt_ns"]) == (False, 2, [5_000_000] * 2)


def test_a_cell_takes_its_least_samples_though_its_time_is_up(ask) -> None:
    cell = ask("alpha_ns=2500000,beta_ns=0", "--samples", "100", "--samples-min", "8", "--cell-ms", "20").cells[0]
    assert cell["rtt_ns"] == [5_000_000] * 8
    cell = ask("alpha_ns=2500000,beta_ns=0", "--samples", "5", "--samples-min", "8", "--cell-ms", "20").cells[0]
    assert cell["rtt_ns"] == [5_000_000] * 5, "no more than were asked for"


def test_a_first_exchange_that_is_slow_spoils_no_warm_up(ask) -> None:
    cell = ask("alpha_ns=50000,beta_ns=0,warm=1:1000000", "--samples", "100", "--cell-ms", "20").cells[0]
    assert cell["warm"] is True and set(cell["rtt_ns"]) == {100000}


@pytest.mark.parametrize("size", ["0", "1", "7", "8", "1000"])
def test_losses_are_counted(ask, size: str) -> None:
    ended = ask("loss=0.05,seed=1", "--samples", "2000", "--cell-ms", "3600000", sizes=size)
    cell = ended.cells[0]
    assert ended.status == 0 and len(cell["rtt_ns"]) == 2000
    assert 0.03 < cell["lost"] / (cell["lost"] + 2000) < 0.07
    assert cell["late"] == 0 and cell["corrupt"] == 0


def test_when_nothing_is_answered_it_ends(ask) -> None:
    ended = ask("loss=1", "--samples", "10", "--cell-ms", "5000", "--timeout-ms", "1000")
    assert ended.status == 0
    assert ended.cells[0]["rtt_ns"] == [] and ended.cells[0]["lost"] >= 1
    assert ended.cells[0]["warm"] is False


def test_nobody_waits_for_the_least_samples_of_what_is_never_answered(ask) -> None:
    effort = ("--samples", "10", "--samples-min", "8", "--cell-ms", "1", "--timeout-ms", "1000")
    cell = ask("loss=1", *effort).cells[0]
    assert (cell["rtt_ns"], cell["lost"]) == ([], 1)


@pytest.mark.parametrize("size", ["8", "64"])
def test_late_answers_are_told_by_their_tag(ask, size: str) -> None:
    cell = ask("late=0.05,seed=5", "--samples", "2000", "--cell-ms", "3600000", sizes=size).cells[0]
    assert cell["lost"] > 50
    assert abs(cell["late"] - cell["lost"]) <= 1
    assert cell["corrupt"] == 0


@pytest.mark.parametrize("size", ["0", "1", "7"])
def test_late_answers_to_short_messages_go_nowhere(ask, size: str) -> None:
    cell = ask("late=0.05,seed=5", "--samples", "2000", "--cell-ms", "3600000", sizes=size).cells[0]
    assert cell["lost"] > 50
    assert cell["late"] == 0 and cell["corrupt"] == 0


def test_a_wrong_answer_is_counted_and_not_timed(ask) -> None:
    ended = ask("corrupt=0.1,seed=2", "--samples", "1000", sizes="100")
    cell = ended.cells[0]
    assert len(cell["rtt_ns"]) == 1000
    assert 0.05 < cell["corrupt"] / 1000 < 0.2
    assert [warning["code"] for warning in ended.of("warning")] == ["corrupt"]


def test_a_coarse_clock_makes_batches(ask) -> None:
    ended = ask("alpha_ns=50000,beta_ns=0,resolution_ns=1000000", "--samples", "20", "--cell-ms", "600000")
    cell = ended.cells[0]
    assert cell["batch"] >= 10000
    assert statistics.mean(cell["rtt_ns"]) == pytest.approx(100000, rel=0.002)
    assert [warning["code"] for warning in ended.of("warning")] == ["coarse-clock"]


def test_a_clock_that_goes_back_ends_the_launch(ask) -> None:
    ended = ask("back=200", "--samples", "1000")
    assert ended.status == 1 and ended.error["code"] == "clock-backwards"
    assert not ended.cells


def test_a_wrong_program_is_refused(ask) -> None:
    ended = ask("alpha=1")
    assert ended.status == 1 and ended.error["code"] == "usage" and "alpha_ns" in ended.error["remedy"]
