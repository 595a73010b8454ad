# SPDX-License-Identifier: BSD-3-Clause
"""What a message becomes on the wire: the formula of `vaiven-probe wire` against every frame that crosses an interface.

Two namespaces and one veth pair, offloads off. The probe runs; tcpdump sees what its near end sends; the frames are
sorted by the message that they carry. (S07)
"""

from __future__ import annotations

import json
import os
import secrets
import struct
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.lab

_NEAR, _FAR = "10.98.0.1", "10.98.0.2"
_MAC = {_NEAR: "02:00:00:00:98:01", _FAR: "02:00:00:00:98:02"}
_KEY = secrets.token_hex(16)


def _ip(*args: str) -> None:
    subprocess.run(["ip", *args], check=True, capture_output=True, text=True)


@dataclass(frozen=True)
class Pair:
    """Two namespaces joined by one link that carries only what the tests send: near has _NEAR, far has _FAR, each on
    eth0; no IPv6, and nobody asks for an address."""

    near: str
    far: str

    def command(self, namespace: str, *args: str) -> list[str]:
        return ["ip", "netns", "exec", namespace, *map(str, args)]

    def set_mtu(self, mtu: int) -> None:
        for namespace in (self.near, self.far):
            _ip("-n", namespace, "link", "set", "eth0", "mtu", str(mtu))


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    pair = Pair(f"vvf{os.getpid()}n", f"vvf{os.getpid()}f")
    try:
        for namespace in (pair.near, pair.far):
            _ip("netns", "add", namespace)
        _ip("link", "add", "eth0", "address", _MAC[_NEAR], "netns", pair.near, "type", "veth",
            "peer", "name", "eth0", "address", _MAC[_FAR], "netns", pair.far)  # fmt: skip
        for namespace, address, other in ((pair.near, _NEAR, _FAR), (pair.far, _FAR, _NEAR)):
            quiet = "net.ipv6.conf.all.disable_ipv6=1"
            subprocess.run(pair.command(namespace, "sysctl", "-qw", quiet), check=True, capture_output=True)
            _ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "eth0")
            _ip("-n", namespace, "link", "set", "eth0", "up", "gso_max_segs", "1")
            off = [word for what in ("tso", "gso", "gro", "tx", "rx") for word in (what, "off")]
            subprocess.run(pair.command(namespace, "ethtool", "-K", "eth0", *off), check=True, capture_output=True)
            neighbour = ["neigh", "replace", other, "lladdr", _MAC[other], "dev", "eth0", "nud", "permanent"]
            _ip("-n", namespace, *neighbour)
        yield pair
    finally:
        for namespace in (pair.near, pair.far):
            subprocess.run(["ip", "netns", "del", namespace], check=False, capture_output=True)


@pytest.fixture
def probe(vaiven_programs: Callable[[str], Path]) -> Path:
    return vaiven_programs("vaiven-probe")


def _frames_of(capture: Path) -> list[bytes]:
    """The frames of a pcap file, as far as they were kept, each lengthened with zeros to what it was."""
    data = capture.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    frames, at = [], 24
    while at < len(data):
        kept, length = struct.unpack_from(order + "II", data, at + 8)
        frames.append(data[at + 16 : at + 16 + kept].ljust(length, b"\0"))
        at += 16 + kept
    return frames


def _wire_bytes(frame: bytes) -> int:
    """Preamble 8, at least 60 bytes of frame, FCS 4, gap 12."""
    return max(len(frame), 60) + 24


def _by_ip_id(frames: list[bytes], protocol: int) -> dict[object, list[bytes]]:
    """IPv4 packets of that protocol from the near end, fragments under the packet that they are of."""
    found = defaultdict(list)
    for frame in frames:
        if frame[12:14] == b"\x08\x00" and frame[23] == protocol and frame[26:30] == bytes(map(int, _NEAR.split("."))):
            found[frame[18:20]].append(frame)
    return found


def _by_fragment_header(frames: list[bytes], size: int) -> dict[object, list[bytes]]:
    """Frames with a length field that carry vaiven's SAP, under launch, end and message; greetings are message 0."""
    found = defaultdict(list)
    for frame in frames:
        length, message = struct.unpack_from(">H", frame, 12)[0], frame[25:29]
        if length <= 1500 and frame[14:17] == b"\x64\x64\x03" and message != bytes(4):
            assert length + 14 == len(frame)
            found[frame[17:29]].append(frame)
    return found


