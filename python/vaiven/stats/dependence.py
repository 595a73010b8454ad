# SPDX-License-Identifier: BSD-3-Clause
"""How far the samples of one launch depend on each other.

Measured on ranks: heavy tails hide dependence from the ordinary autocorrelation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vaiven.stats.arrays import Floats, midranks, vector

EFFECTIVE_MIN = 30
SAMPLES_MIN = 30


@dataclass(frozen=True, eq=False)
class Dependence:
    """lags: (K,) from 1; rank_acf: (K,) at those lags; effective: how many independent samples would tell as much.

    lag_free: the first lag whose correlation is within noise, None when none is. refused: why there is nothing.
    """

    samples: int
    lags: Floats
    rank_acf: Floats
    effective: float | None
    lag_free: int | None
    refused: str = ""

    @property
    def enough(self) -> bool:
        return self.effective is not None and self.effective >= EFFECTIVE_MIN


def dependence(samples: ArrayLike, lags: int = 200) -> Dependence:
    """Of samples in time order. Raises VaivenError ("not-a-number").

    The sum of correlations stops where a pair of neighbouring lags first sums to zero or less (Geyer 1992).
    """
    x = vector(samples, "samples")
    n = x.size
    if n < SAMPLES_MIN:
        return Dependence(n, np.zeros(0), np.zeros(0), None, None, f"too few samples: {n} of {SAMPLES_MIN}")
    ranks = midranks(x) - (n + 1) / 2
    if not ranks.any():
        return Dependence(n, np.zeros(0), np.zeros(0), None, None, "constant data: every sample is the same")
    acf = _autocorrelation(ranks)[1 : min(lags, n // 2) + 1]
    pairs = acf[: acf.size // 2 * 2].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0)) * 2 if (pairs <= 0).any() else acf.size
    weight = 1 - np.arange(1, stop + 1) / n
    effective = min(float(n), n / (1 + 2 * float((weight * acf[:stop]).sum())))
    quiet = np.flatnonzero(np.abs(acf) < 2 / np.sqrt(n))
    return Dependence(n, np.arange(1.0, acf.size + 1), acf, effective, int(quiet[0]) + 1 if quiet.size else None)


def _autocorrelation(x: Floats) -> Floats:
    """By FFT, padded so that the ends do not meet; 1 at lag 0."""
    spectrum = np.fft.rfft(x, 2 * x.size)
    full = np.fft.irfft(np.abs(spectrum) ** 2)[: x.size]
    return full / full[0]
