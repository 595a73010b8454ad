# SPDX-License-Identifier: BSD-3-Clause
"""The reference of run directories has every column and key that the store writes, and no other."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import msgspec
import polars as pl
import pytest
from tests.store.made import cell, launch, manifest

from vaiven.store import medians, parts, record
from vaiven.store.record import LaunchRecord, Record

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/run-directory.md"
_TYPES = {"i32": pl.Int32, "i64": pl.Int64, "f64": pl.Float64, "str": pl.String, "bool": pl.Boolean}


def table(page: str, heading: str) -> dict[str, str]:
    """name -> type of the first table below that heading; names that share a row, a type."""
    section = page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.search(r"^\|.*\n\|[-| ]+\n((?:\|.*\n)+)", section, re.MULTILINE)
    assert rows, heading
    cells = [[part.strip() for part in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows[1].splitlines()]
    return {name: about[1] for about in cells for name in re.findall(r"`([^`]+)`", about[0])}


@pytest.mark.parametrize(
    ("heading", "schema"),
    [
        ("Samples", parts.SAMPLES_SCHEMA),
        ("Cells", parts.CELLS_SCHEMA),
        ("Traces", parts.TRACES_SCHEMA),
        ("Medians", medians.SCHEMA),
    ],
)
def test_the_columns_of_the_page_are_those_of_the_store(heading: str, schema: dict[str, type[pl.DataType]]) -> None:
    told = {name: _TYPES[kind.partition(",")[0]] for name, kind in table(PAGE.read_text(), heading).items()}
    assert told == schema
    assert list(told) == list(schema)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has every file."""
    with Record.create(tmp_path_factory.mktemp("runs"), manifest()) as open_run:
        segment = record.Segment(5, True, False, 0, 0, 8)
        trace = record.Trace(
            ask="first", size_bytes=8, segment_bytes=1448, began_ns=(1, 2, 3), near=(segment,), far=(segment,)
        )
        open_run.add(launch(0), [cell(8, [10, None])], [trace])
        open_run.warn("quiet", "nothing was heard")
        addition = record.Addition(
            stack="tcp", ask="pingpong", near="a", far="b", sizes_bytes=(9,), why="a knee", knee=True,
            low_bytes=8, high_bytes=10,
        )  # fmt: skip
        open_run.refine(record.Refined(blocks=1, additions=(addition,)))
        loss = record.Loss(witness="steal", where="cpu1", lost_ns=20_000_000, of_ns=10**9)
        open_run.lose(
            record.LostLaunch(launch=0, block=0, stack="tcp", ask="pingpong", near="a", far="b", sentinel=False, time=1,
                              losses=(loss,))
        )  # fmt: skip
        looks = (record.Look(launches=1, half_width=None, cell="tcp 8 B"),)
        open_run.end(
            record.End(reason="done", blocks=1, launches=1, failed=0, half_width=None, cell="tcp 8 B", looks=looks)
        )
    return open_run.path


@pytest.mark.parametrize(
    "name", ["manifest.json", "launches/LLLLL.json", "warnings.jsonl", "refined.jsonl", "lost.jsonl", "end.json"]
)
def test_the_keys_of_the_page_are_those_that_are_written(run: Path, name: str) -> None:
    document = msgspec.json.decode((run / name.replace("LLLLL", "00000")).read_bytes())
    assert set(table(PAGE.read_text(), name)) == set(document)


def test_what_is_in_a_look_and_in_an_addition_is_named() -> None:
    page = PAGE.read_text()
    inner = [
        *msgspec.structs.fields(record.Look),
        *msgspec.structs.fields(record.Addition),
        *msgspec.structs.fields(record.Loss),
    ]
    assert [field.name for field in inner if f"`{field.name}`" not in page] == []
    assert {field.name for field in fields(LaunchRecord)} < set(table(page, "launches/LLLLL.json"))


def test_every_file_of_a_run_is_on_the_page(run: Path) -> None:
    there = {re.sub(r"\d{5}", "LLLLL", path.relative_to(run).as_posix()) for path in run.rglob("*") if path.is_file()}
    first = re.findall(r"^\| `([\w/]+\.\w+)` \|", PAGE.read_text(), re.MULTILINE)
    assert set(first) == there


def test_a_table_is_read() -> None:
    page = "\n## A\nwords\n\n| key | type | is |\n|---|---|---|\n| `a`, `b` | i32, null | `x` |\n\n## B\n"
    assert table(page, "A") == {"a": "i32, null", "b": "i32, null"}
