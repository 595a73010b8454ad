# SPDX-License-Identifier: BSD-3-Clause
"""What each host adds to a message: the times between pairs of hosts taken apart.

A message of one frame passes its sender and its receiver one after the other, so its time is what the one takes and
what the other takes, t_ij(n) = (alpha_i + alpha_j) + (beta_i + beta_j) n, and the times of enough pairs say what each
takes: the wire's own is shared out equally. Longer messages overlap in the hosts that they pass, and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from vaiven.model.times import LaunchTimes
from vaiven.stats.arrays import Floats
from vaiven.stats.bootstrap import RESAMPLES, centres, interval, launch_draws, too_few
from vaiven.stats.estimate import Estimate, refusal
from vaiven.stats.launches import LAUNCHES_MIN

ONE_FRAME_BYTES = 1400  # what every stack brings into one frame of an MTU of 1500
SIZES_MIN = 3


@dataclass(frozen=True)
class Station:
    """alpha, in ns: what a host takes of a message of no bytes; beta, in ns/byte: of each byte of it."""

    host: str
    alpha: Estimate
    beta: Estimate


def stations(times: Sequence[LaunchTimes], rng: np.random.Generator) -> tuple[Station, ...]:
    """Of one stack between several pairs, by host; () where the pairs are too few to tell hosts apart, or the sizes.

    Pairs tell hosts apart where they join each host with each other in a ring of odd length, as all pairs of three do.
    """
    one_way = [one.one_way() for one in times]
    hosts = sorted({host for one in one_way for host in (one.near, one.far)})
    joins = np.array([[(one.near == host) + (one.far == host) for host in hosts] for one in one_way], dtype=np.float64)
    if not one_way or np.linalg.matrix_rank(joins) < len(hosts):
        return ()
    shared = reduce(np.intersect1d, (one.sizes_bytes for one in one_way))
    short = shared[shared <= ONE_FRAME_BYTES]
    sizes = short.astype(np.float64)
    blocks = reduce(np.intersect1d, (one.blocks for one in one_way))
    if sizes.size < SIZES_MIN or not blocks.size:
        return ()
    grids = [one.at_sizes(short).ns[np.isin(one.blocks, blocks)] for one in one_way]
    if any(not np.isfinite(one).all() or len(one) != blocks.size for one in grids):
        return ()
    solve = np.linalg.pinv(joins)
    lines = np.array([_lines(sizes, np.exp(np.median(np.log(one), axis=0))[np.newaxis]) for one in grids])
    value = np.tensordot(solve, lines, axes=1)[..., 0]
    draws = launch_draws(blocks.size, RESAMPLES, rng)
    drawn = np.tensordot(solve, np.array([_lines(sizes, centres(one, draws)) for one in grids]), axes=1)
    return tuple(
        Station(host, *(_said(value[place, letter], drawn[place, letter], unit, blocks.size)
                        for letter, unit in enumerate(("ns", "ns/byte"))))
        for place, host in enumerate(hosts)
    )  # fmt: skip


def _lines(sizes_bytes: Floats, ns: Floats) -> Floats:
    """(2, B): intercept and slope of the straight line through each row of (B, S)."""
    away = sizes_bytes - sizes_bytes.mean()
    slope = (ns * away).sum(axis=1) / (away**2).sum()
    return np.array([ns.mean(axis=1) - slope * sizes_bytes.mean(), slope])


def _said(value: float, drawn: Floats, unit: str, launches: int) -> Estimate:
    if launches < LAUNCHES_MIN:
        return refusal(too_few(launches), unit)
    return interval(drawn, float(value), unit, launches)
