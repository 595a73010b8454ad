# SPDX-License-Identifier: BSD-3-Clause
"""The four notations: one line, the same times through all of them and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.model.line import fit_line
from vaiven.model.notation import Notation, Written, letters
from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.model.units import Quantity


@given(
    st.floats(1e-3, 1e6),
    st.floats(1e-6, 1e3),
    st.sampled_from(["us/byte", "us/float", "ns/bit", "ms/double"]),
    st.permutations(list(Notation)),
    st.floats(0, 1e8),
)
def test_same_time_through_all_four_and_back(constant, slope, unit, order, size):
    first = Written(Notation.ALPHA_BETA, Quantity(constant, "us"), Quantity(slope, unit))
    expected = first.time(Quantity(size, "byte")).value
    now = first
    for notation in [*order, Notation.ALPHA_BETA]:
        now = now.rewritten(notation)
        assert now.time(Quantity(size, "byte")).value == pytest.approx(expected, rel=1e-12)
    assert now.slope.to(unit).value == pytest.approx(slope, rel=1e-12)


def test_the_rate_is_the_inverse_of_the_slope():
    ours = Written(Notation.TS_TW, Quantity(300.0, "us"), Quantity(0.33, "us/float"))
    rate = ours.rewritten(Notation.LATENCY_BANDWIDTH).slope
    assert rate.to("MB/s").value == pytest.approx(4 / 0.33)


def test_the_two_betas_cannot_be_mixed():
    with pytest.raises(VaivenError, match=r"beta is time of an empty message"):
        Written(Notation.BETA_TAU, Quantity(0.08, "us/byte"), Quantity(300.0, "us"))
    with pytest.raises(VaivenError, match="beta is time per unit"):
        Written(Notation.ALPHA_BETA, Quantity(300.0, "us"), Quantity(300.0, "us"))


def test_letters_of_different_directions_do_not_belong_together():
    with pytest.raises(VaivenError) as caught:
        Written(
            Notation.ALPHA_BETA,
            Quantity(300.0, "us", Direction.ROUND_TRIP),
            Quantity(0.08, "us/byte", Direction.ONE_WAY),
        )
    assert caught.value.code == "different-kind"


def test_no_slope_no_rate():
    flat = Written(Notation.ALPHA_BETA, Quantity(1.0, "us"), Quantity(0.0, "us/byte"))
    with pytest.raises(VaivenError) as caught:
        flat.rewritten(Notation.LATENCY_BANDWIDTH)
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
