# SPDX-License-Identifier: BSD-3-Clause
"""The stack `llc-kernel` where the kernel has AF_LLC: in the guest, with both ends there."""

from __future__ import annotations

import json

import pytest
from guest import Guest
from talker import Pending

pytestmark = [pytest.mark.lab, pytest.mark.needs("linux.uml")]

PROBE, KEY = "/vaiven-probe", ("--key-file", "/key")


def _ends(guest: Guest, near_iface: str, far_iface: str) -> tuple[Pending, Pending]:
    """A near and a far end in the guest, on those interfaces."""
    address = guest.addresses[1]
    far = guest.run(PROBE, "far", "llc-kernel", "--bind", address, "--iface", far_iface, *KEY)
    peer = f"{address}:{json.loads(far.next_output())['port']}"
    effort = ("--sizes", "1,1496,1497,100000", "--samples", "10", "--cell-ms", "200")
    near = guest.run(PROBE, "near", "llc-kernel", "--peer", peer, "--iface", near_iface, *KEY, *effort)
    return near, far


def test_the_guest_measures_its_own_llc(guest: Guest) -> None:
    """Two probes in the guest, from one of its interfaces to the other; the frames cross the switch of the lab."""
    near, far = _ends(guest, "vec0", "vec1")
    assert near.answer() == ["0"], near.output
    assert far.answer() == ["0"], far.output
    cells = [record for line in near.output if (record := json.loads(line))["type"] == "cell"]
    assert [cell["size_bytes"] for cell in cells] == [1, 1496, 1497, 100000]
    assert all(cell["rtt_ns"] and cell["corrupt"] == cell["lost"] == 0 for cell in cells)


def test_one_interface_is_not_enough(guest: Guest) -> None:
    """Ethernet has no loopback: said at once, and not waited for."""
    near, far = _ends(guest, "vec1", "vec1")
    assert near.answer() == ["1"] and far.answer() == ["1"]
    assert json.loads(near.output[-1])["code"] == "one-host"
