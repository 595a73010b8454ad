# SPDX-License-Identifier: BSD-3-Clause
"""The published results as data: all of them, each with what its check needs or why it has none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.papers import claims
from vaiven.papers.claims import Claim, chosen, load, papers, published, today
from vaiven.papers.inequality import Inequality
from vaiven.plan import schema
from vaiven.stats.launches import LAUNCHES_MIN

COUNTS = {"A": 75, "B": 7, "C": 17, "D": 13, "E": 35}
CLAIMS = published()
CHECKED = [claim for claim in CLAIMS if claim.check]
FILES = sorted(Path(claims.__file__).parent.glob("paper-*.toml"))

HEAD = """
[paper]
letter = "A"
title = "A paper"
language = "Spanish"
lines = 100
"""
GOOD = """
[[claim]]
id = "A12"
line = 7
says = "It is quick."
check = "t('tcp', 8, 'b') < 1"
tolerance = "ours"
needs = { rate_mbps = 10 }
"""


def test_every_published_result_is_here_once() -> None:
    assert Counter(claim.paper for claim in CLAIMS) == COUNTS
    assert [claim.id for claim in CLAIMS] == [f"{p}{number:02}" for p in COUNTS for number in range(1, COUNTS[p] + 1)]


def test_each_says_what_it_means_today_once() -> None:
    assert set(today()) == {claim.id for claim in CLAIMS}
    told = [id for path in FILES for topic in load(path).today for id in topic.claims]
    assert sorted(told) == sorted(today())
    assert list(papers()) == list(COUNTS) and all(paper.lines > 50 for paper in papers().values())


def test_those_without_a_check_say_why_and_are_17() -> None:
    assert len(CLAIMS) - len(CHECKED) == 17
    assert all(bool(claim.unasked) != bool(claim.check) for claim in CLAIMS)


def test_a_gain_of_llc_is_one_ratio_everywhere() -> None:
    """Of times, not here of times and there of rates."""
    of_llc = [claim for claim in CHECKED if "openmpi-llc" in claim.needs.stacks]
    assert len(of_llc) == 21
    assert [claim.id for claim in of_llc if "'openmpi-llc'" in claim.check and "/" in claim.check] == []
    assert {claim.id for claim in of_llc if "over_tcp" not in claim.check} == {
        "E05",
        "E12",
        "E26",
        "E27",
    }  # of no amount


@pytest.mark.parametrize("claim", CHECKED, ids=lambda one: one.id)
def test_what_a_check_speaks_of_is_what_it_needs(claim: Claim) -> None:
    """Every stack that it names is needed, and each size that is needed is one that it, or all of its words, asks."""
    named = {word for word in claim.check.split("'")[1::2] if not word.islower() or "-" in word}
    named -= {host for needs in claim.scenes.values() for host in needs.hosts}
    needed = {stack for needs in claim.scenes.values() for stack in needs.stacks}
    assert needed and named <= needed
    for name, needs in claim.scenes.items():
        words = {word.removesuffix(f"_{name}") for word in Inequality(claim.check).words}
        if words & {"bwmax", "rate_to_one"}:
            assert max(needs.sizes) >= 10**6, "best and never want the largest size"
        if words & {"alpha", "alpha_first", "tau", "tau_first"}:
            assert needs.question != "pingpong" or not needs.sizes or min(needs.sizes) <= 8 or "bwmax" in words
        if "MiB" in words or (claim.unit in ("ms", "us", "MB/s") and claim.value):
            assert needs.rate_mbps, "a number of one network needs its rate"


def test_where_a_number_was_printed_its_unit_is_there() -> None:
    assert [claim.id for claim in CLAIMS if claim.unit and not claim.value] == []
    erred = {claim.id for claim in CLAIMS if claim.corrected}
    assert erred == {"A01", "A33", "B01", "C02", "E28"}


def test_facts_have_no_tolerance_and_no_worse_has_ours() -> None:
    kinds = Counter((claim.kind, claim.tolerance) for claim in CHECKED)
    assert set(kinds) == {("interval", "published"), ("interval", "ours"), ("fact", "published"), ("no worse", "ours")}
    facts = {claim.id for claim in CHECKED if claim.kind == "fact"}
    assert facts == {"A05", "A07", "A38", "A66", "B05", "C08", "C13", "C14", "D02"}


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (("t('tcp', 8, 'b') < 1", "t('tcp', 8, 'b') <"), 12, "is no inequality"),
        (("t('tcp', 8, 'b') < 1", "gain(8) < 1"), 12, "'gain' means nothing"),
        (("A12", "B12"), 9, "none of paper A"),
        (("line = 7", "line = 101"), 9, "100 lines"),
        (("A12", "A1"), 9, "id = 'A1' is not possible"),
        (("rate_mbps", "rate"), 14, "needs has no key 'rate'"),
        (('"ours"', '"theirs"'), 13, "tolerance = 'theirs' is not possible"),
        (('tolerance = "ours"\n', ""), 9, "tolerance: say whose it is"),
        (('tolerance = "ours"', 'kind = "no worse"\ntolerance = "published"'), 9, "it is ours"),
        (('tolerance = "ours"', 'kind = "fact"\ntolerance = "ours"'), 9, "a fact has no tolerance"),
        (("check = \"t('tcp', 8, 'b') < 1\"\n", ""), 9, "`unasked` that says why"),
        (("needs", 'unasked = "no"\nneeds'), 9, "`unasked` that says why"),
        (("needs", "days_apart = -1\nneeds"), 14, "days_apart = -1 is not possible"),
        (("10 }", "10 }\n[claim.runs.b]\nrate_mbps = 10"), 9, "each of its runs"),
        (("needs = { rate_mbps = 10 }\n", GOOD), 16, "two claims have this id"),
        (("10 }", "10 }\n[[today]]\nclaims = ['A12', 'A13']\nsays = 'x'"), 16, "A13 is no claim of this file"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_file_and_line(
    tmp_path: Path, change: tuple[str, str], line: int, said: str
) -> None:
    path = tmp_path / "paper-a.toml"
    path.write_text(HEAD + GOOD)
    assert [claim.id for claim in load(path).claim] == ["A12"]
    path.write_text(HEAD + GOOD.replace(*change))
    with pytest.raises(VaivenError) as caught:
        load(path)
    assert said in str(caught.value) and caught.value.where == f"{path}:{line}"


def test_claims_are_chosen_by_paper_or_id() -> None:
    assert len(chosen((), CLAIMS)) == 147
    assert [claim.id for claim in chosen(("b", "a12"), CLAIMS)] == ["A12", *(f"B{n:02}" for n in range(1, 8))]
    with pytest.raises(VaivenError, match="no claim 'LAST'") as caught:
        chosen(("last",), CLAIMS)
    assert caught.value.code == "no-claim" and "--run" in caught.value.remedy


@pytest.mark.parametrize(
    "path", sorted((resources.ready("plans") / "papers").glob("*.toml")), ids=lambda path: path.stem
)
def test_the_plan_of_a_paper_makes_as_many_launches_as_a_verdict_takes(path: Path) -> None:
    plan, _ = schema.load(path)
    assert plan.stop.launches_min >= LAUNCHES_MIN
