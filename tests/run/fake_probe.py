# SPDX-License-Identifier: BSD-3-Clause
"""A vaiven-probe that measures nothing: it prints the records of the seam, well or badly, as its first argument says.

    fake_probe.py MODE far|near|inventory|stacks ...

Modes: "well"; "no-ready", "no-bye", "no-cell", "garbage", "newer", "error", "hang", "die" (SIGKILL to itself after
the first cell), "far-error", "far-newer" (a far end of a schema to come), "far-version" (a far end that calls the
near end a stranger, as both ends of two releases do), "far-die" (a far end that is killed, of which the near end
hears nothing), "gone" (a near end that says so), "once:FILE" (dies unless FILE exists, and makes it), "slow",
"meet:DIRECTORY" (waits after the first cell until another near end is there, too). Where the environment says so
messages take FAKE_SLOWER_NS longer.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path

VERSION = b"0.0.0\n"  # what a far end says first


def say(kind: str, **facts: object) -> None:
    print(json.dumps({"type": kind, **facts}), flush=True)


def stream(kind: str, **facts: object) -> None:
    say(kind, schema=1, probe="0.0.0", **facts)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def after(option: str, default: str = "") -> str:
    return sys.argv[sys.argv.index(option) + 1] if option in sys.argv else default


def far(mode: str) -> None:
    if mode == "no-ready":
        time.sleep(60)
    if mode == "far-error":
        say("error", code="no-port", text="no port is free", remedy="give a wider range")
        sys.exit(1)
    listener = socket.create_server((after("--bind"), 0))
    said = {"schema": 2 if mode == "far-newer" else 1, "probe": "9.9.9" if mode == "far-version" else "0.0.0"}
    say("ready", **said, stack=sys.argv[3], address=after("--bind"), port=listener.getsockname()[1])
    if mode == "far-version":
        listener.accept()[0].sendall(b"9.9.9\n")
        say("error", code="peer-version", text="near is 0.0.0, far is 9.9.9", remedy="install the same on both")
        sys.exit(1)
    if mode == "far-die":
        listener.accept()[0].sendall(VERSION)
        die()
    ends = [listener, sys.stdin.buffer]
    while True:  # until the launcher or the near end has gone
        for end in select.select(ends, [], [])[0]:
            if end is not listener:
                sys.exit(0)
            ends.append(listener.accept()[0])
            ends[-1].sendall(VERSION)


def cell(ask: str, size: int, samples: int) -> None:
    name = {"pingpong": "rtt_ns", "connect": "connect_ns", "oneway": "last_ns"}[ask]
    start = 20_000 + int(os.environ.get("FAKE_SLOWER_NS", "0"))
    ns = [start + 10 * size + k for k in range(samples)]
    say("cell", ask=ask, size_bytes=size, batch=1, lost=1, late=0, warmup=5, warm=True, corrupt=0, cpu_near_ns=900,
        cpu_far_ns=None, wire={"frames": 1, "bytes": size + 78, "ns": None}, future=[1], **{name: ns})  # fmt: skip


def near(mode: str) -> None:
    ask, peer = after("--ask"), after("--peer").rpartition(":")
    control = socket.create_connection((peer[0], int(peer[2]))) if peer[0] else None
    if control and (heard := control.makefile("rb").readline()) != VERSION:
        version = heard.decode().strip()
        say("error", code="peer-version", text=f"near is 0.0.0, far is {version}", remedy="install the same on both")
        sys.exit(1)
    sizes = [int(word) for word in after("--sizes", "0").split(",")]
    stream("hello", stack=sys.argv[3], peer=after("--peer"), connect_ns=[61234])
    say("from-the-future", anything=1)
    for number, size in enumerate(sizes):
        if number == 1:
            spoil(mode)
        if mode == "no-cell" and number == 0:
            continue
        cell(ask, size, min(int(after("--samples")), 7))
        if mode == "slow":
            time.sleep(0.3)
    if mode != "no-bye":
        say("bye", cells=len(sizes))


def spoil(mode: str) -> None:
    if mode == "die":
        die()
    if mode == "garbage":
        print("Segmentation fault", flush=True)
    if mode == "newer":
        say("cell", schema=2)
    if mode == "hang":
        time.sleep(60)
    if mode == "error":
        say("error", code="permission", text="no permission", remedy="setcap")
        sys.exit(1)
    if mode == "gone":
        say("error", code="peer-gone", text="the other end closed the control connection", remedy="see there")
        sys.exit(1)
    if mode.startswith("meet:"):
        meet(Path(mode[5:]))
    if mode.startswith("once:") and not Path(mode[5:]).exists():
        Path(mode[5:]).touch()
        die()


def meet(place: Path) -> None:
    (place / str(os.getpid())).touch()
    wanted = (len(list(place.iterdir())) + 1) // 2 * 2
    while len(list(place.iterdir())) < wanted:  # the launcher gives up some day
        time.sleep(0.01)


def stacks() -> None:
    for stack in ("icmp", "udp", "tcp"):
        stream("stack", stack=stack, size_bytes_min=0, size_bytes_max=65507, kernel_echo=stack == "icmp", alone=False,
               datagram=stack != "tcp", two_writes=stack == "tcp", to_all=False, at_once=False, needs=None)  # fmt: skip


def main() -> None:
    mode, command = sys.argv[1:3]
    if command in ("far", "near"):
        key = sys.stdin.readline().strip()
        assert len(key) == 32, key
        assert key not in " ".join(sys.argv)
    if command == "far":
        far(mode)
    elif command == "near":
        near(mode)
    elif command == "inventory":
        stream("inventory", hostname="fake")
    else:
        stacks()


main()
