# SPDX-License-Identifier: BSD-3-Clause
"""Steps in a series of runs: found where they are, and not where there is none."""

import numpy as np
import pytest
import scipy

from vaiven.stats.steps import SIDE_MIN, steps


def series(count, seed, cells=6, whole=0.02, own=0.01):
    rng = np.random.default_rng(seed)
    logs = whole * rng.standard_normal((count, 1)) + own * rng.standard_normal((count, cells))
    return np.geomspace(30e3, 900e3, cells) * np.exp(logs)


def found(ns, seed=1):
    return steps(ns, np.random.default_rng(seed))


def test_a_step_is_found_where_it_is_with_its_size_and_its_cells():
    ns = series(40, 1)
    ns[22:, :2] *= 1.2
    (step,) = found(ns)
    assert step.low <= 22 <= step.high and step.high - step.low <= 6 and step.p <= 0.01
    assert step.cells.tolist() == [True, True, False, False, False, False]
    assert all(ratio.low < 1.2 < ratio.high for ratio in step.ratios[:2])
    assert all(ratio.low < 1 < ratio.high for ratio in step.ratios[2:])


def test_two_steps_of_everything():
    ns = series(60, 2)
    ns[20:] *= 1.15
    ns[45:] /= 1.25
    first, second = found(ns)
    assert first.low <= 20 <= first.high and second.low <= 45 <= second.high
    assert first.whole.low < 1.15 < first.whole.high and second.whole.low < 0.8 < second.whole.high


@pytest.mark.parametrize("count", [12, 40])
def test_a_series_without_a_step_is_rarely_given_one(count):
    trials = 120
    hits = sum(bool(found(series(count, 100 + seed), seed)) for seed in range(trials))
    assert hits <= scipy.stats.binom.ppf(0.999, trials, 0.01)


def test_runs_that_stand_out_are_no_step():
    ns = series(30, 4)
    ns[[7, 8, 19]] *= 2
    assert found(ns) == []


def test_too_few_runs_and_runs_that_do_not_vary():
    assert found(series(2 * SIDE_MIN - 1, 5)) == []
    assert found(np.full((20, 2), 5e3)) == []
