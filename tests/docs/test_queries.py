# SPDX-License-Identifier: BSD-3-Clause
"""The queries that the manual shows give what vaiven says: sentinels left out, losses slower than everything."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.docs.test_commands import steps
from tests.store.made import cell, launch, manifest

import vaiven
from vaiven.store.record import Record

DOCS = Path(__file__).resolve().parents[2] / "docs"


def shown(page: str, name: str) -> str:
    """The file of that name that a page shows."""
    return next(step.text for step in steps(next(DOCS.rglob(page)).read_text()) if step.file == name)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with two runs of three launches each, 8 bytes to and fro; some messages are lost."""
    lossy, deaf = [2000, None, None, 4000, None], [None] * 4 + [2000]
    for title, last in (("One", [6000] * 5), ("Two", deaf)):
        with Record.create(tmp_path / "runs", manifest(title)) as record:
            record.add(launch(0, "udp"), [cell(8, [2000] * 200)])
            record.add(launch(1, "udp"), [cell(8, lossy)])
            record.add(launch(2, "udp"), [cell(8, last)])
            record.add(launch(3, "udp", sentinel=True), [cell(8, [8] * 999)])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(view: str) -> list[tuple[Any, ...]]:
    """The rows of a view of the page, in the directory where one is."""
    connection = duckdb.connect()
    connection.sql(shown("sql.md", "views.sql"))
    return connection.sql(f"from {view} order by all").fetchall()


def test_medians_are_of_launches_with_losses_and_without_sentinels(place: Path) -> None:
    told = {row[0].split("-")[2]: row[1:] for row in asked("medians")}
    assert told == {
        "one": ("a", "b", "udp", 8, 3000.0, 3, 3),  # launches of 1 and 3 us, and one that lost most of its messages
        "two": ("a", "b", "udp", 8, math.inf, 3, 7),  # and another such
    }


def test_views_and_frames_say_the_same(place: Path) -> None:
    for run in vaiven.runs(place / "runs"):
        ours = run.launches().sort("launch")
        theirs = [row for row in asked("launches") if row[0] == run.id]
        assert [row[7:9] for row in theirs] == ours.select("one_way_ns_median", "one_way_ns_min").rows()
        samples = run.samples().select("launch", "seq", "lost", "one_way_ns").sort("launch", "seq").rows()
        assert [(row[1], *row[7:]) for row in asked("samples") if row[0] == run.id] == samples


@pytest.mark.parametrize(("lost", "expected"), [(0, 99_000.0), (4, 100_000.0), (6, math.inf)])
def test_the_tail_has_the_lost_messages_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int, expected: float
) -> None:
    times = [2000 * (1 + n % 100) for n in range(500 - lost)]
    with Record.create(tmp_path / "runs", manifest()) as record:
        record.add(launch(0, "udp"), [cell(8, [*times, *[None] * lost]), cell(9, times[:400])])
        record.add(launch(1, "udp", sentinel=True), [cell(9, times)])
    monkeypatch.chdir(tmp_path)
    assert [row[4:] for row in asked("tails")] == [(8, expected, 500)]


@pytest.mark.parametrize(
    ("tcp", "status"),
    [([3000] * 5, 0), ([25000] * 5, 1), ([3000, 3000, None, None, None], 1)],
    ids=["ok", "slow", "lost"],
)
def test_a_limit_is_broken_by_slow_and_by_lost_messages(tmp_path: Path, tcp: list[int | None], status: int) -> None:
    with Record.create(tmp_path / "runs", manifest()) as record:
        record.add(launch(0, "udp"), [cell(8, [2000] * 5)])
        record.add(launch(1, "tcp"), [cell(8, tcp)])
        record.add(launch(2, "udp", sentinel=True), [cell(8, [9000] * 999)])
    done = subprocess.run(
        [sys.executable, "-c", shown("ci.md", "limit.py")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout[:8]) == (status, "tcp/udp "), done.stderr
