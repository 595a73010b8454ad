# SPDX-License-Identifier: BSD-3-Clause
"""Runs in Python: frames that keep the rules, results that show themselves, and what is refused in words."""

from __future__ import annotations

import builtins
import shutil
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.report import made_up
from tests.store.made import cell, changed, launch, manifest

import vaiven
from vaiven.store.record import Cell, Record


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of udp and tcp, with a sentinel."""
    where = tmp_path_factory.mktemp("runs")
    made_up.write_run(
        where, stacks=("udp", "tcp"), sizes=(8, 1472, 65536), blocks=9, samples=120, sentinel_change=0.0
    )  # fmt: skip
    return where


@pytest.fixture(scope="module")
def run(root: Path) -> vaiven.Run:
    return vaiven.open("last", runs=root)


def test_a_run_is_found_by_name_and_by_place(root: Path, run: vaiven.Run) -> None:
    for name in ("last", run.id, run.id[:20], run.path, str(run.path)):
        assert vaiven.open(name, runs=root).id == run.id
    assert (run.title, run.state, run.hosts) == ("What a message costs", "ended", ("h1", "h2", "idle"))
    assert run.link["rate_bps"] == 10**8 and vaiven.open(run.path, link="10 Mb/s").link["rate_bps"] == 10**7


def test_frames_are_one_way_and_without_sentinels(run: vaiven.Run) -> None:
    launches = run.launches()
    assert launches.height == 9 * 2 * 3 and not launches["sentinel"].any() and "part" not in launches.columns
    assert run.launches(sentinel=True).height == launches.height + 9
    assert (launches["rtt_ns_median"] == 2 * launches["one_way_ns_median"]).all()
    costs = {(one.stack, one.point.size_bytes): one.point.typical_ns for one in run.results().sizes}
    medians = launches.group_by("stack", "size_bytes").agg(pl.col("one_way_ns_median").median())
    for stack, size, ns in medians.iter_rows():
        assert ns == pytest.approx(costs[stack, size])
    assert run.samples().height == 120 * launches.height and run.cells().height == launches.height
    assert set(run.cells().columns) < set(launches.columns)


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., vaiven.Run]:
    """recorded([cells of launch 0], ...) -> such a run."""

    def make(*launches: list[Cell]) -> vaiven.Run:
        with Record.create(tmp_path, manifest()) as record:
            for number, cells in enumerate(launches):
                record.add(launch(number, "udp"), cells)
        return vaiven.open(record.path)

    return make


def test_what_was_lost_is_slower_than_everything(recorded: Callable[..., vaiven.Run]) -> None:
    found = recorded([cell(8, [2000] * 120)], [cell(8, [2000, None, None, 4000, None])], [cell(8, [None] * 3)])
    launches = found.launches()
    assert launches["one_way_ns_median"].to_list() == [1000.0, inf, inf]
    assert launches["one_way_ns_min"].to_list() == [1000.0, 1000.0, inf]
    assert launches["one_way_ns_p95"].to_list() == [1000.0, None, None]  # five messages carry no 95th percentile
    samples = found.samples().filter(launch=1)
    assert samples["one_way_ns"].to_list() == [1000.0, inf, inf, 2000.0, inf]
    assert samples["lost"].to_list() == [False, True, True, False, True]
    assert launches.select(pl.col("one_way_ns_median").median()).item() == inf


@pytest.mark.parametrize(
    ("ask", "part", "one_way", "there_and_back", "of_part"),
    [
        ("pingpong", "", 500.0, 1000.0, None),
        ("steps", "", 500.0, 1000.0, None),
        ("connect", "", None, 1000.0, None),
        ("overlap", "", None, 1000.0, None),
        ("oneway", "", 1000.0, None, None),
        ("fanout", "", 1000.0, None, None),
        ("prtt", "one", 500.0, 1000.0, None),
        ("prtt", "burst", None, None, 1000.0),
        ("fanout", "to:1", None, None, 1000.0),
        ("steps", "encode", None, None, 1000.0),
    ],
)
def test_a_time_stands_under_what_it_is(
    recorded: Callable[..., vaiven.Run], ask: str, part: str, one_way: Any, there_and_back: Any, of_part: Any
) -> None:
    found = recorded([replace(cell(8, [1000] * 3), ask=ask, part=part)])
    for row in (found.samples(parts=True).row(0, named=True), found.launches(parts=True).row(0, named=True)):
        end = "" if "seq" in row else "_median"
        assert (row[f"one_way_ns{end}"], row[f"rtt_ns{end}"], row[f"part_ns{end}"]) == (
            one_way,
            there_and_back,
            of_part,
        )
    assert found.launches().height == (of_part is None)


def test_what_no_clock_told_is_neither_lost_nor_known(recorded: Callable[..., vaiven.Run]) -> None:
    found = recorded([replace(cell(8, [None] * 3), ask="oneway", clock="refused")])
    assert found.samples()["one_way_ns"].to_list() == [None] * 3 and not found.samples()["lost"].any()
    assert found.launches()["one_way_ns_median"].to_list() == [None]


def test_frames_become_those_of_pandas(run: vaiven.Run) -> None:
    frame = vaiven.to_pandas(run.launches())
    by_stack = frame.groupby("stack")["one_way_ns_median"].median()
    assert by_stack["udp"] < by_stack["tcp"] and len(frame) == run.launches().height
    assert vaiven.to_pandas(run.launches().with_columns(x=None))["x"].tolist() == [None] * len(frame)


def test_results_are_computed_once_and_show_themselves(run: vaiven.Run) -> None:
    said = run.results()
    assert said is run.results() and said.costs is said.costs
    assert [one.stack for one in said.costs] == ["udp", "tcp"] and said.costs[-1].stack == "tcp"
    assert "costs, sizes" in repr(said) and "alpha_ns" in repr(said.costs)
    for one in said:
        assert "<table" in one._repr_html_() and "<script" not in one._repr_html_()
    assert "full rate" in said.costs._repr_html_()


def test_stacks_of_a_run_are_compared(run: vaiven.Run) -> None:
    found = run.results().compare("tcp", "udp")
    assert [str(one.first) for one in found] == ["tcp"]
    frame = found.to_frame()
    assert frame["verdict"].to_list() == ["slower", "slower", "slower"]
    assert frame["beyond_margin"].to_list() == [True, True, False]
    with pytest.raises(vaiven.VaivenError, match="has no sctp"):
        run.results().compare("tcp", "sctp")
    with pytest.raises(vaiven.VaivenError, match="margin 7"):
        run.results().compare(margin=7)


def test_pictures_are_shown_chosen_and_kept(run: vaiven.Run, tmp_path: Path) -> None:
    pictures = run.pictures()
    assert list(pictures) == ["time", "rate", "ladder", "spread", "residuals"]
    time = pictures["time"]
    assert time.choices == ("times the wire", "time") and "choose: times the wire, time" in repr(time)
    assert "<svg" in time._repr_html_() and "<script" not in time._repr_html_()
    other = time.choose("time")
    assert other.svg != time.svg and other.table.rows
    assert other.save(tmp_path / "time.svg").read_text() == other.svg
    with pytest.raises(vaiven.VaivenError, match="there is no choice 'speed'"):
        time.choose("speed")
    (tmp_path / "mine.svg").write_text("a letter")
    with pytest.raises(vaiven.VaivenError, match="vaiven did not make what is there"):
        time.save(tmp_path / "mine.svg")
    assert pictures._repr_html_().count("<svg") >= 4


def test_a_picture_for_plotly_is_the_same(run: vaiven.Run) -> None:
    figure = run.pictures()["rate"].to_plotly()
    assert {trace.name for trace in figure.data} >= {"udp", "tcp"}


@pytest.mark.parametrize(
    ("library", "use", "remedy"),
    [
        ("plotly", lambda run: run.pictures()["rate"].to_plotly(), "pip install plotly"),
        ("pandas", lambda run: run.results().costs.to_pandas(), "pip install pandas"),
    ],
)
def test_a_library_that_is_not_there_is_named_with_what_to_do(
    run: vaiven.Run, library: str, use: Callable[[vaiven.Run], object], remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name.partition(".")[0] == library:
            raise ImportError(f"No module named {name!r}")
        return usual(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(vaiven.VaivenError, match=f"{library} is not installed") as caught:
        use(run)
    assert remedy in caught.value.remedy
    assert "<svg" in run.pictures()["rate"]._repr_html_()  # needs neither


def test_a_page_is_written(run: vaiven.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run.page() == Path(f"{run.id}.html") and run.page().read_text().startswith("<!doctype html>")
    assert run.page(tmp_path / "x" / "y.html").is_file()


def test_a_run_shows_itself_with_what_to_mind(tmp_path: Path) -> None:
    hostile = made_up.write_run(
        tmp_path, stacks=("udp",), sizes=(8, 64), blocks=3, samples=5, warnings=(("odd", made_up.HOSTILE),)
    )
    shown = vaiven.open(hostile.path)._repr_html_()
    assert "<code>odd</code>" in shown and "<script" not in shown and "launches in" in shown
    assert repr(vaiven.open(hostile.path)).startswith(f"Run {hostile.id} (ended)")


def test_a_run_that_was_stopped_half_way_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    stopped = made_up.write_run(tmp_path, stacks=("udp",), sizes=(8, 64), blocks=2, samples=5, ended=False)
    last = sorted((stopped.path / "launches").iterdir())[-1]
    last.unlink()  # cut off between its parts and its record
    found = vaiven.open(stopped.path)
    assert found.state == "stopped" and found.launches()["launch"].unique().to_list() == [0]
    assert not found.results().outcome.complete
    assert "udp" in found._repr_html_()


def test_a_run_of_many_receivers_alone_shows_what_it_has(tmp_path: Path) -> None:
    found = vaiven.open(made_up.write_fanout(tmp_path).path)
    assert list(found.pictures()) == ["fanout-size", "fanout-receivers"]
    assert found.results().audiences.to_frame().height == 48
    with pytest.raises(vaiven.VaivenError, match="no finished launch of a ping-pong"):
        _ = found.results().costs
    assert "no finished launch of a ping-pong" in found._repr_html_()


def test_what_is_no_run_of_ours_is_refused_by_name(root: Path, tmp_path: Path) -> None:
    older, newer, torn, strange = (tmp_path / name for name in ("older", "newer", "torn", "strange"))
    (first,) = (path for path in root.iterdir() if path.is_dir())
    for copy in (older, newer, torn):
        shutil.copytree(first, copy)
    changed(older / "manifest.json", schema=1)
    changed(newer / "manifest.json", schema=99)
    (torn / "manifest.json").write_bytes((torn / "manifest.json").read_bytes()[:-9])
    strange.mkdir()
    (strange / "manifest.json").write_text('{"name": "an application", "start_url": "/"}')
    for name, code in ((older, "run-older"), (newer, "run-newer"), (torn, "run-damaged"), (strange, "no-run"),
                       (tmp_path, "no-run")):  # fmt: skip
        with pytest.raises(vaiven.VaivenError) as caught:
            vaiven.open(name)
        assert caught.value.code == code and caught.value.remedy
    there = vaiven.runs(tmp_path)
    assert len(there) == 0 and len(there.unreadable) == 4 and repr(there) == "no runs"


def test_parts_that_are_not_what_was_written_are_refused_when_they_are_read(root: Path, tmp_path: Path) -> None:
    (first,) = (path for path in root.iterdir() if path.is_dir())
    shutil.copytree(first, tmp_path / "run")
    part = sorted((tmp_path / "run/samples").iterdir())[3]
    part.write_bytes(part.read_bytes()[:-1] + b"x")
    found = vaiven.open(tmp_path / "run")
    assert found.cells().height
    with pytest.raises(vaiven.VaivenError, match=f"the run is damaged: .*{part.name}"):
        found.samples()


def test_runs_are_listed(root: Path, run: vaiven.Run) -> None:
    there = vaiven.runs(root)
    assert [one.id for one in there] == [run.id] == there.to_frame()["run"].to_list()
    assert there[0].id == there[:1][0].id and there.to_pandas()["state"].tolist() == ["done"]
    assert run.id in there._repr_html_() and there.unreadable == ()


def test_runs_are_compared_and_have_a_history(tmp_path: Path) -> None:
    days = made_up.write_days(tmp_path, 9)
    days += made_up.write_days(tmp_path, 5, seed=6, day=20, start_ns={"udp": 30e3, "tcp": 52e3})
    runs = [vaiven.open(day.path) for day in days]
    alone = vaiven.compare(runs[8], runs[9], stacks=["tcp"])
    assert len(alone.before) == 9 and "slower" in alone.to_frame()["verdict"].to_list()
    sides = vaiven.compare(runs[:9], runs[9:])
    assert "slower" in sides.to_frame()["verdict"].to_list() and set(sides.to_frame()["second_side"]) == {"before"}
    assert "in 2 runs?" in vaiven.overlay(runs[:2], tmp_path / "all.html").read_text()
    told = vaiven.history("demo", runs=tmp_path)
    assert len(told) == 14 and told.to_frame()["run"].n_unique() == 14
    with pytest.raises(vaiven.VaivenError, match="is on both sides"):
        vaiven.compare(runs[:9], runs[8:])
    with pytest.raises(vaiven.VaivenError, match="no finished run of a plan 'nothing'"):
        vaiven.history("nothing", runs=tmp_path)
