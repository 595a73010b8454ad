# SPDX-License-Identifier: BSD-3-Clause
"""Words of several directories of runs, side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from tests.papers import runs
from tests.store import made

from vaiven.papers.claims import published
from vaiven.papers.judge import Word, judge
from vaiven.store.record import Record

CANDIDATES = [runs.FAITHFUL.run(runs.manifest("ufsm"), runs.d_pairs(True))]


@pytest.fixture(scope="module")
def again(bench: dict[str, ModuleType]) -> ModuleType:
    return bench["again"]


def test_what_holds_here_and_not_there_is_opposite(again) -> None:
    first = judge(published(), CANDIDATES)
    second = [replace(one, word=Word.DOES_NOT_HOLD) if one.claim.id == "D01" else one for one in first]
    found = {one.claim: one for one in again.rows([first, second], "D")}
    assert found["D01"].opposite and [one.claim for one in found.values() if one.opposite] == ["D01"]
    assert not again.rows([first, second], "B")
    open_ = [replace(one, word=Word.NOT_SETTLED) if one.claim.id == "D01" else one for one in first]
    assert not any(one.opposite for one in again.rows([first, open_], "D"))


def test_a_line_has_each_word_with_its_margin(again) -> None:
    first = judge(published(), CANDIDATES)
    found = again.rows([first, judge(published(), [])], "D")
    lines = again.table(found, ["one", "none"]).splitlines()
    assert lines[0] == "| claim | one | none |" and len(lines) == 2 + len(found) > 5
    line = next(line for line in lines if line.startswith("| D01 | holds, "))
    assert line.endswith(") | not measurable here |")
    assert again.counts(found, ["one", "none"])["none"] == {
        Word.HOLDS: 0, Word.DOES_NOT_HOLD: 0, Word.NOT_SETTLED: 0
    }  # fmt: skip


def test_a_claim_of_which_two_runs_that_fit_are_opposite_is_torn(again) -> None:
    """Where all takes forty times as long latencies are no milliseconds (A34); machines differ as they did (A27)."""
    faithful, slow = runs.FAITHFUL.candidates[0], runs.World(scale=40.0).candidates[0]
    claims = [one for one in published() if one.id in ("A27", "A34")]
    assert again.torn(claims, [[faithful, faithful]]) == []
    assert again.torn(claims, [[faithful, slow]]) == ["A34"]
    assert again.torn(claims, [[faithful], [slow]]) == ["A34"], "directories are laid together, too"


def test_directories_are_judged_each_by_itself(again, tmp_path: Path, monkeypatch, capsys) -> None:
    for name, one_way_ns in (("first", 100_000), ("second", 90_000)):
        with Record.create(tmp_path / name, runs.manifest("lidi")) as record:
            for number in range(8):
                launch = replace(made.launch(number, "icmp"), block=number, near="lidi1", far="lidi2")
                record.add(launch, [made.cell(8, [2 * one_way_ns + number])])
    monkeypatch.setattr("sys.argv", ["again.py", str(tmp_path / "first"), str(tmp_path / "second")])
    assert again.main() == 0
    said = capsys.readouterr().out
    assert "| A38 |" in said and "\nopposite: none\n" in said and said.count(" settled: ") == 2
    assert said.endswith("opposite by two runs that fit: none\n")
    monkeypatch.setattr("sys.argv", ["again.py", str(tmp_path / "first"), "--papers", "B"])
    with pytest.raises(SystemExit):
        again.main()
    assert "no claim of B can be told" in capsys.readouterr().err
