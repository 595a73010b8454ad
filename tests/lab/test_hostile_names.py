# SPDX-License-Identifier: BSD-3-Clause
"""Nothing is removed, or written over, that vaiven did not make: whatever name a verb is given, whatever lies about.

Nothing is raised here: the records are made up, and every name must be refused before anything is.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.report import made_up

from vaiven.cli import export, report
from vaiven.cli import lab as verbs
from vaiven.cli import measure as measures
from vaiven.cli.run import run as run_program
from vaiven.errors import VaivenError
from vaiven.lab import lab as labs
from vaiven.lab import state, topology
from vaiven.store import digest

NAMES = ["", ".", "..", "../victim", "../../victim", "/", "photos/..", "./photos", "photos\n", "~", "*", "-", "x" * 300,
         "\x1b[2J", "a\x00b", "photos", "thesis", "link", "file"]  # fmt: skip
VERBS: dict[str, Callable[[str], object]] = {
    "lab up --as": lambda name: verbs.up("free", instance=name),
    "lab down": verbs.down,
    "lab check": lambda name: verbs.check(name),
    "lab run": lambda name: verbs.run(f"{name}/h1", "true"),
    "lab shell": lambda name: verbs.shell(f"{name}/h1"),
    "lab show": verbs.show,
    "measure --lab": lambda name: measures.measure(lab=name, stacks="tcp", sizes="8", quick=True),
    "measure --resume": lambda name: measures.measure(resume=name),
    "run --lab": lambda name: run_program("true", stack="openmpi", lab=name),
    "report": report.report,
    "export csv": export.csv,
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory full of what is nobody's lab, the state directory and the working directory among it."""
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "precious").write_text("work of years")
    for name in (state.MARK, state.RECORD, state.HOSTS_FILE):  # as if it were one; but it lies elsewhere
        (tmp_path / "victim" / name).write_text("{}")
    records = tmp_path / "state" / "vaiven"
    (records / "photos").mkdir(parents=True)
    (records / "photos" / "lab.json").write_text("{}")
    (records / "thesis").mkdir()
    (records / "link").symlink_to(tmp_path / "victim")
    (records / "file").write_text("a file")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(state, "_PATIENCE_S", 0.0)
    yield tmp_path
    monkeypatch.setattr(state, "_PATIENCE_S", 1.0)
    labs.down_all()


def everything(place: Path) -> dict[str, str | bytes]:
    """Every path below `place`, with what is in it."""
    return {
        str(path): os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        for path in sorted(place.rglob("*"))
    }


def made_up_lab(name: str = "real") -> Path:
    """The record of a lab that nobody holds."""
    with state.reserved(name) as path:
        state.write(path, state.HOSTS_FILE, b"")
        return state.write(path, state.RECORD, b"{}").parent


@pytest.mark.parametrize("verb", VERBS)
def test_a_hostile_name_is_refused_in_words_and_nothing_changes(place: Path, verb: str) -> None:
    before = everything(place)
    for name in NAMES:
        with pytest.raises(VaivenError) as refused:
            VERBS[verb](name)
        assert refused.value.what and refused.value.code != "error", name
        assert everything(place) == before, name


def test_nobodys_directories_are_not_listed_and_not_taken_down(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(place)
    verbs.list_()
    verbs.down(all=True)
    said = capsys.readouterr().out
    assert "no lab is up" in said and not any(name in said for name in ("photos", "thesis", "link"))
    made_up_lab()
    verbs.down(all=True)
    assert "taken down: real\n" in capsys.readouterr().out
    assert everything(place) == before


@pytest.mark.parametrize("name", ["notes.txt", "lab.json/"])
def test_what_somebody_put_into_a_labs_directory_stays(place: Path, name: str) -> None:
    path = made_up_lab()
    foreign = path / name
    if name.endswith("/"):
        (path / "lab.json").unlink()
        foreign.mkdir()
        foreign /= "inside"
    foreign.write_text("mine")
    with pytest.raises(VaivenError, match="real was not removed: Directory not empty") as refused:
        labs.down("real")
    assert refused.value.code == "not-ours" and foreign.read_text() == "mine"
    assert [str(one.name) for one in path.iterdir()] == [name.rstrip("/")] and labs.running() == []


def test_a_record_that_is_no_file_is_only_unreadable(place: Path) -> None:
    path = made_up_lab()
    (path / "lab.json").unlink()
    (path / "lab.json").mkdir()
    assert "unreadable" in labs.running()[0].problems[0]
    (path / "lab.json").rmdir()


# Who else may write there


def opened_to_all(records: Path) -> None:
    records.chmod(0o777)


def opened_to_a_group(records: Path) -> None:
    records.chmod(0o770)


def somebodys(records: Path) -> None:
    os.chown(records, 65534, 65534)


def opened_above(records: Path) -> None:
    records.parent.chmod(0o777)


def somebodys_above(records: Path) -> None:
    os.chown(records.parent, 65534, 65534)


def a_link(records: Path) -> None:
    records.rename(records.with_name("elsewhere"))
    records.symlink_to("elsewhere")


def a_file(records: Path) -> None:
    records.rename(records.with_name("elsewhere"))
    records.write_text("")


@pytest.mark.root
@pytest.mark.parametrize(
    "change", [opened_to_all, opened_to_a_group, somebodys, opened_above, somebodys_above, a_link, a_file]
)
def test_records_that_others_may_write_are_not_believed(place: Path, change: Callable[[Path], None]) -> None:
    made_up_lab()
    records = place / "state" / "vaiven"
    change(records)
    before = everything(place)
    for attempt in (labs.running, labs.down_all, lambda: labs.down("real"), lambda: labs.find("real"),
                    lambda: labs.up(topology.ready("free"))):  # fmt: skip
        with pytest.raises(VaivenError, match="is not ours alone") as refused:
            attempt()
        assert refused.value.code == "bad-state" and "VAIVEN_STATE_DIR" in refused.value.remedy
    assert everything(place) == before
    with contextlib.suppress(NotADirectoryError):  # so that it can be emptied
        for path in (records.parent, records):
            os.chown(path, os.geteuid(), os.getegid())
            path.chmod(0o755)
    if change in (a_link, a_file):
        records.unlink()


def test_a_shared_directory_whose_entries_are_their_owners_will_do(place: Path) -> None:
    (place / "state").chmod(0o1777)  # as /tmp
    made_up_lab()
    assert [status.instance for status in labs.running()] == ["real"]


def test_what_is_made_is_ours_alone_whatever_the_umask(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(place / "a" / "b"))
    before = os.umask(0)
    try:
        made_up_lab()
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (place / "a", place / "a/b", place / "a/b/vaiven")] == [0o755] * 3


