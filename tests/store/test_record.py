# SPDX-License-Identifier: BSD-3-Clause
"""A run directory grows by whole launches, is never changed, and survives kills and full disks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import msgspec
import pytest
from tests.store.made import cell, launch, manifest

from vaiven.errors import VaivenError
from vaiven.store import query
from vaiven.store.record import Addition, Cell, End, Loss, LostLaunch, Record, Refined

END = End(reason="done", blocks=1, launches=0, failed=0, half_width=0.01, cell="tcp")
Write = Callable[..., Path]


def test_the_manifest_comes_back(write: Write) -> None:
    run = query.open_run(write({}))
    assert run.manifest.plan_text == 'title = "A test"\n'
    assert run.manifest.hosts == {"a": {"address": "10.0.0.1"}}
    assert run.id == run.path.name
    assert run.state == "stopped"


@pytest.mark.parametrize("root", ["/dev/null", "/proc/nosuch", "file", "loop", "x" * 300])
def test_runs_cannot_be_kept_where_there_is_no_directory(tmp_path: Path, monkeypatch, root: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("work of years")
    Path("loop").symlink_to("loop")
    with pytest.raises(VaivenError, match="cannot write"):
        Record.create(Path(root), manifest())
    assert Path("file").read_text() == "work of years" and sorted(os.listdir()) == ["file", "loop"]


@pytest.mark.parametrize("kind", ["samples", "cells", "traces", "launches"])
def test_a_run_whose_parts_lie_elsewhere_is_not_gone_on_with(write: Write, tmp_path: Path, kind: str) -> None:
    path = write({0: [cell(8, [1, 2])]})
    (path / kind).mkdir(exist_ok=True)
    (path / kind).rename(tmp_path / "elsewhere")
    (path / kind).symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "00007.parquet").write_bytes(b"somebody's")
    with pytest.raises(VaivenError, match="leads out of the run") as refused:
        Record.resume(path, query.open_run(path).manifest)
    assert refused.value.code == "run-damaged" and (tmp_path / "elsewhere" / "00007.parquet").exists()


@pytest.mark.parametrize("name", ["photo.parquet", "7.parquet", "00007 copy.parquet", "٠٠٠٠٧.parquet"])
def test_what_no_launch_wrote_stays_when_a_run_goes_on(write: Write, name: str) -> None:
    path = write({0: [cell(8, [1, 2])]})
    (path / "samples" / name).write_bytes(b"somebody's")
    with pytest.raises(VaivenError, match="no launch has such a name"):
        Record.resume(path, query.open_run(path).manifest)
    assert (path / "samples" / name).exists()


def test_a_line_is_not_written_through_a_link(write: Write, tmp_path: Path) -> None:
    path = write({})
    (tmp_path / "precious").write_text("work of years")
    (path / "warnings.jsonl").symlink_to(tmp_path / "precious")
    with Record(path, query.open_run(path).manifest) as record, pytest.raises(VaivenError, match="cannot write"):
        record.warn("x", "y")
    assert (tmp_path / "precious").read_text() == "work of years"


def test_a_launch_is_there_when_its_last_file_is(write: Write) -> None:
    path = write({0: [cell(8, [1, 2])], 1: [cell(8, [3])]})
    (path / "launches" / "00001.json").unlink()  # as a kill between two renames leaves it
    assert query.cells(query.open_run(path))["launch"].to_list() == [0]
    with Record.resume(path, query.open_run(path).manifest) as record:
        assert record.finished == {0}
        assert [part.name for part in (path / "samples").iterdir()] == ["00000.parquet"]
        record.add(launch(1), [cell(8, [4])])
    assert query.samples(query.open_run(path))["ns"].to_list() == [1, 2, 4]


def test_nothing_temporary_stays(write: Write) -> None:
    path = write({0: [cell(8, [1])]})
    assert {one.name for one in path.rglob("*")} == {
        "manifest.json", "samples", "cells", "launches", "00000.parquet", "00000.json",
    }  # fmt: skip


def test_what_a_look_added_comes_back_and_a_torn_line_is_dropped(write: Write) -> None:
    path = write({0: [cell(8, [1])]})
    run = query.open_run(path)
    assert query.refined(run) == []
    one = Addition(stack="tcp", ask="pingpong", near="a", far="b", sizes_bytes=(9, 10), why="a jump", knee=True,
                   low_bytes=8.0, high_bytes=16.0)  # fmt: skip
    with Record.resume(path, run.manifest) as record:
        record.refine(Refined(blocks=8, additions=(one,)))
    with (path / "refined.jsonl").open("ab") as lines:
        lines.write(b'{"blocks":16,"addi')
    assert query.refined(run) == [Refined(blocks=8, additions=(one,))]
    with Record.resume(path, run.manifest) as record:
        record.refine(Refined(blocks=16, additions=()))
    assert [look.blocks for look in query.refined(run)] == [8, 16]
    (path / "refined.jsonl").write_text("nonsense\n")
    with pytest.raises(VaivenError) as caught:
        query.refined(run)
    assert caught.value.code == "run-damaged"


def test_what_lost_its_time_comes_back(write: Write) -> None:
    run = query.open_run(write({0: [cell(8, [1])]}))
    assert query.lost(run) == []
    loss = Loss(witness="steal", where="cpu1", lost_ns=20_000_000, of_ns=10**9)
    thrown = LostLaunch(launch=1, block=0, stack="tcp", ask="pingpong", near="a", far="b", sentinel=False, time=1,
                        losses=(loss,))  # fmt: skip
    with Record.resume(run.path, run.manifest) as record:
        record.lose(thrown)
        record.add(replace(launch(1), losses=(loss,)), [cell(8, [4])])
        record.end(msgspec.structs.replace(END, launches=2))
    ended = query.open_run(run.path)
    assert query.lost(ended) == [thrown] and loss.share == 0.02
    assert [one.losses for one in query.launch_records(ended)] == [(), (loss,)]


def test_an_ended_run_is_never_changed(tmp_path: Path) -> None:
    with Record.create(tmp_path, manifest()) as record:
        record.end(END)
    run = query.open_run(record.path)
    assert run.state == "ended"
    assert run.end is not None
    assert run.end.reason == "done"
    with pytest.raises(VaivenError) as caught:
        Record.resume(record.path, run.manifest)
    assert caught.value.code == "run-ended"


def test_a_run_is_written_by_one_process(tmp_path: Path) -> None:
    with Record.create(tmp_path, manifest()) as record:
        assert query.open_run(record.path).state == "running"
        with pytest.raises(VaivenError) as caught:
            Record.resume(record.path, record.manifest)
        assert caught.value.code == "run-busy"
    assert query.open_run(record.path).state == "stopped"


def test_runs_at_once_do_not_collide(tmp_path: Path) -> None:
    with Record.create(tmp_path, manifest()) as one, Record.create(tmp_path, manifest()) as other:
        assert one.path != other.path
    assert len(query.runs(tmp_path)) == 2


@pytest.mark.parametrize("title", ["", "../../etc", "$(id) `id`; rm -rf /", "<b>a</b>", "a\nb\0c", "Ünïcode " * 40])
def test_any_title_gives_a_plain_directory_below_the_root(tmp_path: Path, title: str) -> None:
    with Record.create(tmp_path, manifest(title)) as record:
        assert record.path.parent == tmp_path
        assert set(record.path.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert query.open_run(record.path).manifest.title == title


def test_warnings_are_kept_in_order_and_a_torn_one_is_dropped(tmp_path: Path) -> None:
    with Record.create(tmp_path, manifest()) as record:
        record.warn("first", "a\nb", launch=3)
        record.warn("second", "$(id)")
    path = record.path / "warnings.jsonl"
    path.write_bytes(path.read_bytes() + b'{"code":"tor')
    read = query.warnings(query.open_run(record.path))
    assert [(one["code"], one["text"], one.get("launch")) for one in read] == [
        ("first", "a\nb", 3),
        ("second", "$(id)", None),
    ]
    with Record.resume(record.path, record.manifest) as record:
        record.warn("third", "c")
    assert [one["code"] for one in query.warnings(query.open_run(record.path))] == ["first", "second", "third"]


def test_duckdb_reads_it_in_one_line(write: Write) -> None:
    path = write({0: [cell(8, [10, 30, None])], 1: [cell(64, [5])]})
    found = duckdb.sql(f"SELECT size_bytes, min(ns), count(*) FROM '{path}/samples/*.parquet' GROUP BY 1 ORDER BY 1")
    assert found.fetchall() == [(8, 10, 3), (64, 5, 1)]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(VaivenError, match="cannot write") as caught:
        Record.create(tmp_path / "file", manifest())
    assert caught.value.code == "cannot-write"


_FILL = """
    import os, sys
    from pathlib import Path
    sys.path.insert(0, os.getcwd())
    from tests.store.made import cell, launch, manifest
    from vaiven.errors import VaivenError
    from vaiven.store import query
    from vaiven.store.record import Record
    root = Path(sys.argv[1])
    with Record.create(root, manifest()) as record:
        try:
            for number in range(10000):
                record.add(launch(number), [cell(8, [int.from_bytes(os.urandom(7)) for _ in range(2000)])])
        except VaivenError as error:
            assert error.code == "disk-full", error
            assert str(record.path) in error.what, error
    run = query.open_run(record.path)
    finished = query.launches(run)
    assert finished.height == number > 2, finished
    assert not [one for one in record.path.rglob(".*")]
    (record.path / "samples" / "00000.parquet").unlink()  # room again
    (record.path / "launches" / "00000.json").unlink()
    with Record.resume(record.path, run.manifest) as record:
        assert min(record.finished) == 1 and len(record.finished) == number - 1
        record.add(launch(0), [cell(8, [1])])
    print(number)
