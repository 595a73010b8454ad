# SPDX-License-Identifier: BSD-3-Clause
"""Dependence on ranks: known for white noise and for a first-order process, seen through heavy tails."""

import numpy as np
import pytest

from vaiven.stats.dependence import dependence


def first_order(phi, n, seed):
    rng = np.random.default_rng(seed)
    x = np.empty(n)
    x[0] = rng.standard_normal() / np.sqrt(1 - phi**2)
    for i, e in enumerate(rng.standard_normal(n - 1)):
        x[i + 1] = phi * x[i] + e
    return x


def test_independent_samples_count_fully():
    found = dependence(np.random.default_rng(0).standard_exponential(5000))
    assert found.effective == pytest.approx(5000, rel=0.1) and found.lag_free == 1 and found.enough


@pytest.mark.parametrize("phi", [0.5, 0.9])
def test_first_order_process_has_its_known_effective_count(phi):
    found = dependence(first_order(phi, 20_000, 1))
    assert found.rank_acf[0] == pytest.approx(6 / np.pi * np.arcsin(phi / 2), abs=0.03)  # Pearson 1907
    assert found.effective == pytest.approx(20_000 * (1 - phi) / (1 + phi), rel=0.25)


def test_heavy_tails_do_not_hide_it():
    rng = np.random.default_rng(3)
    x = np.exp(0.1 * first_order(0.9, 5000, 2)) + 50 * (rng.random(5000) < 0.01) * rng.pareto(1.2, 5000)
    raw = np.corrcoef(x[:-1], x[1:])[0, 1]
    assert raw < 0.2 and dependence(x).rank_acf[0] > 0.7


def test_few_effective_samples_are_not_enough():
    assert not dependence(first_order(0.99, 400, 4)).enough


def test_words():
    assert "too few samples: 29 of 30" in dependence(np.arange(29.0)).refused
    assert "constant" in dependence(np.ones(100)).refused
