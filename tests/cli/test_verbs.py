# SPDX-License-Identifier: BSD-3-Clause
"""What the command line says to somebody who does not know it yet."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from tests.docs.test_commands import misread

from vaiven import cli
from vaiven.cli import net, parser


@pytest.mark.parametrize("asked", [(), ("--help",), ("-h",)])
def test_every_verb_is_listed_with_what_it_does(vaiven, asked: tuple[str, ...]) -> None:
    done = vaiven(*asked)
    assert done.returncode == 0
    first = {verb: what.strip() for verb, _, what in (line.strip().partition(" ") for line in done.stdout.splitlines())}
    assert all(len(first.get(verb, "")) > 20 for verb in cli.VERBS), done.stdout


def test_the_sentence_of_a_verb_in_the_list_is_the_first_of_its_help() -> None:
    listed = {verb: sentence for verbs in cli.GROUPS.values() for verb, (_, sentence) in verbs.items()}
    helps = {verb: " ".join(parser.app[verb].help.split("\n\n")[0].split()) for verb in listed}
    assert listed == helps


def test_the_list_of_verbs_imports_none_of_them_and_no_parser() -> None:
    look = (
        "import sys; from vaiven import cli; sys.argv = ['vaiven', '--help']\n"
        "try: cli.start()\n"
        "finally: print(*(name for name in sys.modules\n"
        "                 if name.split('.')[0] in ('numpy', 'polars', 'msgspec', 'cyclopts', 'rich')\n"
        "                 or name.startswith('vaiven.') and name.split('.')[1] != 'cli'), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert sorted(done.stderr.split()) == ["vaiven.errors", "vaiven.lab", "vaiven.letters"]  # the room itself, empty


@pytest.mark.parametrize("words", [("lab", "list"), ("stacks",), ("plan", "list"), ("runs",)])
def test_a_table_of_what_there_is_loads_no_data_frame(words: tuple[str, ...]) -> None:
    look = (
        f"import sys; from vaiven import cli; sys.argv = ['vaiven', *{words}]\n"
        "try: cli.start()\n"
        "finally: print('polars' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=False)
    assert done.stdout and done.stderr == "False\n"


def test_where_nothing_was_measured_yet_the_verb_that_does_it_is_named(vaiven, tmp_path) -> None:
    done = vaiven("model", "last", cwd=tmp_path)
    assert done.returncode == 1 and "`vaiven measure` makes one" in done.stderr


def test_a_lab_that_is_not_up_is_raised_by_the_command_that_is_shown(vaiven, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))
    done = vaiven("lab", "run", "demo/demo1", "--", "true")
    assert done.returncode == 1 and "vaiven lab up demo" in done.stderr


def test_where_to_begin_is_said_and_the_verbs_of_a_beginner_come_first(vaiven) -> None:
    said = vaiven("--help").stdout
    places = [said.index(f"\n  {verb} ") for verb in ("measure", "doctor", "model", "compare", "lab", "plausible")]
    assert places == sorted(places)
    examples = [line.split("  ")[2] for line in said.splitlines() if line.startswith("    vaiven ")]
    assert len(examples) >= 4 and [why for line in examples if (why := misread(shlex.split(line)[1:]))] == []


def verbs() -> list[tuple[str, ...]]:
    below = [(verb, sub) for verb in ("lab", "plan", "export") for sub in parser.app[verb] if not sub.startswith("-")]
    return [(verb,) for verb in cli.VERBS] + below


def shown_help(verb: tuple[str, ...]) -> str:
    """Its words, without the frames around them."""
    console = Console(file=io.StringIO(), width=80)
    parser.app.help_print(verb, console=console)
    return " ".join(console.file.getvalue().replace("│", " ").split())


@pytest.mark.parametrize("verb", verbs(), ids=" ".join)
def test_help_names_no_default_that_is_nothing(verb: tuple[str, ...]) -> None:
    words = shown_help(verb)
    assert words.startswith(f"Usage: vaiven {verb[0]}")
    assert not re.search(r'\[default: (""|0|False|None|\(\))\]', words), words


def test_a_default_that_is_something_is_named() -> None:
    words = shown_help(("compare",))
    assert "[default: 0.02]" in words and "[default: median]" in words


def test_more_runs_than_two_are_met_with_a_command_that_works(vaiven, tmp_path) -> None:
    done = vaiven("compare", "runs/a", "runs/b", "runs/c d", cwd=tmp_path)
    assert done.returncode == 2 and "vaiven compare runs/b 'runs/c d'" in done.stderr


@pytest.mark.parametrize("verb", ["down", "check"])
def test_a_lab_that_is_not_there_is_told_alone(vaiven, tmp_path, monkeypatch, verb: str) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))
    done = vaiven("lab", verb, "nosuch")
    assert (done.returncode, done.stdout) == (1, "") and "there is no lab called 'nosuch' up" in done.stderr
    assert verb == "check" or "lab up" not in done.stderr  # to raise it, in order to take it down, is no advice


def test_a_first_ctrl_c_is_answered_however_early_it_comes(monkeypatch, capsys) -> None:
    def interrupted(*told: str) -> int:
        def command() -> None:
            raise KeyboardInterrupt(*told)

        return net.caught(command)

    assert interrupted() == net.INTERRUPTED and "vaiven: stopped" in capsys.readouterr().err
    assert interrupted("told") == net.INTERRUPTED and capsys.readouterr().err == ""


def test_no_percentage_is_written_without_its_space() -> None:
    python = Path(cli.__file__).parents[1]
    texts = {path: path.read_text() for path in python.rglob("*.py")}
    assert [path.name for path, text in texts.items() if re.search(r":[^{}\s]*%\}", text)] == []


@pytest.mark.parametrize(("user", "words"), [("0", "measure plans/demo.toml"), ("1000", "measure --lab free --quick")])
def test_make_demo_shows_what_this_user_can_have(tmp_path, user: str, words: str) -> None:
    for name, said in (("id", user), ("vaiven", 'asked: "$@"')):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho {said}\n".replace('"$@"', "$*"))
        program.chmod(0o755)
    root = Path(__file__).parents[2]
    command = ["make", "-s", "-o", "all", "demo", f"BIN={tmp_path}", f"PATH={tmp_path}:{os.environ['PATH']}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and f"asked: {words}" in done.stdout, done
    assert ("no timed network" in done.stdout) == (user != "0")
