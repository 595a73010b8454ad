# SPDX-License-Identifier: BSD-3-Clause
"""What is read is what was measured; what is no whole run of a known schema is refused by name."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.store.made import cell, changed, launch, manifest, vouched

from vaiven.errors import VaivenError
from vaiven.store import query
from vaiven.store.record import Record, Segment, Trace

Write = Callable[..., Path]


def test_a_cell_becomes_one_row_of_order_statistics(write: Write) -> None:
    path = write({0: [cell(8, [10, 20, 30, 40])], 1: [cell(8, [5]), cell(64, [7, 9, 8])]})
    rows = query.launches(query.open_run(path)).select("launch", "size_bytes", "count", "^ns_.*$").rows()
    assert rows == [
        (0, 8, 4, 10.0, 25.0, 25.0, None, None),
        (1, 8, 1, 5.0, 5.0, 5.0, None, None),
        (1, 64, 3, 7.0, 8.0, 8.0, None, None),
    ]


@pytest.mark.parametrize(("count", "p95", "p99"), [(99, None, None), (100, 96.0, None), (500, 476.0, 496.0)])
def test_quantiles_are_null_without_the_messages_that_carry_them(
    write: Write, count: int, p95: float | None, p99: float | None
) -> None:
    path = write({0: [cell(8, list(range(1, count + 1)))]})
    assert query.launches(query.open_run(path)).select("ns_p95", "ns_p99").rows() == [(p95, p99)]


def test_losses_count_as_slower_than_everything(write: Write) -> None:
    path = write({0: [cell(8, [10, None, 20, 30]), cell(64, [None, None, 10]), cell(100, [None])]})
    rows = query.launches(query.open_run(path)).select("size_bytes", "lost", "^ns_.*$").rows()
    assert rows == [
        (8, 1, 10.0, 25.0, 20.0, None, None),
        (64, 2, 10.0, None, 10.0, None, None),
        (100, 1, None, None, None, None, None),
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=300).map(lambda some: (some * 500)[:500]))
def test_quantiles_are_samples_that_enough_others_do_not_exceed(write: Write, ns: list[int]) -> None:
    (row,) = query.launches(query.open_run(write({0: [cell(8, ns)]}))).to_dicts()
    for name, share in query.QUANTILES.items():
        assert row[name] in [float(one) for one in ns]
        assert sum(one <= row[name] for one in ns) >= share * len(ns) - 1e-9
    assert row["ns_min"] == min(ns)
    assert math.isclose(row["ns_mean"], sum(ns) / len(ns), rel_tol=1e-9)


def test_the_parts_of_a_prtt_stand_apart_from_its_round_trips(tmp_path: Path) -> None:
    parts = {"one": 10, "burst": 50, "spaced": 70, "send": 2, "receive": 3}
    with Record.create(tmp_path, manifest()) as record:
        cells = [replace(cell(8, [ns, ns + 2]), ask="prtt", part=part, gap_ns=9) for part, ns in parts.items()]
        record.add(replace(launch(0), ask="prtt"), cells)
    run = query.open_run(record.path)
    assert query.launches(run).select("ask", "part", "ns_median").rows() == [("prtt", "one", 11.0)]
    found = query.of_question(run, "prtt")
    assert dict(found.select("part", "ns_median").rows()) == {part: ns + 1.0 for part, ns in parts.items()}
    assert found["gap_ns"].unique().to_list() == [9] and query.samples(run)["part"].n_unique() == len(parts)


def test_the_last_of_several_ends_stands_for_all_and_each_can_be_asked_for(tmp_path: Path) -> None:
    with Record.create(tmp_path, manifest()) as record:
        one = replace(launch(0), far="b+c", fars=2, ask="fanout")
        cells = [replace(cell(8, ns), ask="fanout", part=part, clock="common", clock_error_ns=0)
                 for part, ns in {"": [5, 9], "to:1": [5, 4], "to:2": [3, 9]}.items()]  # fmt: skip
        record.add(one, cells)
    run = query.open_run(record.path)
    assert query.launches(run).select("ns_median", "fars", "far").rows() == [(7.0, 2, "b+c")]
    assert query.ends(run).sort("part").select("part", "ns_median").rows() == [("to:1", 4.5), ("to:2", 6.0)]


def test_a_part_without_the_columns_of_today_is_still_read(tmp_path: Path) -> None:
    with Record.create(tmp_path, manifest()) as record:
        record.add(launch(0), [cell(8, [1, 2])])
    for name in ("samples", "cells"):
        (part,) = (record.path / name).glob("*.parquet")
        old = pl.read_parquet(part)
        old.drop([column for column in ("fars", "resent", "clock", "clock_error_ns") if column in old]).write_parquet(
            part
        )
    vouched(record.path, 0)
    found = query.launches(query.open_run(record.path))
    assert found.select("ns_median", "fars", "resent").rows() == [(1.5, None, None)]


def test_sentinels_stand_apart(tmp_path: Path) -> None:
    with Record.create(tmp_path, manifest()) as record:
        record.add(launch(0), [cell(64, [1])])
        record.add(launch(1, "udp", sentinel=True), [cell(64, [2])])
    run = query.open_run(record.path)
    assert query.launches(run)["stack"].to_list() == ["tcp"]
    assert query.sentinels(run)["stack"].to_list() == ["udp"]
    assert query.cells(run).height == 2


def test_many_chunks_are_one_answer(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write({number: [cell(8, [number, number + 2])] for number in range(7)})
    whole = query.launches(query.open_run(path))
    monkeypatch.setattr(query, "_CHUNK_BYTES", 1)
    assert query.launches(query.open_run(path)).equals(whole)
    assert whole["ns_median"].to_list() == [number + 1.0 for number in range(7)]


def test_samples_are_summed_up_once_until_the_run_has_grown(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    run = query.open_run(write({number: [cell(8, [number])] for number in range(3)}))
    reads = []
    chunks = query._chunks
    monkeypatch.setattr(query, "_chunks", lambda run: reads.append(1) or chunks(run))
    assert query.launches(run).height == 3 and query.sentinels(run).height == query.of_question(run, "prtt").height == 0
    assert len(reads) == 1
    with Record.resume(run.path, run.manifest) as record:
        record.add(launch(3), [cell(8, [9])])
    assert query.launches(run).height == 4 and len(reads) == 2


def test_an_empty_run_has_no_rows_but_all_columns(write: Write) -> None:
    run = query.open_run(write({}))
    assert query.launches(run).columns == query.launches(query.open_run(write({0: [cell(8, [1])]}))).columns
    assert query.samples(run).height == 0
    assert query.warnings(run) == []


def test_a_run_is_found_by_path_id_beginning_and_last(write: Write, tmp_path: Path) -> None:
    first, second = write({}, "first"), write({}, "second")
    assert query.find(str(first), tmp_path / "elsewhere").path == first
    assert query.find(second.name, tmp_path).path == second
    assert query.find(first.name[:-2], tmp_path).path == first
    assert query.find("last", tmp_path).path == max(first, second)
    for name in ("", "nothing", "*", "../"):
        with pytest.raises(VaivenError) as caught:
            query.find(name, tmp_path)
        assert caught.value.code == "no-run"
    with pytest.raises(VaivenError, match="2 runs begin"):
        query.find("20", tmp_path)


def damaged(run: Path) -> str:
    with pytest.raises(VaivenError) as caught:
        opened = query.open_run(run)
        query.launches(opened)
        query.launch_records(opened)
        query.warnings(opened)
    assert caught.value.remedy
    return f"{caught.value.code}: {caught.value.what}"


SEEN = (
    Segment(100, True, True, -1, -1, 0),
    Segment(110, True, False, 0, 0, 1448),
    Segment(130, False, False, 0, 1448, 0),
)


def traced(root: Path) -> Path:
    """A run of two launches, of which the second looked at a connection."""
    with Record.create(root, manifest()) as record:
        record.add(launch(0), [cell(2000, [1])])
        far = (Segment(120, False, False, 0, 0, 1448), Segment(150, False, False, 2000, 0, 10))
        trace = Trace(
            ask="first",
            size_bytes=2000,
            segment_bytes=1448,
            began_ns=(109, 140, 200),
            near=SEEN,
            far=far,
            dropped=(0, 3),
        )
        record.add(launch(1), [cell(2000, [1])], [trace])
    return record.path


def test_segments_come_back_with_the_message_that_they_belong_to(tmp_path: Path) -> None:
    run = query.open_run(traced(tmp_path))
    table = query.traces(run)
    assert table["launch"].unique().to_list() == [1] and table["segment_bytes"].unique().to_list() == [1448]
    rows = table.select("end", "message", "began_ns", "at_ns", "seq", "ack", "data_bytes", "dropped").rows()
    assert rows == [
        ("near", "", None, 100, -1, -1, 0, 0), ("near", "first", 109, 110, 0, 0, 1448, 0),
        ("near", "first", 109, 130, 0, 1448, 0, 0), ("far", "first", 109, 120, 0, 0, 1448, 3),
        ("far", "second", 140, 150, 2000, 0, 10, 3),
    ]  # fmt: skip
    ((key, found),) = query.looked_at(run, "first")
    assert key == ("a", "b", "tcp", 2000, 0) and [row["at_ns"] for row in found] == [110, 130, 120]
    assert list(query.looked_at(run, "pingpong")) == []


def test_a_damaged_trace_is_refused_by_name_and_one_of_a_launch_that_was_cut_off_is_taken_away(tmp_path: Path) -> None:
    path = traced(tmp_path)
    part = path / "traces" / "00001.parquet"
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(VaivenError, match=r"traces/00001\.parquet"):
        query.traces(query.open_run(path))
    (path / "launches" / "00001.json").unlink()
    with Record.resume(path, query.open_run(path).manifest):
        assert not part.exists()


def test_a_run_without_traces_has_none(write: Write) -> None:
    path = write({0: [cell(8, [1])]})
    assert query.traces(query.open_run(path)).is_empty() and not (path / "traces").exists()


@pytest.mark.parametrize("kind", ["samples", "cells"])
@pytest.mark.parametrize("harm", ["cut", "zero", "gone", "other"])
def test_a_damaged_part_is_refused_by_name(write: Write, kind: str, harm: str) -> None:
    path = write({0: [cell(8, [1])], 1: [cell(8, [2])]})
    part = path / kind / "00001.parquet"
    if harm == "cut":
        part.write_bytes(part.read_bytes()[:-20])
    elif harm == "zero":
        part.write_bytes(b"")
    elif harm == "gone":
        part.unlink()
    else:
        pl.DataFrame({"x": [1]}).write_parquet(part)
        vouched(path, 1)
    said = damaged(path)
    assert said.startswith("run-damaged: ")
    assert f"{kind}/00001.parquet" in said


@pytest.mark.parametrize("name", ["manifest.json", "end.json", "launches/00000.json"])
@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "one"}', "\xff"])
def test_a_damaged_file_is_refused_by_name(write: Write, name: str, text: str) -> None:
    path = write({0: [cell(8, [1])]})
    (path / name).write_bytes(text.encode("latin-1"))
    said = damaged(path)
    assert said.startswith("run-damaged: ")
    assert name in said


def test_damaged_warnings_are_refused_by_name(write: Write) -> None:
    path = write({})
    (path / "warnings.jsonl").write_text('{"code":\n{}\n')
    assert "warnings.jsonl" in damaged(path)


@pytest.mark.parametrize("seal", [True, False])
@pytest.mark.parametrize(("schema", "code"), [(2, "run-older"), (4, "run-newer")])
def test_a_run_of_another_schema_is_refused_by_name(write: Write, schema: int, code: str, seal: bool) -> None:
    path = write({})
    if seal:
        changed(path / "manifest.json", schema=schema, plan="something else")
    else:
        (path / "manifest.json").write_text(json.dumps({"schema": schema}))
    said = damaged(path)
    assert said.startswith(f"{code}: ")
    assert path.name in said


def test_the_list_says_what_cannot_be_read(write: Write, tmp_path: Path) -> None:
    good, bad = write({}, "a"), write({}, "b")
    (bad / "manifest.json").write_text("{")
    (tmp_path / "not-a-run").mkdir()
    found = query.runs(tmp_path)
    assert {one.path for one in found if isinstance(one, query.Run)} == {good}
    assert [one.code for one in found if isinstance(one, VaivenError)] == ["run-damaged"]
    assert query.runs(tmp_path / "nowhere") == []


def test_csv_holds_every_sample(write: Write, tmp_path: Path) -> None:
    run = query.open_run(write({0: [cell(8, [10, None])], 1: [cell(8, [3])]}))
    written = query.export_csv(run, tmp_path / "csv")
    assert [path.name for path in written] == ["samples.csv", "cells.csv", "launches.csv"]
    lines = (tmp_path / "csv" / "samples.csv").read_text().splitlines()
    assert lines[0].startswith("launch,block,stack,near,far,fars,sentinel,ask,part,size_bytes,seq,batch,ns")
    assert len(lines) == 4
    assert lines[2].endswith(",1,1,")  # seq 1, batch 1, lost
