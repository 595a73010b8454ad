# SPDX-License-Identifier: BSD-3-Clause
"""What a message becomes on the wire: the formula of `vaiven-probe wire` against every frame that crosses an interface.

Two namespaces and one veth pair, offloads off. The probe runs; tcpdump sees what its near end sends; the frames are
sorted by the message that they carry. (S07)

Datagrams and raw frames are cut as the formula says, always. How TCP cuts a stream is its own affair: it sends a piece
again when an answer is late, or a shorter one when its window opens by a part. So a message of TCP may take more frames
than the formula says if they carry the same bytes under the same headers; most messages take exactly those.
"""

from __future__ import annotations

import json
import os
import secrets
import struct
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests import forged
from tests.recorded import recorded

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

    def sent(self) -> tuple[int, int]:
        """(frames, their bytes) that the near end's interface has sent so far."""
        command = ["ip", "-n", self.near, "-j", "-s", "link", "show", "eth0"]
        link = subprocess.run(command, capture_output=True, check=True)
        counted = json.loads(link.stdout)[0]["stats64"]["tx"]
        return counted["packets"], counted["bytes"]

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
    """The frames of a pcap file, as far as they were kept, each lengthened with zeros to what it was. One that is still
    being written is left out."""
    data = capture.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    frames, at = [], 24
    while at + 16 <= len(data):
        kept, length = struct.unpack_from(order + "II", data, at + 8)
        if at + 16 + kept > len(data):
            break
        frames.append(data[at + 16 : at + 16 + kept].ljust(length, b"\0"))
        at += 16 + kept
    return frames


def _wire_bytes(frame: bytes) -> int:
    """Preamble 8, at least 60 bytes of frame, FCS 4, gap 12."""
    return max(len(frame), 60) + 24


def _sent(frames: list[bytes], protocol: int) -> list[bytes]:
    """Those with IPv4 packets of that protocol from the near end."""
    near = bytes(map(int, _NEAR.split(".")))
    return [one for one in frames if one[12:14] == b"\x08\x00" and one[23] == protocol and one[26:30] == near]


def _by_ip_id(frames: list[bytes], protocol: int) -> dict[object, list[bytes]]:
    """Those, fragments under the packet that they are of."""
    found = defaultdict(list)
    for frame in _sent(frames, protocol):
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


def _segment(frame: bytes) -> tuple[int, int]:
    """The sequence number of a TCP segment, and how many bytes it carries."""
    sequence, total = struct.unpack_from(">I", frame, 38)[0], struct.unpack_from(">H", frame, 16)[0]
    return sequence, total - 20 - (frame[46] >> 4) * 4


