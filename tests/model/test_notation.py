# SPDX-License-Identifier: BSD-3-Clause
"""The four notations: what their letters are of a fitted line, and slopes upside down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.model.line import fit_line
from vaiven.model.notation import Notation, inverse, letters
from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.model.units import Quantity


@given(st.floats(1e-6, 1e3), st.sampled_from(["us/byte", "us/float", "ns/bit", "ms/double"]))
def test_the_rate_is_the_inverse_of_the_slope_and_back(slope, unit):
    rate = inverse(Quantity(slope, unit))
    assert rate.unit == "/".join(reversed(unit.split("/"))) and rate.value == pytest.approx(1 / slope, rel=1e-12)
    assert inverse(rate).value == pytest.approx(slope, rel=1e-12)


def test_no_slope_no_rate():
    with pytest.raises(VaivenError) as caught:
        inverse(Quantity(0.0, "us/byte"))
    assert caught.value.code == "no-inverse"


def test_every_notation_says_what_its_letters_mean():
    assert len(Notation) == 4
    for notation in Notation:
        symbols = notation.value
        assert symbols.constant in symbols.formula and symbols.slope in symbols.formula and symbols.slope_means


def test_a_fitted_line_has_its_letters_with_intervals():
    sizes = np.array([0, 1000, 100000])
    ns = (50e3 + 80.0 * sizes) * np.exp(0.01 * np.random.default_rng(0).standard_normal((10, 3)))
    rows = np.arange(10)
    times = LaunchTimes("udp", Direction.ONE_WAY, Statistic.FLOOR, sizes, rows, rows, ns, np.full(ns.shape, 9))
    line = fit_line(times, np.random.default_rng(0))
    assert letters(line, Notation.TS_TW) == (line.alpha, line.beta)
    constant, rate = letters(line, Notation.LATENCY_BANDWIDTH)
    assert constant == line.alpha and rate.unit == "byte/s"
    assert rate.value == pytest.approx(1e9 / line.beta.value)
    assert (rate.low, rate.high) == (pytest.approx(1e9 / line.beta.high), pytest.approx(1e9 / line.beta.low))
