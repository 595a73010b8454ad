# SPDX-License-Identifier: BSD-3-Clause
"""Joins the cables of a lab: a bridge in the switch's namespace, and what makes it as slow as the real thing.

free: the bridge alone. paced: token buckets, which send a frame when its transmission should begin: the throughput is
right, the time of a single frame is not. timed: exits, where a frame waits until its transmission has ended
(src/bpf/fabric.h); every frame takes (at least 60 bytes + 24) * 8 / rate on each link, a hub being one link for all.

    host             switch                              uN: what host N sends, one link (switch)
    eth0 ======= pN -enter-> uN or hub -> br0            hub: what anybody sends, one link (hub)
         ======= pN <-door- dN <----------- br0          dN: what host N receives, one link (switch)

A slow host has a box in its cable, with an exit in each direction and one medium, its processor, for both:

    eth0 ======= pN -enter-> sN ==== tN -enter-> uN or hub -> br0       (tN is then the port of the bridge)
         ======= pN <-exit-- sN ==== tN <-door- dN <------- br0
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vaiven import child
from vaiven.errors import VaivenError
from vaiven.lab import exits, slow, tcp
from vaiven.lab.exits import EARLY_NS, HEADER_BYTES, HOST_QUEUE_FRAMES, LEAD_NS, MORE_NS, Exit

if TYPE_CHECKING:
    from pyroute2 import IPRoute

    from vaiven.lab.hosts import LabHost
    from vaiven.lab.lab import Lab
    from vaiven.lab.topology import Fabric, Topology

BRIDGE = "br0"
HUB = "hub"
DOORS = "doors"  # on the way from the queues of the ports back to them

FRAME_MIN_BYTES = 60  # IEEE 802.3 without the check sequence
FRAME_MORE_BYTES = 24  # preamble and delimiter 8, check sequence 4, gap 12
_HUB_IDLE_NS = 1_000
_PRIVATE = 1  # <linux/if_link.h>, MACVLAN_MODE_PRIVATE: what is sent goes straight on
_NTF_MASTER = 0x04  # <linux/neighbour.h>: an entry of the bridge, not of its port
_NUD_NOARP = 0x40  # which does not age

# A switch has no address, sends nothing of its own accord and looks at no packet's inside.
_QUIET = (
    "cd /proc/sys/net; "
    "[ ! -d ipv6 ] || { echo 1 >ipv6/conf/all/disable_ipv6; echo 1 >ipv6/conf/default/disable_ipv6; }; "
    "for file in bridge/bridge-nf-call-*tables; do [ ! -e $file ] || echo 0 >$file; done"
)


def link_port(host: LabHost) -> str:
    """The interface of the switch that is the end of that host's link: where its faults are."""
    return f"t{host.number}" if host.spec.is_slow else host.port


def raise_fabric(lab: Lab) -> None:
    """Joins the ports of a lab whose cables lie already. Raises VaivenError ("no-fabric", "no-program")."""
    fabric = lab.topology.fabric
    with lab.switch.netlink() as netlink:
        _quieten(lab)
        netlink.link("add", ifname=BRIDGE, kind="bridge", br_mcast_snooping=0, br_stp_state=0)
        slow.insert(lab, netlink)
        if fabric.fabric_class == "timed":
            _raise_timed(lab, netlink)
        elif fabric.fabric_class == "paced":
            _raise_paced(lab, netlink)
        slow.apply(lab)
        bridge = exits.index(netlink, BRIDGE)
        netlink.link("set", index=bridge, state="up", mtu=fabric.mtu)
        for host in lab.hosts:
            port = exits.index(netlink, link_port(host))
            netlink.link("set", index=port, master=bridge)
            # "replace": the bridge may have learned it already, from what a host says when its card comes up
            netlink.fdb("replace", ifindex=port, lladdr=host.mac, flags=_NTF_MASTER, state=_NUD_NOARP)


def wire_exits(topology: Topology) -> list[Exit]:
    """The exits of the links of a timed fabric, those towards the switch (or the hub) first."""
    fabric = topology.fabric
    numbers = range(1, len(topology.hosts) + 1)
    ports = [f"t{n}" if host.is_slow else f"p{n}" for n, host in zip(numbers, topology.hosts, strict=True)]
    if fabric.kind == "hub":
        # On the way down frames are copies of what crossed the hub: they take no time, but faults may delay them.
        down = Exit(
            interface="", medium=0, unit_ns=byte_ns(fabric), queue_ns=10**12, alone_ns=EARLY_NS, more_ns=MORE_NS
        )
        # An answer comes as soon as software is done: then only the time between tells a lone frame from a train.
        up = [replace(_wire(fabric, HUB, 0, HOST_QUEUE_FRAMES), idle_ns=_HUB_IDLE_NS, idle_more_ns=0)]
    else:
        down = _wire(fabric, "", 0, fabric.queue_frames)
        up = [_wire(fabric, f"u{number}", 2 * number, HOST_QUEUE_FRAMES) for number in numbers]
    return [
        *up,
        *(replace(down, interface=f"d{n}", medium=2 * n + 1, port=p) for n, p in zip(numbers, ports, strict=True)),
    ]


