# SPDX-License-Identifier: BSD-3-Clause
"""The verdicts of a run, as a table and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.papers import runs
from tests.store import made

from vaiven.cli.reproduce import reproduce
from vaiven.store.record import Record

ONE_WAY_NS = {"pvm-default-xdr": 2_000_000, "pvm-direct-xdr": 1_000_000}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of 8 launches, which knows nothing but two latencies."""
    with Record.create(tmp_path_factory.mktemp("runs"), runs.manifest(("purmamarca", "sofia"))) as record:
        for number in range(16):
            stack = sorted(ONE_WAY_NS)[number % 2]
            launch = replace(made.launch(number, stack), near="purmamarca", far="sofia")
            record.add(launch, [made.cell(8, [2 * ONE_WAY_NS[stack] + 1000 * number])])
    return str(record.path)


def test_what_this_run_can_tell(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    reproduce(path)
    said = capsys.readouterr().out
    rows = {line.split()[0]: line for line in said.splitlines() if line[:1] == "A" and line[1:3].isdigit()}
    assert "holds" in rows["A26"] and "2.00 ×" in rows["A26"] and "A17" not in rows
    assert "others cannot be told from this run" in said


def test_what_would_be_needed_for_the_others(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    reproduce(path, every=True)
    said = " ".join(capsys.readouterr().out.split())
    assert "not measurable here" in said and "pvm-default-xdr to prited: not measured" in said
    assert "others cannot be told" not in said


def test_as_json(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    reproduce(path, as_json=True)
    said = json.loads(capsys.readouterr().out)
    found = {one["claim"]["id"]: one for one in said["verdicts"]}
    assert found["A26"]["word"] == "holds" and 1 < found["A26"]["interval"]["low"] <= found["A26"]["margin"]
    assert found["A17"]["margin"] is None and found["A17"]["interval"]["refused"]
