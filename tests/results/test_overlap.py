# SPDX-License-Identifier: BSD-3-Clause
"""What a run that asked overlap says of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store import made

from vaiven.errors import VaivenError
from vaiven.results.overlap import overlaps
from vaiven.store import query
from vaiven.store.record import Cell, Record


def cells(both_ns: int, talk_ns: int, work_ns: int) -> list[Cell]:
    """A cell of 1000 bytes of which each sample was the same; nothing came where there is no time of both."""
    whole = replace(made.cell(1000, [both_ns or None] * 2), ask="overlap")
    beside = [replace(made.cell(1000, [ns] * 2 if both_ns else []), ask="overlap", part=part)
              for part, ns in (("talk", talk_ns), ("work", work_ns))]  # fmt: skip
    return [whole, *beside]


def test_the_share_of_each_launch_counts(tmp_path: Path, vaiven: Callable) -> None:
    with Record.create(tmp_path, made.manifest()) as record:
        for number, both_ns in enumerate((120, 150, 200)):
            record.add(made.launch(number), cells(both_ns, 100, 100))
        record.add(made.launch(3), cells(0, 0, 0))  # all of it was lost
    (found,) = overlaps(query.open_run(record.path))
    assert (found.stack, found.near, found.far, found.size_bytes) == ("tcp", "a", "b", 1000)
    assert (found.talk_ns, found.work_ns, found.both_ns, found.typical_share) == (100, 100, 150, 0.5)
    assert "50 %" in vaiven("model", str(record.path), "--ask", "overlap").stdout
    (told,) = json.loads(vaiven("model", str(record.path), "--ask", "overlap", "--json").stdout)["overlaps"]
    assert told["hidden"] == 0.5 and told["hidden_low"] is None


def test_a_run_that_did_not_ask_says_how_to(tmp_path: Path) -> None:
    with Record.create(tmp_path, made.manifest()) as record:
        record.add(made.launch(0), [made.cell(8, [1])])
    with pytest.raises(VaivenError, match="no finished launch of overlap") as caught:
        overlaps(query.open_run(record.path))
    assert "--questions overlap" in caught.value.remedy
