# SPDX-License-Identifier: BSD-3-Clause
"""Who is to blame, of a run as it was recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.made_up import write_run

from vaiven.model import odd
from vaiven.model.odd import MACHINE
from vaiven.report.blame import blame_tables
from vaiven.results.blame import blame
from vaiven.results.results import Results

STAR = tuple(("h1", f"h{number}") for number in range(2, 6))
RING = (("h1", "h2"), ("h2", "h3"), ("h1", "h3"))


def test_a_slow_link_is_the_machine_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odd, "ODD_LEAST", 1.15)  # the software of such a link takes half as long again
    run = write_run(tmp_path, pairs=STAR, stacks=("udp", "tcp"), sizes=(8, 64), blocks=8, slow_link=("h1", "h4"))
    said = Results(run)
    found = blame(run, said.costs, said.ladders)
    assert [(one.near, one.far) for one in found.odd] == [("h1", "h4")] and found.odd[0].suspects == (MACHINE,)
    assert set(found.shares) == {(near, far, stack) for near, far in STAR for stack in ("udp", "tcp")}
    assert not found.stations  # a star does not tell hosts apart
    captions = [table.caption for table in blame_tables(found)]
    assert captions[-2:] == ["Hosts that are unlike the others", "Processor or network"]
    notes = next(table.notes for table in blame_tables(found) if table.caption.startswith("Hosts"))
    assert notes == (f"h4: {MACHINE} is to blame",)


def test_hosts_of_a_ring_are_told_apart(tmp_path: Path) -> None:
    run = write_run(tmp_path, pairs=RING, stacks=("tcp",), sizes=(8, 64, 256, 1024), blocks=8)
    said = Results(run)
    found = blame(run, said.costs, said.ladders)
    assert [one.host for one in found.stations["tcp"]] == ["h1", "h2", "h3"] and not found.odd
    table = blame_tables(found)[-1]
    assert table.caption == "What each host adds, tcp" and [row[0] for row in table.rows] == ["h1", "h2", "h3"]
