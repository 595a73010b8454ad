# SPDX-License-Identifier: BSD-3-Clause
"""Who sees all that passes a host and holds no key: `record FILE` notes it, `replay FILE ...` says it again.

A line of the file is a datagram or a piece of a TCP stream: protocol, destination, its port, and the bytes in hex.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import sys
from pathlib import Path

IP = 0x0800


def record(path: Path) -> None:
    """Until it is killed; says "begun" when nothing is missed any more."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(IP)) as tap, path.open("w") as file:
        tap.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        print("begun", flush=True)
        while True:
            packet = tap.recv(65536)
            protocol, to = packet[9], ipaddress.ip_address(packet[16:20])
            body = packet[4 * (packet[0] & 15) : struct.unpack(">H", packet[2:4])[0]]
            skip = 8 if protocol == socket.IPPROTO_UDP else 4 * (body[12] >> 4) if protocol == socket.IPPROTO_TCP else 0
            if skip and len(body) > skip:
                file.write(f"{protocol} {to} {int.from_bytes(body[2:4])} {body[skip:].hex()}\n")
                file.flush()


def recorded(paths: list[str]) -> list[tuple[int, str, int, bytes]]:
    """Protocol, destination, port and bytes of everything in those files, in order, each once."""
    lines = [
        line.split() for path in paths for line in Path(path).read_text().splitlines(keepends=True) if "\n" in line
    ]
    once = dict.fromkeys(tuple(line) for line in lines if len(line) == 4)
    return [(int(protocol), to, int(port), bytes.fromhex(data)) for protocol, to, port, data in once]


def say_datagrams(own: str, paths: list[str], stream: str, places: list[str]) -> None:
    """Every datagram to where it went, and to all those places ADDRESS:PORT, as it was and with the stream of today."""
    today = bytes.fromhex(stream)
    to = [(place.split(":")[0], int(place.split(":")[1])) for place in places]
    sent = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
        out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)  # rank 0 rings to all
        for protocol, address, port, data in recorded(paths):
            if protocol != socket.IPPROTO_UDP:
                continue
            for place in [(address, port), *to]:
                for told in (data, data[:1] + today + data[4:]):
                    out.sendto(told, place)
                    sent += 1
    print(sent)


def say_letters(paths: list[str], meeting: str) -> None:
    """What ranks wrote to the meeting, each once more on a connection of its own; and what came of it, in bytes."""
    host, port = meeting.split(":")
    for protocol, address, to, data in recorded(paths):
        if protocol == socket.IPPROTO_TCP and (address, to) == (host, int(port)):
            with socket.create_connection((host, int(port)), 60) as link:
                link.settimeout(60)
                link.sendall(data.ljust(64, b"\0"))
                got = b""
                try:
                    while some := link.recv(4096):
                        got += some
                except ConnectionResetError:
                    pass
                print(len(got))


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record(Path(sys.argv[2]))
    elif sys.argv[1] == "letters":
        say_letters(sys.argv[2].split(","), sys.argv[3])
    else:
        say_datagrams(sys.argv[2], sys.argv[3].split(","), sys.argv[4], sys.argv[5:])
