# SPDX-License-Identifier: BSD-3-Clause
"""Hosts whose TCP is badly set up, while their wire, UDP and ICMP are sound.

"small-window": such a host keeps one segment unacknowledged at most. Its peer waits for a second one before it
acknowledges, or for the 40 ms of a delayed acknowledgement, so each segment but the last of a message takes 40 ms:
what early systems did whose socket buffers held less than two segments (RFC 9293, section 3.8.6.3, asks for an
acknowledgement of every second segment only). What is sent to the host is not slowed.

A socket whose program has chosen a larger send buffer, as PVM does, keeps to one segment by a limit of the route. The
kernel takes that limit only where it knows the peer from an earlier connection, so the very first one is sound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaiven import child
from vaiven.errors import VaivenError
from vaiven.lab import tcp

if TYPE_CHECKING:
    from vaiven.lab.hosts import LabHost
    from vaiven.lab.lab import Lab

# A send buffer that one segment fills, whatever its size: least, default and most, of tcp(7)'s tcp_wmem.
_ONE_SEGMENT = "echo 1 1 1 >/proc/sys/net/ipv4/tcp_wmem"
_CWND = 7  # RTAX_CWND, <linux/rtnetlink.h>


def apply(lab: Lab) -> None:
    """Brings about the TCP defects of the lab file. Raises VaivenError ("no-defect")."""
    for host in lab.hosts:
        if host.spec.tcp_defect == "small-window":
            _shrink(host, tcp.metrics(lab.topology.tcp_of(host.spec)))


def _shrink(host: LabHost, metrics: tcp.Metrics) -> None:
    tcp.one_segment(host)  # a batch of segments would be as one
    tcp.set_metrics(host, {**metrics, "lock": 1 << _CWND, "cwnd": 1, "initcwnd": 1})
    done = child.call(host.argv(["sh", "-c", _ONE_SEGMENT]))
    if done.status != 0:
        raise VaivenError(
            f"{host.full_name} cannot have the TCP defect small-window: {done.complaint}",
            "/proc/sys must be writable: in a container, start it with --privileged",
            code="no-defect",
        )
