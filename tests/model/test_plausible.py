# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that a link forbids are flagged, with the number that was likely meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.model.plausible import check_cost
from vaiven.model.units import Quantity

FAST = Quantity(100.0, "Mb/s")


@pytest.mark.parametrize(
    ("given_", "meant", "rate"),
    [
        (Quantity(0.086, "ms/byte"), Quantity(0.086, "us/byte"), FAST),
        (Quantity(330.0, "us/float"), Quantity(0.33, "us/float"), FAST),
        (Quantity(1.25, "MiB/s"), Quantity(1.25, "MB/s"), Quantity(10.0, "Mb/s")),
        (Quantity(93.0, "MB/s"), Quantity(93.0, "Mb/s"), FAST),
        (Quantity(11.6, "kB/s"), Quantity(11.6, "MB/s"), FAST),
        (Quantity(0.043, "us/byte"), Quantity(0.086, "us/byte"), FAST),
        (Quantity(0.0108, "us/byte"), Quantity(0.0108, "us/bit"), FAST),
    ],
)
def test_slips_are_named_and_mended(given_, meant, rate):
    found = check_cost(given_, rate)
    assert not found.plausible and found.why
    assert found.correction / meant == pytest.approx(1.0)
    assert str(found.correction) in found.text


@given(st.floats(1.0, 25.0))
def test_what_the_link_allows_is_plausible(times_wire):
    found = check_cost(Quantity(0.08 * times_wire, "us/byte"), FAST)
    assert found.plausible and found.correction is None


def test_headers_lower_the_ceiling():
    per_float = Quantity(0.33, "us/float")
    assert check_cost(per_float, FAST).plausible
    found = check_cost(per_float, FAST, payload_share=1460 / 1538)
    assert found.word == "faster than the wire" and found.limit.value == pytest.approx(0.337, abs=0.0005)


def test_no_slip_explains_everything():
    found = check_cost(Quantity(500.0, "us/byte"), Quantity(10.0, "Mb/s"))
    assert not found.plausible and found.correction is None and "no usual slip" in found.text


def test_what_is_no_cost_is_refused():
    with pytest.raises(VaivenError) as caught:
        check_cost(Quantity(3.0, "us"), FAST)
    assert caught.value.code == "unlike-units"
    for bad in (Quantity(0.0, "us/byte"), Quantity(-1.0, "us/byte"), Quantity(float("nan"), "us/byte")):
        with pytest.raises(VaivenError) as caught:
            check_cost(bad, FAST)
        assert caught.value.code == "bad-number"
