# SPDX-License-Identifier: BSD-3-Clause
"""Resampling launches, the unit of replication: intervals of what is computed from medians over launches.

The median of a resample is one of few values. Its variance is 1.3 times that of a median of 12 normal values, which
makes intervals too wide wherever many medians are added up, as in a fitted line; and the quantiles of a lone one lie
too close together. So a resample is summarised by the estimator of Harrell and Davis (1982), the mean of all medians
that a bootstrap can give: a smooth estimate of the same median, whose resamples vary as it does itself. What is left
is that few launches know their own spread badly.

Two intervals come of it. `spread_interval`: the value, which is computed from plain medians, plus and minus Student's
quantile times the deviation of the replicates; of what is computed from many medians, as the letters of a law are. The
smooth median of skewed launches leans to their tail, and so do its quantiles, by too much where launches are few; its
deviation does not. How well that is known goes with the values next to the median, whose number grows as the root of
that of the launches (Hall and Martin 1988): so do the degrees of freedom, `freedom`. `interval`: quantiles of the
replicates, taken as far out as Student's are beyond the normal ones (Hesterberg 2015, the expanded percentile interval;
without its factor for a variance that is too small, which that of the smooth median is not); of a place, which may lie
much nearer to one end than to the other.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.distributions import beta_cdf, normal_cdf, normal_quantile, student_cdf, student_quantile
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN

RESAMPLES = 2000
FREEDOM = 2.5  # times the root of the launches; what bench/aa.py finds right, 7 of 8, 8.7 of 12, 10 of 16
REPLICATES_KEPT = 0.9  # of the resamples that must give a finite answer


def launch_draws(launches: int, resamples: int, rng: np.random.Generator) -> Ints:
    """(resamples, launches) indices of launches, drawn with replacement."""
    return rng.integers(0, launches, (resamples, launches))


def resampled(values: Floats, draws: Ints) -> Floats:
    """(n, S) values and (B, n) draws of their rows -> (B, S): the Harrell-Davis median of each draw, without the NaN;
    NaN where a draw has nothing else.

    No draw is sorted, or even made. The values are gone through once, rising: what of a draw lies up to each of them
    says how much of the law of its median does.
    """
    n, resamples = len(values), len(draws)
    row = np.arange(resamples)[:, None]
    drawn = np.bincount((row * n + draws).ravel(), minlength=n * resamples).reshape(resamples, n)
    order = np.argsort(values, axis=0)  # NaN goes last
    rising = np.take_along_axis(values, order, axis=0)
    there = np.isfinite(rising)
    kinds, kind = np.unique(drawn @ np.isfinite(values), return_inverse=True)
    laws = np.array([_law(int(k), n) for k in kinds]).ravel()
    upto = kind.reshape(resamples, -1) * (n + 1)
    found = np.broadcast_to(rising[np.maximum(there.sum(axis=0) - 1, 0), np.arange(values.shape[1])], upto.shape)
    with np.errstate(invalid="ignore"):
        steps = np.where(there[1:], np.diff(rising, axis=0), 0.0)
    for at, step in zip(order[:-1], steps, strict=True):
        upto = upto + drawn[:, at]
        found = found - laws[upto] * step
    return found


def centres(times: Floats, draws: Ints) -> Floats:
    """(launches, S) times and (B, launches) draws -> (B, S): the smooth median over the launches of each resample.

    Taken of logarithms, because times are positive and a launch may be many times slower than the others.
    """
    return np.exp(resampled(np.log(times), draws))


def tail(launches: int, level: float) -> float:
    """The share of resamples beyond each end of an interval: where Student's quantile lies in the normal law."""
    return normal_cdf(student_quantile((1 - level) / 2, launches - 1))


def band(replicates: Floats, launches: int, level: float = 0.95) -> tuple[Floats, Floats]:
    """(low, high), each (S,), of (B, S) replicates; NaN among them are failed fits."""
    out = tail(launches, level)
    low, high = np.nanquantile(replicates, [out, 1 - out], axis=0)
    return low, high


def interval(replicates: Floats, value: float, unit: str, launches: int, level: float = 0.95) -> Estimate:
    """`value` with the interval that (B,) replicates from that many launches give; NaN among them are failed fits."""
    good = replicates[np.isfinite(replicates)]
    if not np.isfinite(value) or good.size < REPLICATES_KEPT * replicates.size:
        return refusal("undetermined: too many resamples have no solution", unit, level)
    low, high = band(good, launches, level)
    return Estimate(value, min(float(low), value), max(float(high), value), unit, level)


def spread_interval(
    replicates: Floats, value: float, unit: str, launches: int, level: float = 0.95, ratio: bool = False
) -> Estimate:
    """`value` plus and minus as much as (B,) replicates from that many launches spread; NaN among them are failed fits.

    ratio: of a quantity above zero, times and over as much instead.
    """
    assert value > 0 or not ratio
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.log(replicates) if ratio else replicates
    good = spread[np.isfinite(spread)]
    if not np.isfinite(value) or good.size < REPLICATES_KEPT * replicates.size:
        return refusal("undetermined: too many resamples have no solution", unit, level)
    reach = student_quantile((1 + level) / 2, freedom(launches)) * float(good.std())
    low, high = (value * np.exp(-reach), value * np.exp(reach)) if ratio else (value - reach, value + reach)
    return Estimate(value, float(low), float(high), unit, level)


def freedom(launches: int) -> float:
    """The degrees of freedom of a deviation that resampled medians of so many launches have."""
    return min(launches - 1, FREEDOM * launches**0.5)


def beyond(replicates: Floats, value: float, launches: int) -> float:
    """The two-sided p value of a ratio being 1: at the level 1 - p its `interval` just reaches 1.

    Few resamples say little of what is far out, so where none of them reaches 1 the normal law of their logarithms
    says how far it is.
    """
    good = replicates[np.isfinite(replicates)]
    away = np.sign(np.log(value)) * np.log(good)
    across = float((away <= 0).mean())
    z = normal_quantile(across) if across else -np.inf
    if not across:
        spread = away.std()
        z = min(normal_quantile(0.5 / good.size), -abs(np.log(value)) / spread if spread else -np.inf)
    return min(1.0, 2 * student_cdf(z, launches - 1))


def too_few(launches: int, needed: int = LAUNCHES_MIN, unit: str = "launches") -> str:
    """The words for it, the same everywhere."""
    return f"too few {unit}: {launches} of {needed}"


@lru_cache(maxsize=1024)
def _law(k: int, n: int) -> Floats:
    """(n + 1,): how much of the law of the median of k values, Beta((k+1)/2, (k+1)/2), lies up to 0, 1, ... n of them.

    NaN of none. Read only."""
    half = (k + 1) / 2
    found = np.array([beta_cdf(min(i / k, 1.0), half, half) if k else np.nan for i in range(n + 1)])
    found.flags.writeable = False
    return found
