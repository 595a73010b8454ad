# SPDX-License-Identifier: BSD-3-Clause
"""The ladder has every rung that was measured, from the wire to a library and its encoding, and none twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.made_up import write_run

from vaiven.report.views import tables
from vaiven.results.ladders import layers_of
from vaiven.results.results import Results


@pytest.mark.parametrize(
    ("stacks", "layers"),
    [
        ("tcp udp eth icmp", "icmp eth udp tcp"),
        ("openmpi mpich tcp tcp-nagle udp", "udp tcp openmpi"),
        ("mpich tcp", "tcp mpich"),
        ("icmp tcp pvm-direct-xdr pvm-direct-raw openmpi", "icmp tcp pvm-direct-raw pvm-direct-xdr"),
        ("pvm-direct-trans pvm-direct-xdr pvm-default-xdr icmp", "icmp pvm-direct-trans pvm-direct-xdr"),
        ("pvm-direct-raw openmpi tcp", "tcp openmpi"),
        ("pvm-direct-raw tcp", "tcp pvm-direct-raw"),
        ("pvm-direct-xdr tcp openmpi", "tcp openmpi"),
        ("pvm-direct-xdr tcp", "tcp pvm-direct-xdr"),
        ("llc tcp@a", ""),
    ],
)
def test_which_stacks_stand_on_each_other(stacks: str, layers: str) -> None:
    assert layers_of(tuple(stacks.split())) == tuple(layers.split())


def test_all_rungs_stand_in_one_table(tmp_path: Path) -> None:
    rungs = ("icmp", "eth", "udp", "tcp", "pvm-direct-raw", "pvm-direct-xdr")
    start_ns = {rung: 10e3 * (place + 1) for place, rung in enumerate(rungs)}
    run = write_run(tmp_path, stacks=rungs, sizes=(64, 1024), blocks=8, start_ns=start_ns)
    (one,) = Results(run).ladders
    assert one.ladder.names == ("wire", *rungs)
    (table,) = tables(Results(run).ladders)
    assert [column.name for column in table.columns] == ["size", "wire", *rungs, "together", "CPU"]
    assert sum(rung.ns[0] for rung in one.ladder.rungs) == pytest.approx(one.ladder.total_ns[0])
