# SPDX-License-Identifier: BSD-3-Clause
"""Where a plan is measured: the hosts of a lab, or hosts reached over ssh, ready to run probes.

Each place is a context manager. At its end what it made is gone: a lab that it raised, copies of the probe.
"""

from __future__ import annotations

import ipaddress
import os
import platform
import secrets
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from vaiven import resources
from vaiven.errors import VaivenError
from vaiven.lab import awake, trial, witness
from vaiven.lab import lab as labs
from vaiven.lab.hosts import BIG_ENDIAN_ARCH, LabHost
from vaiven.lab.topology import HostSpec, Topology
from vaiven.lab.witness import Witnesses
from vaiven.plan.design import Available
from vaiven.plan.ground import Ground, Traits
from vaiven.plan.schema import Link
from vaiven.run import addresses, collect, hosts, libraries, mpi, signals, ssh
from vaiven.run import awake as keepers
from vaiven.run.hosts import Argv, Host
from vaiven.store.record import HostsPlace, LabPlace

# For at most ten seconds.
_RUNNING = """left=500
while [ $left -gt 0 ]; do
  read -r state <"/sys/class/net/$1/operstate" && [ "$state" = up ] && exit
  left=$((left - 1)); sleep 0.02
done"""
LOCAL = hosts.LOCAL
_PROBE = "vaiven-probe"


@dataclass(frozen=True)
class Place:
    """hosts: in the plan's order. inventories: S17, by host. missing: hosts that do not answer, and why.

    link: the wire between them, None if nobody knows. again: enough to come here again (Manifest.place). held_awake:
    by what the processors are, "" where nothing does that. witnesses: of the processors of a timed lab.
    """

    hosts: dict[str, Host]
    inventories: dict[str, dict[str, Any]]
    missing: dict[str, VaivenError]
    link: Link | None
    again: LabPlace | HostsPlace
    warnings: tuple[tuple[str, str], ...] = ()
    held_awake: str = ""
    witnesses: Witnesses | None = None

    @property
    def is_lab(self) -> bool:
        """Whether its hosts are those of a lab, which share a clock."""
        return isinstance(self.again, LabPlace)


def known_stacks() -> collect.Known:
    """The stacks of the probes that are installed here."""
    program = str(resources.program(_PROBE))
    return libraries.known(collect.stacks(hosts.call("here", list, [program, "stacks"])))


@contextmanager
def raised(topology: Topology, instance: str = "") -> Iterator[tuple[labs.Lab, bool]]:
    """(a lab that is up, whether it was so before). One that is up under that name, or its own, is used and left up.

    Otherwise it is raised under a name of its own, so that its users do not collide, and taken down at the end.
    VaivenError: those of vaiven.lab.
    """
    found = _already_up(topology, instance or topology.name)
    lab = found or labs.up(topology, f"{topology.name}-{secrets.token_hex(3)}", bound=True)
    try:
        if not found:
            _until_running(lab.hosts)
        yield lab, found is not None
    finally:
        if not found:
            with signals.shielded():
                labs.down(lab)


@contextmanager
def in_lab(topology: Topology, names: Sequence[str], instance: str = "", *, tried: bool = False) -> Iterator[Place]:
    """Hosts of a lab that is `raised`, all of them if names is empty. The processors are held awake if it is timed, and
    watched. tried: one that is raised for this, and was never checked, is tried first (`lab.trial`).

    VaivenError: "no-host", and those of vaiven.lab.
    """
    for name in names:
        topology.host(name)
    with raised(topology, instance) as (lab, was_up):
        chosen = [lab.host(name) for name in (names or [host.name for host in lab.hosts])]
        members = {host.name: _lab_host(host, topology) for host in chosen}
        with awake.kept(topology) as way, witness.kept(topology) as witnesses:
            if tried and not was_up:
                lab = trial.calibrated(lab)
            yield Place(
                members,
                {name: _inventory(host) for name, host in members.items()},
                {},
                lab_link(topology),
                _again(lab, names, lab.instance if was_up else ""),
                tuple(("lab", text) for text in lab.warnings),
                way,
                witnesses,
            )


@contextmanager
def on_hosts(wanted: HostsPlace, link: Link | None) -> Iterator[Place]:
    """Hosts over ssh; "localhost" is this machine, without ssh. Those that do not answer are in Place.missing.

    VaivenError: "bad-host", "no-probe" (no program for that machine), "bad-address", "not-awake"; "host-down" if none
    answers.
    """
    for name in wanted.names:
        ssh.checked_name(name)
    with ExitStack() as stack:
        found: dict[str, Host] = {}
        missing: dict[str, VaivenError] = {}
        for name in wanted.names:
            try:
                found[name] = stack.enter_context(_reached(name, wanted))
            except VaivenError as error:
                if error.code != "host-down":
                    raise
                missing[name] = error
        if not found:
            raise next(iter(missing.values()))
        found = _local_address(found, wanted)
        inventories = {name: _inventory(host) for name, host in found.items()}
        cards = {name: _card(host, inventories[name]) for name, host in found.items()}
        found = {name: replace(host, mtu_bytes=cards[name].get("mtu_bytes") or 0) for name, host in found.items()}
        warnings = []
        if link is None and (link := _card_link(cards.values())):
            warnings.append(("assumed-link", f"the wire is taken to be {link.hops} hops at {link.rate_bps} bit/s, "
                             f"as the cards say; a plan's [link] says it better"))  # fmt: skip
        ways = stack.enter_context(keepers.held(found.values())) if wanted.awake else {}
        yield Place(found, inventories, missing, link, wanted, tuple(warnings), keepers.text(ways))


