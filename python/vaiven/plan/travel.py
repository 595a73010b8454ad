# SPDX-License-Identifier: BSD-3-Clause
"""How long messages travel on some ground: a guess from the wire, the hosts and what software was seen to take.

Frames pass one station after the other: each hop of the link, then the server of a slow host at either end. The slowest
station decides for a long message, all of them for the first frame. A hub is one wire for everybody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vaiven.plan.ground import Ground
from vaiven.plan.schema import Link
from vaiven.plan.stack import Stack, over_tcp

ANY_LINK = Link(10**9)  # that nobody described
_AROUND_BYTES = 66  # of a full frame, beside its payload: addresses, checks and gap 38, IP and UDP 28
_SEGMENT_LESS_BYTES = 52  # that TCP's segment has less than the MTU
_DELAYED_ACK_S = 0.040  # for which a peer waits that got one segment


@dataclass(frozen=True)
class Cost:
    """What a stack takes beside the wire, a third more than what was seen on the labs of a quiet machine with two
    processors: others are slower, or busy.

    start_s: fresh processes until they are connected, and their end; far_s: more for each further far end. message_s:
    of software, one way. share: of the wire's time that its own protocol adds. session_s: before each message to many.
    again: how often a message to several crosses the wire in all, where what only waits for the wire is sent again.
    """

    start_s: float
    far_s: float = 0.025
    message_s: float = 50e-6
    share: float = 0.0
    session_s: float = 0.0
    again: int = 1


_COSTS = {
    "": Cost(0.03),
    "group": Cost(0.08),
    "udpcast": Cost(0.1, session_s=0.04),
    "uftp": Cost(0.1, session_s=0.08),
    "openmpi": Cost(0.6, 0.13),
    "mpich": Cost(0.35, 0.09),
    "pvm": Cost(0.22, 0.15, message_s=150e-6),
    "pvm-default": Cost(0.3, 0.15, message_s=300e-6, share=0.3, again=3),
}
_EMULATED_S = 0.3  # more of a launch, for each host whose programs are emulated


def cost(stack: Stack, ground: Ground) -> Cost:
    """Of that stack: its own, or that of its kind."""
    kinds = [stack.id, "pvm-default"] if "-default" in stack.id else [stack.id]
    kinds += [ground.library_of(stack.id), ""]
    return next(_COSTS[kind] for kind in kinds if kind in _COSTS)


def start_s(stack: Stack, hosts: Sequence[str], ground: Ground) -> float:
    """Seconds of a launch with these ends that are no messages. hosts: the near one first."""
    found = cost(stack, ground)
    emulated = sum(ground.of(host).emulated for host in set(hosts))
    return found.start_s + found.far_s * (len(hosts) - 2) + _EMULATED_S * emulated


def one_way_s(size_bytes: int, sender: str, receiver: str, stack: Stack, ground: Ground) -> float:
    """Seconds until the receiver has that message."""
    if stack.id == "null":  # it keeps a time of its own
        return 1e-6
    link, found = ground.link or ANY_LINK, cost(stack, ground)
    frame_bytes = min(size_bytes, link.mtu_bytes) + _AROUND_BYTES
    hop_s = 8 * frame_bytes / link.rate_bps
    servers = [ground.of(host).frame_s + ground.of(host).byte_s * frame_bytes for host in (sender, receiver)]
    stations = [hop_s] * link.hops + servers
    travel_s = sum(stations) + (_frames(size_bytes, link) - 1) * max(stations)
    waits_s = 0.0
    if ground.of(sender).one_segment and over_tcp(stack.id):
        waits_s = _DELAYED_ACK_S * max(0, -(-size_bytes // (link.mtu_bytes - _SEGMENT_LESS_BYTES)) - 1)
    return found.message_s + travel_s * (1 + found.share) + waits_s


def round_trip_s(size_bytes: int, near: str, far: str, stack: Stack, ground: Ground) -> float:
    """Seconds of that message there and back."""
    return one_way_s(size_bytes, near, far, stack, ground) + one_way_s(size_bytes, far, near, stack, ground)


def wire_s(size_bytes: int, ground: Ground) -> float:
    """Seconds for which one message takes one link: what a second one over the same link waits."""
    link = ground.link or ANY_LINK
    return 8 * (size_bytes + _frames(size_bytes, link) * _AROUND_BYTES) / link.rate_bps


def to_all_s(size_bytes: int, near: str, fars: Sequence[str], stack: Stack, ground: Ground) -> float:
    """Seconds until the last of these far ends has that message of the near one."""
    alone_s = max(one_way_s(size_bytes, near, far, stack, ground) for far in fars)
    copies = _copies(stack, len(fars), ground)
    if copies > 1:
        copies *= cost(stack, ground).again
    return alone_s + (copies - 1) * wire_s(size_bytes, ground)


def _copies(stack: Stack, receivers: int, ground: Ground) -> int:
    """How often a message to so many crosses the busiest wire, one time after the other."""
    known = ground.stacks.get(stack.id)
    if known is None or not known.to_all or dict(stack.options).get("to") == "each":
        return receivers
    if not known.library:
        return 1
    tree = known.ranked and ground.link is not None and ground.link.hops > 1
    return math.ceil(math.log2(receivers + 1)) if tree else receivers


def _frames(size_bytes: int, link: Link) -> int:
    return max(1, -(-size_bytes // link.mtu_bytes))
