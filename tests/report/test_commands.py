# SPDX-License-Identifier: BSD-3-Clause
"""`vaiven model` and `vaiven report`, as a user types them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.report import made_up

from vaiven.results.costs import costs
from vaiven.results.results import Results
from vaiven.store.query import Run

Vaiven = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def typed(run: Run, vaiven: Vaiven, tmp_path: Path) -> Vaiven:
    """vaiven in an empty directory, where the made-up run is among the runs."""

    def call(*args: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"VAIVEN_RUNS": str(run.path.parent), "COLUMNS": "80"}
        return vaiven(*args, cwd=tmp_path, env=environment)

    return call


def test_model_prints_what_the_network_was_made_of(typed: Vaiven) -> None:
    done = typed("model", "last")
    assert done.returncode == 0 and done.stderr == ""
    for words in ("start", "per byte", "full rate", "n½", "misfit", "floor", "of", "wire", "tcp-nagle", "MB/s"):
        assert words in done.stdout
    assert done.stdout.index("as measured") < done.stdout.index("t(n) = wire(n) + α + β n")
    assert "α is what the software of a message takes" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_model_sizes_papers_and_notation(typed: Vaiven) -> None:
    done = typed("model", "last", "--by-size", "--papers", "--notation", "beta-tau")
    assert "tcp, h1 → h2: every size, one way" in done.stdout
    assert "The papers' own estimators" in done.stdout
    assert "T = beta + tau Size" in done.stdout and "tau: time per unit of data" in done.stdout
    number = r"[\d.]+ \[[\d.]+, [\d.]+\]"
    assert re.search(rf"h2 tcp: beta = {number} µs, tau = {number} ns/B \(one way, wire included; misses", done.stdout)


def test_model_json_is_one_document_with_units_in_its_names(typed: Vaiven, run: Run) -> None:
    document = json.loads(typed("model", "last", "--json").stdout)
    assert document["schema"] == 3 and document["runs"] == [run.id]
    tcp = next(cost for cost in document["costs"] if cost["stack"] == "tcp")
    assert tcp["alpha_low_ns"] < tcp["alpha_ns"] < tcp["alpha_high_ns"]
    size = next(size for size in document["sizes"] if (size["stack"], size["size_bytes"]) == ("tcp", 64))
    assert size["wire_ns"] == made_up.wire_ns(64) and size["samples"] == 720 and size["launches"] == 12


def test_model_json_of_too_few_launches_has_reasons_and_no_numbers(vaiven: Vaiven, tmp_path: Path) -> None:
    few = made_up.write_run(tmp_path, stacks=("udp",), sizes=(1, 64), blocks=2, link=False)
    document = json.loads(vaiven("model", str(few.path), "--json").stdout)
    cost, size = document["costs"][0], document["sizes"][0]
    assert cost["alpha_ns"] is None and "alpha: too few launches: 2 of 8" in cost["refused"]
    assert size["wire_ns"] is None and size["one_way_ns"] > 0


def test_times_are_one_way_and_known(run: Run) -> None:
    for cost in costs(run):
        point = cost.point(64)
        assert point
        # the spread adds a median of about 0.8 us to what each message is made of
        assert point.typical_ns == pytest.approx(made_up.START_NS[cost.stack] + made_up.wire_ns(64) + 840, rel=0.01)


def test_stacks_come_in_the_order_of_the_plan(run: Run) -> None:
    assert [cost.stack for cost in costs(run)] == list(made_up.START_NS)


def test_report_writes_one_page_and_the_svg_files(typed: Vaiven, tmp_path: Path, run: Run) -> None:
    done = typed("report", run.id[:20], "-o", "out/page.html", "--svg", "svg")
    assert done.returncode == 0 and done.stdout.strip() == "out/page.html"
    assert (tmp_path / "out/page.html").read_text().startswith("<!doctype html>")
    assert sorted(path.name for path in (tmp_path / "svg").iterdir()) == ["rate-1.svg", "time-1.svg"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["page.html"]


def test_report_tells_programs_where_the_page_is(typed: Vaiven, tmp_path: Path, run: Run) -> None:
    said = json.loads(typed("report", "--json").stdout)
    assert said == {"schema": 1, "page": f"{run.id}.html", "runs": [run.id]}
    assert (tmp_path / said["page"]).is_file()


def test_report_without_a_name_is_called_after_the_run(typed: Vaiven, tmp_path: Path, run: Run) -> None:
    assert typed("report").returncode == 0
    assert (tmp_path / f"{run.id}.html").is_file()


@pytest.mark.parametrize("verb", ["model", "report"])
def test_no_such_run_is_said_in_two_lines(typed: Vaiven, verb: str) -> None:
    done = typed(verb, "nothing-like-it")
    assert done.returncode == 1 and "no run" in done.stderr and "Traceback" not in done.stderr


def test_a_place_that_cannot_be_written_is_named(typed: Vaiven) -> None:
    done = typed("report", "last", "-o", "/proc/none/page.html")
    assert done.returncode == 1 and "cannot write /proc/none/page.html" in done.stderr


def test_what_is_faster_than_its_wire_is_called_so(tmp_path: Path) -> None:
    run = made_up.write_run(tmp_path, stacks=("tcp",), sizes=(1, 1472), blocks=2, wire_factor=1.5)
    warning = next(one for one in Results(run).findings().warnings if one.code == "below-wire")
    assert warning.text.startswith("faster than the wire allows") and warning.text.endswith(": tcp at 1472 B")
    assert warning.where == "h1 → h2"


def test_a_run_without_a_finished_launch_is_said(vaiven: Vaiven, tmp_path: Path) -> None:
    empty = made_up.write_run(tmp_path, blocks=0, ended=False)
    for verb in ("model", "report"):
        done = vaiven(verb, str(empty.path), cwd=tmp_path)
        assert done.returncode == 1 and "no finished launch" in done.stderr


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize(
    "words", [("model", "--by-size", "--papers"), ("compare",), ("compare", "--by-size"), ("runs",)], ids=" ".join
)
def test_a_narrow_terminal_gets_all_in_narrow_lines_and_ids_whole(
    vaiven: Vaiven, run: Run, words: tuple[str, ...], columns: int
) -> None:
    where = {"VAIVEN_RUNS": str(run.path.parent), "COLUMNS": str(columns)}
    lines = vaiven(*words, env=os.environ | where).stdout.splitlines()
    assert [line for line in lines if len(line) > columns and run.id not in line and "lab demo" not in line] == []
    assert words[0] == "model" or any(run.id in line for line in lines)
    assert not any("…" in line for line in lines)


@pytest.mark.typed
@pytest.mark.parametrize("words", [("compare", "last"), ("compare", "--help")])
def test_no_color_is_heeded(run: Run, words: tuple[str, str]) -> None:
    forced = os.environ | {"VAIVEN_RUNS": str(run.path.parent), "FORCE_COLOR": "1"}
    forced.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "vaiven", *words]  # a process looks once whether it has colours
    coloured, plain = (
        subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=True).stdout
        for env in (forced, forced | {"NO_COLOR": "1"})
    )
    assert re.search(r"\x1b\[[0-9;]*3\d", coloured) and not re.search(r"\x1b\[[0-9;]*3\d", plain)
