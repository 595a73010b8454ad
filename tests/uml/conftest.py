# SPDX-License-Identifier: BSD-3-Clause
"""A lab with a guest: a Linux kernel of its own, which judges our LLC. It boots once for all tests."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import guest as guests
import peer as peers
from guest import Guest
from peer import Peer

from vaiven.lab import lab as labs
from vaiven.lab import topology
from vaiven.lab.lab import Lab

# Of our engine: another for each test, because a connection is known by both its addresses, and one that a test left
# behind at the kernel must not be taken for the next.
_saps = itertools.cycle(range(0x10, 0x60, 4))


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Two hosts and a switch without a rate, which end with this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAIVEN_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        lab = labs.up(topology.ready("free"), "judged", bound=True)
        yield lab
        labs.down(lab)


@pytest.fixture(scope="session")
def guest(
    lab: Lab, tmp_path_factory: pytest.TempPathFactory, vaiven_programs: Callable[[str], Path]
) -> Iterator[Guest]:
    """A guest on the lab's switch, with the probe inside."""
    directory = tmp_path_factory.mktemp("guest")
    key = directory / "key"
    key.write_text("000102030405060708090a0b0c0d0e0f\n")
    key.chmod(0o600)
    kit = guests.build(directory, {"vaiven-probe": vaiven_programs("vaiven-probe"), "key": key})
    guest = Guest(lab, kit, directory)
    yield guest
    guest.close()


@pytest.fixture(scope="session")
def peer_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our engine as a program that does what it is told."""
    return peers.build(tmp_path_factory.mktemp("peer"))


@pytest.fixture
def peer(lab: Lab, guest: Guest, peer_program: Path) -> Iterator[Peer]:
    """Our engine on the first host; a new one for each test."""
    peer = Peer(peer_program, lab.hosts[0], next(_saps))
    yield peer
    peer.close()
