# SPDX-License-Identifier: BSD-3-Clause
"""A number with interval and unit, or words: never both, never neither."""

import pytest

from vaiven.errors import VaivenError
from vaiven.stats.estimate import Estimate, refusal


def test_a_refusal_has_no_number():
    found = refusal("one size", "ns")
    assert not found.known and found.scaled(2, "us").value is None
    with pytest.raises(VaivenError, match="one size"):
        found.number()
    with pytest.raises(AssertionError):
        Estimate(1.0, None, None, "ns")
    with pytest.raises(AssertionError):
        Estimate(1.0, 0.0, 2.0, "ns", refused="why")


def test_scale_and_inverse():
    found = Estimate(2.0, 1.0, 4.0, "ns").scaled(10, "x")
    assert (found.value, found.low, found.high, found.unit) == (20.0, 10.0, 40.0, "x")
    upside = found.inverse("1/x")
    assert (upside.value, upside.low, upside.high) == (0.05, 0.025, 0.1)
