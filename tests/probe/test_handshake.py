# SPDX-License-Identifier: BSD-3-Clause
"""Who is let in, who is not, and who is told why."""

from __future__ import annotations

import json
import socket
import time

import pytest

from . import by_hand, conftest

KEY = bytes.fromhex(conftest.KEY)
FEW = ("--sizes", "64", "--samples", "5", "--cell-ms", "300")


def test_siphash_by_hand_is_siphash() -> None:
    assert by_hand.siphash(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5


def test_by_hand_far_makes_a_key_and_shows_it(probe, tmp_path) -> None:
    far = probe.start("far", "udp", "--bind", "127.0.0.1", key=None)
    ready = far.ready()
    (tmp_path / "key").write_text(ready["key"] + "\n")
    peer = f"127.0.0.1:{ready['port']}"
    near = probe.near("udp", peer, *FEW, "--key-file", str(tmp_path / "key"), key=None)
    assert (near.status, far.end().status) == (0, 0)


def test_a_wrong_key_is_refused_and_the_right_one_still_let_in(probe) -> None:
    far, peer = probe.far("tcp")
    wrong = probe.near("tcp", peer, *FEW, key="ff" * 16)
    assert wrong.status == 1 and wrong.error["code"] == "wrong-key"
    assert probe.near("tcp", peer, *FEW).status == 0
    ended = far.end()
    assert ended.status == 0
    assert [warning["code"] for warning in ended.of("warning")] == ["wrong-key"]


def test_a_far_end_without_the_key_is_not_believed(probe) -> None:
    far = by_hand.UdpFar(b"x" * 16, lambda i, message: [(0, message)])
    near = probe.near("udp", far.peer, *FEW)
    assert near.status == 1 and near.error["code"] == "wrong-key"


@pytest.mark.parametrize("clock_ns", [-(2**63), 2**63 - 1, 3 * 10**18 + 1, 2**63])
def test_a_clock_out_of_all_bounds_is_an_error(probe, clock_ns: int) -> None:
    far = by_hand.UdpFar(KEY, lambda i, message: [])
    far.clock_ns = clock_ns
    near = probe.near("udp", far.peer, *FEW, "--ask", "fanout")
    assert near.status == 1 and near.error["code"] == "bad-control" and str(clock_ns) in near.error["text"]


def test_another_version_is_an_error_at_both_ends(probe) -> None:
    far, peer = probe.far("tcp")
    line, answer = by_hand.call(peer, KEY, version="9.9.9")
    assert answer.startswith("error code=peer-version ") and "9.9.9" in answer
    ended = far.end()
    assert ended.status == 1 and ended.error["code"] == "peer-version" and "9.9.9" in ended.error["text"]
    line.close()
    near = probe.near("udp", by_hand.UdpFar(KEY, lambda i, message: [], version="8.8.8").peer, *FEW)
    assert near.status == 1 and near.error["code"] == "peer-version" and "8.8.8" in near.error["text"]


@pytest.mark.parametrize(
    "options", [("--wait", "spin"), ("--write", "writev"), ("--buffers", "cold"), ("--idle-ms", "1")]
)
def test_other_options_are_an_error_at_both_ends(probe, options: tuple[str, str]) -> None:
    far, peer = probe.far("tcp")
    near = probe.near("tcp", peer, *FEW, *options)
    ended = far.end()
    assert (near.status, ended.status) == (1, 1)
    assert near.error["code"] == ended.error["code"] == "peer-options"


def test_another_stack_is_an_error_at_both_ends(probe) -> None:
    far, peer = probe.far("tcp")
    near = probe.near("udp", peer, *FEW)
    assert near.error["code"] == far.end().error["code"] == "peer-options"


def test_silent_strangers_keep_nobody_out(probe) -> None:
    far, peer = probe.far("tcp")
    host, port = peer.split(":")
    strangers = [socket.create_connection((host, int(port))) for _ in range(40)]
    near = probe.near("tcp", peer, *FEW)
    assert near.status == 0
    assert far.end().status == 0
    for stranger in strangers:
        stranger.close()


def test_a_silent_stranger_is_dismissed(probe) -> None:
    _, peer = probe.far("tcp")
    host, port = peer.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as stranger:
        assert stranger.recv(100).startswith(b"vaiven ")
        assert stranger.recv(100) == b""


@pytest.mark.parametrize(
    "nonsense", [b"GET / HTTP/1.1\r\n\r\n", b"\0" * 5000, b"near nonce=zz\n", b"\n", b"near " + b"a=" * 3000]
)
def test_nonsense_is_turned_away(probe, nonsense: bytes) -> None:
    far, peer = probe.far("tcp")
    host, port = peer.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as stranger:
        stranger.sendall(nonsense)
        assert probe.near("tcp", peer, *FEW).status == 0
    assert far.end().status == 0


def test_a_far_end_serves_one_launch(probe) -> None:
    far, peer = probe.far("tcp")
    assert probe.near("tcp", peer, *FEW).status == 0
    assert far.end().status == 0
    again = probe.near("tcp", peer, *FEW)
    assert again.status == 1 and again.error["code"] == "refused" and peer in again.error["text"]


def test_a_proof_does_not_serve_twice(probe) -> None:
    """What one near end said is of no use to who recorded it: the far end's nonce is another."""
    _, peer = probe.far("tcp")
    host, port = peer.split(":")
    nonces = set()
    for _ in range(3):
        with socket.create_connection((host, int(port))) as stranger:
            nonces.add(stranger.recv(200))
    assert len(nonces) == 3


def test_only_the_given_address_is_listened_on(probe) -> None:
    _, peer = probe.far("tcp", bind="127.0.0.2")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(peer.split(":")[1])))


@pytest.mark.parametrize("stack", ["tcp", "udp"])
def test_the_launcher_goes_and_the_far_end_goes(probe, stack: str) -> None:
    far, _ = probe.far(stack)
    far.process.stdin.close()
    far.process.wait(timeout=30)
    assert far.process.returncode == 1
    assert json.loads(far.process.stdout.readlines()[-1])["code"] == "launcher-gone"


@pytest.mark.parametrize("wait", ["block", "spin"])
def test_the_launcher_goes_in_the_middle_of_a_cell(probe, wait: str) -> None:
    far, peer = probe.far("udp", "--wait", wait)
    near = probe.start(
        "near", "udp", "--peer", peer, "--sizes", "64", "--cell-ms", "60000", "--samples", "10000000", "--wait", wait
    )
    assert near.ready()["type"] == "hello"
    time.sleep(0.2)
    near.process.stdin.close()
    assert near.process.wait(timeout=30) == 1
    assert far.end(timeout_s=30).error["code"] in ("peer-gone", "launcher-gone")


def test_the_launcher_goes_and_a_near_end_that_never_waits_goes(probe) -> None:
    near = probe.start("near", "null", "--sizes", "64", "--samples", "10000000", "--cell-ms", "86400000")
    assert near.ready()["type"] == "hello"
    near.process.stdin.close()
    assert near.process.wait(timeout=30) == 1


@pytest.mark.parametrize("key", ["", "abc", "g" * 32, "0" * 31, "0" * 33])
def test_a_bad_key_is_refused(probe, key: str) -> None:
    ended = probe.start("far", "tcp", "--bind", "127.0.0.1", key=key).end(timeout_s=30)
    assert ended.status == 1 and ended.error["code"] == "bad-key"


def test_a_near_end_needs_a_key(probe) -> None:
    ended = probe.alone("near", "tcp", "--peer", "127.0.0.1:9", *FEW)
    assert ended.status == 1 and ended.error["code"] == "no-key"
