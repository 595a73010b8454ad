# SPDX-License-Identifier: BSD-3-Clause
"""capture.py INTERFACE: counts the frames that a capture sees, until standard input closes.

Run on a host of a lab by vaiven.lab.check, as a file of its own. Prints "ready", then at the end one JSON object:
{"out": frames sent, "in": frames received, "longest_bytes": of all of them}.
"""

from __future__ import annotations

import json
import select
import socket
import sys

_RCVBUFFORCE = 33  # SO_RCVBUFFORCE, <asm-generic/socket.h>: above the limit of users, so that no frame is missed
_ALL = 0x0003  # ETH_P_ALL, <linux/if_ether.h>
_OUTGOING = 4  # PACKET_OUTGOING, <linux/if_packet.h>


def main(interface: str) -> None:
    counts = {"out": 0, "in": 0, "longest_bytes": 0}
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL)) as packets:
        packets.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, 1 << 22)
        packets.bind((interface, _ALL))
        print("ready", flush=True)
        while True:
            readable, _, _ = select.select([packets, sys.stdin], [], [])
            if packets not in readable:
                break  # standard input has closed, and no frame waits
            length, _, _, sender = packets.recvmsg_into([bytearray(65536)], 0, socket.MSG_TRUNC)
            counts["out" if sender[2] == _OUTGOING else "in"] += 1
            counts["longest_bytes"] = max(counts["longest_bytes"], length)
    print(json.dumps(counts))


if __name__ == "__main__":
    main(sys.argv[1])
