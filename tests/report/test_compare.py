# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven compare`, as a user and as another project's pipeline type it; and what it must refuse to compare."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy import stats
from tests.report import made_up

from vaiven.cli.compare import CANNOT_TELL, SLOWER, comparison, comparison_json
from vaiven.errors import VaivenError
from vaiven.model.compare import pp_points
from vaiven.report import verdicts
from vaiven.stats.verdict import Rules, Word
from vaiven.store import query
from vaiven.store.query import Run

Vaiven = Callable[..., subprocess.CompletedProcess[str]]
SIZES = (1, 64, 1472, 65536)


def short(root: Path, **changes: Any) -> Run:
    """A small run: tcp and udp, four sizes, 12 blocks."""
    return made_up.write_run(root, **({"stacks": ("udp", "tcp"), "sizes": SIZES, "samples": 20} | changes))


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return short(tmp_path_factory.mktemp("before"))


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Measured on another day; tcp has become a third slower to start, udp has not."""
    return short(tmp_path_factory.mktemp("slower"), seed=6, start_ns={"tcp": 52e3})


@pytest.fixture
def typed(vaiven: Vaiven, tmp_path: Path) -> Vaiven:
    def call(*args: object) -> subprocess.CompletedProcess[str]:
        return vaiven("compare", *map(str, args), cwd=tmp_path, env=os.environ | {"COLUMNS": "80"})

    return call


def words(found: Any, stack: str) -> list[Word]:
    one = next(one for one in found.versus if one.compared.first.startswith(stack))
    return [verdict.word for verdict in one.compared.verdicts]


def test_stacks_of_a_run_in_words_first(typed: Vaiven, before: Run) -> None:
    done = typed(before.path)
    assert done.returncode == 0 and done.stderr == ""
    first, second = done.stdout.splitlines()[:2]
    assert first == f"run: {before.id}"
    assert re.match(r"• udp against tcp: faster at 1 B to 1472 B \(by [23]\.\d to 1[67] %\), equivalent at 64", second)
    assert "paired by block, at 1 %" in done.stdout.replace("\n", " ")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_everything_behind_the_verdicts_of_two_runs(typed: Vaiven, before: Run, slower: Run) -> None:
    text = typed(before.path, slower.path, "--stacks", "tcp", "--sizes").stdout
    assert "tcp (run 2) before tcp (run 1)" in text and "Welch" in text
    assert re.search(r"^ *1 B +0 %$", text, re.MULTILINE)  # no launch of the slower run is done before any


def test_the_matrix_of_many_pairs_fits_a_terminal(run: Run, typed: Vaiven) -> None:
    lines = typed(run.path).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("• ") for line in lines) == 10
    assert not any("…" in line for line in lines)


def test_a_later_run_against_an_earlier_one(before: Run, slower: Run) -> None:
    found = comparison([before, slower])
    assert words(found, "tcp (run 2)")[:3] == [Word.SLOWER] * 3
    assert not any(word is Word.SLOWER for word in words(found, "udp (run 2)"))
    assert not any(one.compared.paired for one in found.versus)
    tcp = next(one for one in found.versus if one.compared.first == "tcp (run 2)")
    truth = (52e3 + made_up.wire_ns(1) + 840) / (39e3 + made_up.wire_ns(1) + 840)
    ratio = tcp.compared.verdicts[0].evidence.ratio
    assert ratio.low < truth < ratio.high
    assert tcp.gain.time[0] == pytest.approx(1 - truth, abs=0.02)


def test_welch_beside_the_ranks_is_that_of_scipy(before: Run, slower: Run) -> None:
    found = comparison([before, slower])
    tcp = next(one for one in found.versus if one.compared.first == "tcp (run 2)")
    times = []
    for run in (slower, before):
        table = query.launches(run).filter(stack="tcp", size_bytes=64).sort("launch")
        times.append(np.log(table["ns_median"].to_numpy() / 2))
    theirs = stats.ttest_ind(*times, equal_var=False)
    ours = tcp.compared.verdicts[1].evidence.welch
    interval = theirs.confidence_interval(0.99)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_pipelines_get_a_status(typed: Vaiven, before: Run, slower: Run) -> None:
    worse = typed(before.path, slower.path, "--fail-if-slower")
    assert worse.returncode == SLOWER == 3
    assert "tcp (run 2) is slower than tcp (run 1) at 1 B to 1472 B" in worse.stderr
    assert typed(slower.path, before.path, "--fail-if-slower").returncode == 0
    assert typed(before.path, slower.path, "--stack", "udp", "--fail-if-slower").returncode == 0
    assert typed(before.path, slower.path, "--margin", "0.4", "--fail-if-slower").returncode == 0


def test_pipelines_within_a_run_name_whom_they_mean(typed: Vaiven, before: Run) -> None:
    assert typed(before.path, "--stacks", "tcp,udp", "--fail-if-slower").returncode == SLOWER
    assert typed(before.path, "--stacks", "udp,tcp", "--fail-if-slower").returncode == 0
    nameless = typed(before.path, "--fail-if-slower")
    assert nameless.returncode == 1 and "which stack must not be slower?" in nameless.stderr


def test_too_few_launches_are_no_clean_bill(typed: Vaiven, tmp_path: Path) -> None:
    few = short(tmp_path, blocks=4, start_ns={"tcp": 90e3})
    done = typed(few.path, "--stacks", "tcp,udp", "--fail-if-slower")
    assert done.returncode == CANNOT_TELL == 4
    assert "nothing could be called faster or slower: 4 launches" in done.stderr
    assert "inconclusive at all 4 sizes (some" in done.stdout


def test_constant_data_is_said_and_not_called_equivalent(tmp_path: Path) -> None:
    found = comparison([short(tmp_path, spread=0, start_ns={"tcp": 30e3})])
    assert {verdict.word for verdict in found.verdicts} == {Word.INCONCLUSIVE} and not found.could_tell
    assert "constant data" in verdicts.headline(found.versus[0]) or "identical data" in verdicts.headline(
        found.versus[0]
    )


def test_one_size_has_a_verdict_and_no_crossover(tmp_path: Path) -> None:
    found = comparison([short(tmp_path, sizes=(64,))])
    assert verdicts.summary(found) == (verdicts.headline(found.versus[0]),)
    assert "udp is faster than tcp by" in verdicts.headline(found.versus[0])
    assert "too few sizes: 1 of 3" in verdicts.crossing_text(found.versus[0])


def test_sizes_that_were_lost_are_left_out(tmp_path: Path) -> None:
    run = short(tmp_path, sizes=(64, 1048576), samples=4)
    run = made_up.lose(run, "udp", 1048576)
    found = comparison([run])
    assert found.versus[0].compared.sizes_bytes.tolist() == [64]
    run = made_up.lose(run, "udp", 64)
    with pytest.raises(VaivenError, match="no time in common"):
        comparison([run])


def test_a_stack_that_one_run_lacks(typed: Vaiven, before: Run, tmp_path: Path) -> None:
    other = short(tmp_path, stacks=("udp", "eth"))
    found = comparison([before, other])
    assert [one.compared.first for one in found.versus] == ["udp (run 2)"]
    assert "only run 1 has tcp" in found.notes and "only run 2 has eth" in found.notes
    done = typed(before.path, other.path, "--stack", "tcp")
    assert done.returncode == 1 and f"the run {other.id} has no tcp" in done.stderr


def test_runs_that_share_no_stack(before: Run, tmp_path: Path) -> None:
    with pytest.raises(VaivenError, match="share no stack") as caught:
        comparison([before, short(tmp_path, stacks=("eth",))])
    assert caught.value.code == "too-few" and "only run 2 has eth" in caught.value.remedy


def test_runs_that_share_no_size(before: Run, tmp_path: Path) -> None:
    with pytest.raises(VaivenError) as caught:
        comparison([before, short(tmp_path, sizes=(3, 5))])
    assert caught.value.code == "no-common-size" and "udp (run 2)" in caught.value.what


def test_runs_of_another_question(before: Run, tmp_path: Path) -> None:
    trains = short(tmp_path, stacks=(), one_way_ns={("h1", "h2"): 30e3})
    with pytest.raises(VaivenError, match="has no pingpong; it has oneway"):
        comparison([before, trains])


def test_batches_are_another_statistic(before: Run, tmp_path: Path) -> None:
    with pytest.raises(VaivenError, match="unlike batches") as caught:
        comparison([before, short(tmp_path, batch=16)])
    assert caught.value.code == "different-kind"


def test_a_run_of_a_newer_schema(typed: Vaiven, before: Run, tmp_path: Path) -> None:
    newer = short(tmp_path)
    manifest = json.loads((newer.path / "manifest.json").read_bytes()) | {"schema": 99}
    (newer.path / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    done = typed(before.path, newer.path)
    assert done.returncode == 1 and "written by a newer vaiven (schema 99" in done.stderr


def test_other_hosts_and_other_links_are_compared_and_named(before: Run, tmp_path: Path) -> None:
    other = short(tmp_path, pairs=(("left", "right"),), link=False)
    found = comparison([before, other])
    assert [one.pair for one in found.versus] == [("left", "right")] * 2
    assert "run 1 was measured from h1 to h2, run 2 from left to right" in found.notes
    assert any(
        note.startswith("the runs differ in their link: 100 Mb/s 2 links MTU 1500, then") for note in found.notes
    )


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--margin", "2"], "a share above 0 and below 0.5"),
        (["--alpha", "nan"], "a share above 0 and below 0.5"),
        (["--stacks", "udp"], "has one stack, udp"),
        (["--stacks", "udp,sctp"], "sctp"),
        (["--pair", "h1"], "NEAR,FAR"),
        (["--pair", "h2,h1"], "has no pair h2,h1"),
        (["--ask", "connect"], "has no connect; it has pingpong"),
    ],
)
def test_wrong_words_are_answered(typed: Vaiven, before: Run, args: list[str], says: str) -> None:
    done = typed(before.path, *args)
    assert done.returncode == 1 and says in done.stderr and "Traceback" not in done.stderr


def test_the_same_run_twice(typed: Vaiven, before: Run) -> None:
    assert "the same run twice" in typed(before.path, before.path).stderr


def test_json_is_one_document(typed: Vaiven, before: Run, slower: Run) -> None:
    done = typed(before.path, slower.path, "--json", "--fail-if-slower")
    document = json.loads(done.stdout)
    assert done.returncode == SLOWER
    assert document["schema"] == 1 and document["runs"] == [before.id, slower.id] and document["could_tell"]
    assert [(one["stack"], one["sizes_bytes"]) for one in document["slower"]] == [("tcp (run 2)", [1, 64, 1472])]
    tcp = next(one for one in document["versus"] if one["compared"]["first"] == "tcp (run 2)")
    assert [verdict["word"] for verdict in tcp["compared"]["verdicts"]][:2] == ["slower", "slower"]
    shares = tcp["pp"][0]  # every launch of run 1 is done before any of run 2
    assert max(second for first, second in zip(*shares, strict=True) if first == 0) == 1


def test_json_has_no_number_where_there_is_none(tmp_path: Path) -> None:
    few = comparison([short(tmp_path, blocks=3)])
    one = json.loads(comparison_json(few, []))["versus"][0]
    assert set(one["gain"]["time_low"]) == {None} and one["gain"]["refused"] == "too few launches: 3 of 8"
    assert one["crossover"]["size"]["value"] is None


@pytest.mark.parametrize("statistic", ["minimum", "mean", "p95", "p99"])
def test_other_statistics(before: Run, statistic: Any) -> None:
    found = comparison([before], statistic=statistic, rules=Rules(delta=0.05))
    assert words(found, "udp")[0] is Word.FASTER
    assert f"launches' {statistic}" in verdicts.method_text(found)


@pytest.mark.parametrize("verb", [["model", "--json"], ["compare", "--json"]])
def test_a_closed_pipe_is_no_error_of_ours(before: Run, verb: list[str]) -> None:
    """The reader is gone before anything is written."""
    command = [sys.executable, "-m", "vaiven", verb[0], str(before.path), *verb[1:]]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    finally:
        os.close(writing)
    assert done.stderr == "" and done.returncode == 141


def test_how_often_one_launch_is_done_first() -> None:
    rng = np.random.default_rng(3)
    x, y = np.round(rng.normal(10, 2, 14)), np.round(rng.normal(11, 2, 17))
    u = stats.mannwhitneyu(x, y).statistic  # pairs in which x is larger, ties half
    assert verdicts.first_wins(*pp_points(x, y)) == pytest.approx(1 - u / (x.size * y.size))
    assert verdicts.first_wins(*pp_points(x, x + 100)) == 1.0
