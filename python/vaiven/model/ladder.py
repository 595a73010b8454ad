# SPDX-License-Identifier: BSD-3-Clause
"""The ladder: what each layer adds over the one below, by size, adding up to the whole; and which one is to blame.

All rungs are one way. The lowest is the wire: the time that the top stack's own frames take, computed. Each further one
is the software of a stack measured in the same blocks, its time less that of its own frames, over the software of the
stack below. So the headers that a layer puts on the wire count as wire, there as everywhere else. Overheads are
differences of centres over the same blocks and add up to the top stack exactly; intervals come from drawing blocks, all
rungs together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vaiven.errors import VaivenError
from vaiven.model.times import LaunchTimes, common_sizes, paired, same_kind
from vaiven.stats.arrays import Floats, Ints
from vaiven.stats.bootstrap import band, centres, launch_draws, too_few
from vaiven.stats.launches import LAUNCHES_MIN

RESAMPLES = 2000
WIRE = "wire"


@dataclass(frozen=True, eq=False)
class Rung:
    """What `name` adds over `over` ("" for the lowest): (S,) ns one way, with its interval.

    share: of the whole time of the top stack. cpu_share: of the whole, CPU time of both ends per message of this
    stack (not only of what it adds), NaN where it is not known. below_zero: sizes where the stack is faster than the
    one below, interval and all: then it is not a layer on top of it.
    """

    name: str
    over: str
    ns: Floats
    low_ns: Floats
    high_ns: Floats
    share: Floats
    cpu_share: Floats
    below_zero: Ints


@dataclass(frozen=True, eq=False)
class Ladder:
    """rungs: from the wire up. total_ns: (S,) of the top stack, the sum of all rungs. refused: why there are no
    intervals; the rungs' low and high are NaN then."""

    sizes_bytes: Ints
    rungs: tuple[Rung, ...]
    total_ns: Floats
    launches: int
    refused: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(rung.name for rung in self.rungs)


@dataclass(frozen=True, slots=True)
class Blame:
    """The layer that adds most at one size. certain: its interval lies above every other layer's."""

    size_bytes: int
    name: str
    ns: float
    share: float
    certain: bool
    text: str


def ladder(
    stacks: Sequence[LaunchTimes],
    rng: np.random.Generator,
    cpu_ns: Sequence[Floats | None] = (),
    level: float = 0.95,
) -> Ladder:
    """stacks: from the leanest up, measured in the same blocks; without the wire unless all know theirs. cpu_ns: (S,)
    per message and stack, both ends together.

    Raises VaivenError: "too-few" (no stack), "different-kind", "no-common-size", "no-common-block".
    """
    aligned = _aligned(stacks)
    sizes, wire = aligned[0].sizes_bytes, aligned[-1].wire_ns
    centre = [t.centre_ns() for t in aligned]
    launches = aligned[0].launches.size
    drawn, refused = _drawn(aligned, rng)
    total = centre[-1]
    rungs = []
    if wire is not None:
        rungs.append(_rung(WIRE, "", wire, (wire, wire), total, np.full(sizes.size, np.nan), sizes))
    software = [t.above(c) for t, c in zip(aligned, centre, strict=True)]
    redrawn = [t.above(d) for t, d in zip(aligned, drawn, strict=True)]
    for k, times in enumerate(aligned):
        below, below_drawn = (software[k - 1], redrawn[k - 1]) if k else (0.0, 0.0)
        over = aligned[k - 1].stack if k else (WIRE if wire is not None else "")
        cpu = _cpu(cpu_ns[k] if k < len(cpu_ns) else None, stacks[k], sizes)
        ends = (drawn[k][0],) * 2 if refused else band(redrawn[k] - below_drawn, launches, level)
        rungs.append(_rung(times.stack, over, software[k] - below, ends, total, cpu, sizes))
    return Ladder(sizes, tuple(rungs), total, launches, refused)


def blame(found: Ladder, size_bytes: int) -> Blame:
    """The rung above the wire that adds most at a size of the ladder. Raises VaivenError ("bad-sizes")."""
    at = np.flatnonzero(found.sizes_bytes == size_bytes)
    if not at.size:
        raise VaivenError(f"size {size_bytes} is not on the ladder", code="bad-sizes")
    i = int(at[0])
    software = [r for r in found.rungs if r.name != WIRE]
    worst = max(software, key=lambda r: r.ns[i])
    others = [r.high_ns[i] for r in software if r is not worst]
    certain = bool(worst.low_ns[i] > max(others, default=-np.inf))
    return Blame(
        size_bytes, worst.name, float(worst.ns[i]), float(worst.share[i]), certain, _words(found, worst, i, certain)
    )


def _aligned(stacks: Sequence[LaunchTimes]) -> list[LaunchTimes]:
    """All of them one way, with the sizes and blocks that all have times for; and with their wire, or none of them."""
    if not stacks:
        raise VaivenError("a ladder needs at least one stack", code="too-few")
    one_way = [t.one_way() for t in stacks]
    for other in one_way[1:]:
        same_kind(one_way[0], other)
        sizes = common_sizes(one_way[0], other)
        one_way[0] = paired(one_way[0].at_sizes(sizes), other.at_sizes(sizes))[0]
    out = [one_way[0], *(paired(one_way[0], t.at_sizes(one_way[0].sizes_bytes))[1] for t in one_way[1:])]
    whole = out[0].sizes_bytes[np.all([np.isfinite(t.centre_ns()) for t in out], axis=0)]
    if not whole.size:
        raise VaivenError("no size has a time from every stack", code="no-common-size")
    out = [t.at_sizes(whole) for t in out]
    known = all(t.wire_ns is not None for t in out)
    return out if known else [replace(t, wire_ns=None) for t in out]


def _drawn(aligned: list[LaunchTimes], rng: np.random.Generator) -> tuple[list[Floats], str]:
    launches = aligned[0].launches.size
    if launches < LAUNCHES_MIN:
        return [np.full((1, t.sizes_bytes.size), np.nan) for t in aligned], too_few(launches)
    draws = launch_draws(launches, RESAMPLES, rng)
    return [centres(t.ns, draws) for t in aligned], ""


def _rung(
    name: str, over: str, ns: Floats, ends: tuple[Floats, Floats], total: Floats, cpu: Floats, sizes: Ints
) -> Rung:
    low, high = ends
    return Rung(name, over, ns, low, high, ns / total, cpu / total, sizes[high < 0])


def _cpu(cpu_ns: Floats | None, times: LaunchTimes, sizes: Ints) -> Floats:
    if cpu_ns is None:
        return np.full(sizes.size, np.nan)
    return np.asarray(cpu_ns, dtype=np.float64)[np.isin(times.sizes_bytes, sizes)]


def _words(found: Ladder, worst: Rung, i: int, certain: bool) -> str:
    size, total = found.sizes_bytes[i], found.total_ns[i]
    wire = next((r for r in found.rungs if r.name == WIRE), None)
    lead = "" if certain else "probably "
    text = f"at {size} bytes {worst.name} adds most: {lead}{worst.ns[i] / 1e3:.3g} of {total / 1e3:.3g} us"
    if found.refused:
        text += f" ({found.refused})"
    if wire is not None and wire.share[i] >= 0.5:
        text += f"; but the wire itself takes {100 * wire.share[i]:.0f} %: only a faster network would help much"
    cpu = found.rungs[-1].cpu_share[i]
    if np.isfinite(cpu):
        text += f"; the processors work for {100 * cpu:.0f} % of the whole"
    return text
