# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the papers are drawn over their axes, from runs in which every time is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.model.chart import Chart
from vaiven.papers.claims import published
from vaiven.papers.figures import Drawn, Figure, draw, figures
from vaiven.papers.judge import Candidate
from vaiven.papers.measured import Measured
from vaiven.store.query import first_column

from . import runs

QUIET = runs.World(noise=0.0, resamples=20)
BY_NAME = {(one.paper, number): one for one in figures() for number in one.numbers}


@pytest.fixture(scope="module")
def drawn() -> dict[tuple[str, str], Drawn]:
    return {(one.paper, one.name): draw(one, QUIET.candidates) for one in figures()}


def chart(drawn: dict[tuple[str, str], Drawn], paper: str, name: str) -> Chart:
    found = drawn[paper, name].chart
    assert found is not None
    return found


def test_every_one_is_cited_by_a_claim_and_can_be_drawn(drawn: dict[tuple[str, str], Drawn]) -> None:
    cited = {(claim.paper, name) for claim in published() for name in claim.figure.split(", ")}
    assert set(BY_NAME) <= cited and len(BY_NAME) == sum(len(one.numbers) for one in figures())
    undrawn = cited - set(BY_NAME) - {(claim.paper, "") for claim in published()}
    # Diagrams and tables have no curve.
    assert undrawn == {("A", "C.1"), ("A", "C.3"), ("A", "C.5"), ("E", "Table 1")}
    assert [one.missing for one in drawn.values() if one.chart is None] == []


def test_times_and_rates_are_in_the_units_of_the_paper(drawn: dict[tuple[str, str], Drawn]) -> None:
    seconds = runs.four_ways("pvm-default-xdr", 1000, "sofia")
    for name, unit, value in (("C.6", "time, ms", 1e3 * seconds), ("C.7", "rate, MiB/s", 1000 / seconds / 2**20)):
        found = chart(drawn, "A", name)
        sofia = next(one for one in found.series if one.name == "sofia")
        assert found.y.title == unit and sofia.y[sofia.x.index(1000)] == pytest.approx(value)
        assert sofia.low[0] <= sofia.y[0] <= sofia.high[0]
        assert len(found.series) == len(runs.START) and "by a model" in found.says
    netpipe = chart(drawn, "E", "4")
    tcp = next(one for one in netpipe.series if one.name == "openmpi")
    assert tcp.x[0] == 8 and tcp.y[-1] == pytest.approx(8e-6 * 2**20 / runs.over_mpi(2**20))
    floats = chart(drawn, "C", "3.1").series[0]
    assert floats.x[0] == 25 and floats.y[0] == pytest.approx(1e6 * runs.over_mpi(100))


def test_round_trips_of_paper_d_are_whole_and_by_kinds_of_machines(drawn: dict[tuple[str, str], Drawn]) -> None:
    found = chart(drawn, "D", "1")
    assert {one.name for one in found.series} >= {"axp – axp", "axp – p2mmx"} and len(found.series) == 10
    fast = next(one for one in found.series if one.name == "axp – axp")
    assert fast.y[fast.x.index(4)] == pytest.approx(1e6 * 2 * (50e-6 + 0.16e-6 * 4))
    assert not found.x.log and max(fast.x) == 100 and min(chart(drawn, "D", "2").series[0].x) == 100
    twice = next(one for one in chart(drawn, "D", "3").series if one.name == "axp – axp")
    assert twice.y[0] == pytest.approx(1e6 * 2 * 50e-6 * runs.AT_ONCE[True][2])


def test_broadcasts_go_by_receivers_and_connections_add_up(drawn: dict[tuple[str, str], Drawn]) -> None:
    found = chart(drawn, "A", "C.18")
    long = next(one for one in found.series if one.name == "pvm-mcast, 1 MB")
    assert long.x == tuple(range(1, 10)) and long.y[4] == pytest.approx(5 * long.y[0]) and found.y.log
    four = next(one for one in chart(drawn, "C", "3.2").series if one.name == "4 connections")
    assert four.y[four.x.index(5000)] == pytest.approx(80_000e-6 / runs.over_mpi(80_000))
    assert chart(drawn, "C", "3.3").series[0].y == (1, 3, 7, 15)
    assert [one.name for one in chart(drawn, "B", "1 to 6").series][:2] == ["50 messages", "60 messages"]


def test_messages_that_a_launch_did_not_send_have_no_place(drawn: dict[tuple[str, str], Drawn]) -> None:
    """A short plan sends fewer of the long ones."""
    candidates, longest = runs.World(noise=0.0, resamples=20).candidates, max(runs.DOUBLES)
    (run,) = (one for one in candidates if one.id == drawn["B", "1 to 6"].run)
    for cell, by_block in run.measured.cells.items():
        if cell.size_bytes == longest:
            del by_block[0][first_column(90)], by_block[1][first_column(100)]
    found = draw(BY_NAME["B", "1 to 6"], [run]).chart
    assert found is not None
    lines = {one.name: one.x for one in found.series}
    assert lines["80 messages"] == (*lines["90 messages"], longest) == (*lines["100 messages"], longest)


def test_a_program_goes_by_processes_and_is_the_mean_over_them(drawn: dict[tuple[str, str], Drawn]) -> None:
    found = chart(drawn, "E", "9")
    tcp, llc = (next(one for one in found.series if one.name == name) for name in ("openmpi", "openmpi-llc"))
    assert tcp.x == llc.x == (2, 4, 8, 16) and (found.x.log, found.y.title) == (True, "time, µs")
    assert tcp.y == pytest.approx([1e6 * seconds for seconds in runs.FFT_S.values()])
    assert np.divide(llc.y, tcp.y) == pytest.approx(list(runs.FFT_OVER_TCP.values()))


def test_what_no_run_can_draw_says_what_it_takes() -> None:
    only = [one for one in QUIET.candidates if one.id.endswith("inpe-first")]
    found = draw(BY_NAME["A", "C.6"], only)
    assert found.chart is None and "the link runs at 50 Mb/s, and not at 10" in found.missing
    assert draw(BY_NAME["A", "C.6"], []).missing == "there is no run"


def test_a_damaged_run_is_passed_over() -> None:
    def damaged() -> Measured:
        raise VaivenError("its cells are cut off", code="bad-run")

    bad = Candidate.of(runs.manifest("alicante", day=9), damaged)
    assert draw(BY_NAME["C", "3.1"], [bad, *QUIET.candidates]).run == "20260102-alicante"
    assert draw(BY_NAME["C", "3.1"], [bad]).missing == "its cells are cut off"


def test_few_launches_have_no_interval() -> None:
    few = runs.World(launches=3, resamples=20)
    found = draw(BY_NAME["C", "3.1"], few.candidates).chart
    assert found is not None and all(math.isnan(low) for one in found.series for low in one.low)


def test_a_figure_is_called_as_it_is_cited() -> None:
    assert BY_NAME["E", "7"].name == "6, 7, 8" and isinstance(BY_NAME["E", "7"], Figure)
