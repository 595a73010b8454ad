# SPDX-License-Identifier: BSD-3-Clause
"""What a user may hold out to vaiven by mistake: a sentence and a remedy, and nothing half-written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report import made_up
from tests.store import made

import vaiven as face
from vaiven.cli.status import Status
from vaiven.errors import VaivenError
from vaiven.store import digest
from vaiven.store.record import Record

Vaiven = Callable[..., subprocess.CompletedProcess[str]]

READERS = (("model",), ("compare",), ("report",), ("export", "csv"), ("export", "markdown"))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run."""
    return made_up.write_run(tmp_path_factory.mktemp("good"), stacks=("tcp", "udp"), sizes=(1, 64), samples=9).path


@pytest.fixture
def copy(good: Path, tmp_path: Path) -> Path:
    """One to be spoilt."""
    return shutil.copytree(good, tmp_path / "runs" / good.name)


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """The sentence of an error, which has a remedy, and nothing else beside it."""
    assert done.returncode == Status.WORLD and done.stdout == "", (done.stdout, done.stderr)
    sentence, *remedy = done.stderr.splitlines()
    assert sentence.startswith("vaiven: ") and remedy and all(line.startswith("  ") for line in remedy), done.stderr
    return sentence


def test_a_run_of_an_older_schema(vaiven: Vaiven, copy: Path, tmp_path: Path) -> None:
    manifest = json.loads(digest.opened((copy / "manifest.json").read_bytes())) | {"schema": 1}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    for verb in READERS:
        assert "was written by an older vaiven (schema 1" in refusal(vaiven(*verb, str(copy), cwd=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


CUT = ("manifest.json", "end.json", "launches/00000.json", "samples/00000.parquet", "cells/00000.parquet")


@pytest.mark.parametrize(("verb", "cut"), list(zip(READERS, CUT, strict=True)))
def test_a_run_half_written(vaiven: Vaiven, copy: Path, tmp_path: Path, verb: tuple[str, ...], cut: str) -> None:
    (copy / cut).write_bytes((copy / cut).read_bytes()[:100])
    assert "the run is damaged" in refusal(vaiven(*verb, str(copy), cwd=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_a_run_that_asks_what_nobody_knows_here(vaiven: Vaiven, tmp_path: Path) -> None:
    """Of a vaiven that knows more questions, whose schema is the same."""
    with Record.create(tmp_path, made.manifest()) as record:
        record.add(replace(made.launch(0), ask="telepathy"), [replace(made.cell(8, [5]), ask="telepathy")])
    for verb in READERS:
        assert "asks 'telepathy'" in refusal(vaiven(*verb, str(record.path), cwd=tmp_path))


def test_a_run_whose_design_cannot_be(vaiven: Vaiven, copy: Path, tmp_path: Path) -> None:
    made.changed(copy / "manifest.json", design={"courses": [{"stack": 7}]})
    assert "$.design.courses[0].stack" in refusal(vaiven("model", str(copy), cwd=tmp_path))


def test_a_run_that_was_killed_is_what_it_had_finished(vaiven: Vaiven, copy: Path, tmp_path: Path) -> None:
    (copy / "end.json").unlink()
    (copy / "launches/00003.json").unlink()  # its parts are there, and count for nothing
    assert vaiven("model", str(copy), cwd=tmp_path).returncode == Status.OK
    for document in (copy / "launches").iterdir():
        document.unlink()
    assert "no finished launch" in refusal(vaiven("report", str(copy), cwd=tmp_path))


def test_a_directory_of_somebody_else(vaiven: Vaiven, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/manifest.json").write_text('{"name": "an app", "version": "2.0"}')
    for verb in READERS[:2]:
        assert "app is not a run: manifest.json is of another program" in refusal(
            vaiven(*verb, str(tmp_path / "app"), cwd=tmp_path)
        )
    assert [path.name for path in tmp_path.rglob("*")] == ["app", "manifest.json"]
    assert "no run" in refusal(vaiven("model", "/etc", cwd=tmp_path))
    assert vaiven("runs", "--runs", str(tmp_path)).returncode == Status.OK


def test_two_runs_that_have_nothing_in_common(vaiven: Vaiven, good: Path, tmp_path: Path) -> None:
    other = made_up.write_fanout(tmp_path / "runs").path
    both = [str(good), str(other)]
    refusal(vaiven("report", *both, "--output", "both.html", cwd=tmp_path))
    refusal(vaiven("compare", *both, cwd=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_a_notebook_without_libraries_for_pictures(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = face.open(good)
    for missing in ("plotly", "plotly.graph_objects", "pandas", "matplotlib"):
        monkeypatch.setitem(sys.modules, missing, None)
    picture = next(iter(run.pictures().values()))
    assert "<svg" in picture._repr_html_() and "<table" in run.results().costs._repr_html_()
    for wants in (picture.to_plotly, run.results().costs.to_pandas):
        with pytest.raises(VaivenError, match="is not installed") as caught:
            wants()
        assert "pip install" in caught.value.remedy


@pytest.mark.parametrize("words", [("model",), ("model", "--by-size"), ("compare",)], ids=" ".join)
def test_a_terminal_of_40_columns(vaiven: Vaiven, good: Path, words: tuple[str, ...]) -> None:
    """Tables fit it, and no number of them is lost."""
    narrow, wide = (vaiven(*words, str(good), env=os.environ | {"COLUMNS": str(n)}).stdout for n in (40, 400))
    tables = [line for line in narrow.splitlines() if "  " in line.strip() or "─" in line]
    assert tables and max(map(len, tables)) <= 40
    numbers = {word for word in wide.split() if word[0].isdigit() and word[-1].isdigit()}
    assert numbers and numbers <= set(narrow.split())


@pytest.mark.parametrize("home", ["/dev/null/x", "/proc"])
def test_a_home_that_cannot_be_written(vaiven: Vaiven, good: Path, tmp_path: Path, home: str) -> None:
    there = {"HOME": home, "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""}
    for words in (["model", str(good)], ["lab", "list"], ["measure", "demo", "--dry-run"], ["stacks"]):
        done = vaiven(*words, env=os.environ | there, cwd=tmp_path)
        assert done.returncode == Status.OK and done.stdout, done.stderr


@pytest.mark.root
@pytest.mark.parametrize("words", [["report", "--svg", "full/svg"], ["report"], ["export", "csv"]], ids=" ".join)
def test_a_full_disk(good: Path, tmp_path: Path, words: list[str]) -> None:
    """A disk of 16 KiB, which only these processes see."""
    (tmp_path / "full").mkdir()
    output = "full/csv" if words[0] == "export" else "full/page.html"
    script = 'mount -t tmpfs -o size=16k none full && "$@"; status=$?; find full -type f -size +0; exit $status'
    command = [sys.executable, "-m", "vaiven", *words, str(good), "--output", output]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *command],
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    assert "No space left on device" in done.stderr and "choose another place" in done.stderr, done.stderr
    assert done.returncode == Status.WORLD and not [
        n for n in done.stdout.split() if "/." in n or n.endswith("page.html")
    ]
