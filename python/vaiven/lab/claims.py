# SPDX-License-Identifier: BSD-3-Clause
"""Which frames a timed lab claims nothing of: what travels alone, waits for a timer and does not fill a frame.

`lab check` claims when full frames and trains arrive, and at SLOW_MBPS and below every frame. Above, a lone frame that
is shorter than a full one and longer than what the fabric waits for in the program itself is held back by a timer that
may be as late as the frame is long: such messages take one of two times, some 15 % apart, whatever stack sends them.
"""

from __future__ import annotations

from dataclasses import dataclass

from vaiven.lab.calibration import SLOW_MBPS
from vaiven.lab.topology import Fabric

TIMER_MIN_NS = 5_000  # VV_TIMER_MIN_NS and VV_LINGER_NS of src/bpf/fabric.h
LINGER_NS = 30_000
AROUND_BYTES = 38  # of a frame, beside its packet: addresses and type 14, preamble 8, check sequence 4, gap 12


@dataclass(frozen=True, slots=True)
class Unclaimed:
    """Lone frames between these two, bytes as they count on the wire (preamble, check sequence and gap among them)."""

    above_bytes: float
    below_bytes: int


def unclaimed(fabric: Fabric, lead_ns: int) -> Unclaimed | None:
    """What that fabric claims nothing of, None if it is no timed one or claims all. lead_ns: how early frames leave.

    A switch's first exit waits for a timer from lead_ns + TIMER_MIN_NS on; a hub's one exit lingers up to LINGER_NS.
    """
    if fabric.fabric_class != "timed" or fabric.rate_mbps is None or fabric.rate_mbps <= SLOW_MBPS:
        return None
    held_ns = LINGER_NS if fabric.kind == "hub" else lead_ns + TIMER_MIN_NS
    above, below = held_ns * fabric.rate_mbps / 8e3, fabric.mtu + AROUND_BYTES
    return Unclaimed(above, below) if above < below else None
