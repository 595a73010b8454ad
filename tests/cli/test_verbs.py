# SPDX-License-Identifier: BSD-3-Clause
"""What the command line says to somebody who does not know it yet."""

from __future__ import annotations

import pytest

from vaiven import cli


@pytest.mark.parametrize("asked", [(), ("--help",), ("-h",)])
def test_every_verb_is_listed_with_what_it_does(vaiven, asked: tuple[str, ...]) -> None:
    done = vaiven(*asked)
    assert done.returncode == 0
    first = {line.strip("│ ")[:13].strip(): line.strip("│ ")[13:].strip() for line in done.stdout.splitlines()}
    assert all(len(first.get(verb, "")) > 20 for verb in cli._VERBS), done.stdout


def test_where_nothing_was_measured_yet_the_verb_that_does_it_is_named(vaiven, tmp_path) -> None:
    done = vaiven("model", "last", cwd=tmp_path)
    assert done.returncode == 1 and "`vaiven measure` makes one" in done.stderr


def test_a_lab_that_is_not_up_is_raised_by_the_command_that_is_shown(vaiven, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VAIVEN_STATE_DIR", str(tmp_path))
    done = vaiven("lab", "run", "demo/demo1", "--", "true")
    assert done.returncode == 1 and "vaiven lab up demo" in done.stderr
