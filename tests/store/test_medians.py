# SPDX-License-Identifier: BSD-3-Clause
"""The medians of a run that has ended are those of its parts, and are refused where they are not what was written."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.report import made_up

from vaiven.errors import VaivenError
from vaiven.store import query
from vaiven.store.medians import KEY, SCHEMA, made, medians
from vaiven.store.query import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    runs = tmp_path_factory.mktemp("runs")
    return made_up.write_run(runs, stacks=("udp", "tcp"), sizes=(1, 64), blocks=3, samples=9, sentinel_change=0.0)


def test_they_are_medians_over_launches_of_the_launches_medians(run: Run) -> None:
    found = medians(run)
    assert found.schema == pl.Schema(SCHEMA) and found["sentinel"].sum() == 1
    for row in found.filter(~pl.col("sentinel")).iter_rows(named=True):
        launches = query.launches(run).filter(stack=row["stack"], size_bytes=row["size_bytes"])
        assert row["ns"] == launches["ns_median"].median() and row["launches"] == 3


def test_the_file_says_what_the_parts_say(run: Run) -> None:
    assert (run.path / "medians.parquet").exists()
    assert_frame_equal(medians(run), made(run))
    assert_frame_equal(medians(run, "ns_min").drop("ns"), made(run).drop("ns"))
    assert (
        medians(run, "ns_min").filter(~pl.col("sentinel"))["ns"] < medians(run).filter(~pl.col("sentinel"))["ns"]
    ).all()


def test_a_run_that_has_not_ended_has_them_from_its_parts(tmp_path: Path) -> None:
    going_on = made_up.write_run(tmp_path, stacks=("udp",), sizes=(1,), blocks=2, samples=3, ended=False)
    assert not (going_on.path / "medians.parquet").exists() and medians(going_on).select(KEY).height == 1


@pytest.mark.parametrize("harm", [lambda path: path.unlink(), lambda path: path.write_bytes(b"PAR1 of another run")])
def test_a_file_that_is_not_what_was_written_is_refused(tmp_path: Path, harm) -> None:
    run = made_up.write_run(tmp_path, stacks=("udp",), sizes=(1,), blocks=2, samples=3)
    harm(run.path / "medians.parquet")
    with pytest.raises(VaivenError, match=r"the run is damaged: .*medians\.parquet") as refused:
        medians(run)
    assert refused.value.code == "run-damaged"
