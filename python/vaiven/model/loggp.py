# SPDX-License-Identifier: BSD-3-Clause
"""LogGP: where the start-up goes. o_s and o_r, what a message costs the processors; g and G, the gap between messages
and between bytes; L, the latency that nobody's processor pays.

From PRTT(k, d, s): the time from sending the first of k messages of s bytes, d apart, until one reply is back
(Hoefler, Lichei and Rehm 2007). g + G s = (PRTT(k,0,s) - PRTT(1,0,s))/(k-1); o_s and o_r by the clock of the host
that sends and receives; L = PRTT(1,0,s_min)/2 - o_s - o_r. A second o_s, (PRTT(k,d,s) - PRTT(1,0,s))/(k-1) - d with
d > g + G s, long enough to empty the path, checks the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vaiven.errors import VaivenError
from vaiven.model.line import SIZES_MIN, weighted_line
from vaiven.model.times import Direction, LaunchTimes
from vaiven.stats.arrays import Floats, Ints, medians
from vaiven.stats.bootstrap import RESAMPLES, interval, launch_draws, too_few
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN

_DISAGREE = 0.5  # of the larger: so far may the two o_s be apart
UNITS = {"o_s": "ns", "o_r": "ns", "g": "ns", "G": "ns/byte", "L": "ns"}


@dataclass(frozen=True, eq=False)
class Trains:
    """What LogGP is computed from, all (L, S) ns over the same launches and sizes (rising, the smallest first).

    single: PRTT(1,0,s). burst: PRTT(k,0,s). spaced: PRTT(k,d,s) with d = gap_ns. send: time the sender spends on a
    message of a spaced train; receive: on one that is already there. k >= 2.
    """

    stack: str
    sizes_bytes: Ints
    k: int
    single: Floats
    burst: Floats
    spaced: Floats
    gap_ns: Floats
    send: Floats
    receive: Floats
    near: str = ""
    far: str = ""

    def __post_init__(self) -> None:
        several = (self.single, self.burst, self.spaced, self.gap_ns, self.send, self.receive)
        shapes = {x.shape for x in several}
        if len(shapes) != 1 or self.single.shape[1:] != self.sizes_bytes.shape:
            raise VaivenError(f"{self.stack}: trains of unequal shapes", code="bad-shape")
        if self.k < 2:
            raise VaivenError(f"{self.stack}: a train of {self.k} messages has no gap", code="bad-shape")
        if not all(np.isfinite(x).all() for x in several):
            raise VaivenError(f"{self.stack}: trains hold values that are not numbers", code="not-a-number")


@dataclass(frozen=True, eq=False)
class LogGP:
    """The five parameters; (S,) by size: o_s_ns, o_r_ns (o_s and o_r are those of the smallest), o_s_prtt_ns as the
    trains say it, gap_ns between messages at full speed. notes: what makes them doubtful. Overheads are subtracted
    from L."""

    near: str
    far: str
    stack: str
    sizes_bytes: Ints
    o_s: Estimate
    o_r: Estimate
    g: Estimate
    G: Estimate
    L: Estimate
    o_s_ns: Floats
    o_r_ns: Floats
    o_s_prtt_ns: Floats
    gap_ns: Floats
    notes: tuple[str, ...] = ()


def loggp(trains: Trains, rng: np.random.Generator, level: float = 0.95) -> LogGP:
    """The parameters with intervals by bootstrap over launches; refusals below 8 launches or 3 sizes."""
    sizes = trains.sizes_bytes
    values, o_s, o_r = _parameters(trains, np.arange(trains.single.shape[0])[None])
    why = ""
    if trains.single.shape[0] < LAUNCHES_MIN:
        why = too_few(trains.single.shape[0])
    elif sizes.size < SIZES_MIN:
        why = f"too few sizes: {sizes.size} of {SIZES_MIN}"
    if why:
        found = {name: refusal(why, unit, level) for name, unit in UNITS.items()}
    else:
        drawn, _, _ = _parameters(trains, launch_draws(trains.single.shape[0], RESAMPLES, rng))
        found = {
            name: _not_negative(interval(drawn[name], float(values[name][0]), unit, level, trains.single.shape[0]))
            for name, unit in UNITS.items()
        }
    by_trains = medians((trains.spaced - trains.single) / (trains.k - 1) - trains.gap_ns)
    gaps = medians((trains.burst - trains.single) / (trains.k - 1))
    return LogGP(
        trains.near, trains.far, trains.stack, sizes, o_s_ns=o_s[0], o_r_ns=o_r[0], o_s_prtt_ns=by_trains, gap_ns=gaps,
        notes=_notes(trains, values, o_s[0], o_r[0], by_trains), **found,
    )  # fmt: skip


def gap_line(trains_ns: LaunchTimes, rng: np.random.Generator, level: float = 0.95) -> tuple[Estimate, Estimate]:
    """(g, G) alone, from one-way trains: ns is (last - first)/(train - 1) of each launch and size.

    Raises VaivenError ("round-trip") unless one way.
    """
    if trains_ns.direction is not Direction.ONE_WAY:
        raise VaivenError("gaps are of one way", code="round-trip")
    if trains_ns.launches.size < LAUNCHES_MIN:
        why = too_few(trains_ns.launches.size)
        return refusal(why, UNITS["g"], level), refusal(why, UNITS["G"], level)
    centre = weighted_line(trains_ns.sizes_bytes, trains_ns.centre_ns())
    draws = launch_draws(trains_ns.launches.size, RESAMPLES, rng)
    drawn = weighted_line(trains_ns.sizes_bytes, medians(trains_ns.ns[draws]))
    return (
        _not_negative(interval(drawn[0], float(centre[0]), "ns", level)),
        _not_negative(interval(drawn[1], float(centre[1]), "ns/byte", level)),
    )


def _parameters(t: Trains, draws: Ints) -> tuple[dict[str, Floats], Floats, Floats]:
    """All parameters of each resample, and (B, S) overheads."""
    gaps = medians(((t.burst - t.single) / (t.k - 1))[draws])
    o_s = medians(t.send[draws])
    o_r = medians(t.receive[draws])
    g, per_byte = weighted_line(t.sizes_bytes, gaps)
    half = medians(t.single[draws])[:, 0] / 2
    values = {"o_s": o_s[:, 0], "o_r": o_r[:, 0], "g": g, "G": per_byte, "L": half - o_s[:, 0] - o_r[:, 0]}
    return values, o_s, o_r


def _notes(t: Trains, values: dict[str, Floats], o_s: Floats, o_r: Floats, by_trains: Floats) -> tuple[str, ...]:
    busy = values["g"][0] + values["G"][0] * t.sizes_bytes
    found = (
        (np.median(t.gap_ns, axis=0) <= busy, "the gap was too short to empty the path", "o_s is doubtful"),
        (o_s + o_r > medians(t.single) / 2, "overheads exceed half a round trip", "L is doubtful"),
        (np.abs(by_trains - o_s) > _DISAGREE * np.maximum(by_trains, o_s), "spaced trains and the sender's clock "
         "disagree about o_s", "it is doubtful"),
    )  # fmt: skip
    return tuple(
        f"{what} at {', '.join(map(str, t.sizes_bytes[where]))} bytes: {so}" for where, what, so in found if where.any()
    )


def _not_negative(found: Estimate) -> Estimate:
    if found.high is not None and found.high < 0:
        return refusal(f"below zero: {found.value:.3g} {found.unit}", found.unit, found.level)
    return found