def _by_stream_place(frames: list[bytes], size: int) -> dict[object, list[bytes]]:
    """TCP segments with data, not of the control connection (the first), under the message that they begin in."""
    streams: dict[bytes, int] = {}
    found = defaultdict(list)
    for frame in _sent(frames, 6):  # two connections may have packets of one IP id
        sequence, data = _segment(frame)
        stream = frame[34:38]
        if frame[47] & 2:  # SYN
            streams[stream] = sequence + 1
        elif data > 0 and stream != next(iter(streams)):
            first = (sequence - streams[stream]) % 2**32
            assert first // size == (first + data - 1) // size, "a segment holds the end of one message and more"
            found[stream, first // size].append(frame)
    return found


def test_packets_of_two_connections_may_have_one_id() -> None:
    def segment(stream: bytes, packet: bytes, sequence: int, flags: int, data: int) -> bytes:
        ip = b"\x45\x00" + struct.pack(">H", 40 + data) + packet + b"\x00\x00\x40\x06\x00\x00"
        ip += bytes(map(int, _NEAR.split("."))) + bytes(4)
        tcp = stream + struct.pack(">IIBB", sequence, 0, 5 << 4, flags) + bytes(6 + data)
        return bytes(12) + b"\x08\x00" + ip + tcp

    syn, control, messages = 2, b"\x00\x01\x00\x02", b"\x00\x03\x00\x04"
    frames = [
        segment(control, b"\x00\x07", 100, syn, 0),
        segment(messages, b"\x00\x09", 500, syn, 0),
        segment(messages, b"\x00\x07", 501, 0, 10),
        segment(messages, b"\x00\x0a", 511, 0, 10),
    ]
    assert _by_stream_place(frames, 10) == {(messages, 0): frames[2:3], (messages, 1): frames[3:]}


_SORT: dict[str, Callable[[list[bytes], int], dict[object, list[bytes]]]] = {
    "tcp": _by_stream_place,
    "udp": lambda frames, size: _by_ip_id(frames, 17),
    "icmp": lambda frames, size: _by_ip_id(frames, 1),
    "eth": _by_fragment_header,
}


@contextmanager
def _captured(pair: Pair, capture: Path) -> Iterator[None]:
    """Everything that the near end sends while the `with` block runs is in that file afterwards."""
    with recorded(lambda words: pair.command(pair.near, *words), capture, "-Q", "out", "-s", "64"):
        before, _ = pair.sent()
        yield
        wanted = pair.sent()[0] - before
        deadline = time.monotonic() + 30
        while len(_frames_of(capture)) < wanted and time.monotonic() < deadline:
            time.sleep(0.02)


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
        far.communicate(timeout=60)
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


def _carries(frames: list[bytes], size: int, mtu: int) -> bool:
    """Whether these segments are all the bytes of one message, under headers of 66 bytes and within the MTU."""
    pieces = [_segment(frame) for frame in frames]
    start = min(sequence for sequence, _ in pieces)
    if max(sequence for sequence, _ in pieces) - start > 2**31:  # the numbers begin again within the message
        pieces = [(sequence + (2**32 if sequence < 2**31 else 0), data) for sequence, data in pieces]
        start = min(sequence for sequence, _ in pieces)
    end = start
    for sequence, data in sorted(pieces):
        if sequence > end:
            return False
        end = max(end, sequence + data)
    framed = all(len(frame) == max(60, data + 66) <= mtu + 14 for frame, (_, data) in zip(frames, pieces, strict=True))
    return framed and end - start == size


@pytest.mark.parametrize(("stack", "mtu"), list(_SIZES), ids=lambda value: str(value))
def test_frames_are_those_of_the_formula(pair: Pair, probe: Path, tmp_path: Path, stack: str, mtu: int) -> None:
    pair.set_mtu(mtu)
    for size in _SIZES[stack, mtu]:
        capture = tmp_path / f"{stack}-{mtu}-{size}.pcap"
        with _captured(pair, capture):
            cell = _ping_pong(pair, probe, stack, size, mtu, tmp_path / "key")
        messages = _SORT[stack](_frames_of(capture), size)
        assert len(messages) >= len(cell["rtt_ns"])
        costs = Counter((len(frames), sum(map(_wire_bytes, frames))) for frames in messages.values())
        formula = (cell["wire"]["frames"], cell["wire"]["bytes"])
        what = f"{stack}, {size} B, MTU {mtu}: {costs}"
        if stack == "tcp":
            assert costs[formula] > costs.total() / 2, what
            assert all(_carries(frames, size, mtu) for frames in messages.values()), what
        else:
            assert set(costs) == {formula}, what


@pytest.mark.parametrize("stack", ["udp", "icmp"])
def test_who_lies_about_the_mtu_changes_no_frame(pair: Pair, probe: Path, tmp_path: Path, stack: str) -> None:
    pair.set_mtu(1500)
    believed = forged.lie(pair.command(pair.far), pair.command(pair.near), _NEAR, _FAR, [])
    assert f"mtu {forged.MTU}" in believed, "the kernel does not believe the liar, so this test proves nothing"
    try:
        capture = tmp_path / "lied.pcap"
        with _captured(pair, capture):
            cell = _ping_pong(pair, probe, stack, 10000, 1500, tmp_path / "key")
        messages = _SORT[stack](_frames_of(capture), 10000)
        assert {len(frames) for frames in messages.values()} == {cell["wire"]["frames"]} == {7}
    finally:
        _ip("-n", pair.near, "route", "flush", "cache")


def test_the_counters_of_the_interface_agree(pair: Pair, probe: Path, tmp_path: Path) -> None:
    """ping -s 60000 leaves in 41 frames, by the interface's own count."""

    pair.set_mtu(1500)
    subprocess.run(pair.command(pair.near, "ping", "-q", "-c", "1", _FAR), check=True, capture_output=True)
    before = pair.sent()
    subprocess.run(
        pair.command(pair.near, "ping", "-q", "-c", "1", "-s", "60000", _FAR), check=True, capture_output=True
    )
    packets, count = (after - start for after, start in zip(pair.sent(), before, strict=True))
    told = subprocess.run([probe, "wire", "icmp", "--mtu", "1500", "--sizes", "60000"], capture_output=True, check=True)
    record = json.loads(told.stdout)
    assert packets == record["frames"] == 41
    assert count + 24 * packets == record["bytes"]
