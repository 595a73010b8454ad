# SPDX-License-Identifier: BSD-3-Clause
"""What a plan promises: everything once, the published sizes, and that it can tell what it is for."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from tests.rules.conftest import Bench

from vaiven.lab import calibration, topology
from vaiven.lab import lab as labs
from vaiven.store import query

COMPARE = """
hosts = ["localhost", "localhost2"]
stacks = ["udp", "tcp", "eth"]
sizes = ["decades:10..10^3"]
[compare]
alpha = 0.01
[stop]
launches_min = {launches}
launches_max = 24
"""
LAUNCH = re.compile(r"block (\d+) launch \d+: (\S+) (\S+) (\S+) (\S+)( \(sentinel\))?: ([\d ]+)")
LAB = '\nname = "plain"\n[fabric]\nkind = "switch"\nclass = "free"\n[[hosts]]\nprefix = "n"\ncount = {count}\n'


def test_a_plan_lists_every_pair_and_size_once_in_each_block(bench: Bench) -> None:
    (bench.path / "plan.toml").write_text('lab = "cetad"\nstacks = ["udp", "tcp"]\nsizes = ["paper-a"]\n')
    done = bench.vaiven("plan", "show", "plan.toml", "--blocks", "2")
    assert done.returncode == 0, done.stderr
    seen: Counter[tuple[str, str, str, str, int]] = Counter()
    for block, stack, _ask, near, far, sentinel, sizes in LAUNCH.findall(done.stdout):
        if not sentinel:
            seen.update((block, stack, near, far, int(size)) for size in sizes.split())
    assert set(seen.values()) == {1}
    fars = {far for *_, far, _ in seen}
    assert {near for _, _, near, _, _ in seen} == {"purmamarca"} and len(fars) == 9
    published = [8, 100, 1000, 60_000, 10**6, 10**7]
    carried = {"tcp": set(published), "udp": {size for size in published if size <= 65_507}}
    for stack, sizes in carried.items():
        assert {size for _, one, _, _, size in seen if one == stack} == sizes
        assert len([key for key in seen if key[1] == stack]) == 2 * 9 * len(sizes)


@pytest.mark.lab
def test_results_are_keyed_by_what_the_plan_lists(bench: Bench) -> None:
    bench.write(LAB.format(count=3))
    run = bench.measure("--stacks", "udp", "--sizes", "8,100", "--quick", "--pairs", "all")
    rows = query.launches(run).select("block", "near", "far", "size_bytes").rows()
    pairs = [("n1", "n2"), ("n1", "n3"), ("n2", "n3")]
    assert sorted(rows) == [(block, *pair, size) for block in range(8) for pair in pairs for size in (8, 100)]


@pytest.mark.lab
def test_the_sizes_of_paper_d_are_measured_from_the_empty_message_on(bench: Bench) -> None:
    bench.write(LAB.format(count=2))
    run = bench.measure("--stacks", "udp", "--sizes", "linear:0..100/4,linear:100..3000/100", "--quick")
    found = query.launches(run)
    assert sorted(set(found["size_bytes"])) == [*range(0, 101, 4), *range(200, 3001, 100)]
    empty = found.filter(found["size_bytes"] == 0)
    assert empty.height == 8 and empty["ns_min"].min() > 0 and empty["count"].min() > 0


def test_a_plan_that_cannot_tell_its_stacks_apart_is_refused_with_what_would_do(bench: Bench) -> None:
    """9 comparisons at 1 %: 2^(1-10) is not small enough, 2^(1-11) is."""
    for command in (["plan", "check"], ["measure"], ["measure", "--dry-run"]):
        for launches, refused in ((8, True), (11, False)):
            (bench.path / "plan.toml").write_text(COMPARE.format(launches=launches))
            if command == ["measure"] and not refused:
                continue  # it would begin
            done = bench.vaiven(*command, "plan.toml")
            assert (done.returncode != 0) == refused, done.stdout + done.stderr
            if refused:
                assert "9 comparisons cannot reach 0.01" in done.stderr
                assert "plan 11 launches" in done.stderr
    assert not (bench.path / "runs").exists()


def test_a_plan_for_more_frames_than_the_lab_carries_is_refused_with_the_numbers(bench: Bench) -> None:
    """100 Mb/s are 8127 full frames a second; what `lab check` measured is remembered for each kind of lab."""
    bench.write(LAB.format(count=2).replace('"free"', '"timed"\nrate_mbps = 100'))
    lab = topology.load(bench.path / "lab.toml")
    command = ["measure", "--lab", "./lab.toml", "--stacks", "udp", "--sizes", "64,3000"]
    calibration.store_frames_per_s(lab, 8_200.0)
    assert bench.vaiven(*command, "--dry-run").returncode == 0
    calibration.store_frames_per_s(lab, 8_100.0)
    done = bench.vaiven(*command)
    assert done.returncode == 1
    assert "needs 8,127 frames/s, and this lab was measured to carry 8,100" in done.stderr
    assert not (bench.path / "runs").exists() and labs.running() == []


def test_a_plan_says_what_it_can_find(bench: Bench) -> None:
    (bench.path / "plan.toml").write_text(COMPARE.format(launches=24))
    done = bench.vaiven("plan", "check", "plan.toml")
    assert re.search(r"24 launches of each stack and 9 comparisons find differences from [\d.]+ % on", done.stdout), (
        done.stdout
    )


def test_a_level_that_no_number_of_its_launches_reaches_is_refused(bench: Bench) -> None:
    (bench.path / "plan.toml").write_text("[stop]\nlaunches_min = 3\nlaunches_max = 5\nlooks = [5]\nlevel = 0.99\n")
    done = bench.vaiven("plan", "check", "plan.toml")
    assert done.returncode != 0 and "plan.toml:1" in done.stderr
    assert "launches_max = 8 or more" in done.stderr
