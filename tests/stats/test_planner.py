# SPDX-License-Identifier: BSD-3-Clause
"""The planner: smallest p values, refused designs, and promises that simulated runs keep."""

from itertools import combinations

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.stats.planner import examine, launches_to_reach, p_least, require
from vaiven.stats.ranks import mann_whitney, sign_flip


@pytest.mark.parametrize(
    ("comparisons", "paired", "expected"), [(1, True, 8), (1, False, 5), (40, True, 13), (40, False, 8)]
)
def test_launches_needed_at_one_percent(comparisons, paired, expected):
    assert launches_to_reach(0.01, comparisons, paired) == expected


@pytest.mark.parametrize("n", range(2, 9))
def test_smallest_p_is_what_the_tests_give(n):
    up = np.arange(1.0, n + 1)
    assert p_least(n, True) == pytest.approx(sign_flip(up).p)
    assert p_least(n, False) == pytest.approx(mann_whitney(up, up + 100).p)
    assert p_least(n, False) == pytest.approx(2 / len(list(combinations(range(2 * n), n))))


def test_a_design_that_cannot_reach_is_refused_and_told_what_would():
    report = examine(launches=7, comparisons=24)
    assert not report.can_reach and report.ratio_found is None
    with pytest.raises(VaivenError) as caught:
        require(report)
    assert caught.value.code == "design-too-small" and str(report.launches_needed) in caught.value.remedy
    assert require(examine(report.launches_needed, 24)).can_reach


def test_the_promised_effect_is_found_about_as_often_as_promised():
    report = examine(launches=20, comparisons=1, spread_log=0.05)
    rng = np.random.default_rng(0)
    runs = 400
    found = [sign_flip(np.log(report.ratio_found) + 0.05 * rng.standard_normal(20)).p < 0.01 for _ in range(runs)]
    assert 0.7 < np.mean(found) < 0.9


def test_more_launches_find_less():
    ratios = [examine(n, 10).ratio_found for n in (12, 20, 40)]
    assert ratios == sorted(ratios, reverse=True) and ratios[-1] > 1
