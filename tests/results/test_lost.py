# SPDX-License-Identifier: BSD-3-Clause
"""What a run says of launches that lost their time: typed, in its last line, in its marks, beside its medians."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report import made_up
from tests.store import made

from vaiven.report.outcome import closing
from vaiven.report.views import tables
from vaiven.results.marks import marks
from vaiven.results.results import Results
from vaiven.store import query
from vaiven.store.query import Run
from vaiven.store.record import Loss, LostLaunch, Record

STOLEN = Loss(witness="steal", where="cpu1", lost_ns=40_000_000, of_ns=400_000_000)
TAKEN = Loss(witness="real-time", where="cpu0", lost_ns=20_000_000, of_ns=400_000_000)


def lost(launch: int, time: int, *losses: Loss) -> LostLaunch:
    return LostLaunch(launch=launch, block=launch // 2, stack="tcp", ask="pingpong", near="a", far="b", sentinel=False,
                      time=time, losses=losses)  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Launch 2 lost its time once, launch 4 twice and then once more."""
    plan = made_up.write_run(tmp_path / "other", stacks=("tcp",), sizes=(8,), blocks=2).manifest
    with Record.create(tmp_path, plan) as record:
        for one in (lost(2, 1, STOLEN, TAKEN), lost(4, 1, STOLEN), lost(4, 2, TAKEN)):
            record.lose(one)
        for number in range(6):
            launch = replace(made.launch(number), block=number, losses=(STOLEN,) if number == 4 else ())
            record.add(launch, [made.cell(8, [1000 + number] * 3)])
    return query.open_run(record.path)


def test_each_is_a_row_with_what_says_so(run: Run) -> None:
    found = Results(run).lost_times
    assert [(one.launch, one.time, one.kept, one.loss) for one in found] == [
        (2, 1, False, STOLEN), (2, 1, False, TAKEN), (4, 1, False, STOLEN), (4, 2, False, TAKEN), (4, 3, True, STOLEN),
    ]  # fmt: skip
    assert (found.done_again, found.kept) == (3, 1)
    frame = found.to_frame()
    assert frame["share"].to_list() == [0.1, 0.05, 0.1, 0.05, 0.1] and frame["witness"][0] == "steal"
    (table,) = tables(found)
    assert table.rows[0][4:] == ("40.0 ms", "10 %", "cpu1", "steal", "done again")
    assert table.rows[-1][-1] == "kept, and marked"


def test_the_last_line_the_document_and_the_medians_say_it(run: Run) -> None:
    said = Results(run)
    assert "6 launches in 3 s, 3 done again because time was lost, 1 kept although time was lost; " in closing(
        said.outcome
    )
    document = json.loads(said.to_json())
    assert (document["outcome"] and document["ended"]["done_again"], document["ended"]["kept"]) == (3, 1)
    assert [one["marked"] for one in document["sizes"]] == [1] and len(document["lost_times"]) == 5
    assert (said.facts.done_again, said.facts.kept) == (3, 1)


def test_only_what_is_kept_is_a_mark(run: Run, tmp_path: Path) -> None:
    (text,) = (text for code, text in marks(run) if code == "lost-time")
    assert text.startswith("all launches: 1 kept although the machine took up to 10 % of the time; measure where")
    with Record.create(tmp_path, run.manifest) as record:
        record.lose(lost(0, 1, STOLEN))
        record.add(made.launch(0), [made.cell(8, [1, 2, 3])])
    again = query.open_run(record.path)
    assert "lost-time" not in dict(marks(again)) and Results(again).sizes[0].point.marked == 0


def test_a_run_that_lost_nothing_says_nothing(tmp_path: Path) -> None:
    said = Results(made_up.write_run(tmp_path, stacks=("tcp",), sizes=(8,), blocks=8))
    assert not said.lost_times and "time was lost" not in closing(said.outcome)
    assert "lost_times" not in json.loads(said.to_json())
