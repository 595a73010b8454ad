# SPDX-License-Identifier: BSD-3-Clause
"""Several plans, one after the other: each into a run of its own, and none twice when they are gone on with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vaiven.cli import suite
from vaiven.store import query

PLAN = """\
title = "{name}"
hosts = ["localhost"]
pairs = [["localhost", "localhost"]]
stacks = ["udp"]
sizes = [8]
seed = {seed}
[stop]
launches_min = 2
launches_max = 2
level = 0.5
"""


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    """A directory with two plans, and a third that cannot be measured anywhere."""
    (tmp_path / "mine").mkdir()
    for seed, name in enumerate(("one", "two")):
        (tmp_path / "mine" / f"{name}.toml").write_text(PLAN.format(name=name, seed=seed))
    (tmp_path / "mine" / "zero.toml").write_text('lab = "nowhere"\n')
    return tmp_path


def titles(place: Path) -> list[str]:
    return [run.manifest.title for run in query.runs(place / "runs")]


def test_all_plans_are_measured_and_none_again(vaiven, plans: Path) -> None:
    done = vaiven("measure", "mine", "--no-page", cwd=plans)
    assert done.returncode == 4 and "zero.toml is left out: there is no lab" in done.stderr
    assert "together: about" in done.stderr.partition("one.toml: 1 of 3")[0]
    assert titles(plans) == ["one", "two"]
    run = query.find("last", plans / "runs")
    (run.path / "end.json").unlink()  # as if it had been stopped
    again = vaiven("measure", "--resume", "mine", "--no-page", cwd=plans)
    assert again.stderr.count("measured already") == 2  # said before all, and in its turn
    assert titles(plans) == ["one", "two"]
    assert query.find("last", plans / "runs").state == "ended"


def test_a_dry_run_says_how_long_all_take_and_measures_nothing(vaiven, plans: Path) -> None:
    done = vaiven("measure", "mine", "--dry-run", cwd=plans)
    assert done.returncode == 0 and "together: about" in done.stderr
    assert not (plans / "runs").exists()


def test_a_dry_run_of_what_is_gone_on_with_says_what_is_left_and_measures_nothing(vaiven, plans: Path) -> None:
    vaiven("measure", "mine", "--no-page", cwd=plans)
    run = query.find("last", plans / "runs")
    (run.path / "end.json").unlink()  # as if it had been stopped
    for asked in ("mine/two.toml", run.id):
        done = vaiven("measure", "--resume", asked, "--dry-run", cwd=plans)
        assert done.returncode == 0 and "4 launches are there, the others take about" in done.stdout, done
    done = vaiven("measure", "--resume", "mine", "--dry-run", cwd=plans)
    assert re.search(r"one.toml: measured already\n.*two.toml: about \d+ s more\n", done.stderr), done.stderr
    assert query.find("last", plans / "runs").state == "stopped"


def test_how_long_all_take_is_of_what_was_asked_for(vaiven, plans: Path) -> None:
    def foretold_s(*words: str) -> float:
        said = vaiven("measure", "mine", "--dry-run", *words, cwd=plans).stderr
        numbers = {
            unit: float(number) for number, unit in re.findall(r"(\d+) (min|s)\b", said.partition("together")[2])
        }
        assert numbers, said
        return 60 * numbers.get("min", 0.0) + numbers.get("s", 0.0)

    assert foretold_s("--launches", "800") > 5 * foretold_s("--launches", "80")


def test_the_plans_of_a_paper_are_a_suite_and_a_plan_is_none() -> None:
    assert {"papers/b-tau"} <= set(suite.members("papers/b"))
    assert {"papers/a-fourway", "papers/a-icmp"} <= set(suite.members("papers/a"))
    assert not suite.members("demo") and not suite.members("papers/b-tau") and not suite.members("")
