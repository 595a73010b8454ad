# SPDX-License-Identifier: BSD-3-Clause
"""TCP's slow start: what was seen of a connection as bursts, and what the rule says they should be. Pure.

A connection begins with a window of a few segments, and each acknowledged segment lets one more be on its way (RFC
5681): 1, 2, 4, ... in each round trip, until the wire is busy all the time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vaiven.stats.estimate import Estimate

_AROUND_BYTES = 38  # of a frame, beside its packet: addresses and type 14, preamble 8, check sequence 4, gap 12
_SYN_BYTES = 98  # and its answer's, as they cross a link: options 20 of 40, and no data


@dataclass(frozen=True)
class Step:
    """What the sender of a message saw: it sent segments, or heard that some had come.

    at_ns: since the message was begun. sent_bytes: of the message, up to and with these; acked_bytes: of the message,
    that the other end has. One of the two is 0: a step is one or the other.
    """

    at_ns: float
    sent_bytes: int = 0
    acked_bytes: int = 0


def bursts(steps: Iterable[Step], segment_bytes: int) -> tuple[int, ...]:
    """How many segments left in each round: the first are those that no acknowledgement of the message had preceded.

    A round ends when something that was sent in it is acknowledged; a last segment that is not full counts whole.
    """
    counts: list[int] = []
    first_of_round = sent = 0
    open_round = True
    for step in steps:
        if step.acked_bytes > first_of_round:
            open_round = True
            first_of_round = max(sent, step.acked_bytes)
        if step.sent_bytes > sent:
            if open_round:
                counts.append(0)
                open_round = False
            counts[-1] += -(-(step.sent_bytes - sent) // segment_bytes)
            sent = step.sent_bytes
    return tuple(counts)


def doubling(window_segments: int, segments: int) -> tuple[int, ...]:
    """The rule alone: rounds of window, twice that, four times, ... until so many segments have left."""
    rounds: list[int] = []
    while (left := segments - sum(rounds)) > 0:
        rounds.append(min(left, window_segments << len(rounds)))
    return tuple(rounds)


@dataclass(frozen=True)
class Look:
    """What was seen of one message of a connection. steps: of its sender. came: (ns, bytes) when so much of it had come
    to the other end, by that one's clock."""

    segment_bytes: int
    steps: tuple[Step, ...]
    came: tuple[tuple[float, int], ...]

    @property
    def bursts(self) -> tuple[int, ...]:
        """Segments by round."""
        return bursts(self.steps, self.segment_bytes)


def look(rows: Sequence[Mapping[str, Any]]) -> Look | None:
    """What these rows (store.query.traces) say of the first message of their connection, from the near end to the far.

    None where one end saw nothing, or missed a segment.
    """
    near, far = ([row for row in rows if row["end"] == end] for end in ("near", "far"))
    if not near or any(row["dropped"] for row in rows):
        return None
    began_ns = near[0]["began_ns"]
    sent = [(row["at_ns"] - began_ns, row["seq"] + row["data_bytes"]) for row in near if _carries(row, True)]
    steps = [Step(at_ns, sent_bytes=count) for at_ns, count in sent]
    reached = 0
    for row in near:
        if not row["out"] and row["ack"] > reached:
            reached = row["ack"]
            steps.append(Step(row["at_ns"] - began_ns, acked_bytes=reached))
    came = ((row["at_ns"] - began_ns, row["seq"] + row["data_bytes"]) for row in far if _carries(row, False))
    return Look(near[0]["segment_bytes"], tuple(sorted(steps, key=lambda step: step.at_ns)), tuple(came))


def _carries(row: Mapping[str, Any], out: bool) -> bool:
    return bool(row["out"] == out and row["data_bytes"] > 0)


@dataclass(frozen=True)
class Wire:
    """What a connection finds: segment_ns takes each full segment on the slowest link; round_trip_ns takes a lone one
    until its acknowledgement is back."""

    segment_ns: float
    round_trip_ns: float


def simulated(size_bytes: int, segment_bytes: int, window_segments: int, wire: Wire) -> tuple[Step, ...]:
    """The same steps as the rule has them on that wire, where each segment is acknowledged when it comes.

    Segments leave as the window lets them, and pass the slowest link one after the other; nothing is lost.
    """
    steps: list[Step] = []
    acks: deque[tuple[float, int]] = deque()  # when each comes back, and up to where
    now_ns = free_ns = 0.0
    sent = acked = 0
    window = window_segments * segment_bytes
    while acked < size_bytes:
        while sent < size_bytes and sent - acked < window:
            sent = min(sent + segment_bytes, size_bytes)
            free_ns = max(now_ns, free_ns) + wire.segment_ns
            steps.append(Step(now_ns, sent_bytes=sent))
            acks.append((free_ns - wire.segment_ns + wire.round_trip_ns, sent))
        now_ns, acked = acks.popleft()
        steps.append(Step(now_ns, acked_bytes=acked))
        window += segment_bytes
    return tuple(steps)


def cost_ns(size_bytes: int, segment_bytes: int, window_segments: int, wire: Wire) -> float:
    """By how much such a message is slower than one whose window never keeps it, by the rule."""
    every = -(-size_bytes // segment_bytes)
    slow, warm = (simulated(size_bytes, segment_bytes, window, wire) for window in (window_segments, every))
    return slow[-1].at_ns - warm[-1].at_ns


def wire_of(rate_bps: float, hops: int, mtu_bytes: int, connect_ns: float) -> Wire:
    """What a link of that kind is to a connection that took so long to open: a SYN there and back."""
    full_ns, syn_ns = (8e9 * size / rate_bps for size in (mtu_bytes + _AROUND_BYTES, _SYN_BYTES))
    return Wire(full_ns, connect_ns + hops * (full_ns - syn_ns))


@dataclass(frozen=True)
class Windows:
    """TCP's congestion window in segments, medians: when the connection stands, then behind each message, the last of
    them after a pause. threshold: where slow start ends, None while nobody knows."""

    initial: float | None
    first: float | None
    second: float | None
    warm: float | None
    idled: float | None
    threshold: float | None


@dataclass(frozen=True)
class Opening:
    """What fresh connections of one stack cost with messages of one size. Times are medians of launch medians.

    connect_ns: until the connection stands, a round trip. first_ns, second_ns: its first messages, one way; warm_ns:
    one when the window has grown; idled_ns: after a pause in which TCP forgets it. over_warm: first / warm - 1, by
    launches, typical_over_warm its median. bursts: segments of the first message by round, as most launches saw it;
    rule: the same from the initial window on, doubling. rule_over_warm: what that alone would make of over_warm; None
    where the link or the window is not known. look: the first message of one connection, None where none was looked
    at; expected: what the rule would have made of it, no steps where the link or the window is not known.
    """

    stack: str
    near: str
    far: str
    size_bytes: int
    connect_ns: float
    first_ns: float
    second_ns: float
    warm_ns: float
    idled_ns: float
    typical_over_warm: float
    over_warm: Estimate
    windows: Windows
    bursts: tuple[int, ...]
    rule: tuple[int, ...]
    rule_over_warm: float | None
    look: Look | None
    expected: tuple[Step, ...]
