# SPDX-License-Identifier: BSD-3-Clause
"""The public form of results: what programs of others read does not change behind their backs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import polars as pl
import pytest
from tests.report import made_up

from vaiven.results.result import SCHEMA, json_schema
from vaiven.results.results import KINDS, Results
from vaiven.store.query import Run

GOLDEN = Path(__file__).parent / f"schema-{SCHEMA}.json"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that was asked nearly everything."""
    ns = {"o_s": 3e3, "o_r": 2e3, "g": 5e3, "L": 20e3}
    root = tmp_path_factory.mktemp("runs")
    return made_up.write_run(
        root, stacks=("eth", "udp", "tcp"), sizes=(8, 1024, 4096, 65536), blocks=9, samples=9, loggp_ns=ns,
        one_way_ns={("h1", "h2"): 30e3, ("h2", "h1"): 31e3}, sentinel_change=0.05,
    )  # fmt: skip


def test_the_schema_is_the_one_that_was_published() -> None:
    """A column that goes, or is of another type, is a new number of SCHEMA with a file of its own; one more is not.

    `vaiven export schema` writes the file."""
    assert json_schema(KINDS) == json.loads(GOLDEN.read_text())


def test_a_column_never_goes() -> None:
    published = json.loads(GOLDEN.read_text())["properties"]
    now = {kind.kind: {one.name for one in kind.columns} for kind in KINDS}
    for kind, about in published.items():
        if "items" in about and "properties" in about["items"]:
            assert set(about["items"]["properties"]) <= now[kind]


def test_documents_are_valid(run: Run) -> None:
    schema = json.loads(GOLDEN.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    said = Results(run)
    whole = json.loads(said.to_json())
    jsonschema.validate(whole, schema)
    kinds = {kind.kind for kind in KINDS} & set(whole)
    assert kinds >= {"outcome", "warnings", "costs", "sizes", "ladders", "asymmetries", "loggp", "comparison"}
    for one in said:
        jsonschema.validate(json.loads(one.to_json()), schema)


def test_frames_and_documents_say_the_same(run: Run) -> None:
    for one in Results(run):
        frame = one.to_frame()
        assert frame.columns == [column.name for column in one.columns]
        rows = json.loads(one.to_json())[one.kind]
        assert len(rows) == frame.height > 0
        for row, told in zip(frame.iter_rows(named=True), rows, strict=True):
            assert {name: _as_json(value) for name, value in row.items()} == told


def _as_json(value: object) -> object:
    if isinstance(value, list):
        return [_as_json(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def test_an_empty_result_has_its_columns(tmp_path: Path) -> None:
    said = Results(made_up.write_run(tmp_path, stacks=("udp",), sizes=(8,), blocks=2, samples=3))
    assert not said.audiences and said.audiences.to_frame().schema["far"] == pl.String
    assert json.loads(said.audiences.to_json())["audiences"] == []


def test_every_name_is_one_word_with_its_unit_last() -> None:
    units = ("ns", "bytes", "ns_per_byte", "bytes_per_s")
    for kind in KINDS:
        names = [one.name for one in kind.columns]
        assert len(set(names)) == len(names) and all(one.meaning for one in kind.columns)
        for name in names:
            assert all(part and (part.islower() or part in ("L", "G")) for part in name.split("_")), name
            if any(f"_{unit}_" in f"{name}_" for unit in units):
                assert name.endswith(units), name


def test_frames_of_pandas_are_the_same(run: Run) -> None:
    costs = Results(run).costs
    found = costs.to_pandas()
    assert list(found.columns) == costs.to_frame().columns and len(found) == len(costs)
    assert found["alpha_ns"].tolist() == costs.to_frame()["alpha_ns"].to_list()
    assert found["stack"].tolist() == ["eth", "udp", "tcp"]
