# SPDX-License-Identifier: BSD-3-Clause
"""How well a line fits: residuals, points off the line, runs of signs, and how well it predicts a size it never saw."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from vaiven.model.line import Line, weighted_line
from vaiven.stats.arrays import Bools, Floats, Ints

OFF_MAD = 5.0  # a point this many robust deviations off the line is off it
OFF_LEAST = 0.01  # and no point is off it for less than this, relative
QUANTUM = 1e-9  # relative: below it a residual is rounding
SIZES_LEAST = 4  # fewer leave nothing to say of a line
REFITS_MOST = 20  # until the points that are off it stay the same
CURVES_AT_ONCE = 32  # whose lines through pairs of points stand in memory together


@dataclass(frozen=True, eq=False)
class Residuals:
    """What the law leaves over, by size, always as a share of the measured time t.

    relative: (S,) (t - law)/t of the robust line. off: (S,) which points are off it. left_out: (S,) the relative
    error of predicting each size from the others, NaN where there are under 4. left_out_max: its largest size, None
    when refused. runs: number of runs of equal sign in order of size; runs_p: how likely that few or fewer are if
    the line were right (small: the curve bends), None when one sign is missing. refused: why there is nothing.
    """

    stack: str
    sizes_bytes: Ints
    relative: Floats
    off: Bools
    alpha_ns: float | None
    beta_ns_per_byte: float | None
    left_out: Floats
    left_out_max: float | None
    runs: int
    runs_p: float | None
    refused: str = ""

    @property
    def bends(self) -> bool:
        """The signs of the residuals are not in random order: a straight line is not the whole story."""
        return self.runs_p is not None and self.runs_p < 0.01


def residuals(line: Line) -> Residuals:
    """Of the points behind a fitted line. alpha_ns, beta_ns_per_byte are of the line through the points not off it."""
    return of_points(line.stack, line.sizes_bytes, line.centre_ns, line.wire_ns)


def of_points(stack: str, sizes_bytes: Ints, ns: Floats, wire_ns: Floats | None = None) -> Residuals:
    """The same for any points; finite times above zero, less their wire if that is given. Planted outliers do not bend
    the line they are found with."""
    sizes, wire = np.asarray(sizes_bytes), np.zeros(ns.size) if wire_ns is None else wire_ns
    if sizes.size < SIZES_LEAST:
        nothing = np.full(sizes.size, np.nan)
        why = f"too few sizes: {sizes.size} of {SIZES_LEAST}"
        return Residuals(stack, sizes, nothing, np.zeros(sizes.size, bool), None, None, nothing, None, 0, None, why)
    off, alpha, beta = (found[0] for found in _settled(sizes, ns[np.newaxis], wire))
    relative = 1 - (wire + alpha + beta * sizes) / ns
    left_out = leave_one_out(sizes, ns, wire)
    kept = relative[~off]
    runs, p = runs_test(kept[np.abs(kept) > QUANTUM] > 0)
    return Residuals(
        stack=stack,
        sizes_bytes=sizes,
        relative=relative,
        off=off,
        alpha_ns=float(alpha),
        beta_ns_per_byte=float(beta),
        left_out=left_out,
        left_out_max=float(np.max(np.abs(left_out))),
        runs=runs,
        runs_p=p,
    )


def points_off(sizes_bytes: ArrayLike, ns: Floats) -> Bools:
    """(curves, S): which points are off the line of their curve; ns is (curves, S), finite times above zero. The same
    as `of_points` says of each, many times as quick."""
    sizes = np.asarray(sizes_bytes)
    return _settled(sizes, ns, np.zeros(sizes.size))[0]


def leave_one_out(sizes_bytes: Ints, ns: Floats, wire_ns: Floats) -> Floats:
    """(S,) (predicted - t)/t of each size, from the relative least squares line of all the others."""
    others = np.where(np.eye(ns.size, dtype=bool), np.nan, ns - wire_ns)
    alpha, beta = weighted_line(sizes_bytes, others, 1 / ns**2)
    return (wire_ns + alpha + beta * sizes_bytes) / ns - 1


def runs_test(positive: Bools) -> tuple[int, float | None]:
    """(runs, P(that few or fewer)) of signs in random order, exact (Wald and Wolfowitz 1940)."""
    n, ups = positive.size, int(positive.sum())
    downs = n - ups
    runs = int(1 + (positive[1:] != positive[:-1]).sum()) if n else 0
    if not ups or not downs:
        return runs, None
    ways = sum(_ways(ups, downs, r) for r in range(2, runs + 1))
    return runs, ways / comb(n, ups)


def _ways(ups: int, downs: int, runs: int) -> int:
    half = runs // 2
    if runs % 2 == 0:
        return 2 * comb(ups - 1, half - 1) * comb(downs - 1, half - 1)
    return comb(ups - 1, half) * comb(downs - 1, half - 1) + comb(ups - 1, half - 1) * comb(downs - 1, half)


def _settled(sizes: Ints | Floats, ns: Floats, wire: Floats) -> tuple[Bools, Floats, Floats]:
    """(off, alpha, beta), (curves, S) and twice (curves,): from a line that half the points cannot bend, refitted to
    what is on it until that stays."""
    above = ns - wire
    alpha, beta = _median_lines(sizes, above, ns)
    off = np.zeros(ns.shape, dtype=bool)
    moving = np.arange(len(ns))
    for _ in range(REFITS_MOST):
        relative = 1 - (wire + alpha[moving, np.newaxis] + beta[moving, np.newaxis] * sizes) / ns[moving]
        away = np.abs(relative - np.median(relative, axis=1, keepdims=True))
        now = away > np.maximum(OFF_MAD * 1.4826 * np.median(away, axis=1, keepdims=True), OFF_LEAST)
        fits = (~now).sum(axis=1) >= 3
        moving, now = moving[fits], now[fits]
        if not moving.size:
            break
        alpha[moving], beta[moving] = weighted_line(sizes, np.where(now, np.nan, above[moving]), 1 / ns[moving] ** 2)
        changed = (now != off[moving]).any(axis=1)
        off[moving] = now
        moving = moving[changed]
    return off, alpha, beta


def _median_lines(sizes: Ints | Floats, above: Floats, ns: Floats) -> tuple[Floats, Floats]:
    """(alpha, beta) of each curve's line through two of its points above the wire that has the least median residual
    of `ns`.

    Least median of squares (Rousseeuw 1984), exact over all pairs: nearly half the points may be wrong.
    """
    first, second = np.triu_indices(sizes.size, 1)
    beta = (above[:, second] - above[:, first]) / (sizes[second] - sizes[first])
    alpha = above[:, first] - beta * sizes[first]
    best = np.empty(len(ns), dtype=np.intp)
    for begin in range(0, len(ns), CURVES_AT_ONCE):
        part = np.s_[begin : begin + CURVES_AT_ONCE]
        lines = alpha[part, :, np.newaxis] + beta[part, :, np.newaxis] * sizes
        miss = np.abs(lines - above[part, np.newaxis]) / ns[part, np.newaxis]
        # Short rows are sorted sooner than numpy finds their medians.
        miss.sort(axis=2)
        middle = miss[..., (sizes.size - 1) // 2] + miss[..., sizes.size // 2]
        best[part] = np.argmin(middle, axis=1)
    row = np.arange(len(ns))
    return alpha[row, best], beta[row, best]
