# SPDX-License-Identifier: BSD-3-Clause
"""What a run that asked first says of fresh connections."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.store import made

from vaiven.errors import VaivenError
from vaiven.lab import topology
from vaiven.report.first import courses
from vaiven.results.first import openings
from vaiven.store import query
from vaiven.store.record import (
    Cell,
    CourseRecord,
    DesignRecord,
    HostsPlace,
    LabPlace,
    LaunchRecord,
    LinkRecord,
    Record,
    Segment,
    Trace,
)

SIZE = 2896  # two segments
LINK = LinkRecord(rate_bps=10**8, hops=2, mtu_bytes=1500)


def cells(first_ns: int) -> list[Cell]:
    """Round trips of connections that were all alike."""
    times = {"": first_ns, "connect": 5_000_000, "second": 800_000, "warm": 800_000, "idled": 5_000_000}
    windows = {"": 3, "connect": 1, "second": 5, "warm": 9, "idled": 1}
    return [
        replace(made.cell(SIZE, [ns] * 2 if first_ns else []), ask="first", part=part, window_segments=windows[part])
        for part, ns in times.items()
    ]


def trace(began_ns: int, dropped: int = 0) -> Trace:
    """One segment, then its acknowledgement after 5 ms, then the other."""
    near = (
        Segment(began_ns + 1000, True, False, 0, 0, 1448),
        Segment(began_ns + 5_000_000, False, False, 0, 1448, 0),
        Segment(began_ns + 5_001_000, True, False, 1448, 0, 1448),
        Segment(began_ns + 9_000_000, False, False, 0, 2896, 0),
    )  # fmt: skip
    far = (Segment(began_ns + 2_000_000, False, False, 0, 0, 1448),)
    return Trace(
        ask="first",
        size_bytes=SIZE,
        segment_bytes=1448,
        began_ns=(began_ns, began_ns + 10**8, began_ns + 10**9),
        near=near,
        far=far,
        dropped=(dropped, 0),
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    lab = msgspec.to_builtins(topology.ready("demo"))
    design = DesignRecord(pairs=(("a", "b"),), courses=(CourseRecord(stack="tcp", ask="first"),))
    manifest = msgspec.structs.replace(made.manifest(), link=LINK, place=LabPlace(lab=lab), design=design)
    with Record.create(tmp_path, manifest) as record:
        for number, first_ns in enumerate((10_000_000, 9_000_000, 11_000_000)):
            launch = replace(made.launch(number), ask="first", block=number)
            record.add(launch, cells(first_ns), [trace(10**12 + number, dropped=number == 2)])
        record.add(replace(made.launch(3), ask="first", block=3), cells(0))  # all of it was lost
    return record.path


def test_each_part_is_the_median_of_its_launches_one_way(run: Path, vaiven: Callable) -> None:
    (found,) = openings(query.open_run(run))
    assert (found.connect_ns, found.first_ns, found.warm_ns, found.idled_ns) == (5e6, 5e6, 4e5, 2.5e6)
    assert found.typical_over_warm == pytest.approx(11.5) and found.windows.initial == 1 and found.windows.warm == 9
    assert (found.bursts, found.rule) == ((1, 1), (1, 1))
    assert found.rule_over_warm == pytest.approx((5_000_000 + 2 * 1440 * 80) * 2 / 800_000, rel=0.1)
    (told,) = json.loads(vaiven("model", str(run), "--ask", "first", "--json").stdout)["openings"]
    assert (told["bursts_segments"], told["segment_bytes"], told["threshold_segments"]) == ([1, 1], 1448, None)
    assert (told["connect_round_trip_ns"], told["first_ns"]) == (5e6, 5e6)
    assert "1 1" in vaiven("model", str(run), "--ask", "first").stdout


def test_the_last_look_that_missed_nothing_is_drawn(run: Path, vaiven: Callable, tmp_path: Path) -> None:
    (found,) = openings(query.open_run(run))
    drawn = {course.name: course for course in courses(found)}
    assert list(drawn) == ["sent", "arrived", "acknowledged", "by the rule"]
    assert drawn["sent"].at_ns == (1000, 5_001_000) and drawn["sent"].sizes_bytes == (1448, 2896)
    assert drawn["arrived"].sizes_bytes == (1448,) and drawn["acknowledged"].sizes_bytes == (1448, 2896)
    page = tmp_path / "page.html"
    done = vaiven("report", str(run), "-o", str(page), "--svg", str(tmp_path / "svg"))
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "What does the first message of a connection cost?" in text and "How a connection begins" in text
    assert (tmp_path / "svg" / "first-sequence.svg").read_text().startswith("<svg")


def test_clocks_of_two_machines_are_not_drawn_together(run: Path) -> None:
    found = query.open_run(run)
    found = replace(found, manifest=msgspec.structs.replace(found.manifest, place=HostsPlace(), link=None))
    (opening,) = openings(found)
    assert opening.rule == (1, 1) and opening.rule_over_warm is None
    assert [course.name for course in courses(opening)] == ["sent", "acknowledged"]


def test_a_run_that_did_not_ask_says_how_to(tmp_path: Path) -> None:
    with Record.create(tmp_path, made.manifest()) as record:
        record.add(
            LaunchRecord(launch=0, block=0, stack="tcp", near="a", far="b", ask="pingpong", started_s=0, took_s=1),
            [made.cell(8, [1])],
        )
    with pytest.raises(VaivenError, match="no finished launch of first") as caught:
        openings(query.open_run(record.path))
    assert "--questions first" in caught.value.remedy
