# SPDX-License-Identifier: BSD-3-Clause
"""Sizes that a run adds to itself: where the cost changes its law, bounded, recorded, and the same after a stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vaiven.measuring.refine import refiner
from vaiven.plan.schema import Plan, Refine, Stop
from vaiven.store import query
from vaiven.store.record import Addition

Vaiven = Callable[..., subprocess.CompletedProcess[str]]
KNEE_BYTES = 5000
STACK = f"null[alpha_ns=50000,beta_ns=0.08,knee={KNEE_BYTES}:40000,noise=0.02,launch=0.005]"
KEY = (STACK, "pingpong", "localhost", "localhost")
ENDED = (0, 4)  # carried out; 4: not known as well as the plan wants, which is for the machine to say
PLAN = f"""\
title = "a knee"
hosts = ["localhost"]
pairs = [["localhost", "localhost"]]
stacks = ["{STACK}"]
sizes = ["log:4/decade:8..10^5"]
sentinel.stack = "null"
[effort]
samples = 40
[stop]
launches_min = 8
launches_max = 16
looks = [8]
[refine]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("VAIVEN_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "knee.toml").write_text(PLAN)
    return tmp_path


def only_run(here: Path) -> query.Run:
    (run,) = query.runs(here / "runs")
    assert isinstance(run, query.Run), run
    return run


def knees(vaiven: Vaiven) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(vaiven("model", "last", "--json").stdout)["knees"]
    return found


def test_added_sizes_gather_at_the_knee_and_confirm_it(vaiven: Vaiven, here: Path) -> None:
    done = vaiven("measure", "knee.toml")
    assert done.returncode in ENDED, done.stderr
    assert "a jump near" in done.stderr
    run = only_run(here)
    (look,) = query.refined(run)
    around = next(one for one in look.additions if one.knee)
    assert look.blocks == 8 and len(around.sizes_bytes) == 8
    assert around.low_bytes <= KNEE_BYTES <= around.high_bytes
    by_block = {
        block: set(cells["size_bytes"])
        for (block,), cells in query.launches(run).group_by("block", maintain_order=True)
    }
    first = by_block[0]
    gap = max(size for size in first if size <= KNEE_BYTES), min(size for size in first if size > KNEE_BYTES)
    assert sum(gap[0] <= size <= gap[1] for size in around.sizes_bytes) >= 4
    assert all(by_block[block] == first for block in range(8))
    added = {size for one in look.additions for size in one.sizes_bytes}
    assert all(by_block[block] == first | added for block in range(8, 16))
    (knee,) = knees(vaiven)
    low, high = knee["at_low_bytes"], knee["at_high_bytes"]
    assert low <= KNEE_BYTES <= high and high - low < 0.5 * (gap[1] - gap[0])
    assert knee["confirmed"]
    page = (here / f"{run.id}.html").read_text()
    assert "confirmed" in page


def test_a_knee_that_was_not_measured_again_is_not_confirmed(vaiven: Vaiven, here: Path) -> None:
    (here / "once.toml").write_text(PLAN.replace("[refine]", ""))
    assert vaiven("measure", "once.toml", "--no-page").returncode in ENDED
    run = only_run(here)
    assert query.refined(run) == [] and query.launches(run)["block"].max() == 7
    assert [knee["confirmed"] for knee in knees(vaiven)] == [False]


def test_a_run_that_is_killed_goes_on_with_the_sizes_that_it_added(vaiven: Vaiven, here: Path) -> None:
    command = [sys.executable, "-m", "vaiven", "measure", "knee.toml", "--no-page"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as running:
        deadline = time.monotonic() + 180
        while not (blocks := set(_launches(here))) or max(blocks) < 17:  # launches: block 9
            assert time.monotonic() < deadline and running.poll() is None
            time.sleep(0.05)
        os.kill(running.pid, signal.SIGKILL)
    while (stopped := only_run(here)).state != "stopped":  # a probe that was just being started holds the lock too
        assert time.monotonic() < deadline
        time.sleep(0.05)
    before = query.refined(stopped)
    done = vaiven("measure", "--resume", stopped.id, "--no-page")
    assert done.returncode in ENDED, done.stderr
    ended = only_run(here)
    assert query.refined(ended) == before and len(before) == 1
    added = {size for one in before[0].additions for size in one.sizes_bytes}
    last = query.launches(ended).filter(block=15)
    assert added <= set(last["size_bytes"])
    assert query.launch_count(ended) == 2 * 16


def _launches(here: Path) -> list[int]:
    return [int(path.stem) for path in here.glob("runs/*/launches/*.json")]


def test_a_first_look_and_a_fixed_count_add_nothing(vaiven: Vaiven, here: Path) -> None:
    for option in (["--quick"], ["--launches", "8"]):
        done = vaiven("measure", "knee.toml", *option, "--no-page")
        assert done.returncode in ENDED, done.stderr
    runs = query.runs(here / "runs")
    assert [query.refined(run) for run in runs if isinstance(run, query.Run)] == [[], []]


def curve(sizes: list[int], blocks: int = 8, step_ns: float = 80_000.0) -> dict[int, dict[int, float]]:
    """Round trips without noise, but a little of each launch."""
    return {
        size: {
            block: (100_000 + 0.16 * size + step_ns * (size > KNEE_BYTES)) * (1 + 0.001 * (block % 3))
            for block in range(blocks)
        }
        for size in sizes
    }


SIZES = [round(8 * 1.6**k) for k in range(20)]


def adds(
    sizes_max: int, past: tuple[Addition, ...] = (), key: tuple[str, str, str, str] = KEY, **made: float
) -> object:
    asked = refiner(Plan(refine=Refine(sizes_max=sizes_max), stop=Stop()), None)
    assert asked
    return asked(key, curve(SIZES, **made), {}, past)


def test_what_is_added_is_bounded() -> None:
    for most in (1, 5, 9, 40):
        sizes = [size for one in adds(most) for size in one.sizes_bytes]
        assert 0 < len(sizes) <= most and not set(sizes) & set(SIZES)
    assert adds(8, tuple(adds(8))) == []


def test_a_knee_is_measured_again_once() -> None:
    first = tuple(adds(100))
    assert [one.knee for one in first].count(True) == 1
    assert not any(one.knee for one in adds(100, first))


def test_where_the_line_holds_nothing_is_added() -> None:
    assert adds(100, step_ns=0.0) == []
    assert adds(100, key=(STACK, "connect", "localhost", "localhost")) == []
    assert refiner(Plan(), None) is None


def test_losses_do_not_look_like_knees() -> None:
    asked = refiner(Plan(refine=Refine()), None)
    assert asked
    medians = curve(SIZES, step_ns=0.0)
    medians[SIZES[4]] = dict.fromkeys(range(8), float("inf"))
    assert asked(KEY, medians, {}, ()) == []


def test_the_staircase_of_the_wire_is_no_knee() -> None:
    """Frames on a slow link: what jumps at the edge of one is the wire, and what is left of it is a line."""
    asked = refiner(Plan(refine=Refine()), None)
    assert asked
    sizes = SIZES + [round(8 * 1.6**k) for k in range(20, 26)]
    wire_ns = {size: 4000 * size + 900_000 * (size > KNEE_BYTES) for size in sizes}
    medians = curve(sizes, step_ns=0.0)
    whole = {
        size: {block: ns + 2 * wire_ns[size] for block, ns in of_block.items()} for size, of_block in medians.items()
    }
    assert any(one.knee for one in asked(KEY, whole, {}, ()))
    assert not any(one.knee for one in asked(KEY, whole, wire_ns, ()))
