# SPDX-License-Identifier: BSD-3-Clause
"""How fast the path between two hosts seems to be, where nobody but its cards says how fast it should be.

Software of different layers saturates at different rates; a cable, a port or an uplink that is slower than the cards
saturates them all alike. So where stacks of different kinds put the same number of bits on the wire per second with
long messages, no more with longer ones, and far fewer than the cards' rate, something in the path is taken to be why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vaiven.model.frames import stack_id

STANDARD_BPS = (10e6, 100e6, 1e9, 2.5e9, 5e9, 10e9, 25e9, 40e9, 50e9, 100e9, 200e9, 400e9)
FAR_BELOW = 0.5  # of the link's rate: a faster path is not called another one
ALIKE = 0.08  # stacks that saturate together, and a stack that does so by itself, differ by no more
FULL = 0.85  # of a standard rate: long messages that take so much of it, and not more, are taken to run at it
FRAMES_MIN = 8  # messages of fewer frames wait for each other more than for the wire


@dataclass(frozen=True, slots=True)
class Load:
    """One size of one stack: what one message is on the wire, gaps and all, and how long it takes one way."""

    stack: str
    frames: int
    wire_bytes: int
    ns: float

    @property
    def bps(self) -> float:
        """What it takes of the line while it travels, in bit/s."""
        return 8e9 * self.wire_bytes / self.ns


@dataclass(frozen=True, slots=True)
class PathSpeed:
    """bps: what the path seems to carry, rounded to a standard rate where one is near. measured_bps: of the fastest
    stack, on the wire. link_bps: what the cards say. stacks: those that saturate together there."""

    bps: float
    measured_bps: float
    link_bps: float
    stacks: tuple[str, ...]


def path_speed(loads: Sequence[Load], link_bps: float) -> PathSpeed | None:
    """Of all sizes of all stacks between two hosts; None where nothing tells that the path is slower than the link."""
    tops = {stack: top for stack in dict.fromkeys(one.stack for one in loads) if (top := _top(loads, stack))}
    if not tops:
        return None
    fastest = max(tops.values())
    together = tuple(stack for stack, bps in tops.items() if bps >= (1 - ALIKE) * fastest)
    near = next((rate for rate in STANDARD_BPS if FULL * rate <= fastest <= 1.02 * rate), None)
    kinds = {_kind(stack) for stack in together}
    if fastest >= FAR_BELOW * link_bps or (len(kinds) < 2 and near is None):
        return None
    return PathSpeed(near or fastest, fastest, link_bps, together)


def _top(loads: Sequence[Load], stack: str) -> float | None:
    """What the stack takes of the line with its longest messages; None unless half as long ones took as much."""
    long = sorted((one for one in loads if one.stack == stack and one.frames >= FRAMES_MIN), key=lambda one: one.frames)
    if len(long) < 2 or abs(long[-2].bps / long[-1].bps - 1) > ALIKE:
        return None
    return long[-1].bps


def _kind(stack: str) -> str:
    """tcp and tcp-nagle are the same software."""
    return stack_id(stack).partition("-")[0]
