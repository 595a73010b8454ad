# SPDX-License-Identifier: BSD-3-Clause
"""The commands that the manual shows are run, page by page, as a reader would type them.

A comment before a code block says what becomes of it; a block of `sh` without one is a mistake:

    <!-- run -->             run every line          <!-- run: lab -->        the same; needs root
    <!-- run: quick -->      `vaiven measure` gets --quick (words can be combined: "lab quick")
    <!-- run as: COMMAND --> COMMAND is run instead  <!-- file: NAME -->      the block is the file NAME of what follows
    <!-- not run: REASON -->                         not run, for that reason
    <!-- run by: FILE -->                            run by that file of tests/docs, which looks at what comes out, too

Every command of vaiven is read as the command line would read it, also where it is not run. The pages of docs that
measure are run by `make test-suites`; the others, and the README, by `make test`.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import cyclopts
import pytest

from vaiven import resources
from vaiven.cli import parser

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]+?) -->\n)?^```(?P<language>[\w{}]*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_SHELL = {"|", "||", "&&", ";", ">", "2>", "&"}
_COMMENT = re.compile(r"^<!-- (?:not )?(?:run|file).*-->$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """One thing to do for a page: run a script, or write a file (then `file` is its name)."""

    text: str
    file: str = ""
    lab: bool = False


def steps(page: str) -> list[Step]:
    """What is to be done for a page. ValueError: a block of commands without a mark, or a mark that means nothing."""
    blocks = list(_BLOCK.finditer(page))
    marked = sum(1 for block in blocks if block["mark"])
    if marked != len(_COMMENT.findall(page)):
        raise ValueError("a mark stands before no block")
    return [step for block in blocks if (step := _step(block["mark"], block["language"], block["text"]))]


def _step(mark: str | None, language: str, text: str) -> Step | None:
    if mark is None:
        if language in ("sh", "bash", "console"):
            raise ValueError(f"a block of commands without a mark: {text}")
        return None
    kind, _, detail = mark.partition(": ")
    if (kind == "not run" and detail) or (kind == "run by" and (Path(__file__).parent / detail).is_file()):
        return None
    if kind == "file" and detail:
        return Step(text, file=detail)
    if kind == "run as" and detail:
        return Step(detail + "\n", lab=True)
    words = set(detail.split())
    if kind != "run" or words - {"lab", "quick"}:
        raise ValueError(f"a mark that means nothing: {mark}")
    if "quick" in words:
        text = re.sub(r"^vaiven measure\b(?!.*--dry-run)", "vaiven measure --quick", text, flags=re.MULTILINE)
    return Step(text, lab="lab" in words)


def run_by(page: str, name: str) -> list[str]:
    """The blocks of a page that this file of tests/docs runs, in order."""
    return [block["text"] for block in _BLOCK.finditer(page) if block["mark"] == f"run by: {name}"]


def environment_of_a_reader(scratch: Path) -> dict[str, str]:
    """What a reader's shell has: our commands first in PATH, and a state directory where no other lab lives."""
    (scratch / "bin").mkdir()
    command = scratch / "bin/vaiven"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vaiven "$@"\n')
    command.chmod(0o755)
    places = [scratch / "bin", resources.program("vaiven-probe").parent, Path(sys.executable).parent]
    path = os.pathsep.join([*map(str, places), os.environ["PATH"]])
    return os.environ | {"PATH": path, "VAIVEN_STATE_DIR": str(scratch / "state")}


def _pages() -> list:
    """A test for each page with something to run; pages that raise labs carry their marker."""
    found = []
    for page in PAGES:
        todo = steps(page.read_text())
        if any(not step.file for step in todo):
            marks = [pytest.mark.lab] if any(step.lab for step in todo) else []
            if page.is_relative_to(ROOT / "docs") and any("vaiven measure" in step.text for step in todo):
                marks.append(pytest.mark.slow)
            found.append(pytest.param(todo, id=page.relative_to(ROOT).as_posix(), marks=marks))
    return found