def lab_link(topology: Topology) -> Link | None:
    """The wire between two hosts of a lab; None for a free one."""
    fabric = topology.fabric
    if fabric.rate_mbps is None:
        return None
    return Link(round(fabric.rate_mbps * 1e6), 1 if fabric.kind == "hub" else 2, fabric.mtu)


def lab_ground(topology: Topology, stacks: Mapping[str, Available]) -> Ground:
    """A lab as a prediction sees it: its wire, its slow and defective hosts."""
    foreign_lacks = frozenset(libraries.LIBRARIES).difference(libraries.probes(BIG_ENDIAN_ARCH))
    traits = {host.name: _traits(host, foreign_lacks) for host in topology.hosts}
    return Ground(lab_link(topology), stacks, traits, len(topology.hosts), len(os.sched_getaffinity(0)))


def ground(place: Place, stacks: Mapping[str, Available]) -> Ground:
    """That place as a prediction sees it."""
    if not isinstance(place.again, LabPlace):
        return Ground(place.link, stacks)
    return lab_ground(msgspec.convert(place.again.lab, Topology), stacks)


def _traits(host: HostSpec, foreign_lacks: frozenset[str]) -> Traits:
    emulated = host.byte_order == "big"
    return Traits(
        host.frame_us / 1e6,
        host.byte_ns / 1e9,
        one_segment=host.tcp_defect == "small-window",
        emulated=emulated,
        lacks=foreign_lacks if emulated else frozenset(),
    )


def _already_up(topology: Topology, instance: str) -> labs.Lab | None:
    try:
        lab = labs.find(instance)
    except VaivenError as error:
        if error.code in ("no-lab", "lab-busy", "lab-ended"):
            return None
        raise
    return lab if lab.topology == topology else None


def _again(lab: labs.Lab, names: Sequence[str], instance: str) -> LabPlace:
    is_timed = lab.topology.fabric.fabric_class == "timed"
    return LabPlace(
        lab=msgspec.to_builtins(lab.topology),
        hosts=tuple(names),
        instance=instance,
        calibration=msgspec.to_builtins(lab.calibration) if is_timed else None,
    )


def _until_running(members: Iterable[LabHost]) -> None:
    """Waits until the kernel says of new cables that they carry: it says so late, and UCX believes what it says."""
    for host in members:
        hosts.call(host.name, host.argv, ["sh", "-c", _RUNNING, "sh", host.interface])


def _here(arch: str = "") -> dict[str, tuple[str, ...]]:
    """The probes of libraries as a host runs them that shares our files; arch: "" for that of this machine."""
    return {name: (str(path),) for name, path in libraries.probes(arch).items()}


def _lab_host(host: LabHost, topology: Topology) -> Host:
    native = host.arch == platform.machine()
    program = resources.program(_PROBE if native else f"{_PROBE}-{host.arch}")
    probe = (*host.emulator, str(program))
    processors = tuple(sorted(os.sched_getaffinity(0)))
    return Host(
        host.name, host.address, host.interface, host.arch, probe, host.argv,
        mtu_bytes=topology.fabric.mtu, rate_mbps=topology.fabric.rate_mbps or 0, processors=processors,
        libraries=_here("" if native else host.arch), proc_net=host.proc_net, here=True,
    )  # fmt: skip


@contextmanager
def _reached(name: str, wanted: HostsPlace) -> Iterator[Host]:
    """A host that answers, with its probe in place."""
    if name in LOCAL:
        program = (str(resources.program(_PROBE)),)
        address = wanted.bind.get(name) or ("::1" if name == "::1" else "127.0.0.1")
        yield _addressed(
            Host(name, address, "", platform.machine(), program, list, wanted.ports, libraries=_here(), here=True),
            wanted,
        )
        return
    with ssh.connected(name) as connection:
        arch, reached_at = _first_words(name, connection.argv)
        with ssh.installed(connection, {**_probes(arch, name, wanted.libraries), **_programs(arch, wanted)}) as copies:
            address = wanted.bind.get(name) or reached_at
            found = {one: (copies[f"{_PROBE}-{one}"],) for one in wanted.libraries if f"{_PROBE}-{one}" in copies}
            lacking = libraries.that_do_not_start(name, connection.argv, found)
            ours = (*wanted.programs, *(file for of_library in mpi.FILES.values() for file in of_library))
            files = {file: copies[file] for file in ours if file in copies}
            host = Host(
                name, address, "", arch, (copies[_PROBE],), connection.argv, wanted.ports,
                libraries={library: probe for library, probe in found.items() if library not in lacking},
                lacking=lacking, files=files,
            )  # fmt: skip
            yield _addressed(host, wanted)


