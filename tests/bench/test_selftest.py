# SPDX-License-Identifier: BSD-3-Clause
"""The promises, on a small scale and fixed seeds: bench/aa.py keeps them with a thousand trials."""

import numpy as np
import pytest
import scipy
from bench.selftest import (
    NOISY,
    QUIET,
    SKEWED,
    Machine,
    called_different,
    false_knees,
    knee_coverage,
    launches,
    line_coverage,
)

TRIALS = 150
BENDS = 50  # each takes a tenth of a second


def test_a_launch_of_median_luck_measures_the_truth():
    machine = Machine()
    many = launches(machine, 4000, 30, np.random.default_rng(0))
    np.testing.assert_allclose(np.median(many.ns, axis=0), machine.truth_ns, rtol=0.02)


def test_made_up_launches_are_as_unpleasant_as_real_ones():
    ns = launches(Machine(), 4000, 30, np.random.default_rng(0)).ns[:, 0]
    assert scipy.stats.skew(ns) > 1 and ns.max() > 1.5 * np.median(ns)


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "count"), [(NOISY, 8), (NOISY, 16), (SKEWED, 8)])
def test_line_intervals_contain_the_truth_as_often_as_promised(machine, count):
    for kept in line_coverage(TRIALS, seed=1, count=count, machine=machine):
        assert kept.least <= kept.hits <= kept.most, str(kept)
        assert kept.refused == 0


@pytest.mark.slow
def test_bends_are_found_and_their_intervals_contain_them():
    (kept,) = knee_coverage(BENDS, seed=1)
    assert kept.refused <= 0.02 * BENDS
    assert kept.least <= kept.hits <= kept.most, str(kept)


@pytest.mark.slow
@pytest.mark.parametrize("same_blocks", [True, False])
def test_a_machine_is_not_called_different_from_itself(same_blocks):
    kept = called_different(2 * TRIALS, seed=2, same_blocks=same_blocks)
    assert kept.hits <= scipy.stats.binom.ppf(0.99, 2 * TRIALS, 0.01), str(kept)


@pytest.mark.slow
def test_a_slower_machine_is_found_more_often_the_slower_it_is():
    shares = [called_different(60, 3, slower).share for slower in (1.0, 1.1, 1.3, 2.0)]
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert called_different(60, 3, 1.05, machine=QUIET).share > 0.5


@pytest.mark.slow
def test_straight_lines_have_no_knees():
    assert false_knees(100, seed=4).hits <= 4


def test_a_promise_reads_as_a_sentence():
    text = str(line_coverage(3, seed=0)[0])
    assert text.startswith("alpha, 12 launches: ") and "of 3" in text and "promised 95.0 %" in text
