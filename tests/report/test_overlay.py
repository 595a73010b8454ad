# SPDX-License-Identifier: BSD-3-Clause
"""Several runs on one page: a line for each in the figure of each stack, and all of them by date."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report import made_up
from tests.report.test_page import SIZE_BYTES_MAX, Parts

from vaiven.plot.interactive import NO_WIRE
from vaiven.report.html import tied
from vaiven.report.overlay import (
    STACKS_DRAWN_MAX,
    answer,
    history_widget,
    labels,
    overlay_page,
    overlay_pictures,
    stack_widgets,
    where_text,
)
from vaiven.results.overlay import DRAWN_MAX, Overlay, overlay
from vaiven.store.query import Run


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Three runs, of which the last takes a fifth longer beyond the wire."""
    root = tmp_path_factory.mktemp("runs")
    runs = made_up.write_days(root, 2, sizes=(1, 64, 4096), blocks=8)
    return runs + made_up.write_days(root, 1, sizes=(1, 64, 4096), blocks=8, slower=1.2, day=9, seed=2)


@pytest.fixture(scope="module")
def found(days: list[Run]) -> Overlay:
    return overlay(days)


@pytest.fixture(scope="module")
def parts(found: Overlay) -> Parts:
    return Parts(overlay_page(found))


NAMES = ["2026-01-02", "2026-01-03", "2026-01-10"]


