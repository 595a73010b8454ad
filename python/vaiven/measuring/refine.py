# SPDX-License-Identifier: BSD-3-Clause
"""What the looks of a run add to its sizes: many around a knee, one in a gap that a straight line does not bridge."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vaiven import questions
from vaiven.model import refine
from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.plan.order import Key
from vaiven.plan.schema import Link, Plan
from vaiven.questions import Times
from vaiven.results.costs import knees_of
from vaiven.run.carry import Refiner
from vaiven.store.record import Addition


def refiner(plan: Plan, link: Link | None) -> Refiner | None:
    """Asked after each look; None for a plan without [refine].

    Knees come first, each of them once, those that come back too rarely among them: there a few sizes more decide.
    What is left of sizes_max goes to the gaps that miss most.
    """
    if not plan.refine:
        return None
    wanted = plan.refine

    def additions(
        key: Key, medians_ns: Mapping[int, Mapping[int, float]], wire_ns: Mapping[int, int], past: Sequence[Addition]
    ) -> Sequence[Addition]:
        room = wanted.sizes_max - sum(len(one.sizes_bytes) for one in past)
        if not questions.ALL[key[1]].sizes or room <= 0:
            return []
        times = _times(key, medians_ns, wire_ns)
        found = list(_knees(key, times, past, room, plan.seed, link.mtu_bytes if link else None))
        room -= sum(len(one.sizes_bytes) for one in found)
        return [*found, *_gaps(key, times, [*past, *found], room, wanted.tolerance)]

    return additions


def _times(key: Key, medians_ns: Mapping[int, Mapping[int, float]], wire_ns: Mapping[int, int]) -> LaunchTimes:
    """One way; with the wire, whose staircase is no knee, where it is known of all sizes."""

    stack, ask, near, far = key
    rows = [
        (block, size, ns if math.isfinite(ns) else math.nan)
        for size, of_block in medians_ns.items()
        for block, ns in of_block.items()
    ]
    blocks, sizes, ns = zip(*rows, strict=True)
    question = questions.ALL[ask]
    stored = Direction.ONE_WAY if question.times is Times.ONE_WAY else Direction.ROUND_TRIP
    counts = [1] * len(rows)
    columns = blocks, blocks, sizes, ns, counts
    times = LaunchTimes.from_columns(stack, stored, Statistic.TYPICAL, *columns, near, far, ask)
    wire = [wire_ns.get(int(size), math.nan) for size in times.sizes_bytes]
    known = question.ways and not any(map(math.isnan, wire))
    return replace(times.one_way(), wire_ns=np.array(wire) if known else None)


def _knees(
    key: Key, times: LaunchTimes, past: Sequence[Addition], room: int, seed: int, mtu_bytes: int | None
) -> Iterator[Addition]:
    found = knees_of(times, seed, mtu_bytes)
    for knee in (*found.knees, *found.doubtful):
        at, span = knee.size.number(), refine.place(knee, times.sizes_bytes)
        if any(one.knee and one.low_bytes <= at <= one.high_bytes for one in past):
            continue
        sizes = refine.around(knee, times.sizes_bytes, min(room, refine.AROUND))
        if sizes.size:
            room -= sizes.size
            seen = f"a {knee.kind.value} near {at:.0f} bytes" + ("" if knee in found.knees else ", perhaps")
            yield _addition(key, sizes, seen, span, knee=True)


def _gaps(key: Key, times: LaunchTimes, past: Sequence[Addition], room: int, tolerance: float) -> Iterator[Addition]:
    """One addition for all gaps that are halved; those around a knee have their sizes."""
    miss = refine.sure_error(times.sizes_bytes, times.ns)
    closed = [(one.low_bytes, one.high_bytes) for one in past if one.knee]
    sizes = refine.bisect(times.sizes_bytes, miss, room, tolerance, closed)
    if sizes.size:
        why = f"neighbours mispredict sizes by up to {100 * miss.max():.0f} %"
        span = times.sizes_bytes[times.sizes_bytes < sizes[0]][-1], times.sizes_bytes[times.sizes_bytes > sizes[-1]][0]
        yield _addition(key, sizes, why, (float(span[0]), float(span[1])), knee=False)


def _addition(key: Key, sizes: Iterable[int], why: str, span: tuple[float, float], *, knee: bool) -> Addition:
    stack, ask, near, far = key
    return Addition(
        stack=stack, ask=ask, near=near, far=far, sizes_bytes=tuple(int(size) for size in sizes), why=why, knee=knee,
        low_bytes=span[0], high_bytes=span[1],
    )  # fmt: skip
