# SPDX-License-Identifier: BSD-3-Clause
"""The verdicts of runs, as a table and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.papers import runs
from tests.store import made

from vaiven.cli.reproduce import reproduce
from vaiven.cli.status import Status
from vaiven.errors import VaivenError
from vaiven.store.record import Record

ONE_WAY_NS = {"pvm-default-xdr": 2_000_000, "pvm-direct-xdr": 1_000_000}
HOSTS = ("purmamarca", "sofia", "fourier")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of 8 blocks, which knows nothing but two latencies."""
    with Record.create(tmp_path_factory.mktemp("runs"), runs.manifest("cetad", HOSTS)) as record:
        for number in range(32):
            stack = sorted(ONE_WAY_NS)[number % 2]
            launch = replace(
                made.launch(number, stack), block=number // 4, near=HOSTS[0], far=HOSTS[1 + number // 2 % 2]
            )
            record.add(launch, [made.cell(8, [2 * ONE_WAY_NS[stack] + 1000 * number])])
    return str(record.path)


def rows(said: str) -> dict[str, str]:
    """claim -> the line that begins with it."""
    return {line.split()[0]: line for line in said.splitlines() if line[:1] in "ABCDE" and line[1:3].isdigit()}


def test_what_this_run_can_tell(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(run=[path]) == Status.OK
    said = capsys.readouterr().out
    found = rows(said)
    assert "holds" in found["A26"] and "1.99 ×" in found["A26"] and "A17" not in found
    assert "printed: 1 to 10 ms" in said and "(of a model)" in said
    assert "how the model is made" in " ".join(said.split())
    assert "others cannot be told from these runs" in said


def test_some_claims_or_a_paper(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce("a26", run=[path]) == Status.OK
    assert set(rows(capsys.readouterr().out)) == {"A26"}
    assert reproduce("B", "A17", run=[path]) == Status.CANNOT_TELL
    (line,) = capsys.readouterr().out.splitlines()
    assert line == "none of 8 published results can be told from one run; --every says what each would take"
    with pytest.raises(VaivenError, match="no claim 'LAST'"):
        reproduce("last")


def test_all_of_them_and_what_each_would_take(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    reproduce(run=[path], every=True)
    said = capsys.readouterr().out
    assert len(rows(said)) == 147 and max(map(len, said.splitlines())) <= 80
    words = " ".join(said.split())
    assert "not measurable here" in words and "no host prited" in words
    assert "others cannot be told" not in words and "meant: 0.086 us/byte" in words


def test_every_one_names_the_plan_that_settles_it(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    reproduce("B01", "A60", run=[path], every=True)
    said = " ".join(capsys.readouterr().out.split())
    assert "vaiven measure papers/b-tau --length quick" in said and "papers/a-one-receiver" in said
    reproduce("B01", run=[path], every=True, as_json=True)
    assert json.loads(capsys.readouterr().out)["plans"] == {"B01": ["papers/b-tau", "quick"]}


def test_a_page_beside_the_table(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "new" / "page.html"
    assert reproduce("A", run=[path], output=output) == Status.OK
    text = output.read_text()
    assert 'id="A26"' in text and "holds (of a model)" in text and str(output) in capsys.readouterr().out
    assert "1.99" in text and "vaiven measure papers/" in text


def test_as_json(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    reproduce(run=[path], as_json=True)
    said = json.loads(capsys.readouterr().out)
    found = {one["claim"]["id"]: one for one in said["verdicts"]}
    assert said["schema"] == 2 and len(found) == 147 and len(said["runs"]) == 1
    assert found["A26"]["word"] == "holds" and 1 < found["A26"]["interval"]["low"] <= found["A26"]["margin"]
    assert found["A26"]["runs"] == said["runs"] and found["A26"]["p_adjusted"] >= found["A26"]["p"] > 0
    assert found["A17"]["margin"] is None and found["A17"]["interval"]["refused"] and not found["A17"]["runs"]


def test_a_word_does_not_depend_on_what_is_asked(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for wanted in ((), ("A26",)):
        reproduce(*wanted, run=[path], as_json=True)
        verdicts = json.loads(capsys.readouterr().out)["verdicts"]
        told.append(next(one for one in verdicts if one["claim"]["id"] == "A26"))
    assert told[0] == told[1]


def test_all_runs_that_there_are_and_one_that_is_none(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("{}")
    with Record.create(tmp_path, runs.manifest("lidi")) as record:
        record.add(replace(made.launch(0, "icmp"), near="lidi1", far="lidi2"), [made.cell(8, [1000])])
    (tmp_path / "good").symlink_to(path)
    assert reproduce(runs=tmp_path) == Status.OK
    captured = capsys.readouterr()
    assert set(rows(captured.out)) >= {"A26", "A38"}  # one is of the run on cetad, the other of that on lidi
    assert captured.err.startswith("passed over: ") and "broken" in captured.err


def test_without_any_run_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(VaivenError, match="no run in"):
        reproduce(runs=tmp_path)


def test_without_any_run_every_one_names_its_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert reproduce(runs=tmp_path, every=True, output=page) == Status.CANNOT_TELL
    said = capsys.readouterr().out
    assert len(rows(said)) == 147 and " holds" not in said and "vaiven measure papers/b-tau --length quick" in said
    assert 'id="A26"' in page.read_text()
