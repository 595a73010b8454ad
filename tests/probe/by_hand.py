# SPDX-License-Identifier: BSD-3-Clause
"""Ends of a probe made by hand, to behave as no real one does.

They speak the control protocol that src/probe/link/session.h states.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable

VERSION = "0.1.0"


def siphash(key: bytes, data: bytes) -> int:
    """SipHash-2-4 of `data` (Aumasson and Bernstein 2012), as an integer."""
    mask = (1 << 64) - 1
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotate(x: int, bits: int) -> int:
        return (x << bits | x >> (64 - bits)) & mask

    def mix() -> None:
        for a, b, c, d, left, right in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
            v[a] = (v[a] + v[b]) & mask
            v[c] = (v[c] + v[d]) & mask
            v[b] = rotate(v[b], left) ^ v[a]
            v[d] = rotate(v[d], right) ^ v[c]
            v[a] = rotate(v[a], 32)

    padded = data + b"\0" * (7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        mix()
        mix()
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(4):
        mix()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def proof(key: bytes, role: bytes, far_nonce: bytes, near_nonce: bytes) -> str:
    return siphash(key, role + far_nonce + near_nonce).to_bytes(8, "little").hex()


def words(line: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in line.split(" ")[1:] if "=" in word)


class Line:
    """A control connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.file = connection.makefile("r")

    def say(self, text: str) -> None:
        self.connection.sendall(text.encode() + b"\n")

    def hear(self) -> str:
        return self.file.readline().rstrip("\n")

    def close(self) -> None:
        self.file.close()
        self.connection.close()


def call(peer: str, key: bytes, version: str = VERSION, **options: str) -> tuple[Line, str]:
    """A near end that introduces itself to the far end at `peer`: its connection, and the far end's answer."""
    host, port = peer.rsplit(":", 1)
    line = Line(socket.create_connection((host, int(port)), timeout=60))
    far_nonce = bytes.fromhex(words(line.hear())["nonce"])
    own = {"stack": "tcp", "write": "one", "wait": "block", "buffers": "hot", "idle_ns": "0"} | options
    near_nonce = b"12345678"
    line.say(
        f"near schema=1 probe={version} nonce={near_nonce.hex()} proof={proof(key, b'n', far_nonce, near_nonce)} "
        + " ".join(f"{name}={value}" for name, value in own.items())
    )
    return line, line.hear()


Answers = Callable[[int, bytes], Iterable[tuple[float, bytes]]]


class UdpFar(threading.Thread):
    """A far end of `udp` that answers message number i with what `answers(i, message)` says: (delay in s, bytes)."""

    def __init__(self, key: bytes, answers: Answers, version: str = VERSION) -> None:
        super().__init__(daemon=True)
        self.key, self.answers, self.version = key, answers, version
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.peer = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.opened = 0
        self.messages = 0
        self.clock_ns = 0
        self.train = 1
        self.socket: socket.socket | None = None
        self.start()

    def welcome(self, line: Line) -> None:
        far_nonce = b"abcdefgh"
        line.say(f"vaiven schema=1 probe={self.version} nonce={far_nonce.hex()}")
        near_nonce = bytes.fromhex(words(line.hear())["nonce"])
        shown = proof(self.key, b"f", far_nonce, near_nonce)
        line.say(f"welcome proof={shown} hostname=by-hand arch=none byte_order=big")

    def open(self, line: Line, near: str) -> None:
        host, port = near.rsplit(":", 1)
        new = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        new.bind(("127.0.0.1", 0))
        new.connect((host, int(port)))
        old, self.socket = self.socket, new
        if old:
            old.close()
        self.opened += 1
        line.say(f"opened contact=127.0.0.1:{new.getsockname()[1]}")
        threading.Thread(target=self.answer, args=(new,), daemon=True).start()
        line.say("linked")

    def answer(self, end: socket.socket) -> None:
        try:
            while True:
                message = end.recv(65536)
                number, self.messages = self.messages, self.messages + 1
                for delay, data in self.answers(number, message):
                    if delay:
                        threading.Timer(delay, self.send, (end, data)).start()
                    else:
                        end.send(data)
        except OSError:
            pass

    @staticmethod
    def send(end: socket.socket, data: bytes) -> None:
        with contextlib.suppress(OSError):
            end.send(data)

    def run(self) -> None:
        line = Line(self.listener.accept()[0])
        try:
            self.welcome(line)
            while request := line.hear():
                verb = request.split(" ")[0]
                if verb == "open":
                    self.open(line, words(request)["contact"])
                elif verb in ("pingpong", "prtt"):
                    self.train = int(words(request)["train"])
                    line.say("go check_ns=0")
                elif verb == "clock":
                    line.say(f"clock real_ns={self.clock_ns}")
                elif verb == "end":
                    line.say("done messages=0 corrupt=0 cpu_ns=0")
                elif verb == "bye":
                    break
        except (OSError, KeyError):
            pass
        finally:
            line.close()
            self.listener.close()
