# SPDX-License-Identifier: BSD-3-Clause
"""Knees: sizes at which the cost changes its law, with an interval, or the word that there is none.

Exact cuts by dynamic programming on launch centres; the number of pieces by BIC, each more piece must buy 10; a knee
must come back in 90 % of bootstrap refits. A knee is a jump (known only between two measured sizes) or a bend (two
lines that meet). What frames explain is no knee: the wire is taken off the times where it is known, and then their
staircase is tried, for software may cost by the frame too. Only what is left can be a knee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

import numpy as np

from vaiven.model.frames import FrameLimits
from vaiven.model.line import usable, weighted_line
from vaiven.model.segments import (
    PIECE_SIZES_MIN,
    bic,
    cut,
    hinge,
    piece_costs,
    pieces_max,
)
from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.bootstrap import centres, interval, launch_draws, tail, too_few
from vaiven.stats.estimate import Estimate
from vaiven.stats.launches import LAUNCHES_MIN

BIC_LEAST = 10.0
PRESENCE_LEAST = 0.9
STEP_LEAST = 0.01  # relative: a smaller change of time at a knee matters to nobody
RESAMPLES = 400
SIZES_MIN = 3 * PIECE_SIZES_MIN
GRID = 240
STEPS = 40  # of a staircase that are tried before the best is refined


class Kind(StrEnum):
    JUMP = "jump"
    BEND = "bend"


@dataclass(frozen=True, slots=True)
class Knee:
    """size: its place, bytes; a jump lies between two measured sizes, so its interval is at least that gap.
    before_bytes, after_bytes: the measured sizes on either side. step: how far the time (beyond the wire, where that
    is known) jumps there, ns; of a bend the change of slope is what counts: slope_before, slope_after, ns/byte.
    presence: share of bootstrap refits that have it. bic_gain: what this number of pieces gains over one piece less."""

    kind: Kind
    size: Estimate
    before_bytes: int
    after_bytes: int
    step: Estimate
    slope_before: float
    slope_after: float
    presence: float
    bic_gain: float


@dataclass(frozen=True, slots=True)
class Staircase:
    """The frames that explain the curve: limits, time per further frame (ns), and how much BIC gains by the
    step."""

    limits: FrameLimits
    step: Estimate
    bic_gain: float


@dataclass(frozen=True, eq=False)
class Knees:
    """All that bends one curve. pieces: (first_bytes, last_bytes, alpha_ns, beta_ns_per_byte) of each straight piece,
    wire and frame steps taken away. doubtful: knees that BIC wants but that come back too rarely: measure more sizes
    there. refused: why nothing was looked for."""

    stack: str
    direction: Direction
    statistic: Statistic
    knees: tuple[Knee, ...]
    doubtful: tuple[Knee, ...]
    staircase: Staircase | None
    pieces: tuple[tuple[int, int, float, float], ...]
    refused: str = ""


def find_knees(
    times: LaunchTimes,
    rng: np.random.Generator,
    frames: Sequence[FrameLimits] = (),
    level: float = 0.95,
) -> Knees:
    """Of one stack. frames: the staircases to try (the path's own, or `usual_limits`). Never raises for poor data."""
    rest, _ = usable(times)
    launches = rest.launches.size
    sizes, centre = rest.sizes_bytes, rest.centre_ns()
    if launches < LAUNCHES_MIN:
        return _nothing(times, too_few(launches))
    if sizes.size < SIZES_MIN:
        return _nothing(times, f"too few sizes: {sizes.size} of {SIZES_MIN}")
    drawn = centres(rest.ns, launch_draws(launches, RESAMPLES, rng))
    drawn = np.where(np.isfinite(drawn), drawn, centre)
    whole = _Curve(sizes, rest.above(centre), rest.above(drawn), 1 / centre**2, launches, level)
    stairs, curve = _without_frames(whole, frames)
    starts, _, gain = choose(sizes, curve.centre, curve.weights)
    found = _knees(curve, starts, gain)
    good = tuple(k for k in found if k.presence >= PRESENCE_LEAST)
    return Knees(
        stack=times.stack,
        direction=times.direction,
        statistic=times.statistic,
        knees=good,
        doubtful=tuple(k for k in found if k not in good),
        staircase=stairs,
        pieces=_pieces(curve, starts),
    )


@dataclass(frozen=True, eq=False)
class _Curve:
    """Points: centre (S,), resampled (B, S) from that many launches; weights of the times as measured."""

    sizes: Ints
    centre: Floats
    drawn: Floats
    weights: Floats
    launches: int
    level: float

    def part(self, first: int, end: int) -> _Curve:
        kept = slice(first, end)
        return replace(
            self,
            sizes=self.sizes[kept],
            centre=self.centre[kept],
            drawn=self.drawn[:, kept],
            weights=self.weights[kept],
        )

    @property
    def measured(self) -> Floats:
        """(S,) the times as measured, ns."""
        return self.weights**-0.5

    def known(self, replicates: Floats, value: float, unit: str) -> Estimate:
        return interval(replicates, value, unit, self.launches, self.level)


def choose(sizes_bytes: Ints, ns: Floats, weights: Floats) -> tuple[Ints, float, float]:
    """(first index of each piece, its BIC, BIC gain over fewer pieces) of the cuts worth their parameters; (S,)."""
    found = cut(piece_costs(sizes_bytes, ns[None], weights), pieces_max(sizes_bytes.size))
    scores = [float(bic(c.wrss, sizes_bytes.size, 3 * (k + 1))[0]) for k, c in enumerate(found)]
    best, gain = 0, 0.0
    for k in range(1, len(scores)):
        if scores[best] - scores[k] >= BIC_LEAST:
            best, gain = k, scores[best] - scores[k]
    return found[best].starts[0], scores[best], gain


def _without_frames(curve: _Curve, frames: Sequence[FrameLimits]) -> tuple[Staircase | None, _Curve]:
    """The staircase that explains most, if one does better than pieces alone; and the times without its steps."""
    sizes, centre, weights = curve.sizes, curve.centre, curve.weights
    best = choose(sizes, centre, weights)[1]
    chosen: tuple[FrameLimits, float, Ints, float] | None = None
    for limits in frames:
        up: Floats = (limits.frames(sizes) - 1.0).astype(np.float64)
        step, starts, score, buys = _stairs(sizes, centre, weights, up)
        if step > 0 and buys >= BIC_LEAST and score < best:
            best, chosen = score, (limits, step, starts, buys)
    if chosen is None:
        return None, curve
    limits, step, starts, buys = chosen
    up = (limits.frames(sizes) - 1.0).astype(np.float64)
    steps = step_between(sizes, curve.drawn, weights, up, starts)
    found = Staircase(limits, curve.known(steps, step, "ns"), buys)
    return found, replace(curve, centre=centre - step * up, drawn=curve.drawn - steps[:, None] * up)


def _stairs(sizes: Ints, centre: Floats, weights: Floats, up: Floats) -> tuple[float, Ints, float, float]:
    """(step_ns, cuts of what the steps leave, BIC of both, what the step buys) of the best step of a grid, refined."""
    none = np.zeros(1, dtype=np.int64)
    if not up.any():
        return 0.0, none, np.inf, 0.0
    most = float(np.min(centre[up > 0] / up[up > 0]))
    if most <= 0:
        return 0.0, none, np.inf, 0.0
    tried = np.linspace(0.0, 0.95 * most, STEPS)[1:]
    scored = [(choose(sizes, centre - step * up, weights)[1], step) for step in tried]
    starts = choose(sizes, centre - min(scored)[1] * up, weights)[0]
    step = float(step_between(sizes, centre[None], weights, up, starts)[0])
    if not 0 < step < most:
        return 0.0, none, np.inf, 0.0
    with_step = float(bic(_wrss(sizes, centre - step * up, weights, starts), sizes.size, 3 * starts.size + 1)[0])
    without = float(bic(_wrss(sizes, centre, weights, starts), sizes.size, 3 * starts.size)[0])
    return step, starts, with_step, without - with_step


def step_between(sizes: Ints, ns: Floats, weights: Floats, up: Floats, starts: Ints) -> Floats:
    """(B,) least squares of the step, every piece having a line of its own (Frisch and Waugh): ns is (B, S)."""
    edges = np.append(starts, sizes.size)
    over = np.zeros(ns.shape[0])
    under = 0.0
    for first, end in pairwise(edges):
        root = np.sqrt(weights[first:end])
        lines = np.stack([root, root * sizes[first:end]], axis=1)
        q, _ = np.linalg.qr(lines / np.linalg.norm(lines, axis=0))
        left = up[first:end] * root
        left = left - q @ (q.T @ left)
        over += (ns[:, first:end] * root) @ left
        under += float(left @ left)
    return over / under if under > 0 else over


def _wrss(sizes: Ints, ns: Floats, weights: Floats, starts: Ints) -> Floats:
    costs = piece_costs(sizes, ns[None], weights)[0]
    ends = np.append(starts[1:], sizes.size) - 1
    return costs[starts, ends].sum(keepdims=True)


def _knees(curve: _Curve, starts: Ints, gain: float) -> list[Knee]:
    if starts.size == 1:
        return []
    refits = cut(piece_costs(curve.sizes, curve.drawn, curve.weights), starts.size)[-1].starts[:, 1:]
    edges = [*(int(s) for s in starts), curve.sizes.size]
    found = [_knee(curve, refits, (edges[k - 1], edges[k], edges[k + 1]), gain) for k in range(1, starts.size)]
    return [knee for knee in found if _matters(knee, curve)]


def _knee(curve: _Curve, refits: Ints, span: tuple[int, int, int], gain: float) -> Knee:
    """The knee between the pieces first..at-1 and at..end-1."""
    first, at, end = span
    sizes = curve.sizes
    place = _bend(curve, span)
    size = place or _jump_place(curve, refits, at)
    middle = size.number()
    left, right = curve.part(first, at), curve.part(at, end)
    step, slopes = _across(left, right, middle)
    return Knee(
        kind=Kind.BEND if place else Kind.JUMP,
        size=size,
        before_bytes=int(sizes[at - 1]),
        after_bytes=int(sizes[at]),
        step=curve.known(_across(left, right, middle, drawn=True)[0], float(step[0]), "ns"),
        slope_before=float(slopes[0][0]),
        slope_after=float(slopes[1][0]),
        presence=float((np.abs(refits - at) <= 1).any(axis=1).mean()),
        bic_gain=gain,
    )


def _bend(curve: _Curve, span: tuple[int, int, int]) -> Estimate | None:
    """Where the two lines meet, if lines that meet explain the window as well as lines that do not."""
    first, at, end = span
    window = curve.part(first, end)
    low, high = curve.sizes[max(first + 1, at - 3)], curve.sizes[min(end - 2, at + 2)]
    grid = np.linspace(float(low), float(high), GRID)
    place, wrss = hinge(window.sizes, window.centre[None], window.weights, grid)
    apart = _wrss(window.sizes, window.centre, window.weights, np.array([0, at - first]))
    if bic(wrss, end - first, 5)[0] > bic(apart, end - first, 6)[0]:
        return None
    places, _ = hinge(window.sizes, window.drawn, window.weights, grid)
    return curve.known(places, float(place[0]), "byte")


def _jump_place(curve: _Curve, refits: Ints, at: int) -> Estimate:
    """Between two measured sizes; as far out as the refits that kept the jump put it."""
    sizes = curve.sizes
    nearest = np.abs(refits - at).argmin(axis=1)
    places = refits[np.arange(nearest.size), nearest]
    out = tail(curve.launches, curve.level)
    low, high = np.quantile(places, [out, 1 - out], method="nearest").astype(int)
    low, high = min(low, at), max(high, at)
    middle = float(sizes[at - 1] + sizes[at]) / 2
    return Estimate(middle, float(sizes[low - 1]), float(sizes[high]), "byte", curve.level)


def _across(left: _Curve, right: _Curve, size: float, drawn: bool = False) -> tuple[Floats, tuple[Floats, Floats]]:
    """((B,) how far the right line lies above the left one at that size, (slopes left, slopes right))."""
    (a0, b0), (a1, b1) = (
        weighted_line(part.sizes, part.drawn if drawn else part.centre[None], part.weights) for part in (left, right)
    )
    return (a1 + b1 * size) - (a0 + b0 * size), (b0, b1)


def _matters(knee: Knee, curve: _Curve) -> bool:
    """A jump of 1 % of the time there, or a bend that moves the longest message by as much."""
    if knee.kind is Kind.JUMP:
        here = float(np.interp(knee.before_bytes, curve.sizes, curve.measured))
        return abs(knee.step.number()) >= STEP_LEAST * here
    moved = abs(knee.slope_after - knee.slope_before) * (curve.sizes[-1] - knee.size.number())
    return bool(moved >= STEP_LEAST * curve.measured[-1])


def _pieces(curve: _Curve, starts: Ints) -> tuple[tuple[int, int, float, float], ...]:
    out = []
    for first, end in pairwise([*(int(s) for s in starts), curve.sizes.size]):
        part = curve.part(first, end)
        alpha, beta = weighted_line(part.sizes, part.centre, part.weights)
        out.append((int(part.sizes[0]), int(part.sizes[-1]), float(alpha), float(beta)))
    return tuple(out)


def _nothing(times: LaunchTimes, why: str) -> Knees:
    return Knees(times.stack, times.direction, times.statistic, (), (), None, (), why)
