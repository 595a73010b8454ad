# SPDX-License-Identifier: BSD-3-Clause
"""What a run that asked steps says of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store import made

from vaiven.errors import VaivenError
from vaiven.results.steps import steps
from vaiven.store import query
from vaiven.store.record import STEPS, Cell, Record


def cells(rtt_ns: int, *steps_ns: int) -> list[Cell]:
    """A cell of 1000 bytes of which each sample was the same; nothing came where there is no round trip."""
    whole = replace(made.cell(1000, [rtt_ns or None] * 2), ask="steps", out_bytes=0, in_bytes=4112, translations=1)
    beside = [replace(made.cell(1000, [ns] * 2 if rtt_ns else []), ask="steps", part=part)
              for part, ns in zip(STEPS, steps_ns, strict=True)]  # fmt: skip
    return [whole, *beside]


def test_medians_of_launches_and_the_share_of_one_way(tmp_path: Path) -> None:
    with Record.create(tmp_path, made.manifest()) as record:
        for number, scale in enumerate((1, 2, 5)):
            record.add(made.launch(number), cells(10_000 * scale, 300 * scale, 4000, 200 * scale, 100 * scale))
        record.add(made.launch(3), cells(0, 0, 0, 0, 0))  # all of it was lost
    run = query.open_run(record.path)
    said = steps(run)
    (found,) = said
    assert (found.stack, found.near, found.far, found.size_bytes) == ("tcp", "a", "b", 1000)
    assert (found.encode_ns, found.send_ns, found.decode_ns, found.translate_ns) == (600, 4000, 400, 200)
    assert found.typical_share == pytest.approx(0.12)
    assert (found.out_bytes, found.in_bytes, found.translations) == (0, 4112, 1)
    assert json.loads(said.to_json())["steps"][0]["decode_ns"] == 400


def test_a_run_that_did_not_ask_says_how_to(tmp_path: Path) -> None:
    with Record.create(tmp_path, made.manifest()) as record:
        record.add(made.launch(0), [made.cell(8, [1])])
    with pytest.raises(VaivenError, match="no finished launch of steps") as caught:
        steps(query.open_run(record.path))
    assert "--questions steps" in caught.value.remedy
