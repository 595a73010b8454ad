# SPDX-License-Identifier: BSD-3-Clause
"""The published estimators against hand arithmetic."""

import numpy as np
import pytest

from vaiven.model.papers import papers_model
from vaiven.model.times import Direction, LaunchTimes, Statistic


def model(sizes, ns):
    ns = np.asarray(ns, dtype=float)
    rows = np.arange(ns.shape[0])
    return papers_model(
        LaunchTimes("mpi", Direction.ONE_WAY, Statistic.MEAN, np.array(sizes), rows, rows, ns, np.full(ns.shape, 50))
    )


def test_by_hand():
    found = model([0, 100, 200], [[290.0, 1300.0, 2300.0], [310.0, 1300.0, 2300.0]])
    assert (found.latency_ns, found.latency_size_bytes) == (300.0, 0)
    assert np.isnan(found.tau_ns_per_byte[0]) and found.tau_ns_per_byte[1:].tolist() == [10.0, 10.0]
    assert found.slope_ns_per_byte == pytest.approx(10.0) and found.intercept_ns == pytest.approx(300.0)
    assert found.repetitions == 300 and not found.refused


def test_one_byte_message_stands_in_for_the_empty_one():
    found = model([1, 101], [[305.0, 1305.0]])
    assert (found.latency_ns, found.latency_size_bytes) == (305.0, 1)
    assert found.tau_ns_per_byte[1] == pytest.approx(1000.0 / 101)


def test_line_is_unweighted_as_numpy_fits_it():
    rng = np.random.default_rng(0)
    sizes = np.array([0, 1, 50, 1000, 30000])
    ns = rng.uniform(1e3, 1e6, (7, 5))
    found = model(sizes, ns)
    slope, intercept = np.polyfit(np.tile(sizes, 7).astype(float), ns.ravel(), 1)
    assert found.slope_ns_per_byte == pytest.approx(slope) and found.intercept_ns == pytest.approx(intercept)


def test_what_is_missing_is_said():
    found = model([1024], [[5.0]])
    assert found.latency_ns is None and found.slope_ns_per_byte is None and np.isnan(found.tau_ns_per_byte).all()
    assert len(found.refused) == 2
