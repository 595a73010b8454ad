# SPDX-License-Identifier: BSD-3-Clause
"""A run in the words of claims."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.store import made

from vaiven.papers.measured import Measured
from vaiven.store import query
from vaiven.store.record import STEPS, Record

from . import runs


def seconds(_stack: str, size: int, host: str) -> float:
    return 1e-3 + size * (1e-6 if host == "sofia" else 2e-6)


def step(part: str, _stack: str, _size: int, _host: str) -> float:
    return {"encode": 1e-6, "send": 5e-6, "decode": 2e-6, "translate": 0.0}[part]


@pytest.fixture(scope="module")
def words() -> dict[str, Any]:
    return runs.measured(seconds, step, noise=0.0).reading().words()


def test_times_are_one_way(words: dict[str, Any]) -> None:
    assert words["t"]("tcp", 1000, "sofia")[0] == pytest.approx(2e-3)
    assert words["alpha"]("tcp", "sofia")[0] == pytest.approx(1.008e-3)
    assert words["bw"]("tcp", 1000, "sofia")[0] == pytest.approx(500e3)
    assert words["bwmax"]("tcp", "sofia")[0] == pytest.approx(1e7 / 10.001)
    assert words["t"]("udp", 8, "paris") == pytest.approx(np.full(2001, 1.016e-3))  # every resample says the same


def test_steps_of_the_processor(words: dict[str, Any]) -> None:
    cell = "pvm-direct-xdr", 8, "sofia"
    assert words["encode"](*cell)[0] == pytest.approx(1e-6)
    assert words["decode"](*cell)[0] == pytest.approx(2e-6)
    assert words["translate"](*cell) == pytest.approx(np.zeros(2001))
    assert words["coding"](*cell)[0] == pytest.approx(3e-6)


def test_hosts_by_what_they_are(words: dict[str, Any]) -> None:
    assert words["HOSTS"] == ("tilcara", "fourier", "paris", "sofia", "prited")
    assert words["SAME_REP"] == ("tilcara", "fourier") and words["OTHER_REP"] == ("paris", "sofia", "prited")
    assert words["OK_HOSTS"] == ("tilcara", "fourier", "paris") and words["DEFECT_HOSTS"] == ("sofia", "prited")
    assert words["SMALL_MEM_HOSTS"] == ("tilcara", "prited")
    assert words["LINK"] == 1.25e6 and words["MiB"] == 2**20


def test_a_resample_takes_the_same_blocks_of_everything() -> None:
    """Where every block is slow or quick as a whole, ratios within it do not vary."""
    measured = runs.measured(seconds, step, noise=0.0)
    for cell in measured.cells.values():
        for block in cell:
            cell[block] *= 1 + block / 10
    reading = measured.reading()
    found = reading.t("tcp", 1000, "sofia"), reading.t("udp", 1000, "sofia")
    assert np.ptp(found[0]) > 1e-4 and found[0] / found[1] == pytest.approx(np.ones(2001))
    assert reading.launches == 8


def test_the_cell_with_the_fewest_launches_counts() -> None:
    measured = runs.measured(seconds, step)
    del measured.cells["tcp", "", "sofia", 8][3]
    reading = measured.reading()
    reading.t("udp", 8, "sofia")
    assert reading.launches == 8
    reading.alpha("tcp", "sofia")
    assert reading.launches == 7


def test_a_run_is_read_and_ping_pongs_count_rather_than_steps(tmp_path: Path) -> None:
    def launch(number: int, ask: str):
        return replace(made.launch(number, "pvm-direct-xdr"), near="purmamarca", far="sofia", ask=ask)

    steps = [replace(made.cell(8, [5000 + at]), ask="steps", part=part) for at, part in enumerate(("", *STEPS))]
    with Record.create(tmp_path, runs.manifest(("purmamarca", "sofia"))) as record:
        record.add(launch(0, "steps"), [*steps, replace(made.cell(9, [7000]), ask="steps")])
        record.add(launch(1, "pingpong"), [made.cell(8, [3000])])
    reading = Measured.of_run(query.open_run(record.path)).reading()
    assert reading.t("pvm-direct-xdr", 8, "sofia")[0] == pytest.approx(1.5e-6)
    assert reading.t("pvm-direct-xdr", 9, "sofia")[0] == pytest.approx(3.5e-6)
    assert reading.words()["encode"]("pvm-direct-xdr", 8, "sofia")[0] == pytest.approx(5.001e-6)