def _by_stream_place(frames: list[bytes], size: int) -> dict[object, list[bytes]]:
    """TCP segments with data, not of the control connection (the first), under the message that they begin in."""
    streams: dict[bytes, int] = {}
    found = defaultdict(list)
    for frame in (f for packets in _by_ip_id(frames, 6).values() for f in packets):
        sequence = struct.unpack_from(">I", frame, 38)[0]
        data = struct.unpack_from(">H", frame, 16)[0] - 20 - (frame[46] >> 4) * 4
        stream = frame[34:38]
        if frame[47] & 2:  # SYN
            streams[stream] = sequence + 1
        elif data > 0 and stream != next(iter(streams)):
            first = (sequence - streams[stream]) % 2**32
            assert first // size == (first + data - 1) // size, "a segment holds the end of one message and more"
            found[stream, first // size].append(frame)
    return found


_SORT: dict[str, Callable[[list[bytes], int], dict[object, list[bytes]]]] = {
    "tcp": _by_stream_place,
    "udp": lambda frames, size: _by_ip_id(frames, 17),
    "icmp": lambda frames, size: _by_ip_id(frames, 1),
    "eth": _by_fragment_header,
}


def _start_capture(pair: Pair, capture: Path) -> subprocess.Popen[str]:
    command = pair.command(pair.near, "tcpdump", "-i", "eth0", "-Q", "out", "-s", "64", "-B", "65536", "-Z", "root",
                           "--immediate-mode", "-w", str(capture))  # fmt: skip
    tcpdump = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert tcpdump.stderr is not None
    for line in tcpdump.stderr:
        if "listening on" in line:
            return tcpdump
    raise AssertionError("tcpdump ended before it listened")


def _stop_capture(tcpdump: subprocess.Popen[str]) -> None:
    time.sleep(0.2)  # what was seen last is still being written
    tcpdump.terminate()
    _, said = tcpdump.communicate(timeout=10)
    assert "0 packets dropped by kernel" in said, said


def _ping_pong(pair: Pair, probe: Path, stack: str, size: int, mtu: int, key_file: Path) -> dict:
    """One short cell of the probe over the pair; its record."""
    key_file.write_text(_KEY + "\n")
    far, peer, key = None, _FAR, []
    if stack != "icmp":
        key = ["--key-file", key_file]
        command = pair.command(pair.far, probe, "far", stack, "--bind", _FAR, *key)
        far = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert far.stdout is not None
        peer = f"{_FAR}:{json.loads(far.stdout.readline())['port']}"
    effort = ["--samples", 5, "--cell-ms", 20, "--mtu", mtu]
    command = pair.command(pair.near, probe, "near", stack, "--peer", peer, "--sizes", size, *effort, *key)
    near = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if far is not None:
        far.communicate(timeout=10)
    assert near.returncode == 0, near.stdout
    return next(r for r in map(json.loads, near.stdout.splitlines()) if r["type"] == "cell")


_SIZES = {
    ("tcp", 1500): (1, 1448, 1449, 2896, 2897, 60000),
    ("udp", 1500): (0, 1, 18, 19, 1472, 1473, 60000),
    ("icmp", 1500): (0, 56, 1472, 1473, 60000),
    ("eth", 1500): (0, 27, 28, 1481, 1482, 60000),
    ("tcp", 576): (524, 525, 10000),
    ("udp", 576): (548, 549, 1100, 1101, 10000),
    ("icmp", 576): (548, 549, 10000),
    ("eth", 576): (557, 558, 10000),
}


@pytest.mark.parametrize(("stack", "mtu"), list(_SIZES), ids=lambda value: str(value))
def test_frames_are_those_of_the_formula(pair: Pair, probe: Path, tmp_path: Path, stack: str, mtu: int) -> None:
    pair.set_mtu(mtu)
    for size in _SIZES[stack, mtu]:
        capture = tmp_path / f"{stack}-{mtu}-{size}.pcap"
        tcpdump = _start_capture(pair, capture)
        try:
            cell = _ping_pong(pair, probe, stack, size, mtu, tmp_path / "key")
        finally:
            _stop_capture(tcpdump)
        messages = _SORT[stack](_frames_of(capture), size)
        assert len(messages) >= len(cell["rtt_ns"])
        seen = {(len(frames), sum(map(_wire_bytes, frames))) for frames in messages.values()}
        assert seen == {(cell["wire"]["frames"], cell["wire"]["bytes"])}, f"{stack}, {size} B, MTU {mtu}"


def test_the_counters_of_the_interface_agree(pair: Pair, probe: Path, tmp_path: Path) -> None:
    """ping -s 60000 leaves in 41 frames, by the interface's own count."""

    def counters() -> tuple[int, int]:
        link = subprocess.run(
            ["ip", "-n", pair.near, "-j", "-s", "link", "show", "eth0"], capture_output=True, check=True
        )
        sent = json.loads(link.stdout)[0]["stats64"]["tx"]
        return sent["packets"], sent["bytes"]

    pair.set_mtu(1500)
    subprocess.run(pair.command(pair.near, "ping", "-q", "-c", "1", _FAR), check=True, capture_output=True)
    before = counters()
    subprocess.run(
        pair.command(pair.near, "ping", "-q", "-c", "1", "-s", "60000", _FAR), check=True, capture_output=True
    )
    packets, count = (after - start for after, start in zip(counters(), before, strict=True))
    told = subprocess.run([probe, "wire", "icmp", "--mtu", "1500", "--sizes", "60000"], capture_output=True, check=True)
    record = json.loads(told.stdout)
    assert packets == record["frames"] == 41
    assert count + 24 * packets == record["bytes"]
