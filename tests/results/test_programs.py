# SPDX-License-Identifier: BSD-3-Clause
"""What a run that asked about whole programs says of them."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest
from tests.store import made

from vaiven.model.programs import ProgramTime
from vaiven.report.programs import program_tables
from vaiven.results.audiences import audiences
from vaiven.results.programs import ProgramTimes, programs
from vaiven.results.results import Results
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import Cell, CourseRecord, DesignRecord, Record

POINTS = 64
STACKS = {"openmpi": 1.0, "openmpi-llc": 0.5}
EACH_NS = {2: (900, 1000), 4: (600, 500, 400, 500)}


def cells(processes: int, scale: float, communicating: float = 0.75) -> list[Cell]:
    """What every sample said, of which the slowest process communicates so much."""
    each = [round(scale * ns) for ns in EACH_NS[processes]]
    parts = {"": max(each), "computing": round((1 - communicating) * max(each)),
             "communicating": round(communicating * max(each))}  # fmt: skip
    parts |= {f"to:{number}": ns for number, ns in enumerate(each)}
    return [replace(made.cell(8 * POINTS, [ns] * 3), ask="fft", part=part) for part, ns in parts.items()]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Of two stacks on two and four hosts in eight blocks, each slower than the one before; and ping-pongs of two
    sizes, between which that of the transform of two lies."""
    design = DesignRecord(courses=tuple(CourseRecord(stack=stack, ask="fft") for stack in STACKS))
    manifest = msgspec.structs.replace(made.manifest(), design=design)
    with Record.create(tmp_path_factory.mktemp("runs"), manifest) as record:
        number = 0
        for block in range(8):
            for stack, share in STACKS.items():
                for processes, far in ((2, "b"), (4, "b+c+d")):
                    launch = replace(made.launch(number, stack), block=block, ask="fft", far=far, fars=processes - 1)
                    record.add(launch, cells(processes, share * (1000 + block)))
                    number += 1
        ping = replace(made.launch(number, "openmpi"), block=0)
        record.add(ping, [made.cell(size, [2 * ns] * 3) for size, ns in ((32, 40_000), (256, 264_000))])
    return query.open_run(record.path)


@pytest.fixture(scope="module")
def found(run: Run) -> dict[tuple[str, int], ProgramTime]:
    return {(one.stack, one.processes): one for one in programs(run)}


def test_the_slowest_process_counts_and_the_mean_over_all_stands_beside_it(found) -> None:
    one = found["openmpi", 4]
    assert (one.ask, one.near, one.far, one.number, one.size_bytes) == ("fft", "a", "b+c+d", 64, 512)
    assert one.typical_ns == pytest.approx(600 * 1003.5) and one.mean_ns == pytest.approx(500 * 1003.5)
    assert one.deviation == pytest.approx(81.65 / 500, rel=1e-3)
    assert one.typical_share == pytest.approx(0.75) and one.communicating_ns == pytest.approx(450 * 1003.5)
    assert one.time.low < one.typical_ns < one.time.high


def test_it_is_held_against_the_fewest_processes_and_the_first_stack(found) -> None:
    assert found["openmpi", 4].to_fewest.value == pytest.approx(0.6)
    assert found["openmpi", 2].to_fewest.value is None
    assert found["openmpi-llc", 4].to_first.value == pytest.approx(0.5)
    assert found["openmpi", 4].to_first.value is None


def test_communication_is_foretold_by_its_messages(found) -> None:
    """Of two processes three messages of a fourth of the points; of four nine of a sixteenth."""
    assert found["openmpi", 2].predicted_ns == pytest.approx(3 * (40_000 + 1000 * (128 - 32)))
    assert found["openmpi", 4].predicted_ns == pytest.approx(9 * 40_000)
    assert found["openmpi", 4].to_predicted == pytest.approx(450 * 1003.5 / 360_000)
    assert found["openmpi-llc", 2].predicted_ns is None and found["openmpi-llc", 2].to_predicted is None


def test_nothing_else_takes_them_for_messages(run: Run) -> None:
    assert len(audiences(run)) == 0
    with pytest.raises(Exception, match="no finished launch of fanout"):
        Results(run).answer("fanout")
    answer = Results(run).answer("fft")
    assert isinstance(answer, ProgramTimes) and len(answer) == 4
    row = json.loads(answer.to_json())["programs"][0]
    assert (row["stack"], row["processes"], row["number"]) == ("openmpi", 2, 64)


def test_stacks_are_compared_by_it(run: Run) -> None:
    compared = Results(run).compare("openmpi-llc", "openmpi", ask="fft")
    assert [(one.near, one.far) for one in compared] == [("a", "b"), ("a", "b+c+d")]
    assert [one.verdict(512).evidence.ratio.value for one in compared] == pytest.approx([0.5, 0.5], rel=1e-3)


def test_a_table_has_a_row_for_each(found) -> None:
    (table,) = program_tables(list(found.values()))
    assert table.caption.startswith("A Fourier transform") and len(table.rows) == 4
    headings = [column.name for column in table.columns]
    row = dict(zip(headings, table.rows[1], strict=True))
    assert (row["points"], row["stack"], row["processes"], row["share"]) == ("64", "openmpi", "4", "75 %")
    assert (
        row["over fewest"].startswith("0.6") and row["over first"] == "–" and row["over predicted"].startswith("1.25")
    )
