# SPDX-License-Identifier: BSD-3-Clause
"""The reference of what `--json` prints has every key that is printed."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.docs.test_reference import table
from tests.report import made_up

from vaiven.lab.check import CheckReport, Row
from vaiven.results.result import SCHEMA, Result
from vaiven.results.results import KINDS, Results
from vaiven.store.query import Run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/json.md").read_text()
_SPEC = importlib.util.spec_from_file_location("vaiven_reference", ROOT / "docs/_ext/vaiven_reference.py")
assert _SPEC and _SPEC.loader
reference = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(reference)


def documented(heading: str) -> set[str]:
    """The keys of all records that the page has below that heading."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    roots = [name.split(":") for name in re.findall(r"^```\{records\} (\S+)$", section, re.MULTILINE)]
    kinds = [getattr(importlib.import_module(module), name) for module, name in roots]
    return {key for kind in kinds for one in reference.records_in(kind) for key in reference.written_keys(one).values()}


def keys(value: object) -> Iterator[str]:
    """Every key of every object in a document."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from keys(one)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made_up.write_run(
        tmp_path_factory.mktemp("runs"), stacks=("udp", "tcp"), sizes=(8, 1024, 65536), blocks=8, samples=9
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_every_kind_of_result_has_its_columns_on_the_page(kind: type[Result[Any]]) -> None:
    section = PAGE.split(f"\n## {kind.kind}\n", 1)[1].split("\n## ", 1)[0]
    assert f"```{{columns}} {kind.__module__}:{kind.__name__}\n```" in section


def test_what_a_document_says_beside_the_rows_is_on_the_page(run: Run) -> None:
    said = Results(run)
    for one in (said.outcome, said.comparison):
        section = PAGE.split(f"\n## {one.kind}\n", 1)[1].split("\n## ", 1)[0]
        names = {
            name for key, value in one.facts().items() for name in (key, *(value if isinstance(value, dict) else ()))
        }
        assert [name for name in names if f"`{name}`" not in section] == []


@pytest.mark.parametrize(
    ("words", "kinds"),
    [(["model"], {"costs", "sizes", "knees", "warnings"}), (["compare"], {"comparison"})],
)
def test_what_a_command_prints_is_what_the_page_says(vaiven, run: Run, words: list[str], kinds: set[str]) -> None:
    said = json.loads(vaiven(*words, str(run.path), "--json").stdout)
    assert said["schema"] == SCHEMA and kinds <= set(said)
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `vaiven {words[0]} --json`")]
    assert all(f"`{kind}`" in row for kind in kinds)


def test_every_key_of_a_verdict_is_on_the_page(vaiven, run: Run) -> None:
    said = json.loads(vaiven("reproduce", "--run", str(run.path), "--json").stdout)
    assert list(table(PAGE, "vaiven reproduce")) == list(said)
    runs = {key for one in said["verdicts"] for key in one["claim"]["runs"]}  # names of their own
    assert set(keys(said["verdicts"])) - runs - documented("vaiven reproduce") == set()


def test_every_key_of_the_doctor_is_on_the_page(vaiven) -> None:
    said = json.loads(vaiven("doctor", "--json", "--listen-s", "0").stdout)
    assert list(table(PAGE, "vaiven doctor")) == list(said)
    found = {key for name in ("hosts", "links") for host in said[name].values() for key in keys(host)}
    found |= {key for finding in said["findings"] for key in finding}
    free = {key for name in said["hosts"].values() for key in keys(name.get("inventory"))}  # the probe's own words
    assert found - free - documented("vaiven doctor") == set()


def test_every_key_of_a_check_is_on_the_page() -> None:
    row = Row(what="a frame", unit="ns", expected=1.0, median=1.0, p95=1.0, limit=None)
    report = CheckReport(instance="x", said="timed", earned=None, rate_mbps=10.0, hosts=2, rows=(row,),
                         frames_per_s=1.0, door_ns=None, error_ns=None, trains_ns=None, moved_ns=0)  # fmt: skip
    added = {"passed", "decided", "error", "verdict"}
    assert set(keys(report.as_json())) - added <= documented("vaiven lab check")
    assert all(f"`{name}`" in PAGE.split("\n## vaiven lab check\n")[1].split("\n## ")[0] for name in added)
    assert {field.name for field in fields(Row)} < documented("vaiven lab check")


def test_types_are_told_as_json_has_them() -> None:
    told = [reference.json_type(hint) for hint in (tuple[int, ...], float | None, tuple[str, int], dict[str, int], Row)]
    assert told == ["list of integer", "number or null", "list (string, integer)", "object", "object (Row)"]


def test_a_docstring_says_what_fields_mean() -> None:
    class Made:
        """A thing. first: one; second: two. wire_*: both. Other: no field."""

    made = reference.dataclasses.make_dataclass("Made", ["first", "second", "wire_ns", "wire_bytes"])
    made.__doc__ = Made.__doc__
    general, meanings = reference.described(made)
    assert general == "A thing. "
    both = "both. Other: no field."
    assert meanings == {"first": "one", "second": "two.", "wire_ns": both, "wire_bytes": both}
