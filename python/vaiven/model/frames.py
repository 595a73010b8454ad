# SPDX-License-Identifier: BSD-3-Clause
"""The staircase that Ethernet frames cut into a cost curve, as a rival of every knee.

t(n) = alpha + beta n + step (frames(n) - 1): what looks like a change of protocol is often only one frame more.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from vaiven.stats.arrays import Ints

MTUS_BYTES = (576, 1500, 9000)
DATA_BYTES_MIN = 46  # IEEE 802.3: a frame with less data is padded


class Path(StrEnum):
    """The headers that a message travels under."""

    ICMP = "icmp"
    ETH = "eth"
    LLC = "llc"
    LLC_JUMBO = "llc-jumbo"
    LLC_KERNEL = "llc-kernel"
    UDP = "udp"
    TCP = "tcp"


# Of every frame but UDP's and ICMP's later fragments. IPv4 without options 20; echo and UDP 8; TCP 20 and 12 of
# timestamps (RFC 7323); LLC 3 and the header of the fragments of stack eth 16; LLC type 2 takes 4, and our stations put
# marks before the data, 14 bytes in the first frame of a message and 6 in the others (src/core/wire/segment.h).
_HEADER_BYTES = {
    Path.ICMP: 28, Path.ETH: 19, Path.LLC: 18, Path.LLC_JUMBO: 18, Path.LLC_KERNEL: 4, Path.UDP: 28, Path.TCP: 52,
}  # fmt: skip
_LATER_LESS_BYTES = {Path.LLC: 8, Path.LLC_JUMBO: 8}  # how much shorter the headers of later frames are
# A length field says no more than 1500 (IEEE 802.3); jumbo frames of LLC are taken to carry so much at most.
_DATA_BYTES_MAX = {Path.ETH: 1500, Path.LLC: 1500, Path.LLC_KERNEL: 1500, Path.LLC_JUMBO: 9216}


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
    return FrameLimits(name, first, (mtu_bytes - 20) // 8 * 8 if path in (Path.ICMP, Path.UDP) else later)


def padded_bytes(path: Path) -> int:
    """The largest message in a frame of the smallest size: up to it nothing is added to the wire. 0: there is none."""
    return max(0, DATA_BYTES_MIN - _HEADER_BYTES[path])


def usual_limits(path: Path) -> tuple[FrameLimits, ...]:
    """The staircases that a path has under the usual MTUs, to be tried where the MTU is not known."""
    return tuple(frame_limits(path, mtu) for mtu in MTUS_BYTES)
