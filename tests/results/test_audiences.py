# SPDX-License-Identifier: BSD-3-Clause
"""What a run that asked questions with several far ends says of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.store import made

from vaiven.results.audiences import audiences
from vaiven.store import query
from vaiven.store.record import Record


def test_several_connections_are_held_against_the_one_of_the_same_hosts(tmp_path: Path) -> None:
    """Of two pairs, of which one is ten times as far as the other."""
    with Record.create(tmp_path, made.manifest()) as record:
        for number, (far, fars, ns) in enumerate([("b", 1, 100), ("b*2", 2, 150), ("c", 1, 1000), ("c*2", 2, 1500)]):
            launch = replace(made.launch(number), block=0, ask="stream", far=far, fars=fars)
            record.add(launch, [replace(made.cell(1000, [ns] * 3), ask="stream")])
    found = {one.far: one.to_one.value for one in audiences(query.open_run(record.path))}
    assert found == {"b": 1, "b*2": 1.5, "c": 1, "c*2": 1.5}