def byte_ns(fabric: Fabric) -> float:
    """The time of one byte on the line of a fabric that has a rate."""
    assert fabric.rate_mbps is not None
    return 8e3 / fabric.rate_mbps


def set_doors(lab: Lab, door_ns: int) -> None:
    """Changes how early the doors of a lab that is up open."""
    exits.command(lab, (f"exit {exit_.interface} door_ns={door_ns}" for exit_ in wire_exits(lab.topology)))


def _raise_timed(lab: Lab, netlink: IPRoute) -> None:
    """Single frames only, each with its exit. gso_max_segs 1 has the hosts cut every batch before it leaves them."""
    fabric = lab.topology.fabric
    upwards = {host.number: HUB if fabric.kind == "hub" else f"u{host.number}" for host in lab.hosts}
    wires = wire_exits(lab.topology)
    for name in sorted(set(upwards.values())):
        netlink.link("add", ifname=name, kind="ifb")
    netlink.link("add", ifname=DOORS, kind="ifb")
    doors = exits.index(netlink, DOORS)
    netlink.link("set", index=doors, state="up")
    for name in (exit_.interface for exit_ in wires if exit_.port):
        netlink.link("add", ifname=name, kind="macvlan", link=doors, macvlan_mode=_PRIVATE)
    for host in lab.hosts:
        tcp.one_segment(host)
    exits.raise_exits(netlink, wires)
    entrances = (f"entrance {link_port(host)} {upwards[host.number]}" for host in lab.hosts)
    exits.command(lab, [f"entrance {DOORS} -", *exits.commands(wires, lab.calibration.door_ns), *entrances])


def _raise_paced(lab: Lab, netlink: IPRoute) -> None:
    fabric = lab.topology.fabric
    if fabric.kind == "hub":
        netlink.link("add", ifname=HUB, kind="ifb")
        _pace(netlink, HUB, fabric)
        # The hub's own line is there for frames that were lost on their way in: that is where they end.
        exits.command(lab, [f"entrance {HUB} -", *(f"entrance {link_port(host)} {HUB}" for host in lab.hosts)])
        return
    for host in lab.hosts:
        _pace(netlink, link_port(host), fabric)
        with host.namespace.netlink() as there:
            _pace(there, host.interface, fabric)


def _pace(netlink: IPRoute, name: str, fabric: Fabric) -> None:
    """A token bucket. Batches pass uncut, so what full frames have around them is taken off the rate instead."""
    number = exits.index(netlink, name)
    frame_bytes = fabric.mtu + HEADER_BYTES
    rate_bytes = 1e9 / byte_ns(fabric) * frame_bytes / (frame_bytes + FRAME_MORE_BYTES)
    batch_bytes = max(70_000, round(rate_bytes * 1e-3))  # the largest batch; at high rates, what a timer misses
    netlink.link("set", index=number, state="up")
    limit = batch_bytes + HOST_QUEUE_FRAMES * frame_bytes
    netlink.tc("add", "tbf", number, 0x10000, rate=rate_bytes, burst=batch_bytes, limit=limit)


def _wire(fabric: Fabric, interface: str, medium: int, queue_frames: int) -> Exit:
    each = byte_ns(fabric)
    full_ns = (fabric.mtu + HEADER_BYTES + FRAME_MORE_BYTES) * each
    return Exit(
        interface=interface,
        medium=medium,
        unit_ns=each,
        byte_ns=each,
        bytes_min=FRAME_MIN_BYTES,
        bytes_more=FRAME_MORE_BYTES,
        queue_ns=round(queue_frames * full_ns),
        lead_ns=min(LEAD_NS, round(full_ns)),
        alone_ns=EARLY_NS,
        more_ns=MORE_NS,
    )


def _quieten(lab: Lab) -> None:
    done = child.call(lab.switch.argv(["sh", "-c", _QUIET]))
    if done.status != 0:
        raise VaivenError(f"cannot set up the switch of {lab.instance}: {done.complaint}", code="no-fabric")
