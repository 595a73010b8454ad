# SPDX-License-Identifier: BSD-3-Clause
"""Labs: raised, found again, taken down.

The namespaces, cables and addresses are made here; `fabric` makes the cables meet, `faults` makes them bad. A lab is
there as a whole or not at all: its holders end with the process that raises it, unless it was raised to the end.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

import msgspec

from vaiven.errors import VaivenError
from vaiven.lab import calibration, hosts, kernel, limits, namespace, state, swap
from vaiven.lab import topology as topologies
from vaiven.lab.calibration import Calibration
from vaiven.lab.hosts import LabHost
from vaiven.lab.namespace import Namespace, Nursery
from vaiven.lab.topology import Topology

SCHEMA = 1
_NUD_PERMANENT = 0x80  # <linux/neighbour.h>


class Lab(msgspec.Struct, frozen=True, kw_only=True):
    """A lab that is up. instance: its name among the labs of this machine. switch: where the fabric is.

    calibration: in force on a timed one. warnings: what its user must know. ready: it was raised to the end.
    schema: of this record.
    """

    instance: str
    topology: Topology
    switch: Namespace
    hosts: tuple[LabHost, ...]
    calibration: Calibration = Calibration()
    warnings: tuple[str, ...] = ()
    ready: bool = False
    schema: int = SCHEMA

    def host(self, name: str) -> LabHost:
        """The host of that name. Raises VaivenError ("no-host")."""
        spec = self.topology.host(name)
        return next(host for host in self.hosts if host.spec == spec)

    def problems(self) -> tuple[str, ...]:
        """What is broken, one sentence each; empty for a lab in order."""
        if not self.ready:
            return ("it was not raised to the end",)
        gone = [host.name for host in self.hosts if not host.namespace.alive()]
        if not self.switch.alive():
            gone.insert(0, "the switch")
        return (f"gone: {', '.join(gone)}",) if gone else ()


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded lab. lab: None if its record is missing or unreadable. busy: being raised or taken down.

    ended: nothing of it lives but its record, which the next `up` sweeps away.
    """

    instance: str
    lab: Lab | None
    busy: bool
    problems: tuple[str, ...]
    ended: bool = False


def up(topology: Topology, instance: str | None = None, *, bound: bool = False) -> Lab:
    """Raises a lab, by default under its own name; a `bound` one ends with this process, however that ends.

    What labs left whose processes were killed is swept away first.

    Raises VaivenError: "lab-exists", "bad-instance", "bad-state", "need-root" (for what is timed or faulty),
    "old-kernel", "no-namespace", "no-network", "no-defect", "no-congestion-control", and those of the fabric; then
    nothing of it is left.
    """
    instance = topology.name if instance is None else instance
    state.place(instance)  # or it is refused before anything else
    if os.geteuid() != 0 and (what := _what_needs_root(topology)):
        raise VaivenError(
            f"{what} needs root: an ordinary user may not load its shaper into the kernel",
            "use sudo, or a lab that is free and faultless, which needs no root: vaiven measure --lab free --quick"
            " (or vaiven lab up free)",
            code="need-root",
        )
    kernel.require(topology.fabric)
    _sweep()
    with state.reserved(instance) as path:
        try:
            with Nursery() as nursery:
                lab = _raise(topology, instance, path, nursery)
                nursery.keep(bound=bound)
                lab = msgspec.structs.replace(lab, ready=True)
                state.write(path, state.RECORD, msgspec.json.encode(lab))
        except BaseException:
            _clear(path)
            raise
    return lab


def find(instance: str) -> Lab:
    """The lab of that instance name.

    Raises VaivenError: "bad-instance", "no-lab", "lab-busy", "lab-ended" (nothing of it lives), "lab-broken".
    """
    state.place(instance)
    if instance not in state.instances():
        error = state.unknown(instance)
        is_ready = instance in topologies.names()
        more = f"vaiven lab up {instance} raises it" if is_ready else "vaiven lab list shows what can be raised"
        raise VaivenError(error.what, f"{error.remedy}; {more}", error.code)
    status = _status(instance)
    if status.busy:
        raise VaivenError(f"the lab {instance} is being raised or taken down", "wait for that", code="lab-busy")
    if status.ended:
        what = f"the lab {instance} has ended: {'; '.join(status.problems)}"
        raise VaivenError(what, "vaiven lab up raises it again", code="lab-ended")
    if status.lab is None or status.problems:
        what = f"the lab {instance} is broken: {'; '.join(status.problems)}"
        raise VaivenError(what, f"vaiven lab down {instance}, then raise it again", code="lab-broken")
    return status.lab


