# SPDX-License-Identifier: BSD-3-Clause
"""Which address belongs to which interface of a host, as its kernel says in /proc/net. Pure: text in, words out."""

from __future__ import annotations

import ipaddress
import re

# What `FILES` prints is what the functions below read. A host without IPv6 has no if_inet6.
FILES = ("sh", "-c", "cat /proc/net/route /proc/net/fib_trie; cat /proc/net/if_inet6 2>/dev/null || true")


def interface_of(text: str, address: str) -> str:
    """The interface that has this address; "" if none has."""
    wanted = ipaddress.ip_address(address)
    if wanted.is_loopback:
        return "lo"
    if wanted.version == 6:
        return next((name for name, found in _addresses6(text) if found == wanted), "")
    if wanted not in _local4(text):
        return ""
    fitting = [(network.prefixlen, name) for name, network in _networks4(text) if wanted in network]
    return max(fitting)[1] if fitting else ""


def address_of(text: str, interface: str) -> str:
    """The first address of the interface, IPv4 before IPv6 and none that is link-local; "" if it has none."""
    if interface == "lo":
        return "127.0.0.1"
    networks = [network for name, network in _networks4(text) if name == interface]
    four = [address for address in _local4(text) if any(address in network for network in networks)]
    six = [address for name, address in _addresses6(text) if name == interface and not address.is_link_local]
    return str((*four, *six)[0]) if four or six else ""


def _networks4(text: str) -> list[tuple[str, ipaddress.IPv4Network]]:
    """Networks reached without a gateway: /proc/net/route has them in the host's byte order, little-endian or not."""
    found = []
    for name, target, gateway, mask in re.findall(
        r"^(\S+)\t([0-9A-F]{8})\t([0-9A-F]{8})\t(?:\S+\t){4}([0-9A-F]{8})", text, re.MULTILINE
    ):
        if int(gateway, 16) == 0 and int(target, 16) != 0:
            found.append((name, _network4(target, mask)))
    return found


def _network4(target: str, mask: str) -> ipaddress.IPv4Network:
    # A mask has its ones in front: if it has not, the bytes stand the other way round.
    swapped = bytes.fromhex(mask)[0] < bytes.fromhex(mask)[3] or mask.startswith("00")
    address, bits = (bytes.fromhex(word)[:: -1 if swapped else 1] for word in (target, mask))
    prefix = int.from_bytes(bits).bit_count()
    return ipaddress.IPv4Network((address, prefix), strict=False)


def _local4(text: str) -> list[ipaddress.IPv4Address]:
    """The host's own addresses, in the kernel's order, without loopback."""
    found = re.findall(r"\|-- ([0-9.]+)\n\s+/32 host LOCAL", text)
    return [a for a in map(ipaddress.IPv4Address, dict.fromkeys(found)) if not a.is_loopback]


def _addresses6(text: str) -> list[tuple[str, ipaddress.IPv6Address]]:
    rows = re.findall(r"^([0-9a-f]{32}) (?:[0-9a-f]{2,} ){4}\s*(\S+)$", text, re.MULTILINE)
    return [(name, ipaddress.IPv6Address(bytes.fromhex(digits))) for digits, name in rows]
