# SPDX-License-Identifier: BSD-3-Clause
"""A run as cells by block, and what its launches and resamples of them say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.store import made

from vaiven.papers.measured import Cell, Measured
from vaiven.papers.needs import Needs
from vaiven.papers.words import Reading
from vaiven.store import query
from vaiven.store.record import STEPS, LaunchRecord, Record

from . import runs

HOSTS = ("purmamarca", "sofia")
PLAIN = {"ask": "pingpong", "part": "", "near": "purmamarca", "far": "sofia", "fars": 1, "size_bytes": 8, "count": 9}
TCP, UDP = (Cell("pingpong", stack, "", "purmamarca", "sofia", 1, 8) for stack in ("tcp", "udp"))


def test_a_resample_takes_the_same_blocks_of_everything() -> None:
    """Where every block is slow or quick as a whole, ratios within it do not vary."""
    rows = [
        PLAIN | {"stack": stack, "block": block, "ns_median": ns * (1 + block / 10)}
        for stack, ns in (("tcp", 2e6), ("udp", 1e6))
        for block in range(8)
    ]
    measured = Measured(runs.manifest("cetad", HOSTS), rows)
    tcp, udp = measured.seconds(TCP), measured.seconds(UDP)
    assert tcp.shape == (2001,) and np.ptp(tcp) > 1e-4 and tcp / udp == pytest.approx(np.full(2001, 2.0))
    assert tcp[0] == pytest.approx(2e-3 * 1.35, rel=1e-3)


def test_the_cell_with_the_fewest_launches_counts() -> None:
    rows = [
        PLAIN | {"stack": stack, "block": block, "ns_median": 1e6} for stack in ("tcp", "udp") for block in range(8)
    ]
    reading = Reading(Measured(runs.manifest("cetad", HOSTS), rows[1:]), Needs())
    reading.t("udp", 8, "sofia")
    assert reading.launches == 8
    reading.alpha("tcp", "sofia")
    assert reading.launches == 7 and reading.modelled == ("sofia",)


def launch(number: int, ask: str, **other: object) -> LaunchRecord:
    return replace(made.launch(number, "pvm-direct-xdr"), near="purmamarca", far="sofia", ask=ask, **other)


def test_a_run_is_read_and_ping_pongs_count_rather_than_steps(tmp_path: Path) -> None:
    steps = [
        replace(made.cell(8, [5000 + at]), ask="steps", part=part, out_bytes=80) for at, part in enumerate(("", *STEPS))
    ]
    with Record.create(tmp_path, runs.manifest("cetad", HOSTS)) as record:
        record.add(launch(0, "steps"), [*steps, replace(made.cell(9, [7000]), ask="steps")])
        record.add(launch(1, "pingpong"), [made.cell(8, [3000])])
    reading = Reading(Measured.of_run(query.open_run(record.path)), Needs())
    assert reading.t("pvm-direct-xdr", 8, "sofia")[0] == pytest.approx(1.5e-6)
    assert reading.t("pvm-direct-xdr", 9, "sofia")[0] == pytest.approx(3.5e-6)
    assert reading.words()["encode"]("pvm-direct-xdr", 8, "sofia")[0] == pytest.approx(5.001e-6)
    assert reading.held("pvm-direct-xdr", 8, "sofia") == 80


def test_the_first_messages_of_a_launch_have_a_mean_of_their_own(tmp_path: Path) -> None:
    with Record.create(tmp_path, runs.manifest("cetad", HOSTS)) as record:
        record.add(launch(0, "pingpong"), [made.cell(1, [1000] * 50 + [3000] * 20), made.cell(9, [5000] * 70)])
    reading = Reading(Measured.of_run(query.open_run(record.path)), Needs())
    assert reading.alpha_first("pvm-direct-xdr", "sofia", 50)[0] == pytest.approx(0.5e-6)
    assert reading.alpha_first("pvm-direct-xdr", "sofia", 60)[0] == pytest.approx(0.5e-6 * (50 + 30) / 60)
    assert reading.words()["tau_first"]("pvm-direct-xdr", 9, "sofia", 50)[0] == pytest.approx(0.25e-6)
    with pytest.raises(Exception, match="not measured"):
        reading.alpha_first("pvm-direct-xdr", "sofia", 80)


def test_what_left_the_first_host_is_counted_by_payload(tmp_path: Path) -> None:
    with Record.create(tmp_path, runs.manifest("cetad", HOSTS)) as record:
        for fars, sent in ((1, 1_100_000), (5, 5_500_000)):
            one = launch(fars, "fanout", fars=fars, path={"tx_bytes": sent})
            cell = replace(made.cell(10_000, [5] * 90), ask="fanout", warmup=10)
            record.add(one, [cell, replace(cell, part="to:1")])
    crossed = Measured.of_run(query.open_run(record.path)).crossed
    assert {key: list(values.values()) for key, values in crossed.items()} == {
        ("pvm-direct-xdr", 1): [pytest.approx(1.1)],
        ("pvm-direct-xdr", 5): [pytest.approx(5.5)],
    }