def described(name: str) -> tuple[Topology, str]:
    """(topology, instance name) of what `name` means: a lab file, a ready lab, or else one that is up under that name.

    Raises VaivenError: those of `topology.find`, and of `find` for a lab that is not in order.
    """
    try:
        topology = topologies.find(name)
    except VaivenError as error:
        if error.code != "no-lab" or name not in state.instances():
            raise
        return find(name).topology, name
    return topology, topology.name


def find_host(full_name: str) -> LabHost:
    """The host written LAB/HOST. Raises VaivenError as `find` does, "no-host", "bad-host"."""
    instance, slash, name = full_name.partition("/")
    if not slash:
        raise VaivenError(f"{full_name!r} is no host of a lab", "write LAB/HOST, such as demo/demo1", code="bad-host")
    return find(instance).host(name)


def recalibrated(lab: Lab, found: Calibration) -> Lab:
    """Records that another calibration is in force there, and answers the lab with it. Raises as `down` does."""
    lab = msgspec.structs.replace(lab, calibration=found)
    with state.held(lab.instance) as path:
        state.write(path, state.RECORD, msgspec.json.encode(lab))
    return lab


def running() -> list[Status]:
    """Every recorded lab, whole or broken."""
    return [_status(instance) for instance in state.instances()]


def down(lab: Lab | str) -> None:
    """Takes a lab (or the instance of that name, however broken) down: processes, namespaces, groups, swap, files.

    Raises VaivenError: "no-lab", "bad-instance", "lab-busy", "no-end", "not-ours".
    """
    with state.held(lab if isinstance(lab, str) else lab.instance) as path:
        _clear(path)


def down_all() -> list[str]:
    """Takes every lab of this user down, and answers their names. Raises VaivenError for those that it could not."""
    done, failed = [], []
    for instance in state.instances():
        try:
            down(instance)
            done.append(instance)
        except VaivenError as error:
            if error.code != "no-lab":  # another process was quicker
                failed.append(error)
    if failed:
        raise VaivenError("\n".join(error.what for error in failed), failed[0].remedy, code=failed[0].code)
    return done


def _what_needs_root(topology: Topology) -> str:
    """What in that lab needs BPF, which is root's alone; empty if nothing does."""
    if topology.fabric.fabric_class != "free":
        return f"a {topology.fabric.fabric_class} fabric"
    for spec in topology.hosts:
        if spec.is_slow or spec.icmp_bytes_max is not None:
            return f"the slow or faulty host {spec.name}"
    return "a link with faults" if topology.faults else ""


def _status(instance: str) -> Status:
    busy = state.is_held(instance)
    lab, problems = _recorded(instance)
    if busy or not problems:
        return Status(instance=instance, lab=lab, busy=busy, problems=())
    ended = _has_ended(state.place(instance))
    return Status(instance=instance, lab=lab, busy=False, problems=problems, ended=ended)


def _recorded(instance: str) -> tuple[Lab | None, tuple[str, ...]]:
    """The lab of that name as it was recorded, and what is broken of it."""
    record = state.read(instance)
    if record is None:
        return None, ("it was not raised to the end",)
    try:
        lab = msgspec.json.decode(record, type=Lab)
    except msgspec.DecodeError as error:
        return None, (f"its record is unreadable: {error}",)
    return lab, lab.problems()


def _has_ended(path: Path) -> bool:
    """Whether no process holds that lab. One raised in another process namespace, a container's, is never said to."""
    return state.is_seen_from_here(path) and not namespace.holders(path / state.HOSTS_FILE)


def _sweep() -> None:
    """Removes what is left of labs that have ended. One that cannot be removed stays listed, and harms no other."""
    for status in running():
        if status.ended:
            with contextlib.suppress(VaivenError), state.held(status.instance, patience_s=0) as path:
                if _has_ended(path):
                    _clear(path)


def _clear(path: Path) -> None:
    namespace.end(namespace.holders(path / state.HOSTS_FILE))
    limits.remove(_owner(path))
    swap.remove(_owner(path))
    state.remove(path)


