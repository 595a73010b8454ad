# SPDX-License-Identifier: BSD-3-Clause
"""The witness of a processor, by hand: a record when it begins and for each line, and its end with its input."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

TIMEOUT_S = 60


@pytest.fixture
def command(vaiven_programs: Callable[[str], Path]) -> list[str]:
    return [str(vaiven_programs("vaiven-probe")), "witness"]


@pytest.mark.root
def test_it_answers_each_line_and_ends_with_its_input(command: list[str]) -> None:
    processor = max(os.sched_getaffinity(0))
    asked = [*command, "--cpu", str(processor)]
    done = subprocess.run(asked, input="\n\nwords\nno line", capture_output=True, text=True, timeout=TIMEOUT_S)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(records) == 1 + 3
    assert {(one["type"], one["schema"], one["cpu"]) for one in records} == {("witness", 1, processor)}
    for name in ("for_ns", "lost_ns", "longest_ns", "gaps"):
        values = [one[name] for one in records]
        assert values == sorted(values) and values[0] >= 0


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [([], "usage", 1), (["--cpu", "1023"], "no-cpu", 1), (["--cpu", "x"], "usage", 2), (["--mtu", "9"], "usage", 2)],
)
def test_what_cannot_be_watched_is_refused(command: list[str], words: list[str], code: str, status: int) -> None:
    done = subprocess.run([*command, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    (record,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (record["type"], record["code"], done.returncode) == ("error", code, status)


@pytest.mark.root
def test_who_may_not_be_real_time_is_told(command: list[str]) -> None:
    weaker = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
    done = subprocess.run([*weaker, *command, "--cpu", str(max(os.sched_getaffinity(0)))], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)  # fmt: skip
    (record,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (record["code"], done.returncode) == ("no-permission", 1)
