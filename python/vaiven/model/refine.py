# SPDX-License-Identifier: BSD-3-Clause
"""Which sizes to measure next: densely around a knee, and halfway where neighbours do not predict a size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vaiven.model.knees import Knee
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.median import bounds

TOLERANCE = 0.02
AROUND = 8

Span = tuple[float, float]


def around(knee: Knee, measured_bytes: Ints, count: int = AROUND) -> Ints:
    """Up to `count` new sizes, evenly over the place of the knee."""
    low, high = place(knee, measured_bytes)
    wanted = np.unique(np.linspace(low, high, count + 2)[1:-1].round().astype(np.int64))
    return np.setdiff1d(wanted, measured_bytes)


def place(knee: Knee, measured_bytes: Ints) -> Span:
    """Where the knee may be, bytes: its interval, out to the next measured size at either end."""
    assert knee.size.low is not None and knee.size.high is not None
    below = measured_bytes[measured_bytes <= knee.size.low]
    above = measured_bytes[measured_bytes >= knee.size.high]
    return float(below[-1] if below.size else knee.size.low), float(above[0] if above.size else knee.size.high)


def bisect(
    sizes_bytes: Ints, miss: Floats, at_most: int, tolerance: float = TOLERANCE, closed: Sequence[Span] = ()
) -> Ints:
    """New sizes halfway in the gaps beside every size that its two neighbours mispredict by more than `tolerance`.

    The worst gaps first, `at_most` of them; gaps of one byte cannot be halved. Sizes in a span of `closed` count for
    nothing: what is wrong there is known. Empty when interpolation holds everywhere: so an adaptive sweep ends.
    miss: (S-2,) of `interpolation_error` or `sure_error`.
    """
    if sizes_bytes.size < 3:
        return np.zeros(0, dtype=np.int64)
    inner = sizes_bytes[1:-1]
    for low, high in closed:
        miss = np.where((inner >= low) & (inner <= high), 0.0, miss)
    worth = np.zeros(sizes_bytes.size - 1)  # of each gap: the larger misprediction at its two ends
    worth[:-1] = np.where(miss > tolerance, miss, 0)
    worth[1:] = np.maximum(worth[1:], np.where(miss > tolerance, miss, 0))
    worth[np.diff(sizes_bytes) <= 1] = 0
    order = np.argsort(-worth, kind="stable")[:at_most]
    chosen = order[worth[order] > 0]
    return np.sort((sizes_bytes[chosen] + sizes_bytes[chosen + 1]) // 2)


def interpolation_error(sizes_bytes: Ints, ns: Floats) -> Floats:
    """(S-2,) |predicted - t| / t of each inner size, predicted by the line between its neighbours. ns: (S,)."""
    return np.abs(_signed_error(sizes_bytes, ns[None])[0])


def sure_error(sizes_bytes: Ints, ns: Floats, level: float = 0.95) -> Floats:
    """(S-2,) the least |predicted - t| / t of each inner size that its launches leave possible; ns: (L, S).

    The end nearer to zero of the median's interval over the launches that have all three sizes: 0 where that
    holds zero or launches are too few, so that noise is not chased.
    """
    if sizes_bytes.size < 3:
        return np.zeros(0)
    return np.array([_nearest_zero(bounds(one[np.isfinite(one)], level)) for one in _signed_error(sizes_bytes, ns).T])


def _signed_error(sizes_bytes: Ints, ns: Floats) -> Floats:
    n = sizes_bytes.astype(np.float64)
    share = (n[1:-1] - n[:-2]) / (n[2:] - n[:-2])
    return (ns[:, :-2] + share * (ns[:, 2:] - ns[:, :-2]) - ns[:, 1:-1]) / ns[:, 1:-1]


def _nearest_zero(found: Span | None) -> float:
    return max(found[0], -found[1], 0.0) if found else 0.0
