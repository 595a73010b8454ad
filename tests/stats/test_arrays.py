# SPDX-License-Identifier: BSD-3-Clause
"""Midranks are those of SciPy; what is spread out has both ends."""

from __future__ import annotations

import numpy as np
import scipy
from hypothesis import given
from hypothesis import strategies as st

from vaiven.stats.arrays import midranks, spread_out


@given(st.lists(st.integers(-5, 5) | st.floats(-1e9, 1e9), min_size=1, max_size=40))
def test_midranks_are_the_oracle_s(values: list[float]) -> None:
    assert midranks(np.array(values, dtype=np.float64)).tolist() == scipy.stats.rankdata(values).tolist()


def test_what_is_spread_out_has_both_ends_and_no_more_than_was_asked_for() -> None:
    assert [spread_out(count, 4) for count in (0, 1, 3, 4, 10)] == [[], [0], [0, 1, 2], [0, 1, 2, 3], [0, 3, 6, 9]]
