# SPDX-License-Identifier: BSD-3-Clause
"""Tables carry the numbers of the run they came from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report import made_up

from vaiven.model.numbers import DASH, percent_text
from vaiven.report import costs as of_costs
from vaiven.report import views
from vaiven.report.several import audience_table
from vaiven.report.table import Table, two_lines
from vaiven.report.words import answer
from vaiven.results.audiences import audiences
from vaiven.results.costs import StackCost, knees_in
from vaiven.results.findings import Findings
from vaiven.results.results import Results
from vaiven.store.query import Run


def _cost(found: Findings, stack: str) -> StackCost:
    return next(cost for cost in found.costs if cost.stack == stack)


def _column(table: Table, name: str) -> dict[str, str]:
    at = [column.name for column in table.columns].index(name)
    return {row[0]: row[at] for row in table.rows}


def _every_table(found: Findings) -> list[Table]:
    one = found.of_pair(found.pairs[0])
    ladder = found.ladder(found.pairs[0])
    return [
        of_costs.cost_table(found.costs),
        of_costs.measured_table(found.costs),
        of_costs.papers_table(found.costs),
        of_costs.residual_table(one),
        of_costs.ratio_table(one),
        of_costs.knee_table(knees_in(one)),
        of_costs.curve_table(one, rates=True),
        of_costs.curve_table(one, rates=False),
        of_costs.distribution_table(one, 64),
        of_costs.host_table(found.hosts),
        *map(of_costs.size_table, found.costs),
        *([of_costs.ladder_table(ladder)] if ladder else []),
    ]


@pytest.mark.parametrize("kind", ["found", "few"])
def test_rows_are_as_long_as_columns(kind: str, request: pytest.FixtureRequest) -> None:
    for table in _every_table(request.getfixturevalue(kind)):
        assert {len(row) for row in table.rows} <= {len(table.columns)}, table.caption


def test_the_wire_and_what_is_above_it(found: Findings) -> None:
    rows = of_costs.size_table(_cost(found, "tcp"))
    assert _column(rows, "wire")["64 B"] == "20.8 µs"
    above = _column(rows, "above the wire")["64 B"]
    assert above.endswith("µs") and 39 < float(above.split()[0]) < 42
    assert _column(rows, "frames")["4 KiB"] == "3"


def test_losses_are_counted_and_a_kernel_end_has_no_cpu(found: Findings) -> None:
    table = of_costs.measured_table(found.costs)
    assert _column(table, "lost") == {"icmp": "0", "eth": "0", "udp": "12", "tcp": "0", "tcp-nagle": "0"}
    assert _column(table, "CPU")["icmp"] == "4.55 µs\nnear only"
    assert _column(table, "CPU")["tcp"] == "8.95 µs"


def test_the_cost_table_has_the_law_and_the_full_rate_with_intervals(found: Findings) -> None:
    table = of_costs.cost_table(found.costs)
    assert table.caption.endswith("t(n) = wire(n) + α + β n") and table.notes[0].startswith("α is what the software")
    row = next(row for row in table.rows if row[0] == "tcp")
    line = _cost(found, "tcp").cost.typical
    assert row[1] == two_lines(
        f"{line.alpha.value / 1e3:.1f} [{line.alpha.low / 1e3:.1f}, {line.alpha.high / 1e3:.1f}] µs"
    )
    assert line.alpha.low < made_up.START_NS["tcp"] + 840 < line.alpha.high and line.misfit < 0.01
    assert _column(table, "full rate")["tcp"].split("\n")[0] == "12.01 MB/s"


def test_half_the_full_rate_is_passed_where_the_rates_by_size_say_so(found: Findings) -> None:
    cost = _cost(found, "tcp")
    low, high = (cost.point(size) for size in cost.half.between)
    full = cost.points[-1].rate_bytes_per_s
    assert low.rate_bytes_per_s < full / 2 <= high.rate_bytes_per_s
    assert low.size_bytes < cost.half.size.value <= high.size_bytes


def test_without_enough_launches_there_are_dashes_and_the_reason(few: Findings) -> None:
    table = of_costs.cost_table(few.costs)
    assert all(cell == DASH for row in table.rows for cell in row[2:])
    assert "udp: no law: too few launches: 5 of 8" in table.notes and table.caption.endswith("t(n) = α + β n")


def test_a_note_names_the_pair_where_it_is_not_of_all(disturbed: Run, few: Findings) -> None:
    """Three pairs with a law and one without: whose it is cannot be seen from the stack."""
    without = next(cost for cost in few.costs if cost.stack == "udp" and cost.pair == ("h1", "h3"))
    costs = [*Results(disturbed).costs, replace(without, near="h8", far="h9")]
    notes = of_costs.cost_table(costs).notes
    assert "udp (h8 → h9): no law: too few launches: 5 of 8" in notes
    assert not any(note.startswith("udp: no law") for note in notes)
    papers = of_costs.papers_table(costs)
    assert [column.name for column in papers.columns][:2] == ["hosts", "stack"] and papers.rows[-1][0] == "h8 → h9"


def test_a_law_that_fits_badly_between_some_hosts_names_them(jumps: Findings, found: Findings) -> None:
    costs = [*found.costs, *(replace(cost, near="h8", far="h9") for cost in jumps.costs)]
    (note,) = (note for note in of_costs.misfit_notes(costs) if "tcp" in note)
    assert "tcp (h8 → h9)" in note.partition(":")[0]


def test_knees_and_layers_of_several_pairs_say_whose_they_are(jumps: Findings) -> None:
    knees = knees_in([*jumps.costs, *(replace(cost, far="h9") for cost in jumps.costs)])
    assert {row[0] for row in of_costs.knee_table(knees).rows} == {"h1 → h2", "h1 → h9"}
    both = replace(jumps.ladders, items=(*jumps.ladders, replace(jumps.ladders[0], far="h9")))
    assert [table.caption for table in views.tables(both)] == [
        f"What each layer adds, one way, {pair}" for pair in ("h1 → h2", "h1 → h9")
    ]


@pytest.mark.parametrize("ask", ["stream", "pingpongs"])
def test_a_note_of_many_at_once_names_the_pair(tmp_path: Path, ask: str) -> None:
    one = replace(audiences(made_up.write_fanout(tmp_path, blocks=2))[0], ask=ask, clock="barrier", fars=2)
    both = [replace(one, near=near, far=f"{far}*2") for near, far in (("h1", "h2"), ("h3", "h4"))]
    notes = audience_table(both).notes
    assert [pair for pair in ("h1 → h2", "h3 → h4") if any(f", {pair}: no clock" in note for note in notes)] == [
        "h1 → h2",
        "h3 → h4",
    ]


def test_pairs_of_hosts_at_once_are_counted_in_hosts_and_in_pairs(tmp_path: Path) -> None:
    one = replace(audiences(made_up.write_fanout(tmp_path, blocks=2))[0], far="h2+h3+h4", fars=3)
    partners = audience_table([replace(one, ask="partners", each_ns=(2e6, 1e6), overlap=1.0)])
    row = dict(zip((column.name for column in partners.columns), partners.rows[0], strict=True))
    assert (row["at once"], row["each"], row["overlap"]) == ("2", "1.00 ms\n2.00 ms", "100 %") and "hosts" not in row
    bisection = audience_table([replace(one, ask="bisection", size_bytes=1000, typical_ns=1e6, each_ns=(1e6,) * 4)])
    row = dict(zip((column.name for column in bisection.columns), bisection.rows[0], strict=True))
    assert (row["hosts"], row["a host"], row["each"]) == ("4", "1.00 MB/s", "1.00 MB/s\n1.00 MB/s")


def test_floor_and_of_wire_are_explained_where_they_stand(found: Findings, few: Findings) -> None:
    (known,), (unknown,) = (of_costs.measured_table(one.costs).notes for one in (found, few))
    assert "floor is the smallest time of all" in known and "of wire is the rate over" in known
    assert "floor" in unknown and "of wire" not in unknown


def test_what_the_frames_explain_is_no_knee(found: Findings) -> None:
    assert of_costs.knee_table(knees_in(found.costs)).rows == ()
    assert not any("fits badly" in note for note in of_costs.cost_table(found.costs).notes)


@pytest.fixture(scope="module")
def jumps(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """From 1449 bytes on messages take 0.2 ms more than the wire explains."""
    root = tmp_path_factory.mktemp("runs")
    return Results(made_up.write_run(root, stacks=("tcp", "eth"), samples=20, jump=(1472, 200e3))).findings()


def test_a_jump_that_the_frames_do_not_explain_is_found_and_named(jumps: Findings) -> None:
    row = next(row for row in of_costs.knee_table(knees_in(jumps.costs)).rows if row[0] == "tcp")
    assert row[2] == "jump" and "B" in row[1]


def test_a_law_that_fits_badly_is_said_in_one_line_with_its_knee(jumps: Findings) -> None:
    notes = [note for note in of_costs.cost_table(jumps.costs).notes if "the law fits badly" in note]
    assert any("the law changes" in note for note in notes)
    assert sum(cost.stack in note.partition(":")[0].split(", ") for cost in jumps.costs for note in notes) == 2


def test_a_misfit_is_one_number_everywhere(jumps: Findings) -> None:
    """In the table, in the words and in the figure: the share of the measured time by which the law is off."""
    cost = _cost(jumps, "tcp")
    off = max(abs(value) for _, value in of_costs.off_line(cost))
    assert off == pytest.approx(cost.cost.typical.misfit, rel=1e-12) and off > 0.1
    shown = percent_text(off)
    assert _column(of_costs.cost_table(jumps.costs), "misfit")["tcp"] == shown
    assert any(f"a size is missed by {shown} of its time" in point for point in answer(jumps).points)


def test_without_knees_the_frame_limit_is_named_if_the_slope_changes_there(tmp_path: Path) -> None:
    bent = Results(
        made_up.write_run(tmp_path, stacks=("eth",), sizes=(1, 100, 1000, 1400, 4096, 16384, 65536))
    ).findings()
    assert bent.costs[0].knees == ()
    assert of_costs.law_change(bent.costs[0]) == "the law changes between 1400 B and 4 KiB (the limit of one frame)"
    single = Results(made_up.write_run(tmp_path, stacks=("eth",), sizes=(1, 100, 1000, 1400))).findings()
    assert of_costs.law_change(single.costs[0]) == ""
    assert not any("fits badly" in note for note in of_costs.cost_table(single.costs).notes)


def test_the_ladder_adds_up(found: Findings) -> None:
    ladder = found.ladder(("h1", "h2"))
    assert ladder is not None and ladder.names == ("wire", "icmp", "eth", "udp", "tcp")
    table = of_costs.ladder_table(ladder)
    assert table.rows[0][0] == "0 B" and table.rows[0][-2:] == ("53.4 µs", "17 %")
    added = [float(cell.split()[0].replace("−", "-")) for cell in table.rows[0][1:-2]]
    assert sum(added) == pytest.approx(53.4, abs=0.2)


def test_distributions_start_at_the_smallest_time(found: Findings) -> None:
    row = next(row for row in of_costs.distribution_table(found.costs, 64).rows if row[0] == "tcp")
    point = _cost(found, "tcp").point(64)
    assert point and point.quantiles_ns[0] == point.floor_ns
    assert row[1] == f"{point.floor_ns / 1e3:.1f} µs"


def test_hosts_stand_side_by_side(found: Findings) -> None:
    table = of_costs.host_table(found.hosts)
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
    assert any(row[0].startswith(made_up.HOSTILE) for row in of_costs.cost_table(few.costs).rows)


def test_p95_and_p99_stand_with_their_intervals_or_with_how_many_messages_they_take(tmp_path: Path) -> None:
    run = made_up.write_run(tmp_path, stacks=("tcp",), sizes=(1, 64), blocks=10, samples=40)
    table = of_costs.size_table(Results(run).findings().costs[0])
    assert "[" in _column(table, "p95")["64 B"] and _column(table, "p99") == {"1 B": DASH, "64 B": DASH}
    assert "no p99 at 1 B (400 of 500), 64 B (400 of 500): too few messages" in table.notes
