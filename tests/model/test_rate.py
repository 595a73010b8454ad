# SPDX-License-Identifier: BSD-3-Clause
"""Rate curves: units, asymptote, and the size that reaches a share of it."""

import numpy as np
import pytest

from vaiven.errors import VaivenError
from vaiven.model.line import fit_line
from vaiven.model.rate import byte_per_s_in, rates
from vaiven.model.times import Direction, LaunchTimes, Statistic


def launches(alpha, beta, sizes, count=10):
    ns = (alpha + beta * sizes) * np.exp(0.001 * np.random.default_rng(0).standard_normal((count, sizes.size)))
    rows = np.arange(count)
    return LaunchTimes("mpi", Direction.ONE_WAY, Statistic.TYPICAL, sizes, rows, rows, ns, np.full(ns.shape, 9))


def test_300_us_and_a_third_of_a_us_per_float_reach_85_percent_at_5000_floats():
    times = launches(300e3, 330.0 / 4, np.array([0, 400, 4000, 20000, 200000]))
    line = fit_line(times, np.random.default_rng(0))
    assert line.rate_bytes_per_s(20000) / line.r_inf.value == pytest.approx(0.846, abs=0.002)
    assert line.size_at_share(5000 / (5000 + 300 / 0.33)).value == pytest.approx(20000, rel=0.01)
    assert line.size_at_share(0.5).value == pytest.approx(line.n_half.value)


def test_units_say_which_power():
    assert byte_per_s_in("MB/s") == pytest.approx(1e-6)
    assert byte_per_s_in("MiB/s") == pytest.approx(2.0**-20)
    assert byte_per_s_in("Mb/s") == pytest.approx(8e-6)
    with pytest.raises(VaivenError) as caught:
        byte_per_s_in("us/byte")
    assert caught.value.code == "unlike-units"


def test_curve_band_and_asymptote():
    sizes = np.array([0, 1000, 10000, 100000, 1000000])
    times = launches(100e3, 80.0, sizes)
    curve = rates(times, fit_line(times, np.random.default_rng(0)), np.random.default_rng(0), share=0.9)
    assert curve.rate[0] == 0 and curve.asymptote.value == pytest.approx(12.5, rel=0.01)
    assert ((curve.low <= curve.rate) & (curve.rate <= curve.high)).all()
    assert curve.near_asymptote == 100000


def test_refusals():
    times = launches(100e3, 80.0, np.array([0, 1000, 10000]), count=4)
    line = fit_line(times, np.random.default_rng(0))
    curve = rates(times, line, np.random.default_rng(0))
    assert "too few launches" in curve.refused and np.isnan(curve.low).all()
    assert not curve.asymptote.known and curve.near_asymptote is None
    with pytest.raises(VaivenError) as caught:
        rates(times.round_trip(), line, np.random.default_rng(0))
    assert caught.value.code == "round-trip"
