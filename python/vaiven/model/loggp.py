# SPDX-License-Identifier: BSD-3-Clause
"""LogGP: where the start-up goes. o_s and o_r, what a message costs the processors; g and G, the gap between messages
and between bytes; L, the latency that nobody's processor pays.

From PRTT(k, d, s): the time from sending the first of k messages of s bytes, d apart, until one reply is back
(Hoefler, Lichei and Rehm 2007). g + G s = (PRTT(k,0,s) - PRTT(1,0,s))/(k-1); o_s and o_r by the clock of the host
that sends and receives; L = PRTT(1,0,s_min)/2 - o_s - o_r. A second o_s, (PRTT(k,d,s) - PRTT(1,0,s))/(k-1) - d with
d > g + G s, long enough to empty the path, checks the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vaiven.errors import VaivenError
from vaiven.model.line import SIZES_MIN, weighted_line
from vaiven.stats.arrays import Floats, Ints, medians
from vaiven.stats.bootstrap import RESAMPLES, interval, launch_draws, resampled, too_few
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
    launches = trains.single.shape[0]
    values = _parameters(trains, medians)
    why = ""
    if launches < LAUNCHES_MIN:
        why = too_few(launches)
    elif sizes.size < SIZES_MIN:
        why = f"too few sizes: {sizes.size} of {SIZES_MIN}"
    if why:
        found = {name: refusal(why, unit, level) for name, unit in UNITS.items()}
    else:
        draws = launch_draws(launches, RESAMPLES, rng)
        drawn = _parameters(trains, lambda values: resampled(values, draws))
        found = {
            name: _not_negative(interval(drawn[name], float(values[name]), unit, launches, level))
            for name, unit in UNITS.items()
        }
    o_s, o_r = medians(trains.send), medians(trains.receive)
    by_trains = medians((trains.spaced - trains.single) / (trains.k - 1) - trains.gap_ns)
    gaps = medians((trains.burst - trains.single) / (trains.k - 1))
    return LogGP(
        trains.near, trains.far, trains.stack, sizes, o_s_ns=o_s, o_r_ns=o_r, o_s_prtt_ns=by_trains, gap_ns=gaps,
        notes=_notes(trains, values, o_s, o_r, by_trains), **found,
    )  # fmt: skip


def _parameters(t: Trains, centre: Callable[[Floats], Floats]) -> dict[str, Floats]:
    """All parameters; centre: makes (..., S) of the (L, S) of all launches."""
    gaps, single = centre((t.burst - t.single) / (t.k - 1)), centre(t.single)
    o_s, o_r = centre(t.send)[..., 0], centre(t.receive)[..., 0]
    g, per_byte = weighted_line(t.sizes_bytes, gaps)
    return {"o_s": o_s, "o_r": o_r, "g": g, "G": per_byte, "L": single[..., 0] / 2 - o_s - o_r}


def _notes(t: Trains, values: dict[str, Floats], o_s: Floats, o_r: Floats, by_trains: Floats) -> tuple[str, ...]:
    busy = values["g"] + values["G"] * t.sizes_bytes
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