def _owner(path: Path) -> str:
    """A word for the control groups and the swap of the lab recorded there: the same each time, and no other lab's."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:8]


def _raise(topology: Topology, instance: str, path: Path, nursery: Nursery) -> Lab:
    from pyroute2 import NetlinkError

    from vaiven.lab import defects, fabric, faults, tcp  # they need a Lab, so they import this module

    lab = _populate(topology, instance, path, nursery)
    state.write(path, state.RECORD, msgspec.json.encode(lab))
    try:
        _wire(lab)
        fabric.raise_fabric(lab)
        faults.apply(lab)
        tcp.apply(lab)
        defects.apply(lab)
    except NetlinkError as error:
        reason = error.args[-1] if error.args else error
        what = f"the kernel refuses a link of the lab {instance}: {reason}"
        remedy = "it needs veth, bridge, ifb, macvlan, sch_htb and cls_bpf"
        raise VaivenError(what, remedy, code="no-network") from error
    return lab


def _populate(topology: Topology, instance: str, path: Path, nursery: Nursery) -> Lab:
    """The hosts and the switch, not yet joined."""
    names = [spec.name for spec in topology.hosts]
    hosts_file = state.write(path, state.HOSTS_FILE, hosts.hosts_file(names).encode())
    warnings = list(topology.warnings())
    if os.geteuid() != 0:
        warnings.append("raised without root: it lies in a user namespace, where programs see themselves as root")
    if topology.fabric.fabric_class == "timed" and (trouble := calibration.trouble(topology.fabric)):
        warnings.append(trouble)
    if topology.fabric.mtu < hosts.MTU6_MIN:
        warnings.append(f"no IPv6: it needs an MTU of {hosts.MTU6_MIN} or more")
    area, unswapped = swap.add(_owner(path), topology.swap) if topology.swap else (None, ())
    warnings += unswapped
    nursery.start(f"{instance}/", topology.name, hosts_file, new_user=os.geteuid() != 0)
    switch = nursery.ready(f"{instance}/")
    for spec in topology.hosts:
        joins, refused = limits.create(_owner(path), spec, area)
        warnings += refused
        nursery.start(
            f"{instance}/{spec.name}",
            spec.name,
            hosts_file,
            inside=switch,
            clock_offset_ms=spec.clock_offset_ms,
            joins=joins,
        )
    members = tuple(
        LabHost(lab=instance, number=number, spec=spec, namespace=nursery.ready(f"{instance}/{spec.name}"))
        for number, spec in enumerate(topology.hosts, 1)
    )
    return Lab(
        instance=instance,
        topology=topology,
        switch=switch,
        hosts=members,
        calibration=calibration.known(topology.fabric),
        warnings=tuple(warnings),
    )


def _wire(lab: Lab) -> None:
    """A cable from each host to the switch, and addresses. Neighbours are known beforehand: no ARP on the fabric."""
    mtu = lab.topology.fabric.mtu
    with lab.switch.netlink() as switch:
        switch.link("set", index=1, state="up")
        for host in lab.hosts:
            peer = {"ifname": host.interface, "net_ns_pid": host.namespace.pid, "address": host.mac, "mtu": mtu}
            switch.link("add", ifname=host.port, kind="veth", mtu=mtu, peer=peer)
            switch.link("set", index=switch.link_lookup(ifname=host.port)[0], state="up")
    for host in lab.hosts:
        _address(host, lab.hosts, has_ipv6=mtu >= hosts.MTU6_MIN)


def _address(host: LabHost, everybody: tuple[LabHost, ...], *, has_ipv6: bool) -> None:
    with host.namespace.netlink() as netlink:
        index = netlink.link_lookup(ifname=host.interface)[0]
        netlink.link("set", index=1, state="up")
        netlink.link("set", index=index, state="up")
        netlink.addr(
            "add", index=index, address=host.address, prefixlen=hosts.PREFIX_BITS, broadcast=f"{hosts.NETWORK}.255"
        )
        if has_ipv6:
            netlink.addr("add", index=index, address=host.address6, prefixlen=hosts.PREFIX6_BITS)
        netlink.route("add", dst="224.0.0.0/4", oif=index)
        for other in everybody:
            if other is not host:
                for address in (other.address, *([other.address6] if has_ipv6 else [])):
                    netlink.neigh("replace", dst=address, lladdr=other.mac, ifindex=index, state=_NUD_PERMANENT)
