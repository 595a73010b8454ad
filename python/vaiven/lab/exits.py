# SPDX-License-Identifier: BSD-3-Clause
"""Exits: the interfaces of a switch where frames wait until they have crossed their medium (src/bpf/fabric.h).

An exit is a queueing discipline, made here over netlink, and settings of the programs that fill it, which
vaiven-fabric carries out inside the namespace of the switch.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaiven import child, resources
from vaiven.errors import VaivenError

if TYPE_CHECKING:
    from pyroute2 import IPRoute

    from vaiven.lab.lab import Lab

HEADER_BYTES = 14
HOST_QUEUE_FRAMES = 1000  # the usual queue of a network card: then its sender waits, or its socket's buffer is full
CREDIT_NS = 256_000  # how long an exit may be late without losing time: 4000 ticks of the kernel's packet scheduler
LEAD_NS = 8_000  # what a timer and the software behind it take on a machine whose processors are awake
EARLY_NS = 25_000  # more than a timer is late on most such machines; where it is later the programs learn it,
MORE_NS = 95_000  # up to so much more; with it less than VV_DOOR_NS
IDLE_NS = 60_000  # or three times what a frame takes, as in a ping-pong: doors take a quarter of a processor at most
QUEUE_FRAMES = 1 << 20  # of each class, dummies among them: what is too much is dropped before, by time

_DUMMY_BYTES = 2048  # VV_DUMMY_BYTES
_UNITS_MAX = 12_000 * 256  # VV_DUMMY_UNITS * VV_DUMMIES_MAX
_LANES = 3  # VV_LANES


@dataclass(frozen=True, kw_only=True)
class Exit:
    """An interface of the switch where frames wait. medium: its number; several exits may share one.

    A frame takes the medium for frame_ns + max(bytes, bytes_min) + bytes_more times byte_ns. unit_ns: the resolution
    of its waiting. queue_ns: a frame that would wait longer for its turn is dropped. lead_ns: how early frames leave,
    because software takes the rest; alone_ns: those that are alone, EARLY_NS where a door is behind it, and then up to
    more_ns earlier. idle_ns: alone is a frame before which the medium was free so long, or three times as long as it
    takes; three times as much longer as frames leave earlier, up to idle_more_ns. port: the interface that it is the
    queue of, "" if frames leave there.
    """

    interface: str
    medium: int
    unit_ns: float
    byte_ns: float = 0.0
    frame_ns: float = 0.0
    bytes_min: int = 0
    bytes_more: int = 0
    queue_ns: int
    lead_ns: int = LEAD_NS
    alone_ns: int = LEAD_NS
    more_ns: int = 0
    idle_ns: int = IDLE_NS
    idle_more_ns: int = 3 * MORE_NS
    port: str = ""

    @property
    def wait_max_ns(self) -> float:
        """The longest delay that it can make."""
        return self.unit_ns * _UNITS_MAX

    def commands(self, door_ns: int) -> list[str]:
        """The lines of vaiven-fabric that set it. door_ns: how early doors open behind it."""
        settings = (
            f"exit {self.interface} medium={self.medium} unit_ns_q16={_q16(self.unit_ns)} "
            f"byte_ns_q16={_q16(self.byte_ns)} frame_ns={round(self.frame_ns)} bytes_min={self.bytes_min} "
            f"bytes_more={self.bytes_more} queue_ns={self.queue_ns} credit_ns={CREDIT_NS} lead_ns={self.lead_ns} "
            f"alone_ns={self.alone_ns} more_ns={self.more_ns} idle_ns={self.idle_ns} "
            f"idle_more_ns={self.idle_more_ns} door_ns={door_ns}"
        )
        return [settings, *([f"queue {self.port} {self.interface}"] if self.port else [])]


def raise_exits(netlink: IPRoute, exits: Iterable[Exit]) -> None:
    """Gives each exit the queueing discipline on which its frames wait."""
    for exit_ in exits:
        number = index(netlink, exit_.interface)
        netlink.tc("add", "htb", number, 0x10000, default=1, stab=_size_table())
        netlink.link("set", index=number, state="up")
        rate_bytes = round(1e9 / exit_.unit_ns)
        burst_bytes = rate_bytes * (CREDIT_NS + 500) / 1e9  # pyroute2 cuts to whole microseconds
        for lane in range(1, _LANES + 1):
            netlink.tc(
                "add-class",
                "htb",
                number,
                0x10000 | lane,
                parent=0x10000,
                rate=rate_bytes,
                burst=burst_bytes,
                cburst=burst_bytes,
                quantum=60_000,
            )
            # Told, because a queue that nobody makes is as long as the interface's, which some kernels keep short.
            netlink.tc("add", "pfifo", number, (1 + lane) << 16, parent=0x10000 | lane, limit=QUEUE_FRAMES)


def commands(exits: Iterable[Exit], door_ns: int) -> list[str]:
    """The lines of vaiven-fabric that set them."""
    return [line for exit_ in exits for line in exit_.commands(door_ns)]


def index(netlink: IPRoute, name: str) -> int:
    """The number of an interface of that name, which exists."""
    return int(netlink.link_lookup(ifname=name)[0])


def command(lab: Lab, lines: Iterable[str]) -> None:
    """Has vaiven-fabric carry lines out in the switch. Raises VaivenError ("no-fabric", "no-program")."""
    _native(lab, "apply", "\n".join(lines) + "\n")


def tallies(lab: Lab) -> list[dict[str, Any]]:
    """What passed each exit, what each fault hit and what was learned of timers, as `vaiven-fabric show` says."""
    return [json.loads(line) for line in _native(lab, "show", "").splitlines()]


def _q16(value: float) -> int:
    return round(value * 65536)


def _size_table() -> bytes:
    """TCA_STAB with struct tc_sizespec of <linux/pkt_sched.h>: every length less _DUMMY_BYTES, one at least."""
    spec = struct.pack("=BBhiIIII", 0, 0, 0, -_DUMMY_BYTES, 0, 0, 0, 0)
    return struct.pack("=HH", 4 + len(spec), 1) + spec


def _native(lab: Lab, verb: str, text: str) -> str:
    argv = lab.switch.argv([str(resources.program("vaiven-fabric")), verb])
    done = child.call(argv, stdin=text.encode())
    if done.status != 0:
        raise VaivenError(
            f"the fabric of {lab.instance} cannot be set: {done.complaint}",
            "it needs root and a kernel with HTB, IFB, macvlan and BPF for tc",
            code="no-fabric",
        )
    return done.output.decode()
