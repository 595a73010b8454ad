# SPDX-License-Identifier: BSD-3-Clause
"""Rules that take the samples of a launch for independent cry wolf, ours do not: simulated, with seeds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from bench.selftest import NOISY, launches, sampled

from vaiven.store.record import Cell, DesignRecord, End, HostsPlace, LaunchRecord, Manifest, Record

SAMPLE_RULES = ("intervals_95", "outside_95", "intervals_99", "welch_samples", "pooled_samples", "ranks_samples",
                "repetitions", "ranks_pooled")  # fmt: skip


@pytest.fixture(scope="module")
def wolf(bench: dict[str, ModuleType]) -> ModuleType:
    return bench["wolf"]


@pytest.fixture(scope="module")
def tried(wolf: ModuleType) -> dict[str, object]:
    """What each rule said of launches that are made up, by the name of its function."""
    return {one.rule.differs.__name__: one for one in wolf.tried(wolf.made_up(seed=1, cells=15), trials=100, seed=1)}


@pytest.mark.slow
def test_rules_on_samples_cry_wolf_and_ours_do_not(tried):
    assert {name: tried[name].share for name in SAMPLE_RULES if tried[name].share <= 0.2} == {}
    ours = {name: one.share for name, one in tried.items() if one.rule.ours}
    assert len(ours) == 3 and max(ours.values()) <= 0.02, ours


@pytest.mark.slow
def test_what_is_slower_is_found_the_more_the_slower_it_is(tried):
    for one in tried.values():
        assert one.false <= one.found[0] + one.trials // 20 and one.found[0] <= one.found[2], one.rule.name
    assert tried["ours_blocks"].found[2] > tried["ours_blocks"].trials // 4
    assert tried["ours_runs"].found[2] > tried["ours_runs"].trials // 2


def test_the_same_seed_is_the_same_table(wolf):
    first, second = (wolf.tried(wolf.made_up(3, cells=2), trials=20, seed=3) for _ in range(2))
    assert first == second
    assert wolf.table(first).count("\n") == len(wolf.RULES) + 1


def test_the_page_of_the_manual_has_every_rule_in_a_line(wolf):
    found = wolf.tried(wolf.made_up(3, cells=2), trials=20, seed=3)
    few = wolf.tried(wolf.made_up(3, cells=2)[:, :, :14], trials=20, seed=3)
    head, _, *lines = wolf.page({"few": few, "made up": found}).splitlines()
    assert head.endswith("| few: cries wolf | finds +5, +10, +20 % | made up: cries wolf | finds +5, +10, +20 % |")
    page = (Path(__file__).parents[2] / "docs" / "wolf.md").read_text()
    assert [line for line in lines if f"\n{'|'.join(line.split('|')[:3])}|" not in page] == []
    assert any("| too few launches | - |" in line for line in lines)


def test_sides_are_of_one_run_and_share_no_launch(wolf):
    ns = np.arange(2 * 12 * 26 * 3, dtype=float).reshape(2, 12, 26, 3)
    for reads, sides in wolf._SIDES.items():
        found = list(sides(ns, np.random.default_rng(0)))
        assert found and all(not np.intersect1d(first, second).size for first, second in found), reads
    blocks = next(wolf._blocks(ns, np.random.default_rng(0)))
    assert (np.abs(blocks[0][:, 0] - blocks[1][:, 0]) == 3).all()  # neighbours


def test_samples_of_made_up_launches_are_those_of_their_medians():
    ns = sampled(NOISY, 5, 30, np.random.default_rng(4))
    assert ns.shape == (5, len(NOISY.sizes_bytes), 30)
    np.testing.assert_allclose(np.median(ns, axis=-1), launches(NOISY, 5, 30, np.random.default_rng(4)).ns)


def test_recorded_runs_are_read_back(wolf, tmp_path: Path):
    for run in range(2):
        with Record.create(tmp_path / "runs", manifest("identical")) as record:
            for launch in range(3):
                whole = [10 * run + launch, 2, None, 4][: 4 - launch % 2]
                times = {size: [None if ns is None else size + ns for ns in whole] for size in (8, 100)}
                cells = [Cell(ask="pingpong", size_bytes=size, ns=ns) for size, ns in times.items()]
                record.add(
                    LaunchRecord(launch=launch, block=launch, stack="udp", near="a", far="b", ask="pingpong"), cells
                )
            record.end(End(reason="done", blocks=3, launches=3, failed=0, half_width=None, cell=""))
    runs = wolf.ended(tmp_path)
    ns = [np.sort(cell, axis=0) for cell in wolf.times(runs)]  # runs of one second have no order
    assert [cell.shape for cell in ns] == [(2, 3, 2)] * 2  # runs, launches, and the samples that every launch has
    assert ns[1][1, 2].tolist() == [100 + 12, 102]
    assert wolf.title(runs).startswith("2 runs on")


def test_the_load_ends_with_whoever_made_it(wolf):
    start = "c = subprocess.Popen([sys.executable, '-c', sys.argv[1], str(os.getpid())])"
    script = f"import os, subprocess, sys\n{start}\nprint(c.pid, flush=True)\nc.wait()"
    with subprocess.Popen([sys.executable, "-c", script, wolf._LOAD], stdout=subprocess.PIPE, text=True) as bench:
        assert bench.stdout
        child = bench.stdout.readline().strip()
        os.kill(bench.pid, signal.SIGKILL)
    until = time.monotonic() + 60
    while alive(child) and time.monotonic() < until:
        time.sleep(0.1)
    assert not alive(child)


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def manifest(title: str) -> Manifest:
    return Manifest(
        title=title, plan_name="", plan_text="", plan={"lab": "free"}, design=DesignRecord(), place=HostsPlace(),
        hosts={"a": {"load_milli": 500}}, link=None, versions={}, environment={},
    )  # fmt: skip
