# SPDX-License-Identifier: BSD-3-Clause
"""What is said of runs that are alike, by all cells together: made-up runs, whose answer is known."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

CELLS, LAUNCHES = 12, 26


@pytest.fixture(scope="module")
def between(bench: dict[str, ModuleType]) -> ModuleType:
    return bench["between"]


def runs(count: int, seed: int = 1) -> list[np.ndarray]:
    """Whole runs differ by 1 %, their cells by 0.5 % beyond that, launches by 1 %."""
    rng = np.random.default_rng(seed)
    whole, own = 0.01 * rng.standard_normal((count, 1, 1)), 0.005 * rng.standard_normal((count, 1, CELLS))
    return list(1e5 * np.exp(whole + own + 0.01 * rng.standard_normal((count, LAUNCHES, CELLS))))


def test_runs_that_are_alike_keep_the_bars_in_every_way(between: ModuleType) -> None:
    found = between.tried(runs(24), trials=16, seed=1)
    assert [one.way.name for one in found] == [way.name for way in between.WAYS]
    for one in found:
        assert one.comparisons >= 5 and one.false_cells <= 0.01 and one.false_some <= 0.1, one
        assert one.finds_some >= one.false_some
    assert max(one.finds_one for one in found) > 0.5
    assert between.table(found).count("\n") == len(found) + 1


def test_ways_for_which_there_are_too_few_runs_are_left_out(between: ModuleType) -> None:
    names = [one.way.name for one in between.tried(runs(10), trials=5, seed=1)]
    assert names == ["two sides of one run", "5 and 5 runs", "a run against 8 others", "a run against the 8 before it"]


def test_a_way_that_calls_everything_different_is_broken(between: ModuleType) -> None:
    way = between.Way("always", between.WAYS[1].sides, lambda first, _: between.Said((True,) * first.shape[1], True))
    found = between._try(way, runs(12), 5, 1)
    assert found.broken and found.false_cells == found.false_some == 1.0
