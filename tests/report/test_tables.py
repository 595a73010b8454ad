# SPDX-License-Identifier: BSD-3-Clause
"""Tables carry the numbers of the run they came from."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report import made_up

from vaiven.cli.report import findings
from vaiven.plot.units import DASH
from vaiven.report import tables
from vaiven.report.findings import Findings, StackCost


def _cost(found: Findings, stack: str) -> StackCost:
    return next(cost for cost in found.costs if cost.stack == stack)


def _column(table: tables.Table, name: str) -> dict[str, str]:
    at = [column.name for column in table.columns].index(name)
    return {row[0]: row[at] for row in table.rows}


def _every_table(found: Findings) -> list[tables.Table]:
    one = found.of_pair(found.pairs[0])
    ladder = found.ladder(found.pairs[0])
    return [
        tables.cost_table(found.costs),
        tables.measured_table(found.costs),
        tables.papers_table(found.costs),
        tables.residual_table(one),
        tables.ratio_table(one),
        tables.knee_table(one),
        tables.curve_table(one, rates=True),
        tables.curve_table(one, rates=False),
        tables.distribution_table(one, 64),
        tables.host_table(found.hosts),
        *map(tables.size_table, found.costs),
        *([tables.ladder_table(ladder)] if ladder else []),
    ]


@pytest.mark.parametrize("kind", ["found", "few"])
def test_rows_are_as_long_as_columns(kind: str, request: pytest.FixtureRequest) -> None:
    for table in _every_table(request.getfixturevalue(kind)):
        assert {len(row) for row in table.rows} <= {len(table.columns)}, table.caption


def test_the_wire_and_what_is_above_it(found: Findings) -> None:
    rows = tables.size_table(_cost(found, "tcp"))
    assert _column(rows, "wire")["64 B"] == "20.8 µs"
    above = _column(rows, "above the wire")["64 B"]
    assert above.endswith("µs") and 39 < float(above.split()[0]) < 42
    assert _column(rows, "frames")["4 KiB"] == "3"


def test_losses_are_counted_and_a_kernel_end_has_no_cpu(found: Findings) -> None:
    table = tables.measured_table(found.costs)
    assert _column(table, "lost") == {"icmp": "0", "eth": "0", "udp": "12", "tcp": "0", "tcp-nagle": "0"}
    assert _column(table, "CPU")["icmp"] == "4.55 µs\nnear only"
    assert _column(table, "CPU")["tcp"] == "8.95 µs"


def test_the_cost_table_has_alpha_beta_rate_with_intervals(found: Findings) -> None:
    row = next(row for row in tables.cost_table(found.costs).rows if row[0] == "tcp")
    line = _cost(found, "tcp").cost.typical
    assert row[1] == tables.two_lines(
        f"{line.alpha.value / 1e3:.1f} [{line.alpha.low / 1e3:.1f}, {line.alpha.high / 1e3:.1f}] µs"
    )
    assert row[3].split("\n")[0].endswith("MB/s") and row[3].split("\n")[1].endswith("Mb/s")


def test_without_enough_launches_there_are_dashes_and_the_reason(few: Findings) -> None:
    table = tables.cost_table(few.costs)
    assert all(cell == DASH for row in table.rows for cell in row[2:])
    assert "udp: no α: too few launches: 5 of 8" in table.notes


def test_the_second_segment_is_found_and_named(found: Findings) -> None:
    row = next(row for row in tables.knee_table(found.costs).rows if row[0] == "tcp")
    assert row[2] == "jump" and "one segment is full at MTU 1500 (1448 B)" in row[6]


def test_one_line_that_fits_badly_is_said_in_one_line_with_its_knee(found: Findings) -> None:
    notes = [note for note in tables.cost_table(found.costs).notes if "one line fits badly" in note]
    told = next(note for note in notes if note.startswith("tcp"))
    assert "the law changes at 1448 B (one segment is full at MTU 1500)" in told and "not 1/β" in told
    assert sum(cost.stack in note.partition(":")[0].split(", ") for cost in found.costs for note in notes) == 5


def test_without_knees_the_frame_limit_is_named_if_the_slope_changes_there(tmp_path: Path) -> None:
    bent = findings(made_up.write_run(tmp_path, stacks=("eth",), sizes=(1, 100, 1000, 1400, 4096, 16384, 65536)))
    assert bent.costs[0].knees == ()
    assert tables.law_change(bent.costs[0]) == "the law changes between 1400 B and 4 KiB (the limit of one frame)"
    single = findings(made_up.write_run(tmp_path, stacks=("eth",), sizes=(1, 100, 1000, 1400)))
    assert tables.law_change(single.costs[0]) == "" and tables.cost_table(single.costs).notes == ()


def test_the_ladder_adds_up(found: Findings) -> None:
    ladder = found.ladder(("h1", "h2"))
    assert ladder is not None and ladder.names == ("wire", "eth", "udp", "tcp")
    table = tables.ladder_table(ladder)
    assert table.rows[0][0] == "0 B" and table.rows[0][-2:] == ("53.4 µs", "17 %")
    added = [float(cell.split()[0]) for cell in table.rows[0][1:-2]]
    assert sum(added) == pytest.approx(53.4, abs=0.2)


def test_distributions_start_at_the_smallest_time(found: Findings) -> None:
    row = next(row for row in tables.distribution_table(found.costs, 64).rows if row[0] == "tcp")
    point = _cost(found, "tcp").point(64)
    assert point and point.quantiles_ns[0] == point.floor_ns
    assert row[1] == f"{point.floor_ns / 1e3:.1f} µs"


def test_hosts_stand_side_by_side(found: Findings) -> None:
    table = tables.host_table(found.hosts)
    assert [column.name for column in table.columns] == ["", "h1", "h2"]
    facts = {row[0]: row[1] for row in table.rows}
    assert facts == {
        "address": "10.1.0.1",
        "cpu model": "Example",
        "cpu clock": "3.00 GHz",
        "cpu caches 1": "level 1, size 48 KiB",
        "memory": "8 GiB",
        "load": "5.37",
        "sockets send": "208 KiB",
        "sockets tcp send": "16 KiB",
        "sockets tcp receive": "128 KiB",
        "nics 1": "name eth0, speed 100 Mb/s, offloads tcp-segmentation-offload on, generic-receive-offload off",
        "interface": "eth0",
    }


def test_hostile_names_stay_plain_text(few: Findings) -> None:
    assert any(row[0].startswith(made_up.HOSTILE) for row in tables.cost_table(few.costs).rows)