"""


@pytest.mark.lab
def test_a_full_disk_keeps_the_finished_launches(tmp_path: Path) -> None:
    """On a tmpfs of 512 KiB that only this test sees."""
    script = 'mount -t tmpfs -o size=512k none "$1" && exec "$2" -c "$3" "$1"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", tmp_path, sys.executable, textwrap.dedent(_FILL)],
        capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 2
    assert not list(tmp_path.iterdir())


def test_a_killed_run_keeps_its_launches(tmp_path: Path) -> None:
    script = """
        import os, signal, sys
        from pathlib import Path
        sys.path.insert(0, os.getcwd())
        from tests.store.made import cell, launch, manifest
        from vaiven.store.record import Record
        record = Record.create(Path(sys.argv[1]), manifest())
        record.add(launch(0), [cell(8, [1])])
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), tmp_path], cwd=Path(__file__).parents[2], check=False
    )
    assert done.returncode == -9
    (run,) = query.runs(tmp_path)
    assert isinstance(run, query.Run)
    assert run.state == "stopped"
    assert query.launches(run).height == 1


def test_the_manifest_is_json_that_anybody_reads(write: Write) -> None:
    assert json.loads((write({}) / "manifest.json").read_text())["schema"] == 3


def test_parts_hold_what_was_measured(write: Write) -> None:
    facts = {"cpu_near_ns": 9100.5, "cpu_far_ns": None, "wire_frames": 1, "wire_bytes": 142, "wire_ns": 11360}
    path = write({0: [cell(64, [7, None], late=2, corrupt=1, warm=False, **facts)]})
    (row,) = query.cells(query.open_run(path)).to_dicts()
    assert row == {
        "launch": 0, "block": 0, "stack": "tcp", "near": "a", "far": "b", "fars": 1, "sentinel": False,
        "ask": "pingpong",
        "size_bytes": 64, "batch": 1, "count": 1, "lost": 1, "late": 2, "corrupt": 1, "warmup": 3, "warm": False,
        "started_s": 2.0, "part": "", "gap_ns": None, "resent": None, "clock": "", "clock_error_ns": None,
        "overlap": None, "out_bytes": None, "in_bytes": None, "translations": None, "window_segments": None,
        "threshold_segments": None,
        **facts,
    }  # fmt: skip


def test_a_launch_without_cells_is_recorded(write: Write) -> None:
    run = query.open_run(write({0: []}))
    assert query.launches(run).height == query.samples(run).height == 0
    assert [one.launch for one in query.launch_records(run)] == [0]


def test_sizes_of_many_exchanges_stay_small(write: Write) -> None:
    samples: list[Cell] = [cell(64, [28_000 + (k * 7919) % 4000 for k in range(100_000)])]
    path = write({0: samples})
    assert os.path.getsize(path / "samples" / "00000.parquet") < 400_000
