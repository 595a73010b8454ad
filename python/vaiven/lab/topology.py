# SPDX-License-Identifier: BSD-3-Clause
"""What a lab is: its hosts, the fabric that joins them, the faults between them. Values only; nothing is started.

A lab file is TOML. `hosts` is an array of tables, each for one host (`name`) or for several equal ones
(`prefix` and `count`: lidi1, lidi2, ...). Every name is made of a-z, 0-9 and "-": it becomes a hostname,
a file name and a word on the terminal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vaiven import resources, tomlfile
from vaiven.errors import VaivenError

HOSTS_MAX = 64  # one byte of the address, and what two cores can hold
TIMED_MTU_MAX = 1500  # the shaper of a timed fabric charges frames up to that length

_NAME_RULE = "letters a-z, digits and '-', a letter first, at most 32; not localhost"
Name = Annotated[str, Meta(pattern=r"^(?!localhost\Z)[a-z][a-z0-9-]{0,31}\Z", description=_NAME_RULE)]
# What the clocks, counters and rates of a kernel can hold, and more than any wire or machine that a lab stands for.
Rate = Annotated[float, Meta(ge=0.01, le=10_000)]
Delay = Annotated[float, Meta(gt=0, le=60_000_000)]
Work = Annotated[float, Meta(ge=0, le=1_000_000)]
Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Offset = Annotated[int, Meta(ge=-(10**12), le=10**12)]
Probability = Annotated[float, Meta(ge=0, le=1)]
FabricKind = Literal["hub", "switch"]
FabricClass = Literal["timed", "paced", "free"]
FaultKind = Literal["loss", "burst-loss", "duplicate", "reorder", "corrupt", "delay", "cut"]


class Fabric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"fabric_class": "class"}):
    """How the hosts are joined.

    kind: "hub" (one medium, one frame at a time) or "switch" (store and forward, full duplex).
    fabric_class: key `class`; "timed" (each frame takes its true time), "paced" (right throughput only),
    "free" (as fast as the machine goes).
    rate_mbps: 10^6 bit/s on the line; absent for free, needed otherwise.
    mtu: bytes of payload per frame. queue_frames: frames that wait at one output before it drops.
    """

    kind: FabricKind
    fabric_class: FabricClass
    rate_mbps: Rate | None = None
    mtu: Annotated[int, Meta(ge=576, le=65535)] = 1500
    queue_frames: Annotated[int, Meta(ge=1, le=65536)] = 256


class Tcp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How TCP of a host sends. What is not said is as this machine's kernel does it, which `vaiven doctor` tells.

    congestion_control: "reno", "bbr"; hosts of a lab have those of net.ipv4.tcp_allowed_congestion_control.
    initial_window_segments: so many leave before the first acknowledgement of a new connection; 10 in Linux.
    quick_acks: every segment is acknowledged at once; else some acknowledgements wait for a second segment, or 40 ms.
    offloads: the host may hand its card many segments as one; on a timed fabric it hands over single ones.
    """

    congestion_control: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]{0,14}\Z")] | None = None
    initial_window_segments: Annotated[int, Meta(ge=1, le=1000)] | None = None
    quick_acks: bool | None = None
    offloads: bool | None = None