@pytest.mark.parametrize("todo", _pages())
def test_the_commands_of_a_page_work(todo: list[Step], tmp_path: Path) -> None:
    environment = environment_of_a_reader(tmp_path)
    place = tmp_path / "reader"
    place.mkdir()
    for step in todo:
        if step.file:
            (place / step.file).write_text(step.text)
            continue
        done = subprocess.run(
            ["bash", "-euc", step.text], cwd=place, env=environment, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{step.text}\n{done.stdout}{done.stderr}"


def commands(page: str) -> list[list[str]]:
    """The words of every command of vaiven in the blocks of a page, as a shell would pass them on."""
    text = "".join(block["text"] for block in _BLOCK.finditer(page) if block["language"] in ("sh", "bash", "console"))
    lines = text.replace("\\\n", " ").splitlines()
    found = [shlex.split(line, comments=True) for line in lines if line.startswith("vaiven ")]
    return [list(itertools.takewhile(lambda word: word not in _SHELL, words[1:])) for words in found]


def misread(words: list[str]) -> str:
    """Why the command line refuses those words; empty if it takes them."""
    try:
        parser.app.parse_args(words, exit_on_error=False, print_error=False)
    except cyclopts.CycloptsError as error:
        return f"vaiven {shlex.join(words)}: {error}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_are_understood(page: Path) -> None:
    assert [why for words in commands(page.read_text()) if (why := misread(words))] == []


def test_a_command_that_nobody_would_understand_is_found() -> None:
    page = "```sh\nvaiven runs | head   # all\nvaiven model --no-such-word\nvaiven lab list && true\nls\n```\n"
    assert commands(page) == [["runs"], ["model", "--no-such-word"], ["lab", "list"]]
    assert [bool(misread(words)) for words in commands(page)] == [False, True, False]


def verbs(page: str) -> set[str]:
    """The verbs of `vaiven` that a page names, in blocks of commands and in code within a sentence."""
    commands = "".join(block["text"] for block in _BLOCK.finditer(page) if block["language"] == "sh")
    return set(re.findall(r"^vaiven ([a-z]+)", commands, re.MULTILINE) + re.findall(r"`vaiven ([a-z]+)", page))


def test_every_verb_that_the_manual_names_exists() -> None:
    named = {page.name: verbs(page.read_text()) for page in PAGES}
    assert len(set.union(*named.values())) >= 5
    assert {name: unknown for name, found in named.items() if (unknown := found - set(parser.app))} == {}


def test_a_verb_is_found() -> None:
    assert verbs("vaiven sends `vaiven lab up` and\n```sh\nvaiven measure x\n```\n") == {"lab", "measure"}


def test_marks_are_understood() -> None:
    page = (
        "<!-- run: lab quick -->\n```sh\nvaiven measure x\nvaiven measure y --dry-run\n```\n"
        "<!-- file: a.toml -->\n```toml\nx = 1\n```\n<!-- not run: no cluster -->\n```sh\nrm -rf /\n```\n"
        "<!-- run by: test_manual.py -->\n```sh\nls\n```\n"
        "```{fields} a:B\n```\n```toml\ny = 1\n```\n<!-- run as: true -->\n```sh\nmake demo\n```\n"
    )
    assert steps(page) == [
        Step("vaiven measure --quick x\nvaiven measure y --dry-run\n", lab=True),
        Step("x = 1\n", file="a.toml"),
        Step("true\n", lab=True),
    ]
    assert run_by(page, "test_manual.py") == ["ls\n"]


@pytest.mark.parametrize(
    "page",
    [
        "```sh\nls\n```\n",
        "<!-- run: slowly -->\n```sh\nls\n```\n",
        "<!-- not run -->\n```sh\nls\n```\n",
        "<!-- run -->\n\n```text\nls\n```\n",
        "<!-- run by: nobody.py -->\n```sh\nls\n```\n",
    ],
)
def test_a_block_that_nobody_decided_about_is_found(page: str) -> None:
    with pytest.raises(ValueError, match="mark"):
        steps(page)
