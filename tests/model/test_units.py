# SPDX-License-Identifier: BSD-3-Clause
"""Quantities: exact conversions, and no meeting of unlike ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.model.times import Direction, Statistic
from vaiven.model.units import Quantity

RATES = ["byte/s", "MB/s", "MiB/s", "Mb/s", "kbit/s", "float/us", "double/ms", "GiB/s"]


@pytest.mark.parametrize(
    ("value", "unit", "other", "expected"),
    [
        (1.0, "MB", "byte", 1e6),
        (1.0, "MiB", "byte", 2**20),
        (1.25, "MB/s", "Mb/s", 10.0),
        (1.25e6, "byte/s", "MiB/s", 1.25e6 / 2**20),
        (330.0, "us/float", "us/byte", 82.5),
        (0.086, "us/byte", "ns/bit", 10.75),
        (1.0, "double", "float", 2.0),
        (3.0, "ms", "us", 3000.0),
    ],
)
def test_by_hand(value, unit, other, expected):
    assert Quantity(value, unit).to(other).value == pytest.approx(expected, rel=1e-14)


@given(st.floats(1e-6, 1e12), st.sampled_from(RATES), st.sampled_from(RATES))
def test_there_and_back(value, unit, other):
    assert Quantity(value, unit).to(other).to(unit).value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("unit", ["mile", "us/mile", "", "MB/s/s", "mib"])
def test_unknown_units_are_named(unit):
    with pytest.raises(VaivenError) as caught:
        Quantity(1.0, unit)
    assert caught.value.code == "unknown-unit"


def test_dimensions_do_not_mix():
    with pytest.raises(VaivenError) as caught:
        Quantity(1.0, "us").to("byte")
    assert caught.value.code == "unlike-units"
    with pytest.raises(VaivenError):
        Quantity(1.0, "us") + Quantity(1.0, "us/byte")


def test_directions_and_statistics_meet_only_after_conversion():
    there = Quantity(60.0, "us", Direction.ROUND_TRIP, Statistic.TYPICAL, 100)
    half = Quantity(25.0, "us", Direction.ONE_WAY, Statistic.TYPICAL, 80)
    for operation in (lambda: there - half, lambda: there < half, lambda: there / half):
        with pytest.raises(VaivenError) as caught:
            operation()
        assert caught.value.code == "different-kind"
    gap = there.one_way() - half
    assert (gap.value, gap.unit, gap.direction, gap.count) == (5.0, "us", Direction.ONE_WAY, 80)
    assert half.round_trip().one_way() == half
    with pytest.raises(VaivenError):
        there + Quantity(60.0, "us", Direction.ROUND_TRIP, Statistic.FLOOR)


def test_no_direction_no_halving():
    with pytest.raises(VaivenError) as caught:
        Quantity(1.0, "us").one_way()
    assert caught.value.code == "no-direction"
    with pytest.raises(VaivenError):
        Quantity(1.0, "MB/s", Direction.ROUND_TRIP).one_way()


def test_a_number_reads_with_all_it_carries():
    assert str(Quantity(60.0, "us", Direction.ROUND_TRIP, Statistic.TYPICAL, 9)) == "60 us (round trip, median of 9)"
