# SPDX-License-Identifier: BSD-3-Clause
"""Many tests at once: adjusted p values that hold the share of false discoveries."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vaiven.stats.arrays import Floats, vector


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """(M,) adjusted p values, in the order given; for independent or positively dependent tests.

    Raises VaivenError ("not-a-number"): leave refused tests out before.
    """
    raw = vector(p, "p values", at_least=0)
    order = np.argsort(raw)
    steps = raw[order] * raw.size / np.arange(1, raw.size + 1)
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(steps[::-1])[::-1])
    return adjusted


def benjamini_yekutieli(p: ArrayLike) -> Floats:
    """The same under any dependence: larger by 1 + 1/2 + ... + 1/M."""
    raw = vector(p, "p values", at_least=0)
    return np.minimum(1.0, benjamini_hochberg(raw) * (1 / np.arange(1, raw.size + 1)).sum())
