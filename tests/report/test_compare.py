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

import numpy as np
import pytest
import scipy
from tests.report import made_up
from tests.store.made import changed

from vaiven.cli.status import Status
from vaiven.errors import VaivenError
from vaiven.model.compare import pp_points
from vaiven.report import verdicts
from vaiven.report.costs import cost_table
from vaiven.report.files import write_page
from vaiven.results import between
from vaiven.results.comparison import Comparison, comparison, rules, sides_compared
from vaiven.results.costs import costs as costs_of
from vaiven.results.pairing import Asked, Contender
from vaiven.results.results import Results
from vaiven.stats.verdict import Word, judge, weigh
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
def days(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Nine runs of one plan, a day apart."""
    return made_up.write_days(tmp_path_factory.mktemp("days"), 9)


@pytest.fixture(scope="module")
def slower(days: list[Run]) -> list[Run]:
    """Five of a day after; tcp has become a third slower to start, udp has not."""
    root = days[0].path.parent
    return made_up.write_days(root, 5, seed=6, day=20, start_ns={"udp": 30e3, "tcp": 52e3})


@pytest.fixture
def typed(vaiven: Vaiven, tmp_path: Path) -> Vaiven:
    def call(*args: object) -> subprocess.CompletedProcess[str]:
        return vaiven("compare", *map(str, args), cwd=tmp_path, env=os.environ | {"COLUMNS": "80"})

    return call


def compared(runs: list[Run], *stacks: str, **asked: Any) -> Comparison:
    return comparison(runs, Asked(stacks=stacks, **asked))


def of_sides(before: list[Run], after: list[Run]) -> Comparison:
    root = before[0].path.parent
    return sides_compared(*(between.named([run.id for run in runs], root, "ns_median") for runs in (before, after)))


def words(found: Comparison, stack: str) -> list[Word]:
    one = next(one for one in found if str(one.first).startswith(stack))
    return [verdict.word for verdict in one.compared.verdicts]


def test_stacks_of_a_run_in_words_first(typed: Vaiven, before: Run) -> None:
    done = typed(before.path)
    assert done.returncode == 0 and done.stderr == ""
    first, second = done.stdout.splitlines()[:2]
    assert first == f"run: {before.id}"
    assert re.match(r"• udp against tcp: faster at 1 B to 1472 B \(by [23]\.\d to 1[67] %\), equivalent at 64", second)
    assert "paired by block, at 1 %" in done.stdout.replace("\n", " ")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_everything_behind_the_verdicts_of_two_runs(typed: Vaiven, days: list[Run], slower: list[Run]) -> None:
    text = typed(days[-1].id, slower[0].id, "--stacks", "tcp", "--by-size", "--runs", days[0].path.parent).stdout
    assert "tcp (after) before tcp (before)" in text and "Welch" in text and "Runs: 1 and 9." in text
    assert re.search(r"^ *1 B +0 %$", text, re.MULTILINE)  # the slower run is done before none of the others
    assert "Prediction intervals from 9 runs" in text and max(map(len, text.splitlines())) <= 80


def test_the_matrix_of_many_pairs_fits_a_terminal(run: Run, typed: Vaiven) -> None:
    lines = typed(run.path).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("• ") for line in lines) == 10
    assert not any("…" in line for line in lines)


def test_a_later_run_against_the_history_of_an_earlier_one(days: list[Run], slower: list[Run]) -> None:
    found = comparison([days[-1], slower[0]], root=days[0].path.parent)
    assert found.before == tuple(run.id for run in days) and found.after == (slower[0].id,)
    assert words(found, "tcp (after)")[:3] == [Word.SLOWER] * 3
    assert not any(word is Word.SLOWER for word in words(found, "udp (after)"))
    assert not any(one.compared.paired for one in found)
    tcp = next(one for one in found if str(one.first) == "tcp (after)")
    truth = (52e3 + made_up.wire_ns(1) + 840) / (39e3 + made_up.wire_ns(1) + 840)
    ratio = tcp.compared.verdicts[0].evidence.ratio
    assert ratio.low < truth < ratio.high
    assert [change for change, _ in found.found] == [0.05, 0.1, 0.2] and found.found[-1][1] > 0.9
    assert found.alarms == (0, 9)
    assert "its own false alarms: of these 9 runs, which are alike, the others would call 0 different" in set(
        verdicts.whole_summary(found)
    )


def test_welch_beside_the_ranks_is_that_of_scipy(days: list[Run], slower: list[Run]) -> None:
    found = of_sides(days, slower)
    tcp = next(one for one in found if str(one.first) == "tcp (after)")
    times = []
    for side in (slower, days):
        tables = [query.launches(run).filter(stack="tcp", size_bytes=64) for run in side]
        times.append(np.log([table["ns_median"].median() / 2 for table in tables]))
    theirs = scipy.stats.ttest_ind(*times, equal_var=False)
    ours = tcp.compared.verdicts[1].evidence.welch
    interval = theirs.confidence_interval(0.99)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_one_run_each_is_no_answer(typed: Vaiven, days: list[Run], slower: list[Run], tmp_path: Path) -> None:
    """However different they are: the earlier one alone does not say how much runs differ."""
    done = typed(days[0].id, slower[0].id, "--fail-if-slower", "--runs", days[0].path.parent)
    assert done.returncode == Status.CANNOT_TELL == 4
    assert "one run each cannot tell a change from another day; 7 more runs of the plan" in done.stderr
    assert "is inconclusive at all 4 sizes (some 7 more runs)" in " ".join(done.stdout.split())


def test_pipelines_get_a_status(typed: Vaiven, days: list[Run], slower: list[Run]) -> None:
    root = ("--runs", days[0].path.parent)
    worse = typed(days[-1].id, slower[0].id, "--fail-if-slower", *root)
    assert worse.returncode == Status.NO == 3
    assert "tcp (after) is slower than tcp (before) at 1 B to 1472 B" in worse.stderr
    assert typed(days[-2].id, days[-1].id, "--fail-if-slower", *root).returncode == 0
    assert typed(days[-1].id, slower[0].id, "--stacks", "udp", "--fail-if-slower", *root).returncode == 0
    assert typed(days[-1].id, slower[0].id, "--margin", "0.4", "--fail-if-slower", *root).returncode == 0


def test_several_runs_on_each_side(typed: Vaiven, days: list[Run], slower: list[Run]) -> None:
    sides = ("--earlier", *(run.id for run in days[:5]), "--later", *(run.id for run in slower))
    done = typed(*sides, "--fail-if-slower", "--runs", days[0].path.parent)
    text = " ".join(done.stdout.split())
    assert "a change of all 8 cells together takes 5 and 5, of one cell alone 7 and 7; 8 and 8 find most" in text
    assert "Rank test of the runs' median (pingpong), unpaired, at 1 % after Benjamini-Hochberg over 8" in text
    assert done.returncode in (Status.OK, Status.NO) and "as a whole the later runs are" in text
    found = of_sides(days, slower)
    assert words(found, "tcp (after)")[:3] == [Word.SLOWER] * 3 and Word.SLOWER not in words(found, "udp (after)")
    assert found.whole is not None and not found.slower_as_a_whole  # of udp nothing is


def test_four_runs_on_each_side_are_refused_with_the_reason(typed: Vaiven, days: list[Run], slower: list[Run]) -> None:
    sides = ("--earlier", *(run.id for run in days[:4]), "--later", *(run.id for run in slower[:4]))
    done = typed(*sides, "--runs", days[0].path.parent)
    assert done.returncode == 1
    assert "4 and 4 runs can never reach 1 %" in done.stderr and "in 2.9 % of cases" in done.stderr
    assert "5 and 5 runs at the least, 8 and 8 to find a change of 5 %" in done.stderr


def test_what_of_the_sides_cannot_be_read_is_left_out_with_a_sentence(tmp_path: Path) -> None:
    runs = made_up.write_days(tmp_path, 13)
    changed(runs[0].path / "manifest.json", schema=99)
    (runs[1].path / "medians.parquet").write_bytes(b"torn")
    changed(runs[2].path / "manifest.json", versions={"vaiven": "0.0.1"})
    found = of_sides(runs[:7], runs[7:])
    assert len(found.before) == 5 and len(found.after) == 6
    notes = " ".join(found.notes)
    assert "written by a newer vaiven" in notes and "medians.parquet" in notes
    assert "the runs before are not alike: they differ in versions.vaiven" in notes


def test_a_damaged_run_of_a_history_is_left_out(tmp_path: Path) -> None:
    runs = made_up.write_days(tmp_path, 11)
    (runs[3].path / "medians.parquet").write_bytes(b"torn")
    found = comparison([runs[9], runs[10]], root=tmp_path)
    assert len(found.before) == 9 and any("medians.parquet" in note for note in found.notes) and found.could_tell


def test_a_run_that_stands_out_is_named(tmp_path: Path) -> None:
    runs = [*made_up.write_days(tmp_path, 11), *made_up.write_days(tmp_path, 1, slower=1.4, day=20, seed=3)]
    (later,) = made_up.write_days(tmp_path, 1, day=21, seed=4)
    found = comparison([runs[-1], later], root=tmp_path)
    assert any(note.startswith(f"{runs[-1].id} stands out") for note in found.notes)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--earlier", "A"], "both sides are wanted"),
        (["C", "--earlier", "A", "--later", "B"], "both sides are wanted"),
        (["--earlier", "A", "A", "--later", "B"], "is named twice"),
        (["--earlier", "A", "B", "--later", "B"], "is on both sides"),
        (["--earlier", "A", "nosuch", "--later", "B"], "no run 'nosuch'"),
        (["--earlier", "A", "--later", "B"], "1 and 1 runs can never reach 1 %"),
    ],
)
def test_sides_that_are_none(typed: Vaiven, days: list[Run], args: list[str], says: str) -> None:
    names = dict(zip("ABC", (run.id for run in days), strict=False))
    done = typed(*(names.get(arg, arg) for arg in args), "--runs", days[0].path.parent)
    assert (
        done.returncode == (Status.USAGE if "both sides are wanted" in says else Status.WORLD) and says in done.stderr
    )


def test_pipelines_within_a_run_name_whom_they_mean(typed: Vaiven, before: Run) -> None:
    assert typed(before.path, "--stacks", "tcp,udp", "--fail-if-slower").returncode == Status.NO
    assert typed(before.path, "--stacks", "udp,tcp", "--fail-if-slower").returncode == 0
    nameless = typed(before.path, "--fail-if-slower")
    assert nameless.returncode == Status.USAGE and "which stack must not be slower?" in nameless.stderr


def test_too_few_launches_are_no_clean_bill(typed: Vaiven, tmp_path: Path) -> None:
    few = short(tmp_path, blocks=4, start_ns={"tcp": 90e3})
    done = typed(few.path, "--stacks", "tcp,udp", "--fail-if-slower")
    assert done.returncode == Status.CANNOT_TELL == 4
    assert "nothing could be called faster or slower: 4 launches" in done.stderr
    assert "inconclusive at all 4 sizes (some" in done.stdout


def test_constant_data_is_said_and_not_called_equivalent(tmp_path: Path) -> None:
    found = comparison([short(tmp_path, spread=0, start_ns={"tcp": 30e3})])
    assert {verdict.word for verdict in found.verdicts} == {Word.INCONCLUSIVE} and not found.could_tell
    assert "constant data" in verdicts.headline(found[0]) or "identical data" in verdicts.headline(found[0])


def test_one_size_has_a_verdict_and_no_crossover(tmp_path: Path) -> None:
    found = comparison([short(tmp_path, sizes=(64,))])
    assert verdicts.summary(found) == (verdicts.headline(found[0]),)
    assert "udp is faster than tcp by" in verdicts.headline(found[0])
    assert verdicts.crossing_text(found[0]) == "No crossover: they change places at no size for certain."


def test_what_is_within_the_margin_stands_in_brackets_and_nothing_else() -> None:
    """A change is shown as large as it is judged: 2.04 % is beyond 2 %, whatever it rounds to."""
    rng, shown = np.random.default_rng(1), {}
    for change in (-0.16, -0.0204, -0.024, -0.0196, -0.015, 0.0088, 0.24):
        second = 30e3 * (1 + 0.1 * rng.random(14))
        evidence = weigh(second * (1 + change + 1e-5 * rng.standard_normal(14)), second, True)
        shown[change] = verdicts.mark(judge([evidence])[0], 0.02)
    assert list(shown.values()) == ["−16 %", "−2.04 %", "−2.4 %", "(−2.0 %)", "(−1.5 %)", "(+0.9 %)", "+24 %"]


def test_sizes_that_were_lost_are_left_out(tmp_path: Path) -> None:
    run = short(tmp_path, sizes=(64, 1048576), samples=4)
    run = made_up.lose(run, "udp", 1048576)
    found = comparison([run])
    assert found[0].compared.sizes_bytes.tolist() == [64]
    run = made_up.lose(run, "udp", 64)
    with pytest.raises(VaivenError, match="no time in common"):
        comparison([run])


def test_a_stack_that_one_run_lacks(typed: Vaiven, before: Run, tmp_path: Path) -> None:
    other = short(tmp_path, stacks=("udp", "eth"))
    found = comparison([before, other])
    assert [str(one.first) for one in found] == ["udp (after)"]
    assert "only before has tcp" in found.notes and "only after has eth" in found.notes
    done = typed(before.path, other.path, "--stacks", "tcp")
    assert done.returncode == 1 and f"the run {other.id} has no tcp" in done.stderr


def test_runs_that_share_no_stack(before: Run, tmp_path: Path) -> None:
    with pytest.raises(VaivenError, match="share no stack") as caught:
        comparison([before, short(tmp_path, stacks=("eth",))])
    assert caught.value.code == "too-few" and "only after has eth" in caught.value.remedy


def test_runs_that_share_no_size(before: Run, tmp_path: Path) -> None:
    with pytest.raises(VaivenError) as caught:
        comparison([before, short(tmp_path, sizes=(3, 5))])
    assert caught.value.code == "no-common-size" and "udp (after)" in caught.value.what


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
    changed(newer.path / "manifest.json", schema=99)
    done = typed(before.path, newer.path)
    assert done.returncode == 1 and "written by a newer vaiven (schema 99" in done.stderr


def test_other_hosts_and_other_links_are_compared_and_named(before: Run, tmp_path: Path) -> None:
    other = short(tmp_path, pairs=(("left", "right"),), link=False)
    found = comparison([before, other])
    assert [one.pair for one in found] == [("left", "right")] * 2
    assert "before was measured from h1 to h2, after from left to right" in found.notes
    assert any(
        note.startswith("the runs differ in their link: 100 Mb/s 2 links MTU 1500, then") for note in found.notes
    )


@pytest.mark.parametrize(
    ("args", "says", "status"),
    [
        (["--margin", "2"], "a share above 0 and below 0.5", Status.USAGE),
        (["--alpha", "nan"], "a share above 0 and below 0.5", Status.USAGE),
        (["--stacks", "udp"], "has one stack, udp", Status.WORLD),
        (["--stacks", "udp,sctp"], "sctp", Status.WORLD),
        (["--pair", "h1"], "NEAR,FAR", Status.USAGE),
        (["--pair", "h2,h1"], "has no pair h2,h1", Status.WORLD),
        (["--ask", "connect"], "has no connect; it has pingpong", Status.WORLD),
    ],
)
def test_wrong_words_are_answered(typed: Vaiven, before: Run, args: list[str], says: str, status: Status) -> None:
    done = typed(before.path, *args)
    assert done.returncode == status and says in done.stderr and "Traceback" not in done.stderr


def test_the_same_run_twice(typed: Vaiven, before: Run) -> None:
    assert "the same run twice" in typed(before.path, before.path).stderr


def test_json_is_one_document(typed: Vaiven, days: list[Run], slower: list[Run]) -> None:
    done = typed(days[-1].id, slower[0].id, "--json", "--fail-if-slower", "--runs", days[0].path.parent)
    document = json.loads(done.stdout)
    assert done.returncode == Status.NO
    assert document["schema"] == 3 and document["runs"] == [days[-1].id, slower[0].id] and document["could_tell"]
    assert len(document["before"]) == 9 and document["whole"]["ratio"] > 1
    worse = [one for one in document["comparison"] if one["verdict"] == "slower" and one["beyond_margin"]]
    assert [(one["first"], one["first_side"], one["size_bytes"]) for one in worse] == [
        ("tcp", "after", size) for size in (1, 64, 1472)
    ]
    shares = zip(worse[0]["pp_first"], worse[0]["pp_second"], strict=True)  # every run before is done before that after
    assert max(second for first, second in shares if first == 0) == 1


def test_json_has_no_number_where_there_is_none(tmp_path: Path) -> None:
    few = comparison([short(tmp_path, blocks=3)])
    row = json.loads(few.to_json())["comparison"][0]
    assert row["time_saved_low"] is None and row["time_saved"] > 0 and row["verdict"] == "inconclusive"


@pytest.mark.parametrize("statistic", ["minimum", "mean", "p95", "p99"])
def test_other_statistics(before: Run, statistic: Any, tmp_path: Path) -> None:
    run = before
    if statistic in ("p95", "p99"):  # which take more messages
        run = made_up.write_run(tmp_path, stacks=("udp", "tcp"), sizes=(1, 64), samples=500)
    found = comparison([run], Asked(statistic=statistic), rules(0.05, 0.01))
    assert words(found, "udp")[0] is Word.FASTER
    assert f"launches' {statistic}" in verdicts.method_text(found)


@pytest.mark.parametrize(("statistic", "needed"), [("p95", 100), ("p99", 500)])
def test_a_tail_without_the_messages_that_carry_it_is_not_compared(before: Run, statistic: Any, needed: int) -> None:
    with pytest.raises(VaivenError, match=f"{statistic} takes {needed} messages of a launch; udp has fewer at") as said:
        compared([before], statistic=statistic)
    assert said.value.code == "too-few-messages" and f"samples = {needed}" in said.value.remedy


def test_only_the_sizes_with_enough_messages_are_compared_by_their_tail(tmp_path: Path) -> None:
    some, more = short(tmp_path, blocks=8), short(tmp_path, blocks=8, samples=120)
    found = compared([more], statistic="p95")
    assert len(found.verdicts) == 4 and found.notes == ()
    with pytest.raises(VaivenError, match="p95 takes 100 messages of a launch; no cell has them"):
        compared([some, more], statistic="p95")


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
    u = scipy.stats.mannwhitneyu(x, y).statistic  # pairs in which x is larger, ties half
    assert verdicts.first_wins(*pp_points(x, y)) == pytest.approx(1 - u / (x.size * y.size))
    assert verdicts.first_wins(*pp_points(x, x + 100)) == 1.0


def sided(root: Path, stacks: tuple[str, ...] = ("udp", "tcp"), **changes: Any) -> Run:
    """A small run with each of these stacks before and after; equal, unless `start_ns` says otherwise."""
    both = tuple(f"{stack}@{side}" for stack in stacks for side in ("before", "after"))
    starts = {name: made_up.START_NS[name.partition("@")[0]] for name in both} | changes.pop("start_ns", {})
    run = short(root, stacks=both, start_ns=starts, **changes)
    plan = run.manifest.plan | {"sides": [{"name": "before"}, {"name": "after"}]}
    changed(run.path / "manifest.json", plan=plan)
    return query.open_run(run.path)


def test_sides_are_held_against_each_other_stack_by_stack(tmp_path: Path) -> None:
    found = comparison([sided(tmp_path, start_ns={"tcp@after": 52e3})])
    named = [(str(one.first), str(one.second)) for one in found]
    assert named == [("udp@after", "udp@before"), ("tcp@after", "tcp@before")]
    assert all(one.compared.paired for one in found)
    assert words(found, "tcp@after")[:3] == [Word.SLOWER] * 3
    assert not any(verdict.different for verdict in found[0].compared.verdicts)
    assert verdicts.headline(found[1]).startswith("tcp@after against tcp@before: slower at 1 B to 1472 B")


def test_a_pipeline_asks_whether_the_later_side_is_slower(typed: Vaiven, tmp_path: Path) -> None:
    worse = sided(tmp_path / "worse", start_ns={"tcp@after": 52e3})
    told = typed(worse.path, "--fail-if-slower")
    assert told.returncode == Status.NO and "tcp@after is slower than tcp@before" in told.stderr
    assert typed(worse.path, "--stacks", "tcp", "--fail-if-slower").returncode == Status.NO
    assert typed(worse.path, "--stacks", "udp", "--fail-if-slower").returncode == 0
    assert typed(worse.path, "--stacks", "tcp@before,tcp@after", "--fail-if-slower").returncode == 0
    assert typed(sided(tmp_path / "equal").path, "--fail-if-slower").returncode == 0
    better = sided(tmp_path / "better", start_ns={"tcp@after": 25e3})
    assert typed(better.path, "--fail-if-slower").returncode == 0


def test_stacks_of_other_sides_are_compared_where_they_are_named(tmp_path: Path) -> None:
    run = sided(tmp_path)
    (one,) = compared([run], "tcp@after", "udp@before")
    assert (one.first, one.second) == (Contender(stack="tcp@after"), Contender(stack="udp@before"))
    with pytest.raises(VaivenError, match="has no tcp@between"):
        compared([run], "tcp@between")


def test_a_side_that_was_never_measured_is_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(VaivenError, match="no two stacks between the same hosts, nor one on two sides"):
        comparison([short(tmp_path, stacks=("udp@before", "tcp@before"))])


def test_no_table_and_no_page_mixes_the_sides(tmp_path: Path) -> None:
    run = sided(tmp_path, start_ns={"tcp@after": 52e3})
    costs = {one.stack: one for one in costs_of(run)}
    assert set(costs) == {"udp@before", "udp@after", "tcp@before", "tcp@after"}
    assert {one.points[0].launches for one in costs.values()} == {12}
    before, after = (costs[name].points[0].typical_ns for name in ("tcp@before", "tcp@after"))
    assert after - before == pytest.approx(52e3 - made_up.START_NS["tcp"], rel=0.1)
    text = write_page(Results(run).findings(), tmp_path / "page.html").read_text()
    assert all(name in text for name in costs)
    assert cost_table(tuple(costs.values())).rows


def test_sides_of_two_runs_are_compared_by_their_names(tmp_path: Path) -> None:
    first, second = (sided(tmp_path / name, seed=seed) for name, seed in (("a", 5), ("b", 6)))
    found = compared([first, second], "tcp")
    assert [str(one.first) for one in found] == ["tcp@before (after)", "tcp@after (after)"]