class Swap(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where hosts put what goes beyond their memory_mb, instead of being ended there: a model of a disk.

    size_mb: 10^6 bytes, for all hosts together. byte_ns: so long each byte takes on its way out, or back.
    """

    size_mb: Annotated[int, Meta(ge=1, le=4096)]
    byte_ns: Annotated[float, Meta(ge=1, le=1_000_000)]


class HostTraits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In what a host differs from a plain, fast one.

    role: what it stands for; text for people.
    memory_mb: 10^6 bytes that its processes may use together; beyond it one is ended, or swaps in a lab that does.
    byte_order: "big" means that programs run under qemu-user for s390x: the other representation, not a slower network.
    frame_us, byte_ns: a slow host: a serial server in its path that takes frame_us + bytes * byte_ns for each
    frame, both directions through the same server.
    cpu_share: of one processor, for all its processes together.
    icmp_bytes_max: ICMP messages with more payload than that are dropped by the host.
    clock_offset_ms: added to its CLOCK_MONOTONIC and CLOCK_BOOTTIME (a time namespace).
    tcp_defect: "small-window": its TCP sends one segment at a time, and waits for a delayed acknowledgement after each.
    tcp: what its TCP does otherwise than that of the lab, with the keys of `[tcp]`.
    """

    role: str = ""
    memory_mb: Count | None = None
    byte_order: Literal["little", "big"] = "little"
    frame_us: Work = 0.0
    byte_ns: Work = 0.0
    cpu_share: Annotated[float, Meta(ge=0.05, le=64)] | None = None
    icmp_bytes_max: Annotated[int, Meta(ge=0, le=65507)] | None = None
    clock_offset_ms: Offset = 0
    tcp_defect: Literal["small-window"] | None = None
    tcp: Tcp = Tcp()

    @property
    def is_slow(self) -> bool:
        """Whether a serial server stands in its path."""
        return self.frame_us > 0 or self.byte_ns > 0


class HostSpec(HostTraits, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One host."""

    name: Name


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that goes wrong on the link of one host, the same way in every repetition with that seed.

    host: its name, or "*" for every host. direction: as the host sees it; "in" is from the fabric to the host.
    kind: "loss" (each frame with `probability`), "burst-loss" (with `probability` a burst of `burst_frames` begins),
    "duplicate", "corrupt" (a frame with a wrong FCS, which a receiver drops), "reorder" (with `probability` a frame
    is overtaken by those of the next `delay_us`), "delay" (every frame by `delay_us`), "cut" (nothing passes).
    """

    host: Annotated[str, Meta(pattern=r"^(\*|[a-z][a-z0-9-]{0,31})\Z", description="the name of a host, or '*'")]
    kind: FaultKind
    direction: Literal["in", "out", "both"] = "in"
    probability: Probability | None = None
    burst_frames: Count | None = None
    delay_us: Delay | None = None
    seed: Annotated[int, Meta(ge=0, le=2**32 - 1)] = 1


# What each kind of fault must say; anything else is a mistake.
_FAULT_NEEDS: dict[str, tuple[str, ...]] = {
    "loss": ("probability",),
    "burst-loss": ("probability", "burst_frames"),
    "duplicate": ("probability",),
    "reorder": ("probability", "delay_us"),
    "corrupt": ("probability",),
    "delay": ("delay_us",),
    "cut": (),
}


class Topology(msgspec.Struct, frozen=True, kw_only=True):
    """A whole lab, with the compact form of equal hosts written out. `name` is also its usual instance name."""

    name: Name
    title: str
    fabric: Fabric
    hosts: tuple[HostSpec, ...]
    faults: tuple[Fault, ...] = ()
    tcp: Tcp = Tcp()
    swap: Swap | None = None

    def tcp_of(self, host: HostSpec) -> Tcp:
        """How TCP of that host sends: what its own table says, then what the lab says."""
        own = {key: value for key, value in msgspec.structs.asdict(host.tcp).items() if value is not None}
        return msgspec.structs.replace(self.tcp, **own)

    def host(self, name: str) -> HostSpec:
        """The host of that name. Raises VaivenError ("no-host")."""
        for host in self.hosts:
            if host.name == name:
                return host
        raise VaivenError(
            f"the lab {self.name} has no host {name!r}",
            f"its hosts are {', '.join(h.name for h in self.hosts)}",
            code="no-host",
        )

    def warnings(self) -> tuple[str, ...]:
        """What a reader of results must know before the lab is raised: classes that two cores cannot carry."""
        fabric = self.fabric
        if fabric.fabric_class != "timed" or fabric.rate_mbps is None:
            return ()
        if fabric.rate_mbps > 100:
            return (
                f"above 100 Mb/s frames are shorter than what keeps them in time: at {fabric.rate_mbps:g} Mb/s trust "
                'only what `vaiven lab check` confirms, or say class = "paced"',
            )
        hosts_max = 8 if fabric.rate_mbps > 50 else 16
        if fabric.rate_mbps <= 10 or len(self.hosts) <= hosts_max:
            return ()
        return (
            f"{len(self.hosts)} hosts at {fabric.rate_mbps:g} Mb/s are more than two cores keep in time "
            f"(8 hosts at 100 Mb/s, 16 at 50): trust only what `vaiven lab check` confirms",
        )


_NO_OFFLOADS = "leave offloads out"


class _HostEntry(HostTraits, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[[hosts]]` table: a host, or `count` hosts called `prefix`1, `prefix`2, ..."""

    name: Name | None = None
    prefix: Name | None = None
    count: Annotated[int, Meta(ge=1, le=HOSTS_MAX)] | None = None

    def expand(self) -> list[HostSpec]:
        traits = {field: getattr(self, field) for field in HostTraits.__struct_fields__}
        if self.name is not None:
            return [HostSpec(name=self.name, **traits)]
        return [HostSpec(name=f"{self.prefix}{number}", **traits) for number in range(1, (self.count or 0) + 1)]


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lab file as it is written."""

    name: Name
    fabric: Fabric
    hosts: tuple[_HostEntry, ...]
    title: str = ""
    tcp: Tcp = Tcp()
    swap: Swap | None = None
    faults: tuple[Fault, ...] = ()


def load(path: Path) -> Topology:
    """The lab in that file. Raises VaivenError ("no-file", "bad-toml", "bad-value") with file and line."""
    return _build(tomlfile.load(path, _File))


def parse(text: str, name: str = "lab") -> Topology:
    """The lab in that text, called `name` in messages. Raises VaivenError as `load` does."""
    return _build(tomlfile.Document(text, name, _File))


def names() -> list[str]:
    """The names of the ready labs, in order."""
    return sorted(path.stem for path in resources.ready("labs").glob("*.toml"))


def ready_path(name: str) -> Path:
    """The file of a ready lab. Raises VaivenError ("no-lab")."""
    if name not in names():
        raise VaivenError(
            f"there is no lab called {name!r}",
            f"the ready ones are {', '.join(names())}; or give a file: ./my.toml",
            code="no-lab",
        )
    return resources.ready("labs") / f"{name}.toml"


def ready(name: str) -> Topology:
    """The ready lab of that name. Raises VaivenError ("no-lab")."""
    return load(ready_path(name))


def find(name_or_file: str) -> Topology:
    """A lab file if it looks like one (has a "/" or ends in ".toml"), else a ready lab. Raises as they do."""
    if "/" in name_or_file or name_or_file.endswith(".toml"):
        return load(Path(name_or_file))
    return ready(name_or_file)


def _build(document: tomlfile.Document[_File]) -> Topology:
    """Checks what the schema cannot, and writes the hosts out."""
    file = document.value
    _check_fabric(document)
    _check_tcp(document)
    hosts: list[HostSpec] = []
    for index, entry in enumerate(file.hosts):
        if (entry.name is None) == (entry.prefix is None) or (entry.prefix is None) != (entry.count is None):
            raise document.error(
                "a host needs either a name, or a prefix and a count",
                'name = "a"   or   prefix = "node"  and  count = 8',
                "hosts",
                index,
            )
        taken = {host.name for host in hosts}
        for host in entry.expand():
            if host.name in taken:
                raise document.error(
                    f"two hosts are called {host.name!r}",
                    "each host needs a name of its own",
                    "hosts",
                    index,
                    "name" if entry.name else "prefix",
                )
            hosts.append(host)
    if not 1 <= len(hosts) <= HOSTS_MAX:
        raise document.error(f"{len(hosts)} hosts", f"a lab has 1 to {HOSTS_MAX} hosts", "hosts")
    _check_faults(document, {host.name for host in hosts})
    if file.swap and not any(host.memory_mb for host in hosts):
        raise document.error("no host has an end of its memory, beyond which it would swap", "memory_mb = 32", "swap")
    return Topology(
        name=file.name, title=file.title, fabric=file.fabric, hosts=tuple(hosts), faults=file.faults, tcp=file.tcp,
        swap=file.swap,
    )  # fmt: skip


def _check_fabric(document: tomlfile.Document[_File]) -> None:
    fabric = document.value.fabric
    if fabric.fabric_class == "free":
        if fabric.rate_mbps is not None:
            raise document.error(
                "a free fabric has no rate", 'leave rate_mbps out, or say class = "timed"', "fabric", "rate_mbps"
            )
    elif fabric.rate_mbps is None:
        raise document.error(f"a {fabric.fabric_class} fabric needs a rate", "rate_mbps = 100", "fabric")
    if fabric.fabric_class == "timed" and fabric.mtu > TIMED_MTU_MAX:
        raise document.error(
            f"a timed fabric cannot carry frames of {fabric.mtu} bytes",
            f'mtu = {TIMED_MTU_MAX} or less, or class = "free"',
            "fabric",
            "mtu",
        )


def _check_tcp(document: tomlfile.Document[_File]) -> None:
    """Batches are refused where something cuts them: then the lab would not be what it says."""
    is_timed = document.value.fabric.fabric_class == "timed"
    if is_timed and document.value.tcp.offloads:
        raise document.error("a timed fabric carries single segments", _NO_OFFLOADS, "tcp", "offloads")
    for index, entry in enumerate(document.value.hosts):
        cut = "a timed fabric" if is_timed else "a slow host" if entry.is_slow else entry.tcp_defect
        if cut and entry.tcp.offloads:
            raise document.error(f"{cut} carries single segments", _NO_OFFLOADS, "hosts", index, "tcp", "offloads")


def _check_faults(document: tomlfile.Document[_File], hosts: set[str]) -> None:
    for index, fault in enumerate(document.value.faults):
        if fault.host != "*" and fault.host not in hosts:
            raise document.error(
                f"a fault names the host {fault.host!r}, which the lab does not have",
                f"its hosts are {', '.join(sorted(hosts))}, or '*' for all",
                "faults",
                index,
                "host",
            )
        for field in ("probability", "burst_frames", "delay_us"):
            needed, given = field in _FAULT_NEEDS[fault.kind], getattr(fault, field) is not None
            if needed and not given:
                raise document.error(
                    f"a fault of kind {fault.kind} needs {field}", f"add a line {field} = ...", "faults", index
                )
            if given and not needed:
                raise document.error(
                    f"a fault of kind {fault.kind} has no {field}", f"leave {field} out", "faults", index, field
                )