def _first_words(name: str, argv: Argv) -> tuple[str, str]:
    """(architecture, the address at which ssh reached it)."""
    said = hosts.call(name, argv, ["sh", "-c", 'uname -m; echo "$SSH_CONNECTION"']).decode(errors="replace").split()
    if len(said) < 5:
        raise VaivenError(f"{name} says {' '.join(said)!r} to uname -m", "its shell must be a POSIX one", "bad-host")
    return said[-5], said[-2]


def _probes(arch: str, name: str, wanted: Collection[str]) -> dict[str, Path]:
    """What is copied to a host of that architecture: those of libraries only to machines like this one."""
    native = libraries.probes() if arch == platform.machine() else {}
    more = {f"{_PROBE}-{library}": path for library, path in native.items() if library in wanted}
    for library in wanted if arch == platform.machine() else ():
        more |= {file: found for file in mpi.FILES.get(library, ()) if (found := resources.find(file))}
    return {_PROBE: _static_probe(arch, name), **more}


def _programs(arch: str, wanted: HostsPlace) -> dict[str, Path]:
    """Whole programs that are copied there, as libraries' probes only to machines like this one."""
    native = wanted.programs if arch == platform.machine() else ()
    return {name: found for name in native if (found := resources.find(name))}


def _static_probe(arch: str, name: str) -> Path:
    """The probe that runs there on libc of its own; on a machine like this one the installed probe will do."""
    try:
        return resources.program(f"{_PROBE}-{arch}")
    except VaivenError:
        if arch == platform.machine():
            return resources.program(_PROBE)
        raise VaivenError(
            f"there is no probe for {arch}, the architecture of {name}", f"build it: cross/{arch}.ini", code="no-probe"
        ) from None


def _addressed(host: Host, wanted: HostsPlace) -> Host:
    """The host with the address and interface that go together. VaivenError ("bad-address")."""
    text = hosts.call(host.name, host.argv, addresses.FILES).decode(errors="replace")
    address = host.address
    if wanted.interface and host.name not in wanted.bind:
        address = addresses.address_of(text, wanted.interface)
        if not address:
            raise VaivenError(
                f"{host.name}: the interface {wanted.interface!r} has no address", "see --iface, --bind", "bad-address"
            )
    try:
        interface = wanted.interface or addresses.interface_of(text, str(ipaddress.ip_address(address)))
    except ValueError:
        raise VaivenError(
            f"{host.name}: {address!r} is not an address", "a number, see --bind", "bad-address"
        ) from None
    return replace(host, address=address, interface=interface)


def _local_address(found: dict[str, Host], wanted: HostsPlace) -> dict[str, Host]:
    """This machine among others cannot be 127.0.0.1: it is what leads to the first of them."""
    remote = next((host for host in found.values() if host.name not in LOCAL), None)
    if remote is None or wanted.interface:
        return found
    return {
        name: _facing(host, remote) if name in LOCAL and name not in wanted.bind else host
        for name, host in found.items()
    }


def _facing(host: Host, remote: Host) -> Host:
    family = socket.AF_INET6 if ":" in remote.address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((remote.address, 9))  # sends nothing: the kernel chooses the way
        return _addressed(replace(host, address=probe.getsockname()[0]), HostsPlace(names=(host.name,)))


def _card(host: Host, inventory: Mapping[str, Any]) -> dict[str, Any]:
    """What the inventory says of the host's interface; {} if it does not know it."""
    return next((nic for nic in inventory.get("nics", ()) if nic.get("name") == host.interface), {})


def _card_link(cards: Collection[Mapping[str, Any]]) -> Link | None:
    """The slowest of these cards, behind a switch; None if one does not say its speed (loopback has none)."""
    speeds = [int(card["speed_bps"]) for card in cards if card.get("speed_bps")]
    mtus = [int(card["mtu_bytes"]) for card in cards if card.get("mtu_bytes")]
    return Link(min(speeds), 2, min(mtus)) if len(speeds) == len(mtus) == len(cards) > 0 else None


def _inventory(host: Host) -> dict[str, Any]:
    lines = hosts.call(host.name, host.argv, [*host.probe, "inventory"]).splitlines()
    if not lines:
        raise VaivenError(f"{host.name}: the probe says nothing of its host", "reinstall vaiven", code="bad-record")
    return collect.decode(lines[0])
