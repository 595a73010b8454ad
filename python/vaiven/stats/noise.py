# SPDX-License-Identifier: BSD-3-Clause
"""Marks on a run that a reader must see beside its numbers: what disturbed it, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vaiven.stats.arrays import Floats, vector
from vaiven.stats.drift import Drift

SPREAD_MAX = 0.10  # robust deviation of launch medians
TAIL_MAX = 3.0  # p99 over median
LOSS_MAX = 0.001
FOREIGN_MAX = 0.01  # of the bytes seen


@dataclass(frozen=True, slots=True)
class Mark:
    """code: a word for programs. text: what is wrong, with its number. remedy: the next step."""

    code: str
    text: str
    remedy: str


def drift_marks(found: Drift) -> list[Mark]:
    """Of the sentinel: a trend, and blocks that are off."""
    if found.steady:
        return []
    remedy = "find what else used the hosts or the network, and measure again; blocks that are off can be left out"
    return [Mark("drift" if found.drifting else "block-off", found.text, remedy)]


def launch_marks(launch_ns: ArrayLike) -> list[Mark]:
    """Of one cell's launch medians (NaN left out): wide, or in two groups. Under 4 launches: nothing to say."""
    values = np.asarray(launch_ns, dtype=np.float64)
    values = values[np.isfinite(values)]
    if values.size < 4:
        return []
    marks = []
    spread = 1.4826 * float(np.median(np.abs(values / np.median(values) - 1)))
    groups = two_groups(values)
    if groups:
        low, high = groups
        text = f"launches fall in two groups, {high / low - 1:.0%} apart"
        marks.append(Mark("two-groups", text, "pin the processes, look at interrupt placement (vaiven doctor)"))
    elif spread > SPREAD_MAX:
        marks.append(Mark("wide", f"launches spread by {spread:.0%}", "more launches, and a quieter machine"))
    return marks


def two_groups(values: ArrayLike) -> tuple[float, float] | None:
    """(low, high) centres of two groups of launches of at least 2 each, or None.

    Groups: a gap in the sorted logs over 5 %, at least 3 times the largest other gap.
    """
    rising = np.sort(np.log(vector(values, "launch values")))
    gaps = np.diff(rising)
    if gaps.size < 3:
        return None
    at = int(np.argmax(gaps[1:-1])) + 1
    if gaps[at] < max(0.05, 3 * np.max(np.delete(gaps, at))):
        return None
    return float(np.exp(np.median(rising[: at + 1]))), float(np.exp(np.median(rising[at + 1 :])))


def tail_mark(median_ns: float, p99_ns: float) -> list[Mark]:
    """A tail that the median does not show."""
    if p99_ns <= TAIL_MAX * median_ns:
        return []
    text = f"one message in a hundred takes {p99_ns / median_ns:.0f} times the median or more"
    return [Mark("tail", text, "look at the distribution; pin processes, check load and steal (vaiven doctor)")]


def loss_mark(sent: int, lost: int) -> list[Mark]:
    """Lost messages are missing from the times: what is left is too good."""
    if sent <= 0 or lost <= LOSS_MAX * sent:
        return []
    return [Mark("loss", f"{lost} of {sent} messages were lost: the times are of the survivors", "look at drops")]


def traffic_mark(seen_bytes: ArrayLike, own_bytes: ArrayLike) -> list[Mark]:
    """Interface counts against what the probes sent, one number per launch each: somebody else's traffic."""
    seen: Floats = vector(seen_bytes, "seen bytes")
    own: Floats = vector(own_bytes, "own bytes")
    foreign = float(np.maximum(seen - own, 0).sum())
    if not seen.sum() or foreign <= FOREIGN_MAX * seen.sum():
        return []
    text = f"{foreign / seen.sum():.0%} of the bytes on the interface were not ours"
    return [Mark("traffic", text, "stop what else uses the network, or measure at another time")]
