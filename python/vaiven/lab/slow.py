# SPDX-License-Identifier: BSD-3-Clause
"""Slow hosts: a model. A box in the cable of the host is its processor, one server for what it sends and receives.

Each frame takes frame_us + bytes * byte_ns of the server, in the order in which they come; two ping-pongs at once queue
there. What a slow host computes is not slowed by this (see cpu_share), nor is what happens inside it without a frame.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vaiven.errors import VaivenError
from vaiven.lab import exits, tcp
from vaiven.lab.exits import HEADER_BYTES, HOST_QUEUE_FRAMES, Exit
from vaiven.lab.topology import TIMED_MTU_MAX, Topology

if TYPE_CHECKING:
    from pyroute2 import IPRoute

    from vaiven.lab.lab import Lab

_UNIT_NS = 100.0  # the resolution of a server's times
_MEDIUM = 256  # of the first host; the wires have smaller numbers


def server_exits(topology: Topology) -> list[Exit]:
    """The two exits of each slow host: sN, towards the fabric, and pN, towards the host."""
    servers = []
    for number, host in enumerate(topology.hosts, 1):
        full_ns = host.frame_us * 1e3 + (topology.fabric.mtu + HEADER_BYTES) * host.byte_ns
        for interface in (f"s{number}", f"p{number}") if host.is_slow else ():
            servers.append(
                Exit(
                    interface=interface,
                    medium=_MEDIUM + number,
                    unit_ns=_UNIT_NS,
                    frame_ns=host.frame_us * 1e3,
                    byte_ns=host.byte_ns,
                    queue_ns=round(HOST_QUEUE_FRAMES * full_ns),
                )
            )
    return servers


def insert(lab: Lab, netlink: IPRoute) -> None:
    """Lays the second half of the cable of each slow host, sN to tN. Raises VaivenError ("no-fabric")."""
    mtu = lab.topology.fabric.mtu
    for host in lab.hosts:
        if not host.spec.is_slow:
            continue
        if mtu > TIMED_MTU_MAX:
            raise VaivenError(
                f"{host.full_name} cannot be slow with frames of {mtu} bytes",
                f"mtu = {TIMED_MTU_MAX}",
                code="no-fabric",
            )
        inside, outside = f"s{host.number}", f"t{host.number}"
        netlink.link("add", ifname=inside, kind="veth", mtu=mtu, peer={"ifname": outside, "mtu": mtu})
        for name in (inside, outside):  # batches of others are cut before they come to the box
            netlink.link("set", index=exits.index(netlink, name), gso_max_segs=1, state="up")
        tcp.one_segment(host)


def apply(lab: Lab) -> None:
    """Puts the server into the cable of each slow host."""
    servers = server_exits(lab.topology)
    if not servers:
        return
    with lab.switch.netlink() as netlink:
        exits.raise_exits(netlink, servers)
    _set(lab, servers)
    lines = []
    for host in lab.hosts:
        if host.spec.is_slow:
            lines += [f"entrance {host.port} s{host.number}", f"entrance s{host.number} {host.port}"]
    exits.command(lab, lines)


def suspend(lab: Lab) -> None:
    """Makes slow hosts fast until `resume`."""
    _set(lab, [replace(exit_, frame_ns=0.0, byte_ns=0.0) for exit_ in server_exits(lab.topology)])


def resume(lab: Lab) -> None:
    """Makes slow hosts slow again."""
    _set(lab, server_exits(lab.topology))


def _set(lab: Lab, servers: list[Exit]) -> None:
    if servers:
        exits.command(lab, exits.commands(servers, lab.calibration.door_ns))
