# SPDX-License-Identifier: BSD-3-Clause
"""The staircase that Ethernet frames cut into a cost curve, as a rival of every knee.

t(n) = alpha + beta n + step (frames(n) - 1): what looks like a change of protocol is often only one frame more.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from vaiven.stats.arrays import Floats, Ints

MTUS_BYTES = (576, 1500, 9000)
DATA_BYTES_MIN = 46  # IEEE 802.3: a frame with less data is padded
_AROUND_BYTES = 38  # of every frame, on the wire: addresses and type 14, preamble 8, check sequence 4, gap 12
STEPS_DRAWN = 64  # beyond so many frames one more is less than a line is thick


class Path(StrEnum):
    """The headers that a message travels under."""

    ICMP = "icmp"
    ETH = "eth"
    LLC = "llc"
    LLC_JUMBO = "llc-jumbo"
    LLC_KERNEL = "llc-kernel"
    UDP = "udp"
    TCP = "tcp"
    RAW = "raw"


def stack_id(name: str) -> str:
    """A stack without its options and its side: "tcp" of "tcp[write=split]@after"."""
    return name.partition("@")[0].partition("[")[0]


# Of every frame but UDP's and ICMP's later fragments. IPv4 without options 20; echo and UDP 8; TCP 20 and 12 of
# timestamps (RFC 7323); LLC 3 and the header of the fragments of stack eth 16; LLC type 2 takes 4, and our stations put
# marks before the data, 14 bytes in the first frame of a message and 6 in the others (src/core/wire/segment.h). Raw
# puts the header of a fragment, 16, behind UDP's.
_HEADER_BYTES = {
    Path.ICMP: 28, Path.ETH: 19, Path.LLC: 18, Path.LLC_JUMBO: 18, Path.LLC_KERNEL: 4, Path.UDP: 28, Path.TCP: 52,
    Path.RAW: 44,
}  # fmt: skip
# How much shorter the headers of later frames are: of IP's fragments only the first has UDP's or the echo's.
_LATER_LESS_BYTES = {Path.ICMP: 8, Path.UDP: 8, Path.LLC: 8, Path.LLC_JUMBO: 8}
# A length field says no more than 1500 (IEEE 802.3); jumbo frames of LLC are taken to carry so much at most.
_DATA_BYTES_MAX = {Path.ETH: 1500, Path.LLC: 1500, Path.LLC_KERNEL: 1500, Path.LLC_JUMBO: 9216}


@dataclass(frozen=True, slots=True)
class Wire:
    """The links between two hosts: hops equal ones, one after the other."""

    rate_bps: int
    hops: int
    mtu_bytes: int


@dataclass(frozen=True, slots=True)
class FrameLimits:
    """How a path cuts messages: first_bytes of payload fit one frame, each further frame takes next_bytes more."""

    name: str
    first_bytes: int
    next_bytes: int

    def frames(self, sizes_bytes: ArrayLike) -> Ints:
        """Data frames of those messages; an empty one still takes one."""
        beyond = np.maximum(np.asarray(sizes_bytes, dtype=np.int64) - self.first_bytes, 0)
        return 1 + -(-beyond // self.next_bytes)

    def edges_bytes(self, up_to_bytes: int) -> Ints:
        """The largest size of every count of frames, up to that size."""
        return np.arange(self.first_bytes, up_to_bytes + 1, self.next_bytes, dtype=np.int64)


def frame_limits(path: Path, mtu_bytes: int) -> FrameLimits:
    """Fragments of IPv4 carry multiples of 8 bytes (RFC 791). mtu_bytes >= 68."""
    assert mtu_bytes >= 68
    mtu_bytes = min(mtu_bytes, _DATA_BYTES_MAX.get(path, mtu_bytes))
    name, first = f"{path.value} in frames of MTU {mtu_bytes}", mtu_bytes - _HEADER_BYTES[path]
    later = first + _LATER_LESS_BYTES.get(path, 0)
    return FrameLimits(name, first, later // 8 * 8 if path in (Path.ICMP, Path.UDP) else later)


def wire_ns(path: Path, link: Wire, sizes_bytes: ArrayLike) -> Floats:
    """What the frames of those messages take on all links of the path, one way: vv_message_ns of the probe.

    That is all frames on one link, and the largest of them on each of the others (src/core/ethernet/message.h).
    """
    sizes, limits = np.asarray(sizes_bytes, dtype=np.int64), frame_limits(path, link.mtu_bytes)
    later = limits.frames(sizes) - 1
    full = _on_wire(limits.next_bytes + _later_header_bytes(path))
    last = _on_wire(sizes - later * limits.next_bytes + _HEADER_BYTES[path])
    largest = np.where(later > 0, np.maximum(full, last), last)
    return (later * full + last + (link.hops - 1) * largest) * 8e9 / link.rate_bps


def bends_bytes(path: Path, mtu_bytes: int, first_bytes: int, last_bytes: int) -> Ints:
    """Sizes from first to last between which the wire's time is a straight line, and a few to a decade for its curve
    on logarithmic axes: where each of the first STEPS_DRAWN frames ends, begins, is no longer padded, and is larger
    than those before it, for fragments of IP before the last are cut to multiples of 8 bytes."""
    limits = frame_limits(path, mtu_bytes)
    edges = limits.edges_bytes(last_bytes)[:STEPS_DRAWN]
    largest = edges - max(0, limits.first_bytes + _HEADER_BYTES[path] - limits.next_bytes - _later_header_bytes(path))
    filled = edges + max(1, DATA_BYTES_MIN - _later_header_bytes(path))
    even = np.geomspace(max(1, first_bytes), max(1, first_bytes, last_bytes), 60).astype(np.int64)
    sizes = np.concatenate([largest, edges, edges + 1, filled, even, [first_bytes, last_bytes, padded_bytes(path)]])
    return np.unique(sizes[(sizes >= first_bytes) & (sizes <= last_bytes)])


def _later_header_bytes(path: Path) -> int:
    return _HEADER_BYTES[path] - _LATER_LESS_BYTES.get(path, 0)


def _on_wire(data_bytes: ArrayLike) -> Ints:
    return np.maximum(np.asarray(data_bytes, dtype=np.int64), DATA_BYTES_MIN) + _AROUND_BYTES


def padded_bytes(path: Path) -> int:
    """The largest message in a frame of the smallest size: up to it nothing is added to the wire. 0: there is none."""
    return max(0, DATA_BYTES_MIN - _HEADER_BYTES[path])


def usual_limits(path: Path) -> tuple[FrameLimits, ...]:
    """The staircases that a path has under the usual MTUs, to be tried where the MTU is not known."""
    return tuple(frame_limits(path, mtu) for mtu in MTUS_BYTES)
