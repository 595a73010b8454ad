# SPDX-License-Identifier: BSD-3-Clause
"""Marks on a run that a reader must see beside its numbers: what disturbed it, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vaiven.stats.arrays import Floats, vector
from vaiven.stats.drift import Drift
from vaiven.stats.median import interval_ranks

SPREAD_MAX = 0.10  # robust deviation of launch medians
TAIL_MAX = 3.0  # p99 over median
LOSS_MAX = 0.001
GROUPS_MIN = 0.05  # from the one to the other
FOREIGN_MAX = 0.01  # of the bytes seen
REPEATED_MAX = 1.5  # times the bytes that messages take
LONG_FRAMES_BYTES = 800  # mean of what was sent: beside shorter frames acknowledgements weigh
OFF_MAX = 0.5  # of a single block: so much is no neighbour on a processor, something else was on the network
STRAYS_LEVEL = 0.95
_AGAIN = "measure again when nothing else runs; of real machines vaiven doctor says what disturbs them"


@dataclass(frozen=True, slots=True)
class Mark:
    """code: a word for programs. text: what is wrong, with its number. remedy: the next step. extent: of two marks of
    one code the worse has the larger; 0 of what a run has once."""

    code: str
    text: str
    remedy: str
    extent: float = 0


def strays_withstood(launches: int) -> int:
    """So many launches the interval of a median leaves out at either end: whatever they took, they do not widen it."""
    ranks = interval_ranks(launches, STRAYS_LEVEL)
    return ranks[0] - 1 if ranks else 0


def drift_marks(found: Drift, wanted: float) -> list[Mark]:
    """Of the sentinel: a trend, and blocks that are off. wanted: how exactly the medians shall be known, relative.

    Blocks are named when more of them are off by more than that than a median withstands, or one by half.
    """
    off = [abs(change) for change in found.outside.values()]
    disturbed = sum(change > wanted for change in off) > strays_withstood(found.blocks) or max(off, default=0) > OFF_MAX
    if not found.drifting and not disturbed:
        return []
    remedy = "find what else used the hosts or the network, and measure again"
    return [Mark("drift" if found.drifting else "block-off", found.text, remedy)]


def launch_marks(launch_ns: ArrayLike, wanted: float) -> list[Mark]:
    """Of one cell's launch medians (NaN left out): wide, or in two groups. Under 4 launches: nothing to say.

    wanted: how exactly the median shall be known, relative: groups that are less apart are one to the reader.
    """
    values = np.asarray(launch_ns, dtype=np.float64)
    values = values[np.isfinite(values)]
    if values.size < 4:
        return []
    marks = []
    spread = 1.4826 * float(np.median(np.abs(values / np.median(values) - 1)))
    groups = two_groups(values, wanted)
    if groups:
        low, high = groups
        apart = high / low - 1
        marks.append(Mark("two-groups", f"launches fall in two groups, {100 * apart:.0f} % apart", _AGAIN, apart))
    elif spread > SPREAD_MAX:
        text = f"launches spread by {100 * spread:.0f} %"
        marks.append(Mark("wide", text, "more launches, and a quieter machine", spread))
    return marks


def two_groups(values: ArrayLike, wanted: float) -> tuple[float, float] | None:
    """(low, high) centres of two groups of launches, or None. Of fewer than 4 launches: None.

    Groups: a gap in the sorted logs over 5 % and over wanted, at least 3 times the largest other gap; the smaller
    group has 2 launches at least, and more than the median withstands.
    """
    rising = np.sort(np.log(vector(values, "launch values")))
    gaps = np.diff(rising)
    least = max(2, strays_withstood(rising.size) + 1)
    within = gaps[least - 1 : gaps.size - least + 1]
    if not within.size:
        return None
    at = int(np.argmax(within)) + least - 1
    if gaps[at] < max(GROUPS_MIN, np.log1p(wanted), 3 * np.max(np.delete(gaps, at))):
        return None
    return float(np.exp(np.median(rising[: at + 1]))), float(np.exp(np.median(rising[at + 1 :])))


def tail_mark(median_ns: float, p99_ns: float) -> list[Mark]:
    """A tail that the median does not show."""
    if p99_ns <= TAIL_MAX * median_ns:
        return []
    times = p99_ns / median_ns
    return [Mark("tail", f"one message in a hundred takes {times:.0f} times the median or more", _AGAIN, times)]


def loss_mark(sent: int, lost: int) -> list[Mark]:
    """Lost messages are missing from the times: what is left is too good."""
    if sent <= 0 or lost <= LOSS_MAX * sent:
        return []
    text = f"{lost} of {sent} messages were lost: the times are of the survivors"
    return [Mark("loss", text, "ip -s link on both hosts says where", lost / sent)]


def clock_mark(error_ns: int) -> list[Mark]:
    """Of times that began by one clock and ended by another, which are known to differ by no more than error_ns."""
    text = f"times one way are right to {error_ns / 1000:.3g} us, within which the hosts' clocks are known"
    return [Mark("bounded-clocks", text, "ask pingpong, which needs one clock, where that is too much", error_ns)]


def traffic_mark(seen_bytes: ArrayLike, own_bytes: ArrayLike) -> list[Mark]:
    """Interface counts against what the probes sent, one number per launch each: somebody else's traffic."""
    seen: Floats = vector(seen_bytes, "seen bytes")
    own: Floats = vector(own_bytes, "own bytes")
    foreign = float(np.maximum(seen - own, 0).sum())
    if not seen.sum() or foreign <= FOREIGN_MAX * seen.sum():
        return []
    text = f"{100 * foreign / seen.sum():.0f} % of the bytes on the interface were not ours"
    return [Mark("traffic", text, "stop what else uses the network, or measure at another time")]


def repeated_mark(sent_bytes: ArrayLike, sent_frames: ArrayLike, needed_bytes: ArrayLike) -> list[Mark]:
    """What left an interface against what its messages take, one number per launch each: a stack that sends them again.

    Nothing is said of launches of short frames.
    """
    sent, frames = vector(sent_bytes, "sent bytes"), vector(sent_frames, "sent frames")
    needed: Floats = vector(needed_bytes, "needed bytes")
    tells = (sent > LONG_FRAMES_BYTES * frames) & (needed > 0)
    times = sent[tells] / needed[tells]
    if not times.size or times.max() <= REPEATED_MAX:
        return []
    often = f"in {(times > REPEATED_MAX).sum()} of {times.size} launches, at most {times.max():.1f} times"
    remedy = "frames were lost, or it waits less than a frame waits for the wire: fewer receivers, or another stack"
    text = f"more bytes left its host than its messages are, {often}"
    return [Mark("sent-again", text, remedy, float(times.mean()))]  # how often and how much, in one number
