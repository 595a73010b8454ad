# SPDX-License-Identifier: BSD-3-Clause
"""Host against host: an odd link stands out, an odd host does not make odd links."""

from itertools import combinations

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.model.line import fit_line
from vaiven.model.pairs import host_matrix, polished
from vaiven.model.times import Direction, LaunchTimes, Statistic

SIZES = np.array([0, 100, 10_000, 100_000])
HOSTS = [f"h{k}" for k in range(6)]


def line(near, far, alpha, seed=0, count=10):
    ns = (alpha + 80.0 * SIZES) * np.exp(0.005 * np.random.default_rng(seed).standard_normal((count, 4)))
    rows = np.arange(count)
    kind = (Direction.ONE_WAY, Statistic.TYPICAL, SIZES, rows, rows, ns, np.full(ns.shape, 9))
    return fit_line(LaunchTimes("tcp", *kind, near, far), np.random.default_rng(seed))


def cluster(odd_link=(), slow_host=""):
    pairs = [(a, b) for x, y in combinations(HOSTS, 2) for a, b in ((x, y), (y, x))]
    return [
        line(a, b, 30e3 * (2 if (a, b) == odd_link else 1) * (1.5 if slow_host in (a, b) else 1), seed)
        for seed, (a, b) in enumerate(pairs)
    ]


def test_an_odd_link_is_named():
    found = host_matrix(cluster(odd_link=("h1", "h4")))
    assert found.off == (("h1", "h4"),) and found.unit == "ns" and found.hosts == tuple(HOSTS)
    assert found.value[1, 4] / found.expected[1, 4] == pytest.approx(2, rel=0.05)


def test_a_slow_host_explains_its_links():
    assert host_matrix(cluster(slow_host="h2")).off == ()


def test_polish_of_exact_factors_is_exact():
    value = np.outer([1.0, 2.0, 3.0], [1.0, 5.0, 7.0])
    np.testing.assert_allclose(polished(value), value)


def test_refused_pairs_stay_empty():
    lines = [*cluster()[:-1], line("h5", "h4", 30e3, count=3)]
    found = host_matrix(lines, "beta")
    assert np.isnan(found.value[5, 4]) and np.isnan(found.expected[0, 0]) and np.isfinite(found.value[4, 5])


def test_bad_input():
    with pytest.raises(VaivenError):
        host_matrix([])
    with pytest.raises(VaivenError) as caught:
        host_matrix([line("a", "b", 1e4), line("a", "b", 2e4)])
    assert caught.value.code == "bad-shape"
