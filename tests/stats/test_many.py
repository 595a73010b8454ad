# SPDX-License-Identifier: BSD-3-Clause
"""Adjusted p values against SciPy and by hand."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from vaiven.errors import VaivenError
from vaiven.stats.many import benjamini_hochberg, benjamini_yekutieli

P = st.lists(st.floats(0, 1), min_size=1, max_size=50)


@given(P)
def test_agree_with_scipy(p):
    np.testing.assert_allclose(benjamini_hochberg(p), scipy.stats.false_discovery_control(p), rtol=1e-12)
    np.testing.assert_allclose(benjamini_yekutieli(p), scipy.stats.false_discovery_control(p, method="by"), rtol=1e-12)


def test_by_hand_in_the_order_given():
    np.testing.assert_allclose(benjamini_hochberg([0.04, 0.01, 0.03]), [0.04, 0.03, 0.04])
    assert benjamini_hochberg([]).size == 0


def test_a_missing_p_is_not_guessed():
    with pytest.raises(VaivenError):
        benjamini_hochberg([0.1, np.nan])
