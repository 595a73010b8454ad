# SPDX-License-Identifier: BSD-3-Clause
"""A host of a lab that is up: its names and addresses, and how to run a command there."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import msgspec

from vaiven.lab.namespace import Namespace
from vaiven.lab.topology import HostSpec

NETWORK = "10.1.0"  # every lab is a world of its own, so all of them may use the same addresses
NETWORK6 = "fd76:7661:6976"  # a unique local prefix, RFC 4193
PREFIX_BITS = 24
PREFIX6_BITS = 64
MTU6_MIN = 1280  # RFC 8200, section 5
INTERFACE = "eth0"

BIG_ENDIAN_ARCH = "s390x"


class LabHost(msgspec.Struct, frozen=True, kw_only=True):
    """lab: the instance name of its lab. number: 1 for the first host. spec: what the lab file says about it."""

    lab: str
    number: int
    spec: HostSpec
    namespace: Namespace

    @property
    def name(self) -> str:
        """Its hostname."""
        return self.spec.name

    @property
    def full_name(self) -> str:
        """How people write it: LAB/HOST."""
        return f"{self.lab}/{self.name}"

    @property
    def interface(self) -> str:
        """Its end of the cable."""
        return INTERFACE

    @property
    def port(self) -> str:
        """The other end of its cable: an interface of the switch."""
        return f"p{self.number}"

    @property
    def address(self) -> str:
        """IPv4."""
        return address(self.number)

    @property
    def address6(self) -> str:
        """IPv6."""
        return f"{NETWORK6}::{self.number:x}"

    @property
    def mac(self) -> str:
        """Its Ethernet address, a locally administered one."""
        return f"02:76:76:00:00:{self.number:02x}"

    @property
    def arch(self) -> str:
        """The architecture that its programs are built for, as `uname -m` would say there."""
        return BIG_ENDIAN_ARCH if self._is_foreign else platform.machine()

    @property
    def emulator(self) -> tuple[str, ...]:
        """What stands before a program of that architecture: nothing, or qemu's user mode."""
        return (f"qemu-{BIG_ENDIAN_ARCH}-static",) if self._is_foreign else ()

    @property
    def _is_foreign(self) -> bool:
        return self.spec.byte_order == "big" and sys.byteorder == "little"

    @property
    def proc_net(self) -> Path:
        """Its /proc/net, as this machine shows it."""
        return Path(f"/proc/{self.namespace.pid}/net")

    def argv(self, command: Sequence[str]) -> list[str]:
        """The argument vector that runs `command` on this host; its arguments arrive verbatim, no shell sees them."""
        return self.namespace.argv(command)

    def become(self, command: Sequence[str]) -> NoReturn:
        """Replaces this process by `command` on this host, with this terminal."""
        self.namespace.become(command)


def address(number: int) -> str:
    """The IPv4 address of the host of that number."""
    return f"{NETWORK}.{number}"


def hosts_file(names: Sequence[str]) -> str:
    """/etc/hosts of a lab whose hosts have these names, in order of their numbers.

    A name means the IPv4 address, NAME.ip6 the other one: which protocol is measured is never a resolver's choice.
    """
    lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost"]
    for number, name in enumerate(names, 1):
        lines += [f"{address(number)} {name}", f"{NETWORK6}::{number:x} {name}.ip6"]
    return "\n".join(lines) + "\n"
