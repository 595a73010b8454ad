# SPDX-License-Identifier: BSD-3-Clause
"""Direct translation between real processes of unlike machines: this one, and s390x (big-endian) under qemu-user."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = ["tests/core/wire/data_peer.c", "src/core/wire/data.c", "src/core/wire/turn.c"]
ROOT = Path(__file__).resolve().parents[3]
ORDERS = {"native": sys.byteorder, "s390x": "big"}
KINDS = list(ORDERS)
NUMBERS = 20 * (3 + 1 + 1 + 1 + 3 + 1 + 1)  # of more than one byte, in 20 records


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The command of a peer, by the machine that it runs on."""
    directory = tmp_path_factory.mktemp("peers")
    compilers = {"native": ["gcc"], "s390x": ["s390x-linux-gnu-gcc", "-static"]}
    for kind, compiler in compilers.items():
        command = [*compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-I", "src", "-I", "include"]
        subprocess.run([*command, *SOURCES, "-o", directory / kind], cwd=ROOT, check=True)
    return {"native": [str(directory / "native")], "s390x": ["qemu-s390x-static", str(directory / "s390x")]}


def said(sender: str, receiver: str) -> str:
    """What a receiver must say: its own order, the sender's, numbers converted."""
    own, other = ORDERS[receiver], ORDERS[sender]
    return f"{own} {other} {0 if own == other else NUMBERS} right\n"


@pytest.mark.parametrize("receiver", KINDS)
@pytest.mark.parametrize("sender", KINDS)
def test_every_bit_arrives_and_only_unlike_machines_convert(peers, sender: str, receiver: str) -> None:
    sent = subprocess.run([*peers[sender], "send"], capture_output=True, check=True).stdout
    took = subprocess.run([*peers[receiver], "take"], input=sent, capture_output=True, check=False).stdout.decode()
    assert took == said(sender, receiver)


@pytest.mark.parametrize("sender", KINDS)
def test_one_broadcast_is_right_for_mixed_receivers(peers, sender: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    receivers = ["native", "s390x", "s390x", "native"]
    hearing = [subprocess.Popen([*peers[kind], "hear", port], stdout=subprocess.PIPE, text=True) for kind in receivers]
    try:
        assert [process.stdout.readline() for process in hearing] == ["ready\n"] * len(receivers)
        subprocess.run([*peers[sender], "cast", port], check=True)
        for kind, process in zip(receivers, hearing, strict=True):
            assert process.communicate(timeout=60)[0] == said(sender, kind)
    finally:
        for process in hearing:
            process.kill()
            process.wait()
