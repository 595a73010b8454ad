# SPDX-License-Identifier: BSD-3-Clause
"""A capture that counts: payload bytes of TCP and UDP that cross an interface, frames to a group and payload to single
hosts, and busy connections.

Run on a host of a lab as a file of its own; prints "ready", then one JSON object when standard input closes.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_RCVBUFFORCE = 33  # SO_RCVBUFFORCE, <asm-generic/socket.h>
_ALL, _IPV4 = 0x0003, 0x0800  # <linux/if_ether.h>
_MUCH_BYTES = 100_000


@contextmanager
def captured(host) -> Iterator[dict[str, int]]:
    """What crosses the cable of that host meanwhile; known at the end."""
    seen: dict[str, int] = {}
    command = host.argv([sys.executable, "-IS", __file__, host.interface])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as watching:
        assert watching.stdout.readline() == b"ready\n"
        yield seen
        seen.update(json.loads(watching.communicate()[0]))


def payload(frame: bytes) -> tuple[str, tuple[int, int], int] | None:
    """(protocol, its two ports, payload bytes) of an IPv4 frame, fragments by their IP payload; None for others."""
    if int.from_bytes(frame[12:14], "big") != _IPV4 or frame[23] not in (6, 17):
        return None
    head = 14 + 4 * (frame[14] & 15)
    length = int.from_bytes(frame[16:18], "big") - (head - 14)
    if frame[23] == 17:
        return "udp", (0, 0), length
    ports = tuple(
        sorted((int.from_bytes(frame[head : head + 2], "big"), int.from_bytes(frame[head + 2 : head + 4], "big")))
    )
    return "tcp", ports, length - 4 * (frame[head + 12] >> 4)


def main(interface: str) -> None:
    seen, connections = {"tcp": 0, "udp": 0, "group_frames": 0, "to_single_hosts": 0}, {}
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL)) as packets:
        packets.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, 1 << 25)
        packets.bind((interface, _ALL))
        print("ready", flush=True)
        while True:
            readable, _, _ = select.select([packets, sys.stdin], [], [])
            if packets not in readable:
                break
            frame = packets.recv(65_600)
            seen["group_frames"] += frame[0] & 1
            found = payload(frame)
            if found:
                protocol, ports, count = found
                seen[protocol] += count
                seen["to_single_hosts"] += count * (not frame[0] & 1)
                if protocol == "tcp":
                    connections[ports] = connections.get(ports, 0) + count
    print(json.dumps(seen | {"busy_connections": sum(count > _MUCH_BYTES for count in connections.values())}))


if __name__ == "__main__":
    main(sys.argv[1])
