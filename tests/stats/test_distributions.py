# SPDX-License-Identifier: BSD-3-Clause
"""The distributions are those of SciPy to ten digits, from one end to the other."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import assume, given
from hypothesis import strategies as st

from vaiven.stats import distributions as ours

CLOSE = 1e-10
degrees = st.integers(1, 400) | st.floats(0.5, 2000)
tails = st.floats(-14, math.log10(0.5)).map(lambda exponent: 10.0**exponent)
shapes = st.floats(0.5, 200)


@given(st.floats(-37, 37))
def test_the_normal_law(z: float) -> None:
    assert ours.normal_cdf(z) == pytest.approx(scipy.special.ndtr(z), rel=CLOSE)


@given(tails)
def test_the_normal_quantile(p: float) -> None:
    assert ours.normal_quantile(p) == pytest.approx(scipy.special.ndtri(p), rel=CLOSE)
    assert ours.normal_quantile(1 - p) == pytest.approx(scipy.special.ndtri(1 - p), rel=CLOSE, abs=CLOSE)


# Nearer to 1 the oracle errs, at 1 - 1e-16 by 3e-9, and at subnormal numbers: I(5e-324; 1/2, 2) is 1.5 sqrt(5e-324).
@given(st.floats(0, 0.999999, allow_subnormal=False), shapes, shapes)
def test_the_beta_law(x: float, a: float, b: float) -> None:
    assert ours.beta_cdf(x, a, b) == pytest.approx(scipy.special.betainc(a, b, x), rel=CLOSE, abs=1e-300)


@given(st.floats(-1e6, 1e6) | st.floats(-5, 5), degrees)
def test_students_law(t: float, df: float) -> None:
    assert ours.student_cdf(t, df) == pytest.approx(scipy.special.stdtr(df, t), rel=CLOSE, abs=1e-300)


@given(tails, degrees)
def test_students_quantile(p: float, df: float) -> None:
    found = ours.student_quantile(p, df)
    assert found == pytest.approx(-ours.student_quantile(1 - p, df), rel=1e-9, abs=1e-9) or p < 1e-3  # 1 - p is rounded
    assert ours.student_cdf(found, df) == pytest.approx(p, rel=1e-10)
    assert found == pytest.approx(scipy.special.stdtrit(df, p), rel=1e-9)


@given(st.floats(0, 30), st.integers(7, 300), st.floats(-10, 60))
def test_students_law_off_centre(t: float, df: int, shift: float) -> None:
    oracle = scipy.stats.nct.cdf(t, df, shift)
    assume(np.isfinite(oracle))  # now and then it has no answer
    assert ours.shifted_student_cdf(t, df, shift) == pytest.approx(oracle, abs=1e-7)


@pytest.mark.parametrize("shift", [1e3, 1e8, math.inf])
def test_what_is_far_off_centre_is_found_for_certain(shift: float) -> None:
    assert ours.shifted_student_cdf(5.0, 7, shift) == 0


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40, 700])
def test_a_fair_coin(n: int) -> None:
    np.testing.assert_allclose(ours.fair_coin_cdf(n), scipy.special.bdtr(np.arange(n + 1), n, 0.5), rtol=CLOSE)


def test_both_ends() -> None:
    assert [ours.normal_quantile(p) for p in (0, 1)] == [ours.student_quantile(p, 3) for p in (0, 1)]
    assert [ours.student_cdf(t, 3) for t in (-math.inf, 0, math.inf)] == [0, 0.5, 1]
    assert [ours.beta_cdf(x, 2, 3) for x in (0, 1)] == [0, 1]
    assert ours.normal_quantile(0) == -math.inf
