# SPDX-License-Identifier: BSD-3-Clause
"""A record cannot change silently: one bit of any of its files is enough for it to be refused by that file's name."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.store.made import cell, changed, launch, manifest

from vaiven.errors import VaivenError
from vaiven.store import digest, query
from vaiven.store.record import Addition, End, Loss, LostLaunch, Record, Refined

FILES = ["manifest.json", "samples/00001.parquet", "cells/00001.parquet", "launches/00001.json", "warnings.jsonl",
         "refined.jsonl", "lost.jsonl", "end.json"]  # fmt: skip
GROWING = ["warnings.jsonl", "refined.jsonl", "lost.jsonl"]
LOST = LostLaunch(
    launch=0, block=0, stack="tcp", ask="pingpong", near="a", far="b", sentinel=False, time=1,
    losses=(Loss(witness="steal", where="cpu1", lost_ns=20_000_000, of_ns=10**9),),
)  # fmt: skip
FLIPPED = [*(("ended", name) for name in FILES), *(("stopped", name) for name in GROWING)]
Write = Callable[..., Path]


@pytest.fixture(params=["ended", "stopped"])
def run(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A run with every kind of file, of which a run that was stopped has no end."""
    one = Addition(stack="tcp", ask="pingpong", near="a", far="b", sizes_bytes=(9, 10), why="a jump", knee=True,
                   low_bytes=8.0, high_bytes=16.0)  # fmt: skip
    with Record.create(tmp_path, manifest("Ünïcode")) as record:
        for number in range(2):
            record.add(launch(number), [cell(8, [10, None, 30]), cell(64, [28_000 + k for k in range(40)])])
            record.warn("tail", f"launch {number}: the slowest are slow", launch=number)
            record.refine(Refined(blocks=number + 1, additions=(one,)))
            record.lose(LOST)
        if request.param == "ended":
            record.end(End(reason="done", blocks=2, launches=2, failed=0, half_width=0.01, cell="tcp 8 B"))
    return record.path


def everything(path: Path) -> None:
    """Reads all that a run holds."""
    opened = query.open_run(path)
    query.launches(opened)
    query.samples(opened)
    query.launch_records(opened)
    query.warnings(opened)
    query.refined(opened)
    query.lost(opened)


def refused(path: Path) -> VaivenError:
    with pytest.raises(VaivenError) as caught:
        everything(path)
    assert caught.value.code == "run-damaged" and caught.value.remedy
    return caught.value


def flips_that_are_not_refused_by_name(path: Path, name: str, count: int) -> list[str]:
    """Turns one bit of that file over, so many times, each time another one of the whole file."""
    rng = random.Random(name)
    whole = (path / name).read_bytes()
    wrong = []
    for _ in range(count):
        bit = rng.randrange(8 * len(whole))
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        (path / name).write_bytes(data)
        try:
            everything(path)
            wrong.append(f"bit {bit} of {name} was read without a word")
        except VaivenError as error:
            if error.code != "run-damaged" or name not in error.what:
                wrong.append(f"bit {bit} of {name}: {error}")
    (path / name).write_bytes(whole)
    everything(path)
    return wrong


@pytest.mark.parametrize(("run", "name"), FLIPPED, indirect=["run"])
def test_a_bit_that_is_another_is_found_and_its_file_named(run: Path, name: str) -> None:
    assert flips_that_are_not_refused_by_name(run, name, 60) == []


@pytest.mark.slow
@pytest.mark.parametrize(("run", "name"), FLIPPED, indirect=["run"])
def test_none_of_very_many_bits_can_change_silently(run: Path, name: str) -> None:
    assert flips_that_are_not_refused_by_name(run, name, 1500) == []


@pytest.mark.parametrize("name", GROWING)
def test_every_bit_of_the_ends_of_lines_counts(run: Path, name: str) -> None:
    """The last of them above all: without it a line would pass for one that a crash cut off."""
    whole = (run / name).read_bytes()
    for place in [place for place, byte in enumerate(whole) if byte == ord("\n")]:
        for bit in range(8):
            (run / name).write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            assert name in refused(run).what
            with pytest.raises(VaivenError) as caught:  # nor does going on with the run drop it
                Record.resume(run, query.open_run(run).manifest)
            assert caught.value.code in ("run-damaged", "run-ended")


@pytest.mark.parametrize("run", ["ended"], indirect=True)
@pytest.mark.parametrize("name", GROWING)
@pytest.mark.parametrize("harm", ["less", "more", "gone"])
def test_lines_that_came_or_went_after_the_end_are_seen(run: Path, name: str, harm: str) -> None:
    lines = (run / name).read_bytes().splitlines(keepends=True)
    if harm == "gone":
        (run / name).unlink()
    else:
        (run / name).write_bytes(b"".join(lines[:1] if harm == "less" else [*lines, lines[0]]))
    assert f"{name}: it is not the file that was there when the run ended" in refused(run).what


@pytest.mark.parametrize("run", ["ended"], indirect=True)
def test_a_launch_that_is_missing_from_an_ended_run_is_missed(run: Path) -> None:
    (run / "launches" / "00001.json").unlink()
    assert "1 launches are here, and 2 were recorded" in refused(run).what


@pytest.mark.parametrize("run", ["stopped"], indirect=True)
def test_parts_without_a_record_of_their_launch_are_no_launch(run: Path) -> None:
    """As a kill between two renames leaves them; going on with the run takes them away."""
    (run / "launches" / "00001.json").unlink()
    opened = query.open_run(run)
    assert query.samples(opened)["launch"].unique().to_list() == [0]
    with Record.resume(run, opened.manifest) as record:
        assert record.finished == {0} and len(list(run.rglob("*.parquet"))) == 2


def test_a_record_under_the_name_of_another_launch_is_refused(run: Path) -> None:
    for kind, suffix in (("samples", "parquet"), ("cells", "parquet"), ("launches", "json")):
        shutil.copy(run / kind / f"00000.{suffix}", run / kind / f"00001.{suffix}")
    assert "launches/00001.json: it tells of launch 0" in refused(run).what


@pytest.mark.parametrize("name", ["x.json", "1.json", "-0001.json", "²²²²².json", "00001.json.json"])
def test_a_launch_without_a_number_is_refused(run: Path, name: str) -> None:
    shutil.copy(run / "launches" / "00001.json", run / "launches" / name)
    assert name in refused(run).what


def test_a_panic_of_the_library_that_reads_parts_is_an_error_in_words(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panic(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(pl, "read_parquet", panic)
    assert "00000.parquet: index out of bounds" in refused(run).what


@pytest.mark.parametrize("text", [b"[" * 200_000, b'{"schema":' * 100_000, b"\x00" * 1000, b'{"schema":1e999}'])
def test_a_document_that_no_vaiven_wrote_is_refused(run: Path, text: bytes) -> None:
    (run / "manifest.json").write_bytes(text)
    assert "manifest.json" in refused(run).what
    (run / "manifest.json").write_bytes(digest.sealed(text))
    assert "manifest.json" in refused(run).what


def test_anybody_can_check_a_document_with_the_tools_of_a_shell(run: Path) -> None:
    text = (run / "manifest.json").read_bytes()
    told = re.search(rb'"sha256":"([0-9a-f]{64})",', text)
    assert hashlib.sha256(text.replace(told[0], b"", 1)).hexdigest().encode() == told[1]
    assert json.loads(text)["title"] == "Ünïcode"


def test_what_is_written_anew_with_its_digest_is_read(run: Path) -> None:
    changed(run / "manifest.json", title="Another")
    assert query.open_run(run).manifest.title == "Another"
