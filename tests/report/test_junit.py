# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts as JUnit XML: what has failed is what --fail-if-slower is about."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as xml

import pytest
from tests.report import made_up

from vaiven.cli.status import Status
from vaiven.report import junit
from vaiven.results.comparison import Comparison, comparison
from vaiven.results.pairing import Asked
from vaiven.store.query import Run


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Run:
    place = tmp_path_factory.mktemp("some")
    return made_up.write_run(place, stacks=("udp", "tcp"), sizes=(1, 64, 65536), samples=20, pairs=(("h1", "h2"),))


def suite(text: str) -> xml.Element:
    root = xml.fromstring(text)
    assert root.tag == "testsuites" and [one.tag for one in root] == ["testsuite"]
    (found,) = root
    counts = {name: int(found.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {
        "tests": len(found.findall("testcase")), "failures": len(found.findall("*/failure")),
        "errors": len(found.findall("*/error")), "skipped": len(found.findall("*/skipped")),
    }  # fmt: skip
    return found


def judged(run: Run) -> Comparison:
    return comparison([run], Asked(stacks=("tcp", "udp")))


def test_a_case_for_each_size_and_a_failure_where_it_is_slower(some: Run) -> None:
    found = judged(some)
    (one,) = found
    cases = suite(junit.document(found, {one: (1, 64)}, ""))
    assert [case.attrib["name"] for case in cases] == [f"tcp against udp, {size}" for size in ("1 B", "64 B", "64 KiB")]
    assert [len(case.findall("failure")) for case in cases] == [1, 1, 0]
    assert cases[0][0].attrib["message"].startswith("slower: +") and {case.attrib["classname"] for case in cases} == {
        "h1 → h2"
    }


def test_what_cannot_be_told_is_an_error_and_no_clean_bill(some: Run) -> None:
    cases = suite(junit.document(judged(some), {}, "too few\x1b launches"))
    assert cases.attrib["errors"] == "1" and cases[-1][0].attrib["message"] == "too few\\x1b launches"


def test_names_of_strangers_are_text(tmp_path: Path) -> None:
    run = made_up.write_run(
        tmp_path, stacks=("udp", "tcp"), sizes=(1, 64), samples=20, pairs=((made_up.HOSTILE, "h2"),)
    )
    suite(junit.document(judged(run), {}, ""))


def test_the_command_writes_it_and_ends_as_without_it(vaiven, some: Run, tmp_path: Path) -> None:
    words = ["compare", str(some.path), "--stacks", "tcp,udp", "--fail-if-slower", "--junit", "found/junit.xml"]
    done = vaiven(*words, cwd=tmp_path)
    assert done.returncode == Status.NO and "found/junit.xml" in done.stderr
    assert int(suite((tmp_path / "found/junit.xml").read_text()).attrib["failures"]) >= 2
    (tmp_path / "mine.xml").write_text("<mine/>")
    done = vaiven(*words[:-1], "mine.xml", cwd=tmp_path)
    assert done.returncode == Status.WORLD and (tmp_path / "mine.xml").read_text() == "<mine/>"
