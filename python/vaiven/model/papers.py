# SPDX-License-Identifier: BSD-3-Clause
"""The estimators of the published measurements, beside ours: they are what their numbers must be compared with.

Latency by the empty (or one-unit) message, mean over repetitions; cost per byte at each size as (t - latency)/n;
and the unweighted straight line through the mean times, whose intercept the longest messages decide. They carry no
intervals, as published.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vaiven.model.times import Direction, LaunchTimes, Statistic
from vaiven.stats.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class PapersModel:
    """What the published methods say of the same launches; one direction, one statistic.

    latency_ns: mean time of the smallest message, latency_size_bytes long (0 or 1), None if neither was measured.
    tau_ns_per_byte: (S,) (t(n) - latency)/n, NaN at that size and below. intercept_ns, slope_ns_per_byte: the
    unweighted line, None with under 2 sizes. refused: what is missing, one clause for each None.
    """

    stack: str
    direction: Direction
    statistic: Statistic
    repetitions: int
    sizes_bytes: Ints
    mean_ns: Floats
    latency_ns: float | None
    latency_size_bytes: int | None
    tau_ns_per_byte: Floats
    intercept_ns: float | None
    slope_ns_per_byte: float | None
    refused: tuple[str, ...] = ()


def papers_model(times: LaunchTimes) -> PapersModel:
    """All three estimators of one stack; sizes without any time are left out."""
    there: Bools = np.any(np.isfinite(times.ns), axis=0)
    sizes = times.sizes_bytes[there]
    mean = np.nanmean(times.ns[:, there], axis=0)
    refused: list[str] = []
    latency = empty_message(sizes, mean)
    if latency is None:
        refused.append("latency: neither an empty nor a one-byte message was measured")
    if sizes.size < 2:
        refused.append(f"straight line: {sizes.size} of 2 sizes")
        intercept = slope = None
    else:
        intercept, slope = straight_line(sizes, mean)
    return PapersModel(
        stack=times.stack,
        direction=times.direction,
        statistic=times.statistic,
        repetitions=int(times.samples.sum()),
        sizes_bytes=sizes,
        mean_ns=mean,
        latency_ns=latency[1] if latency else None,
        latency_size_bytes=latency[0] if latency else None,
        tau_ns_per_byte=per_byte(sizes, mean, *latency) if latency else np.full(sizes.size, np.nan),
        intercept_ns=intercept,
        slope_ns_per_byte=slope,
        refused=tuple(refused),
    )


def empty_message(sizes_bytes: Ints, mean_ns: Floats) -> tuple[int, float] | None:
    """(size, ns) of the empty message, else of the one-byte message, else None."""
    for size in (0, 1):
        at = np.flatnonzero(sizes_bytes == size)
        if at.size:
            return size, float(mean_ns[at[0]])
    return None


def per_byte(sizes_bytes: Ints, mean_ns: Floats, latency_size_bytes: int, latency_ns: float) -> Floats:
    """(t(n) - latency)/n, ns per byte; NaN up to the size that gave the latency."""
    n = np.where(sizes_bytes > latency_size_bytes, sizes_bytes, 1)
    return np.where(sizes_bytes > latency_size_bytes, (mean_ns - latency_ns) / n, np.nan)


def straight_line(sizes_bytes: Ints, ns: Floats) -> tuple[float, float]:
    """(intercept_ns, slope_ns_per_byte) of ordinary least squares; at least 2 sizes."""
    n = sizes_bytes.astype(np.float64)
    away = n - n.mean()
    slope = float((away * (ns - ns.mean())).sum() / (away**2).sum())
    return float(ns.mean() - slope * n.mean()), slope
