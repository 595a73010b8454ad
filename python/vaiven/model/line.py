# SPDX-License-Identifier: BSD-3-Clause
"""The law t(n) = wire(n) + alpha + beta n, fitted where it can be straight.

The wire's share of a message is known, where the link is: a staircase of frames, which no line follows. What is left,
t(n) - wire(n), is what software takes; alpha is what it takes of an empty message and beta of each byte. Where nobody
knows the link, the line goes through the whole times: t(n) = alpha + beta n (Hockney 1994).

The points are the medians over launches of one statistic per launch, so one bad launch moves nothing. Their
weights are 1/t^2: the fit minimises relative errors of t, so the noise of 1 MB does not set alpha. Intervals come from
a bootstrap over launches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from vaiven.errors import VaivenError
from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.bootstrap import RESAMPLES, centres, launch_draws, spread_interval, too_few
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN

SIZES_MIN = 3  # two points are always on a line
UNITS = {"alpha": "ns", "beta": "ns/byte"}


@dataclass(frozen=True, eq=False)
class Line:
    """alpha + beta n of one stack, one direction and one statistic, with intervals or with refusals.

    sizes_bytes, centre_ns: (S,) the points behind it, sizes without enough launches left out. wire_ns: (S,) what was
    taken off them first; None where the line goes through the whole times. misfit: the largest |t - law| / t at any
    point, a share of the measured time; NaN when there is no line. refused: why there is no line at all, or "".
    notes: sentences that belong beside the numbers.
    """

    stack: str
    near: str
    far: str
    direction: Direction
    statistic: Statistic
    launches: int
    sizes_bytes: Ints
    centre_ns: Floats
    alpha: Estimate
    beta: Estimate
    wire_ns: Floats | None
    misfit: float
    refused: str = ""
    notes: tuple[str, ...] = ()

    def law_ns(self) -> Floats:
        """(S,) what the law gives its own sizes. Raises VaivenError ("refused") if alpha or beta is refused."""
        straight: Floats = self.alpha.number() + self.beta.number() * self.sizes_bytes.astype(np.float64)
        return straight if self.wire_ns is None else straight + self.wire_ns


@dataclass(frozen=True)
class Cost:
    """What a message costs: typical (median) and floor (minimum), side by side.

    whole: the plain line through the whole medians, wire and all, which is what others publish; typical itself where
    nobody knows the link.
    """

    typical: Line
    floor: Line
    whole: Line


def weighted_line(sizes_bytes: ArrayLike, ns: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """(alpha, beta) of relative least squares; ns is (..., S), NaN where there is no point. weights: else 1/ns^2."""
    n = np.asarray(sizes_bytes, dtype=np.float64)
    there = np.isfinite(ns)
    t = np.where(there, ns, 1.0)
    w = np.where(there, 1 / t**2 if weights is None else weights, 0.0)
    w = w / w.sum(axis=-1, keepdims=True)
    n_mean = (w * n).sum(axis=-1, keepdims=True)
    t_mean = (w * t).sum(axis=-1, keepdims=True)
    beta = (w * (n - n_mean) * (t - t_mean)).sum(axis=-1) / (w * (n - n_mean) ** 2).sum(axis=-1)
    return t_mean[..., 0] - beta * n_mean[..., 0], beta


def usable(times: LaunchTimes) -> tuple[LaunchTimes, tuple[str, ...]]:
    """Without launches that gave nothing and sizes with under LAUNCHES_MIN launches; a note for what was left out."""
    alive = np.flatnonzero(np.isfinite(times.ns).any(axis=1))
    counts = np.isfinite(times.ns).sum(axis=0)
    # With too few launches in all, the refusal says so; dropping every size would hide the reason.
    keep = counts >= min(LAUNCHES_MIN, max(alive.size, 1))
    rest = times.at_launches(alive).at_sizes(times.sizes_bytes[keep])
    dropped = times.sizes_bytes[~keep]
    notes = (f"left out, too few launches have it: {', '.join(map(str, dropped))} bytes",) if dropped.size else ()
    return rest, notes


def fit_line(times: LaunchTimes, rng: np.random.Generator, level: float = 0.95, resamples: int = RESAMPLES) -> Line:
    """Fits the line. Never raises for data that cannot carry one: the refusals say what is missing."""
    rest, notes = usable(times)
    centre = rest.centre_ns()
    why = _no_line(rest) if times.sizes_bytes.size else f"too few sizes: 0 of {SIZES_MIN}"
    if why:
        refused = {name: refusal(why, unit, level) for name, unit in UNITS.items()}
        return _line(rest, centre, refused, float("nan"), why, notes)
    alpha, beta = (float(x) for x in _fitted(rest, centre))
    drawn = centres(rest.ns, launch_draws(rest.launches.size, resamples, rng))
    parts = _estimates(alpha, beta, _fitted(rest, drawn), rest, level)
    misfit = float(np.max(np.abs(alpha + beta * rest.sizes_bytes - rest.above(centre)) / centre))
    return _line(rest, centre, parts, misfit, "", notes)


def fit_cost(typical: LaunchTimes, floor: LaunchTimes, rng: np.random.Generator) -> Cost:
    """Both models of one stack. Raises VaivenError ("different-kind") unless given medians and minima."""
    if (typical.statistic, floor.statistic) != (Statistic.TYPICAL, Statistic.FLOOR):
        raise VaivenError("a cost is made of medians and minima, in this order", code="different-kind")
    if typical.direction is not floor.direction:
        raise VaivenError("medians and minima of different directions", "convert one_way()", code="different-kind")
    line, least = fit_line(typical, rng), fit_line(floor, rng)
    return Cost(line, least, line if typical.wire_ns is None else fit_line(replace(typical, wire_ns=None), rng))


def _no_line(times: LaunchTimes) -> str:
    """Why these times carry no line, or ""."""
    if times.launches.size < LAUNCHES_MIN:
        return too_few(times.launches.size)
    if times.sizes_bytes.size < SIZES_MIN:
        return f"too few sizes: {times.sizes_bytes.size} of {SIZES_MIN}"
    if not (np.nanmax(times.ns, axis=0) > np.nanmin(times.ns, axis=0)).any():
        return "constant data: every launch gave the same times"
    return ""


def _fitted(times: LaunchTimes, ns: Floats) -> tuple[Floats, Floats]:
    """(alpha, beta) of the line through (..., S) times less their wire, weighted as the times."""
    return weighted_line(times.sizes_bytes, times.above(ns), 1 / ns**2)


def _estimates(
    alpha: float, beta: float, drawn: tuple[Floats, Floats], times: LaunchTimes, level: float
) -> dict[str, Estimate]:
    launches = times.launches.size
    found = {
        "alpha": spread_interval(drawn[0], alpha, UNITS["alpha"], launches, level),
        "beta": spread_interval(drawn[1], beta, UNITS["beta"], launches, level),
    }
    # Software may well take nothing that can be told from zero; a whole time may not.
    return found if times.wire_ns is not None else {name: _positive(one) for name, one in found.items()}


def _positive(found: Estimate) -> Estimate:
    """A cost whose interval reaches zero is not a number to print."""
    if found.low is not None and found.low <= 0:
        return refusal(
            f"interval [{found.low:.3g}, {found.high:.3g}] {found.unit} reaches zero", found.unit, found.level
        )
    return found


def _line(
    times: LaunchTimes,
    centre: Floats,
    parts: dict[str, Estimate],
    misfit: float,
    refused: str,
    notes: tuple[str, ...],
) -> Line:
    return Line(
        stack=times.stack,
        near=times.near,
        far=times.far,
        direction=times.direction,
        statistic=times.statistic,
        launches=times.launches.size,
        sizes_bytes=times.sizes_bytes,
        centre_ns=centre,
        wire_ns=times.wire_ns,
        misfit=misfit,
        refused=refused,
        notes=notes,
        **parts,
    )
