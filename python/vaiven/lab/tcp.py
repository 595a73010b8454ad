# SPDX-License-Identifier: BSD-3-Clause
"""How TCP of the hosts of a lab sends: its congestion control, initial window, acknowledgements and batches.

Congestion control is a setting of a host's own network namespace; initial window and quick acknowledgements are metrics
of its route to the others, over IPv4 and IPv6. This machine's own network is never touched: whoever writes a setting
proves first that it is in another one.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vaiven import child
from vaiven.errors import VaivenError
from vaiven.lab import exits, hosts

if TYPE_CHECKING:
    from vaiven.lab.hosts import LabHost
    from vaiven.lab.lab import Lab
    from vaiven.lab.topology import Tcp

_ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
# $1: the network namespace of this machine, $2: what is wanted.
_SET = (
    '[ "$(readlink /proc/self/ns/net)" != "$1" ] || { echo "this is the network of the machine itself" >&2; exit 1; }; '
    'echo "$2" >/proc/sys/net/ipv4/tcp_congestion_control'
)
_PRIORITY6 = 256  # of the kernel's own routes of IPv6

Metrics = Mapping[str, int]


def apply(lab: Lab) -> None:
    """Brings about what the lab file says of TCP. Raises VaivenError ("no-congestion-control")."""
    for host in lab.hosts:
        wanted = lab.topology.tcp_of(host.spec)
        if wanted.congestion_control:
            _choose(host, wanted.congestion_control)
        if found := metrics(wanted):
            set_metrics(host, found)
        if wanted.offloads is False:
            one_segment(host)


def metrics(wanted: Tcp) -> Metrics:
    """What a route says of these wishes; {} where it need not say anything."""
    window = {"initcwnd": wanted.initial_window_segments} if wanted.initial_window_segments else {}
    return window | ({"quickack": 1} if wanted.quick_acks else {})


def set_metrics(host: LabHost, wanted: Metrics) -> None:
    """Gives the host's routes to the others these metrics, and no others."""
    with host.namespace.netlink() as netlink:
        index = exits.index(netlink, host.interface)
        as_the_kernel_made_it = {"oif": index, "proto": "kernel", "metrics": dict(wanted)}
        netlink.route(
            "replace", dst=f"{hosts.NETWORK}.0/{hosts.PREFIX_BITS}", prefsrc=host.address, scope="link",
            **as_the_kernel_made_it,
        )  # fmt: skip
        if netlink.get_addr(family=socket.AF_INET6, index=index, scope=0):
            netlink.route(
                "replace", dst=f"{hosts.NETWORK6}::/{hosts.PREFIX6_BITS}", family=socket.AF_INET6,
                priority=_PRIORITY6, **as_the_kernel_made_it,
            )  # fmt: skip


def one_segment(host: LabHost) -> None:
    """Has TCP of that host hand its card one segment at a time."""
    with host.namespace.netlink() as netlink:
        netlink.link("set", index=exits.index(netlink, host.interface), gso_max_segs=1)


def _choose(host: LabHost, name: str) -> None:
    command = ["sh", "-c", _SET, "sh", os.readlink("/proc/self/ns/net"), name]
    done = child.call(host.argv(command))
    if done.status == 0:
        return
    allowed = _ALLOWED.read_text().split() if _ALLOWED.is_file() else []
    more = f"sudo sysctl -w net.ipv4.tcp_allowed_congestion_control='{' '.join([*allowed, name])}'"
    raise VaivenError(
        f"{host.full_name} cannot have the congestion control {name}: {done.complaint}",
        f"one of {', '.join(allowed)}; or, if this machine's kernel has it: {more}" if name not in allowed else
        "/proc/sys must be writable: in a container, start it with --privileged",
        code="no-congestion-control",
    )  # fmt: skip
