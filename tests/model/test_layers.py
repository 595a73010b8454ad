# SPDX-License-Identifier: BSD-3-Clause
"""Layers: means of the middle half, less what reading the clock takes, that must add up to the whole."""

from __future__ import annotations

import numpy as np
import pytest

from vaiven.model.layers import Layers, LayerTimes, of_launch, over_launches


def ns(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def times(whole_ns: float, device_ns: float) -> LayerTimes:
    return LayerTimes(whole_ns=whole_ns, there_ns={"device": device_ns}, back_ns={"device": device_ns}, far_ns=10)


def test_only_the_middle_half_counts() -> None:
    one = of_launch(
        ns(100, 110, 120, 9000),
        ns(130, 140, 150, 9000),
        {"device": ns(40, 50, 60, 4000), "got": ns(30, 30, 30, 30)},
        {"device": ns(20, 20, 20, 20), "got": ns(20, 20, 20, 900)},
        ns(15, 15, 15, 4000),
        clock_ns=10,
    )
    assert one.whole_ns == 115
    assert (one.there_ns, one.back_ns) == ({"device": 55, "got": 20}, {"device": 20, "got": 10})
    assert one.far_ns == 5 and one.sum_ns == 110
    assert one.error == pytest.approx(110 / 115 - 1)


def test_launches_add_up_as_their_layers_do() -> None:
    found = over_launches([times(100, 40), times(200, 80)])
    assert (found.whole_ns, found.there_ns, found.far_ns, found.sum_ns) == (150, {"device": 60}, 10, 130)


@pytest.mark.parametrize(("device_ns", "add_up"), [(40.0, True), (39.0, False), (51.0, False)])
def test_layers_add_up_within_a_tenth(device_ns: float, add_up: bool) -> None:
    one = Layers(stack="tcp", near="a", far="b", size_bytes=1, launches=1, times=times(100, device_ns), wire_ns=None,
                 limits=None)  # fmt: skip
    assert one.add_up is add_up
