# SPDX-License-Identifier: BSD-3-Clause
"""Sends numbered datagrams, or prints which of them arrive, in which order. Run on a host of a lab.

numbered.py receive                      prints "ready"; then, when standard input has closed (all are sent) and nothing
                                         has come for a while, a JSON list of numbers
numbered.py send ADDRESS COUNT BYTES     0 to COUNT - 1
"""

import json
import select
import socket
import sys

PORT = 7007
QUIET_S = 0.3  # longer than any frame waits in a fabric


def receive() -> None:
    numbers = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        end.bind(("", PORT))
        print("ready", flush=True)
        heard = [end, sys.stdin]
        while readable := select.select(heard, [], [], None if sys.stdin in heard else QUIET_S)[0]:
            if end in readable:
                numbers.append(int.from_bytes(end.recv(65536)[:4], "big"))
            elif sys.stdin in readable:
                heard = [end]
    print(json.dumps(numbers))


def send(address: str, count: int, size: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        for number in range(count):
            end.sendto(number.to_bytes(4, "big") + bytes(size - 4), (address, PORT))


if __name__ == "__main__":
    receive() if sys.argv[1] == "receive" else send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
