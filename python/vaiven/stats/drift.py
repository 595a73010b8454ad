# SPDX-License-Identifier: BSD-3-Clause
"""Did the network stay the same while we measured? A sentinel, one fixed stack and size in every block, tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vaiven.errors import VaivenError
from vaiven.stats.arrays import vector
from vaiven.stats.distributions import normal_quantile
from vaiven.stats.estimate import Estimate, refusal

BLOCKS_MIN = 8
LEVEL = 0.99
OUTSIDE_MAD = 3.0
OUTSIDE_LEAST = 0.02  # relative: less than this is not worth a mark
DRIFT_LEAST = 0.005  # nor is a smaller trend over the whole run


@dataclass(frozen=True, slots=True)
class Drift:
    """change: from the first block to the last, with its 99 % interval ("ratio": 1 is no change). drifting: the
    interval excludes 1, and the change is above 0.5 %. outside: block -> how far its sentinel is off the others
    (relative), after the trend is taken away. text: one sentence."""

    blocks: int
    change: Estimate
    drifting: bool
    outside: Mapping[int, float]
    text: str


def drift(blocks: ArrayLike, sentinel_ns: ArrayLike) -> Drift:
    """From one sentinel time per block. The trend is the median of pairwise slopes of log times (Theil and Sen).

    Refused (change) below 8 blocks. Raises VaivenError: "not-a-number", "bad-shape", "bad-times".
    """
    x, y = vector(blocks, "blocks"), vector(sentinel_ns, "sentinel")
    if x.size != y.size or np.unique(x).size != x.size:
        raise VaivenError("one sentinel time per block expected", code="bad-shape")
    if (y <= 0).any():
        raise VaivenError("sentinel times that are zero or negative", code="bad-times")
    if x.size < BLOCKS_MIN:
        change = refusal(f"too few blocks: {x.size} of {BLOCKS_MIN}", "ratio", LEVEL)
        return Drift(x.size, change, False, {}, f"drift unknown: {change.refused}")
    change = _change(x, np.log(y))
    assert change.low is not None and change.high is not None
    certain = change.low > 1 or change.high < 1
    drifting = certain and abs(change.number() - 1) > DRIFT_LEAST
    outside = _outside(x, np.log(y))
    return Drift(x.size, change, drifting, outside, _sentence(change, drifting, outside))


def _change(x: np.ndarray, y: np.ndarray) -> Estimate:
    slopes = _slopes(x, y)
    whole = np.exp(np.array([np.median(slopes), *_slope_bounds(slopes, y)]) * (x.max() - x.min()))
    value, low, high = (float(one) for one in whole)
    return Estimate(value, low, high, unit="ratio", level=LEVEL)


def _slopes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of the line through every two points, ascending."""
    i, j = np.triu_indices(x.size, 1)
    return np.sort((y[j] - y[i]) / (x[j] - x[i]))


def _slope_bounds(slopes: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Of the median slope: what Kendall's tau between x and y, with equal y, leaves possible (Sen 1968)."""
    n, equal = y.size, np.unique(y, return_counts=True)[1]
    variance = (n * (n - 1) * (2 * n + 5) - (equal * (equal - 1) * (2 * equal + 5)).sum()) / 18
    reach = normal_quantile((1 + LEVEL) / 2) * np.sqrt(variance)
    low, high = round((slopes.size - reach) / 2) - 1, round((slopes.size + reach) / 2)
    return slopes[max(low, 0)], slopes[min(high, slopes.size - 1)]


def _outside(x: np.ndarray, y: np.ndarray) -> dict[int, float]:
    rest = y - np.median(_slopes(x, y)) * x
    rest -= np.median(rest)
    mad = 1.4826 * float(np.median(np.abs(rest)))
    off = np.abs(rest) > max(OUTSIDE_MAD * mad, OUTSIDE_LEAST)
    return {int(block): float(np.expm1(one)) for block, one in zip(x[off], rest[off], strict=True)}


def _sentence(change: Estimate, drifting: bool, outside: Mapping[int, float]) -> str:
    assert change.value is not None and change.low is not None and change.high is not None
    parts = []
    if drifting:
        span = f"[{100 * change.low - 100:+.1f} %, {100 * change.high - 100:+.1f} %]"
        parts.append(f"the sentinel drifted by {100 * change.value - 100:+.1f} % {span} over the run")
    if outside:
        parts.append(f"the sentinel was off in block{'s' * (len(outside) > 1)} {', '.join(map(str, outside))}")
    return "; ".join(parts) or "the sentinel held still"
