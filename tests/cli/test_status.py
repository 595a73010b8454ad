# SPDX-License-Identifier: BSD-3-Clause
"""Exit statuses: one table in the manual, and the same on every verb."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vaiven.cli import net
from vaiven.cli.status import Status
from vaiven.errors import VaivenError

TABLE = Path(__file__).parents[2] / "docs/howto/ci.md"


def test_the_table_of_the_manual_has_every_status() -> None:
    rows = re.findall(r"^\| ([\d, ]+) \| [^|]+ \| [^|]+ \|$", TABLE.read_text(), re.MULTILINE)
    listed = [int(number) for row in rows for number in row.split(", ")]
    assert listed == sorted({*Status, net.INTERRUPTED, net.NO_READER})
    assert [int(one) for one in Status][:5] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["plausible", "93 Mb/s", "100M"], Status.OK),
        (["model", "nosuch"], Status.WORLD),
        (["measure", "nosuch", "--dry-run"], Status.WORLD),
        (["plan", "check", "wrong.toml"], Status.WORLD),
        (["plan", "check"], Status.USAGE),
        (["nosuch"], Status.USAGE),
        (["compare", "a", "--earlier", "b"], Status.USAGE),
        (["measure", "--hosts", "localhost", "--sizes", "x", "--dry-run"], Status.USAGE),
        (["measure", "--hosts", "localhost", "--link", "x", "--dry-run"], Status.USAGE),
        (["run", "--stack", "openmpi"], Status.USAGE),
        (["plausible", "fast", "100M"], Status.USAGE),
        (["plausible", "93 MB/s", "100M"], Status.NO),
        (["lab", "down"], Status.USAGE),
        (["lab", "run", "nosuch/x", "--", "true"], Status.WORLD),
    ],
)
def test_a_verb_ends_with_what_the_table_says(vaiven, tmp_path: Path, words: list[str], status: Status) -> None:
    (tmp_path / "wrong.toml").write_text('title = "x"\nsizes = ["no size"]\n')
    done = vaiven(*words, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert bool(done.stderr) == (status in (Status.WORLD, Status.USAGE))


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (VaivenError("x", code="usage"), Status.USAGE),
        (VaivenError("x", code="bad-size", where="--sizes 'x'"), Status.USAGE),
        (VaivenError("x", code="bad-size", where="plan.toml:3"), Status.WORLD),
        (VaivenError("x", code="no-run"), Status.WORLD),
    ],
)
def test_a_mistake_in_a_file_is_none_of_the_command_line(error: VaivenError, status: Status, capsys) -> None:
    def fail() -> None:
        raise error

    assert net.caught(fail) == status and capsys.readouterr().err.startswith("vaiven: ")
