# SPDX-License-Identifier: BSD-3-Clause
"""Names for the arrays that go in and out, and the one check that all of them get."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vaiven.errors import VaivenError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def vector(values: ArrayLike, name: str, at_least: int = 1) -> Floats:
    """`values` as one dimension of finite floats.

    Raises VaivenError: "bad-shape", "not-a-number" (NaN, infinity), "too-few" (under `at_least`).
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise VaivenError(f"{name}: one dimension expected, got {array.ndim}", code="bad-shape")
    if not np.isfinite(array).all():
        raise VaivenError(f"{name}: holds values that are not numbers", code="not-a-number")
    if array.size < at_least:
        raise VaivenError(f"{name}: {array.size} values, needs {at_least}", code="too-few")
    return array


def medians(values: Floats) -> Floats:
    """(..., n, S) -> (..., S): the median over axis -2 without the NaN, NaN where there is nothing else."""
    counts = np.isfinite(values).sum(axis=-2, keepdims=True)
    n = values.shape[-2]
    if not n:
        return np.full((*values.shape[:-2], values.shape[-1]), np.nan)
    if (counts == n).all():
        return np.asarray(np.median(values, axis=-2))
    rising = np.sort(values, axis=-2)  # NaN goes last
    low = np.take_along_axis(rising, np.maximum((counts - 1) // 2, 0), axis=-2)
    high = np.take_along_axis(rising, np.minimum(counts // 2, n - 1), axis=-2)
    return np.where(counts > 0, (low + high) / 2, np.nan)[..., 0, :]


def midranks(values: Floats) -> Floats:
    """The rank of each value from 1; equal values share the mean of their ranks."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[group]


def spread_out(count: int, most: int) -> list[int]:
    """Indices of the first of so many things, the last and some between, `most` at most."""
    taken = min(count, most)
    return sorted({round((count - 1) * k / max(1, taken - 1)) for k in range(taken)})
