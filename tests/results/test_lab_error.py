# SPDX-License-Identifier: BSD-3-Clause
"""What of a number may be the lab's own error: typed, beside each number that it touches, in tables and documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report import made_up
from tests.store.made import changed

from vaiven.report.costs import ratio_table
from vaiven.report.several import audience_table
from vaiven.report.table import ERROR_NOTE
from vaiven.report.views import tables
from vaiven.results.lab_error import LabError, of_calibration
from vaiven.results.results import Results
from vaiven.store.query import Run, open_run

CHECKED = {"door_ns": 1_200, "error_ns": 1_600, "trains_ns": 9_000, "checked_utc": "2026-01-31T12:00:00Z"}


def on_lab(run: Run, calibration: object) -> Results:
    """The run as one of a lab of that calibration."""
    fabric = {"kind": "switch", "class": "timed", "rate_mbps": 100}
    lab = {"name": "demo", "fabric": fabric}
    changed(run.path / "manifest.json", place={"kind": "lab", "lab": lab, "hosts": [], "calibration": calibration})
    return Results(open_run(run.path))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made_up.write_run(tmp_path, stacks=("eth", "udp"), sizes=(8, 1024, 65536), blocks=8, samples=9)


@pytest.mark.parametrize(
    ("found", "known"),
    [
        (CHECKED, LabError(lone_ns=1_600, trains_ns=9_000, checked_utc=CHECKED["checked_utc"])),
        (CHECKED | {"trains_ns": None}, LabError(lone_ns=1_600, trains_ns=None, checked_utc=CHECKED["checked_utc"])),
        (
            CHECKED | {"trains_ns": None, "by": "trial"},
            LabError(lone_ns=1_600, trains_ns=None, checked_utc=CHECKED["checked_utc"], by="trial"),
        ),
        (CHECKED | {"error_ns": "1600", "trains_ns": -1}, LabError(lone_ns=None, trains_ns=None, checked_utc="")),
        (CHECKED | {"checked_utc": ""}, LabError(lone_ns=None, trains_ns=None, checked_utc="")),
        ({"door_ns": 1000}, LabError(lone_ns=None, trains_ns=None, checked_utc="")),
        ({}, None),
        (None, None),
    ],
)
def test_what_a_manifest_says_is_read_and_what_it_says_wrongly_is_not_known(found: object, known: object) -> None:
    assert of_calibration(found) == known


def test_a_lone_frame_and_a_train_have_their_own() -> None:
    error = of_calibration(CHECKED)
    assert error and [error.of_message(frames) for frames in (1, 2, 700, None)] == [1_600, 9_000, 9_000, None]


def test_it_stands_beside_each_size_each_alpha_and_the_lowest_layer(run: Run) -> None:
    said = on_lab(run, CHECKED)
    document = json.loads(said.to_json())
    assert {(one["size_bytes"], one["lab_error_ns"]) for one in document["sizes"]} == {
        (8, 1_600), (1024, 1_600), (65536, 9_000),
    }  # fmt: skip
    assert [one["lab_error_ns"] for one in document["costs"]] == [1_600, 1_600]
    rungs = {(one["layer"], one["size_bytes"]): one["lab_error_ns"] for one in document["ladders"]}
    assert rungs["eth", 8] == 1_600 and rungs["eth", 65536] == 9_000
    assert {ns for (layer, _), ns in rungs.items() if layer != "eth"} == {None}


def test_the_tables_show_it_and_say_what_it_is(run: Run) -> None:
    said = on_lab(run, CHECKED)
    measured, law = tables(said.costs)
    cells = dict(zip((one.name for one in measured.columns), measured.rows[0], strict=True))
    assert cells["above wire"].split("\n")[1].split() == ["±", "1.60", "µs"] and "± 0." in cells["of wire"]
    assert ERROR_NOTE in measured.notes and "± 1.60" in law.rows[0][1].replace("\u00a0", " ")
    (first, *_), *_ = (table.rows for table in tables(said.sizes))
    assert any("±" in cell for cell in first)
    assert all("±" in cell for row in ratio_table(said.costs).rows for cell in row[1:])
    (ladder,) = tables(said.ladders)
    names = [one.name for one in ladder.columns]
    assert ["±" in cell for cell in ladder.rows[0]] == [name == "eth" for name in names]


@pytest.mark.parametrize("calibration", [None, {"door_ns": 1000}])
def test_where_nobody_knows_nothing_is_shown(run: Run, calibration: object) -> None:
    said = on_lab(run, calibration)
    for one in (said.costs, said.sizes, said.ladders):
        assert set(one.to_frame()["lab_error_ns"]) == {None}
        assert not any("±" in cell for table in tables(one) for row in table.rows for cell in row)
        assert not any(ERROR_NOTE in table.notes for table in tables(one))


def test_questions_with_several_far_ends_have_it_too(tmp_path: Path) -> None:
    run = made_up.write_fanout(tmp_path)
    assert set(Results(run).audiences.to_frame()["lab_error_ns"]) == {None}
    said = on_lab(run, CHECKED)
    assert {one.lab_error_ns for one in said.audiences} == {1_600}
    table = audience_table([one for one in said.audiences if one.ask == "fanout"])
    over = [one.name for one in table.columns].index("over wire")
    assert any("±" in row[over] for row in table.rows) and ERROR_NOTE in table.notes