def test_the_page_holds_every_figure_with_its_table_and_is_small(found: Overlay, parts: Parts) -> None:
    assert len(overlay_page(found).encode()) <= SIZE_BYTES_MAX
    figures = json.loads(next(text for attributes, text in parts.scripts if attributes.get("id") == "figures"))
    assert set(figures) == {"stack-1", "stack-2", "by-date"}
    ids = [attributes["id"] for _, attributes in parts.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    for name, choices in figures.items():
        assert {f"{name}-table-{number}" for number in range(len(choices))} <= set(ids)
    assert parts.classes.count("still") == 3


def test_the_answer_is_the_first_and_the_last_run_in_numbers(found: Overlay) -> None:
    said = answer(found)
    assert said.question == "What did a message cost between h1 and h2, in 3 runs?"
    first, last = (found.drawn[index].point("tcp", 1).typical_ns for index in (0, -1))
    assert f"took {first / 1e3:.1f} µs one way in the first of these runs (2026-01-02)" in said.lead
    assert said.lead.endswith(f"{100 * (last / first - 1):+.1f} %.") and last > 1.1 * first
    assert {tile.label for tile in said.tiles} <= set(NAMES) and "last, slowest" in said.tiles[-1].note
    assert any("3 runs of demo" in point for point in said.points)


def test_each_stack_has_a_line_for_each_run_over_the_wires_staircase(found: Overlay) -> None:
    for widget in stack_widgets(found):
        assert [choice.label for choice in widget.choices] == ["times the wire", "time"]
        for choice in widget.choices:
            assert [t["name"] for t in choice.figure["data"] if t["meta"]["role"] == "typical"] == NAMES
            assert [column.name for column in choice.table.columns][1:4] == NAMES
            assert not any(t["meta"]["role"] == "floor" for t in choice.figure["data"])  # a line for each run is enough
        stairs = [t for t in widget.choices[1].figure["data"] if t["meta"]["role"] == "wire" and t["mode"] == "lines"]
        assert len(stairs) == 1 and len(stairs[0]["x"]) > 3


def test_unlike_links_have_no_wire_among_their_times(found: Overlay) -> None:
    slow = replace(found.drawn[0], run=replace(found.drawn[0].run, rate_bits_per_s=10**7))
    (ratio, time) = stack_widgets(replace(found, drawn=(slow, *found.drawn[1:])))[0].choices
    assert ratio.label == "times the wire"
    assert not any(t["x"] for t in time.figure["data"] if t["meta"]["role"] == "wire") and NO_WIRE.sizes_bytes == ()


def test_a_run_of_which_nobody_knows_the_wire_is_said_to_be_in_the_times_alone(found: Overlay) -> None:
    points = found.drawn[0].costs[0].points
    bare = replace(found.drawn[0].costs[0], points=tuple(replace(point, wire_ns=None) for point in points))
    blind = replace(found.drawn[0], costs=(bare, *found.drawn[0].costs[1:]))
    widget = stack_widgets(replace(found, drawn=(blind, *found.drawn[1:])))[0]
    assert widget.says.endswith("Of 2026-01-02 nobody knows the wire: only the times have their lines.")
    assert "nobody knows" not in stack_widgets(found)[0].says


def test_by_date_there_is_the_whole_and_each_size(found: Overlay) -> None:
    widget = history_widget(found)
    assert widget is not None
    assert [choice.label for choice in widget.choices] == ["as a whole", "1 B", "64 B", "4 KiB"]
    whole, small = (widget.choices[index].figure for index in (0, 1))
    assert whole["data"][0]["x"] == [0, 1, 8] and whole["data"][0]["y"][-1] > 4
    assert whole["layout"]["xaxis"]["ticktext"] == NAMES
    assert {t["name"] for t in small["data"]} == {"udp", "tcp"}
    assert small["data"][0]["customdata"][2][0] == "2026-01-10 00:00"
    assert [row[0][:10] for row in widget.choices[1].table.rows] == NAMES


def test_a_page_of_runs_without_a_common_cell_says_so(days: list[Run], tmp_path: Path) -> None:
    other = made_up.write_run(tmp_path, pairs=(("a", "b"),), stacks=("tcp",), sizes=(8, 512), blocks=2, link=False)
    text = Parts(overlay_page(overlay([days[0], other]))).text
    assert "What did a message cost, in 2 runs?" in text and "No message of one stack and size" in text
    assert "no history: " in text and "By date" not in text


def test_labs_are_called_virtual_and_told_from_real_hosts(found: Overlay, parts: Parts) -> None:
    assert where_text(found).startswith("On a virtual LAN of one machine, not on a real network: lab demo")
    assert tied(where_text(found)) in parts.text
    real = replace(found.drawn[0], run=replace(found.drawn[0].run, virtual=False, fabric="real hosts"))
    assert where_text(replace(found, drawn=(real, *found.drawn[1:]))).startswith(
        "The runs 2026-01-03, 2026-01-10 are on virtual LANs of one machine, not on a real network"
    )
    assert where_text(replace(found, drawn=(real, real))) == ""


def test_labels_are_no_longer_than_it_takes_to_tell_runs_apart(found: Overlay) -> None:
    one = found.drawn[0].run
    assert labels([one, found.drawn[1].run]) == ("2026-01-02", "2026-01-03")
    later = replace(one, started="2026-01-02 00:07:30 UTC")
    assert labels([one, later]) == ("2026-01-02 00:00", "2026-01-02 00:07")
    assert labels([one, replace(one, id="x-abcdef")])[1] == "2026-01-02 00:00:00 abcdef"


def test_a_page_of_many_runs_and_stacks_still_fits_in_a_mail(days: list[Run], run: Run) -> None:
    """As many as are drawn at most, of 16 sizes up to 1 MiB."""
    found = overlay([days[0], run])
    one = next(one for one in found.drawn if one.run.id == run.id)
    wide = replace(one, costs=tuple(replace(one.costs[0], stack=f"s{n}") for n in range(STACKS_DRAWN_MAX)))
    assert len(overlay_page(replace(found, drawn=(wide,) * DRAWN_MAX)).encode()) <= SIZE_BYTES_MAX


def test_more_stacks_than_a_page_carries_are_named(found: Overlay) -> None:
    def wide(run):
        return replace(run, costs=tuple(replace(run.costs[0], stack=f"s{n}") for n in range(STACKS_DRAWN_MAX + 2)))

    many = replace(found, drawn=tuple(map(wide, found.drawn)))
    assert len(stack_widgets(many)) == STACKS_DRAWN_MAX
    assert f"not of s{STACKS_DRAWN_MAX}, s{STACKS_DRAWN_MAX + 1}" in overlay_page(many)


def test_hostile_names_are_words_and_an_alarm_names_its_run(tmp_path: Path) -> None:
    runs = [
        made_up.write_run(tmp_path, pairs=((made_up.HOSTILE, "h2"),), stacks=("tcp",), sizes=(1, 64, 1472), blocks=2,
                          wire_factor=factor)
        for factor in (1.0, 3.0)
    ]  # fmt: skip
    parts = Parts(overlay_page(overlay(runs)))
    assert made_up.HOSTILE in parts.text and len(parts.scripts) == 3
    assert not any(name.startswith("on") for _, attributes in parts.tags for name in attributes)
    assert re.search(r"2\d{3}-\d\d-\d\d [\d:]+[^\n]*faster than the wire allows", parts.text.replace("\n", " "))


def test_pictures_are_of_every_stack_and_of_the_dates(found: Overlay) -> None:
    names = list(overlay_pictures(found))
    assert names[:4] == ["stack-1-1.svg", "stack-1-2.svg", "stack-2-1.svg", "stack-2-2.svg"]
    assert names[4:] == [f"by-date-{number}.svg" for number in range(1, 5)]


def test_report_of_several_runs_is_one_page(vaiven, days: list[Run], tmp_path: Path) -> None:
    root = str(days[0].path.parent)
    done = vaiven("report", days[1].id, days[0].id, "--runs", root, "--svg", "svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = tmp_path / done.stdout.strip()
    assert page.name == f"{days[0].id}-and-1-more.html" and "in 2 runs?" in page.read_text()
    assert (tmp_path / "svg" / "by-date-1.svg").read_text().startswith("<svg")
    twice = vaiven("report", days[0].id, days[0].id, "--runs", root, cwd=tmp_path)
    assert twice.returncode == 1 and "is named twice" in twice.stderr
