# SPDX-License-Identifier: BSD-3-Clause
"""Ratios of questions with several far ends, block by block."""

from __future__ import annotations

import pytest

from vaiven.model.several import block_ratio


def test_what_drifts_in_both_leaves_the_ratio_alone() -> None:
    drift = [1, 2, 4, 8, 16, 32, 64, 128]
    base = {block: 100.0 * times for block, times in enumerate(drift)}
    wide = {block: 7 * ns * (1 + 0.001 * block) for block, ns in base.items()}
    found = block_ratio(wide, base, "other")
    assert found.value == pytest.approx(7, rel=0.01)
    assert 7 <= found.interval.low <= found.value <= found.interval.high <= 7.05


def test_only_blocks_that_have_both_count() -> None:
    found = block_ratio({0: 30.0, 1: 40.0, 5: 1.0}, {0: 10.0, 1: 10.0, 4: 1.0}, "other")
    assert found.value == 3.5
    assert found.interval.value is None and "too few launches: 2" in found.interval.refused


def test_without_the_other_one_there_is_no_ratio() -> None:
    found = block_ratio({0: 30.0}, {}, "raw sender")
    assert found.value is None and found.interval.refused == "no raw sender in this run"
