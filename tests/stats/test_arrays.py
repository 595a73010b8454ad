# SPDX-License-Identifier: BSD-3-Clause
"""Midranks are those of SciPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from vaiven.stats.arrays import midranks


@given(st.lists(st.integers(-5, 5) | st.floats(-1e9, 1e9), min_size=1, max_size=40))
def test_midranks_are_the_oracle_s(values: list[float]) -> None:
    assert midranks(np.array(values, dtype=np.float64)).tolist() == stats.rankdata(values).tolist()