@pytest.mark.parametrize("bad", ["/dev/null", "/proc/nosuch", "{place}/state/vaiven/file", "{place}/loop"])
def test_a_state_directory_that_cannot_be_is_said(place: Path, monkeypatch: pytest.MonkeyPatch, bad: str) -> None:
    (place / "loop").symlink_to("loop")
    monkeypatch.setenv("VAIVEN_STATE_DIR", bad.format(place=place))
    with pytest.raises(VaivenError) as refused:
        labs.up(topology.ready("free"))
    assert refused.value.code == "bad-state"
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(place / "state"))


# Runs and what is made of them


@pytest.fixture
def hostile_run(place: Path) -> Path:
    """A whole run, from outside: its manifest says that it is called ../../victim/OWNED."""
    run = made_up.write_run(place / "runs", stacks=("udp", "tcp"), sizes=(1, 64, 1472), samples=9)
    manifest = json.loads(digest.opened((run.path / "manifest.json").read_bytes()))
    forged = json.dumps(manifest | {"id": "../../victim/OWNED"}).encode()
    (run.path / "manifest.json").write_bytes(digest.sealed(forged))
    return run.path


@pytest.mark.parametrize("verb", ["report", "export csv"])
def test_a_run_says_nothing_of_where_its_page_goes(place: Path, hostile_run: Path, verb: str) -> None:
    before = everything(place)
    VERBS[verb](str(hostile_run))
    new = {Path(name) for name in set(everything(place)) - set(before)}
    assert new and all(path.relative_to(place / "work") for path in new)
    assert {path.relative_to(place / "work").parts[0].removesuffix(".html") for path in new} == {hostile_run.name}


@pytest.mark.parametrize("verb", ["report", "report --svg", "export csv"])
def test_a_file_that_vaiven_did_not_write_is_not_written_over(place: Path, hostile_run: Path, verb: str) -> None:
    for name in ("passwd", "time-1.svg", "samples.csv"):
        Path(name).write_text("work of years")
    before = everything(place)
    attempts = {
        "report": lambda: report.report(str(hostile_run), output=Path("passwd")),
        "report --svg": lambda: report.report(str(hostile_run), output=Path("page.html"), svg=Path(".")),
        "export csv": lambda: export.csv(str(hostile_run), output=Path(".")),
    }
    with pytest.raises(VaivenError, match="vaiven did not make what is there") as refused:
        attempts[verb]()
    assert refused.value.code == "cannot-write"
    assert {name: what for name, what in everything(place).items() if not name.endswith("page.html")} == before
    for name in ("passwd", "time-1.svg", "samples.csv"):
        Path(name).unlink()
    attempts[verb]()
    attempts[verb]()  # what it wrote itself it may write again


@pytest.mark.parametrize("kind", ["device", "link", "directory"])
def test_an_output_that_is_no_plain_file_is_not_replaced(place: Path, hostile_run: Path, kind: str) -> None:
    target = place / "work" / "samples.csv"
    if kind == "device":
        os.mkfifo(target)
    elif kind == "link":
        target.symlink_to(place / "victim" / "precious")
    else:
        target.mkdir()
    before = {name: what for name, what in everything(place / "victim").items()}
    for attempt in (lambda: report.report(str(hostile_run), output=target),
                    lambda: export.csv(str(hostile_run), output=target.parent)):  # fmt: skip
        with pytest.raises(VaivenError, match="no plain file") as refused:
            attempt()
        assert refused.value.code == "cannot-write"
    assert everything(place / "victim") == before and [one.name for one in target.parent.iterdir()] == ["samples.csv"]
