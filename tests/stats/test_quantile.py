# SPDX-License-Identifier: BSD-3-Clause
"""Quantiles of messages: only where messages carry them, and their intervals hold the truth as often as they say."""

import numpy as np
import pytest
import scipy

from vaiven.stats.launches import messages_needed
from vaiven.stats.quantile import pooled_quantile


def drawn(rng, launches, each, spread):
    """Messages with a long tail, in launches that differ: exp(spread z) times a lognormal of deviation 1/2."""
    factors = np.exp(spread * rng.standard_normal(launches))
    return np.exp(0.5 * rng.standard_normal((launches, each))) * factors[:, None]


def pooled(ns, share=0.99):
    launches, each = ns.shape
    return pooled_quantile(ns.ravel(), np.repeat(np.arange(launches), each), share, "ns")


def test_few_messages_have_no_quantile_and_say_how_many_it_takes():
    assert (messages_needed(0.95), messages_needed(0.99), messages_needed(0.5)) == (100, 500, 10)
    rng = np.random.default_rng(1)
    few = pooled(drawn(rng, 10, 49, 0.1))
    assert few.value is None and few.refused == "too few messages: 490 of 500"
    assert pooled(drawn(rng, 10, 50, 0.1), 0.95).known
    assert pooled(drawn(rng, 7, 500, 0.1)).refused == "too few launches: 7 of 8"


def test_it_is_the_smallest_time_that_enough_messages_do_not_exceed():
    ns = drawn(np.random.default_rng(2), 12, 100, 0.1)
    found = pooled(ns)
    assert found.value in ns and np.mean(ns <= found.value) == pytest.approx(0.99, abs=1 / ns.size)
    assert found.low < found.value < found.high


def test_lost_messages_count_as_slower_than_all():
    ns = drawn(np.random.default_rng(3), 12, 300, 0.1)
    before = pooled(ns).value
    ns[0, :1] = np.inf
    assert pooled(ns).value >= before
    ns[:, 0] = np.inf
    assert pooled(ns).refused == "lost messages reach so far down" and pooled(ns, 0.5).known


def test_a_tail_of_one_launch_alone_is_not_known():
    ns = drawn(np.random.default_rng(4), 8, 100, 0.0)
    ns[5] *= 50
    assert pooled(ns, 0.95).refused == "too few messages beyond it"


@pytest.mark.parametrize(("share", "spread"), [(0.95, 0.0), (0.95, 0.2), (0.99, 0.1)])
def test_intervals_hold_the_truth(share, spread):
    """In 95 % of runs; of 400 at least 91 %, unless a generator is very unlucky."""
    rng = np.random.default_rng(5)
    truth = np.exp(np.hypot(0.5, spread) * scipy.stats.norm.ppf(share))
    found = [pooled(drawn(rng, 12, 200, spread), share) for _ in range(400)]
    known = [one for one in found if one.known]
    held = np.mean([one.low <= truth <= one.high for one in known])
    assert len(known) > 390 and held > 0.91
