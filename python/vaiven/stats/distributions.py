# SPDX-License-Identifier: BSD-3-Clause
"""The distributions that tests and intervals are taken from: normal, Student's, beta, binomial of a fair coin.

SciPy has them all and is the tests' oracle for these, which are its numbers to ten digits, tails included. Installed it
is a third of the whole (143 MB), and loading it takes a fifth of the time of a verb.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, chain
from math import erfc, exp, fabs, inf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

import numpy as np

from vaiven.stats.arrays import Floats

_NORMAL = NormalDist()
_TINY = 1e-300  # no denominator is nearer to zero
_ENOUGH = 1e-15  # relative: a further term changes nothing
_NOTHING = 1e-12  # of a weight, beside the largest one
_NEAR = 1e-12  # relative: from there the next step of Newton is exact
_TERMS_MAX = 10_000
_STEPS_MAX = 200
_POINTS = 400  # of an integral whose integrand vanishes at both ends


def normal_cdf(z: float) -> float:
    """P(Z <= z) of the standard normal law."""
    return erfc(-z / sqrt(2)) / 2


def normal_quantile(p: float) -> float:
    """The z with P(Z <= z) = p; infinite at 0 and 1."""
    return _NORMAL.inv_cdf(p) if 0 < p < 1 else -inf if p <= 0 else inf


def beta_cdf(x: float, a: float, b: float, rest: float | None = None) -> float:
    """P(X <= x) of the Beta(a, b) law, 0 <= x <= 1: the regularised incomplete beta function (DLMF 8.17).

    rest: 1 - x, where it is known better than to be subtracted.
    """
    rest = 1 - x if rest is None else rest
    if x <= 0 or rest <= 0:
        return float(rest <= 0)
    if x * (a + b + 2) > a + 1:  # the fraction converges on the other side of the mean
        return 1 - beta_cdf(rest, b, a, x)
    front = a * _log_share(x, rest) + b * _log_share(rest, x) + lgamma(a + b) - lgamma(a) - lgamma(b)
    return exp(front) * _beta_fraction(x, a, b) / a


def student_cdf(t: float, df: float) -> float:
    """P(T <= t) of Student's law with df > 0 degrees of freedom, which need not be whole."""
    square = min(t * t, 1e300)
    outside = beta_cdf(df / (df + square), df / 2, 0.5, square / (df + square)) / 2
    return 1 - outside if t > 0 else outside


@lru_cache(maxsize=1024)
def student_quantile(p: float, df: float) -> float:
    """The t with P(T <= t) = p; infinite at 0 and 1."""
    if p <= 0 or p >= 1:
        return -inf if p <= 0 else inf
    if p > 0.5:
        return -student_quantile(1 - p, df)
    low, high = min(-1.0, 2 * normal_quantile(p)), 0.0
    while student_cdf(low, df) > p:
        low, high = 2 * low, low
    t = low
    for _ in range(_STEPS_MAX):  # Newton's, kept between what is too low and what is too high
        off = student_cdf(t, df) - p
        low, high = (low, t) if off > 0 else (t, high)
        slope = _student_density(t, df)
        step = t - off / slope if slope else low
        step = step if low < step < high else (low + high) / 2
        if fabs(step - t) <= _NEAR * fabs(t):
            return step
        t = step
    return t


def shifted_student_cdf(t: float, df: float, shift: float) -> float:
    """P((Z + shift) / S <= t): Student's law off centre, the power of a t test; S^2 df is chi-square with df.

    The normal law, weighed by the density of log S: a sum over equal steps is exact where both ends vanish.
    """
    width = 12 / sqrt(2 * df)
    logs = np.linspace(-width - 40 / df, log1p(width), _POINTS)
    density = np.exp(df * (logs - np.expm1(2 * logs) / 2))
    counts = density > _NOTHING * density.max()  # the rest, most of the points, changes nothing
    below = [normal_cdf(t * s - shift) for s in np.exp(logs[counts])]
    return float(np.average(below, weights=density[counts]))


@lru_cache(maxsize=256)
def fair_coin_cdf(n: int) -> Floats:
    """(n + 1,): P(at most k heads in n throws) for every k from 0. Read only."""
    ways = accumulate(range(n), lambda chosen, k: chosen * (n - k) // (k + 1), initial=1)
    found = np.array([total / 2**n for total in accumulate(ways)])
    found.flags.writeable = False
    return found


def _student_density(t: float, df: float) -> float:
    whole = lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2
    return exp(whole - (df + 1) / 2 * log1p(t * t / df))


def _log_share(share: float, rest: float) -> float:
    """The logarithm of a share of 1, exact near both ends."""
    return log(share) if share < 0.5 else log1p(-rest)


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of DLMF 8.17.22, from its front (the modified method of Lentz)."""
    value = upper = _TINY
    lower = 0.0
    for term in chain((1.0,), _beta_terms(x, a, b)):
        lower = 1 / _off_zero(1 + term * lower)
        upper = _off_zero(1 + term / upper)
        value *= upper * lower
        if fabs(upper * lower - 1) < _ENOUGH:
            break
    return value


def _beta_terms(x: float, a: float, b: float) -> Iterator[float]:
    for m in range(_TERMS_MAX):
        yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        yield (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))


def _off_zero(denominator: float) -> float:
    return denominator if fabs(denominator) > _TINY else _TINY
