# SPDX-License-Identifier: BSD-3-Clause
"""Our LLC against that of the Linux kernel, in both roles. The kernel is the judge: it knows nothing of us."""

from __future__ import annotations

import errno
import itertools
import time
from collections.abc import Iterator

import pytest
from guest import Guest
from peer import Peer, Why
from talker import PATIENCE_S, Refused

pytestmark = [pytest.mark.lab, pytest.mark.needs("linux.uml")]

FRAME = 1496  # bytes in a full frame of an MTU of 1500
T1_S = 3  # of our engine (peer.c)
_saps = itertools.cycle(range(0x64, 0x80, 4))  # of the guest's connections


@pytest.fixture
def sap() -> Iterator[int]:
    return next(_saps)


def call_guest(peer: Peer, guest: Guest, sap: int) -> str:
    """We connect to a listening socket of the guest: its end of the connection."""
    (listener,) = guest.ask("socket", "stream", sap)
    guest.ask("listen", listener)
    peer.ask("connect", guest.mac, sap)
    end, mac, peer_sap = guest.ask("accept", listener)
    guest.ask("close", listener)
    assert (mac, int(peer_sap)) == (peer.mac, peer.sap)
    return end


def called_by_guest(peer: Peer, guest: Guest, sap: int) -> str:
    """The guest connects to us: its end of the connection."""
    (end,) = guest.ask("socket", "stream", sap)
    guest.ask("connect", end, peer.mac, peer.sap)
    peer.ask("accept")
    return end


ROLES = pytest.mark.parametrize("connected", [call_guest, called_by_guest])


def exchange(peer: Peer, guest: Guest, end: str, count: int) -> None:
    """So many bytes there, then as many back; each must arrive as it was sent."""
    receiving = guest.start("receive", end, count)
    peer.ask("send", count)
    assert receiving.answer() == [str(count), "0"]
    sending = guest.start("send", end, count)
    assert peer.ask("receive", count) == [str(count), "0"]
    assert sending.answer() == [str(count)]


def test_the_guest_is_a_kernel_of_its_own(guest: Guest) -> None:
    assert guest.release.startswith("6.")
    with pytest.raises(Refused) as refused:
        guest.ask("no-such-verb")
    assert refused.value.number == errno.EINVAL


@ROLES
def test_data_go_both_ways(peer: Peer, guest: Guest, sap: int, connected) -> None:
    end = connected(peer, guest, sap)
    for count in (1, FRAME, FRAME + 1, 200_000):
        exchange(peer, guest, end, count)
    guest.ask("close", end)


@ROLES
def test_a_busy_receiver_holds_the_kernel(peer: Peer, guest: Guest, sap: int, connected) -> None:
    """Nobody reads at our side: RNR. Then somebody does: RR, and all arrives."""
    end = connected(peer, guest, sap)
    sending = guest.start("send", end, 200_000)
    (held,) = peer.ask("fill")
    assert 0 < int(held) < 200_000
    assert peer.ask("receive", 200_000) == ["200000", "0"]
    assert sending.answer() == ["200000"]


@ROLES
def test_a_frame_that_the_kernel_misses_is_sent_again(peer: Peer, guest: Guest, sap: int, connected) -> None:
    """One of many is lost on its way to the kernel: it says REJ, and we begin again there."""
    end = connected(peer, guest, sap)
    receiving = guest.start("receive", end, 100_000)
    peer.ask("drop", "sent", 1)
    peer.ask("send", 100_000)
    assert receiving.answer() == ["100000", "0"]
    counts = peer.counts()
    assert counts["lost"] == 1 and counts["resent"] >= 1 and counts["resets"] == 0


@ROLES
def test_a_frame_that_we_miss_is_asked_for(peer: Peer, guest: Guest, sap: int, connected) -> None:
    """One of many is lost on its way to us: we say REJ, and the kernel begins again there."""
    end = connected(peer, guest, sap)
    peer.ask("drop", "received", 1)
    sending = guest.start("send", end, 100_000)
    assert peer.ask("receive", 100_000) == ["100000", "0"]
    assert sending.answer() == ["100000"]
    counts = peer.counts()
    assert counts["lost"] == 1 and counts["rejects"] >= 1 and counts["resets"] == 0


@ROLES
def test_an_only_frame_that_is_lost_is_missed_by_its_sender(peer: Peer, guest: Guest, sap: int, connected) -> None:
    """There is no later frame that shows the gap: T1 runs out, the enquiry P=1 tells what is missing. Both ways."""
    end = connected(peer, guest, sap)
    peer.ask("drop", "sent", 1)
    receiving = guest.start("receive", end, 100)
    peer.ask("send", 100)
    assert receiving.answer() == ["100", "0"]
    assert peer.counts()["enquiries"] >= 1
    peer.ask("drop", "received", 1)
    guest.ask("send", end, 100)
    assert peer.ask("receive", 100) == ["100", "0"]
    counts = peer.counts()
    assert counts["lost"] == 2 and counts["resets"] == 0 and counts["frmr_out"] == counts["frmr_in"] == 0


@ROLES
def test_a_kernel_that_stood_still_answers_late_and_is_heard(peer: Peer, guest: Guest, sap: int, connected) -> None:
    """It answers the I PDU and our enquiry, both with F=1: the second answer is late, and no fault."""
    end = connected(peer, guest, sap)
    with guest.stopped():
        sending = peer.say("send", 1)
        time.sleep(T1_S + 0.5)
    assert sending.answer() == ["1", "0"]
    assert guest.ask("receive", end, 1) == ["1", "0"]
    exchange(peer, guest, end, FRAME)
    counts = peer.counts()
    assert counts["enquiries"] >= 1 and counts["resets"] == counts["frmr_out"] == 0


@ROLES
def test_we_end_a_connection(peer: Peer, guest: Guest, sap: int, connected) -> None:
    """DISC, UA: the kernel's socket tells the end of the stream."""
    end = connected(peer, guest, sap)
    exchange(peer, guest, end, 1000)
    assert peer.closed("disconnect") is Why.ASKED
    with pytest.raises(Refused) as refused:
        guest.ask("send", end, 1)
    assert refused.value.number in (errno.EPIPE, errno.ENOTCONN, errno.ECONNRESET)


@ROLES
def test_the_kernel_ends_a_connection(peer: Peer, guest: Guest, sap: int, connected) -> None:
    """Its DISC is answered with UA, and told."""
    end = connected(peer, guest, sap)
    exchange(peer, guest, end, 1000)
    closing = guest.start("close", end)
    guest.ask("close", end)
    assert peer.closed("await-close") is Why.PEER
    closing.answer()


def test_a_connection_that_we_do_not_want_is_refused(peer: Peer, guest: Guest, sap: int) -> None:
    """SABME is answered with DM; afterwards connections are possible again."""
    peer.ask("listen", "refuse")
    (end,) = guest.ask("socket", "stream", sap)
    with pytest.raises(Refused) as refused:
        guest.ask("connect", end, peer.mac, peer.sap)
    assert refused.value.number == errno.ECONNABORTED  # so Linux calls it
    guest.ask("close", end)
    peer.ask("listen", "accept")
    called_by_guest(peer, guest, sap + 0x40)


@ROLES
def test_a_reset_leaves_a_connection_that_works(peer: Peer, guest: Guest, sap: int, connected) -> None:
    """SABME on a link that is up, UA; the numbers begin anew at both ends."""
    end = connected(peer, guest, sap)
    exchange(peer, guest, end, 5000)
    peer.ask("reset")
    exchange(peer, guest, end, 5000)
    assert peer.counts()["resets"] == 1


def test_the_kernel_answers_test_and_xid(peer: Peer, guest: Guest) -> None:
    """To the station itself, SAP 0: every LLC must."""
    for count in (0, 100, 1496):
        assert peer.ask("test", guest.mac, 0, count) == [str(count), "0"]
    assert peer.ask("identify", guest.mac, 0) == ["127"]


def test_we_answer_test_and_xid(peer: Peer, guest: Guest, sap: int) -> None:
    """The kernel hands such answers to nobody, so that one left is all that can be seen; a stream socket sends them."""
    (end,) = guest.ask("socket", "stream", sap)
    for answers, kind in enumerate(("test", "xid"), 1):
        guest.ask("sendto", end, peer.mac, peer.sap, kind, 100 if kind == "test" else 0)
        deadline = time.monotonic() + PATIENCE_S
        while (counts := peer.counts())["out"] < answers and time.monotonic() < deadline:
            time.sleep(0.01)
        assert counts["out"] == counts["in"] == answers and counts["foreign"] == 0
    guest.ask("close", end)


def test_datagrams_go_both_ways(peer: Peer, guest: Guest) -> None:
    """UI PDUs, the service of type 1."""
    (end,) = guest.ask("socket", "dgram", 0xAC)
    guest.ask("sendto", end, peer.mac, peer.sap, "ui", 1000)
    assert peer.ask("receive-unit") == [guest.mac, str(0xAC), "1000", "0"]
    peer.ask("unit", guest.mac, 0xAC, 1000)
    assert guest.ask("receivefrom", end) == [peer.mac, str(peer.sap), "1000", "0"]
    guest.ask("close", end)


@pytest.mark.slow
@ROLES
def test_ten_megabytes_go_both_ways_at_once(peer: Peer, guest: Guest, sap: int, connected) -> None:
    """10^7 bytes each way at the same time, every byte where it belongs, without a reset."""
    end = connected(peer, guest, sap)
    receiving = guest.start("receive", end, 10**7)
    sending = guest.start("send", end, 10**7)
    assert peer.ask("both", 10**7) == ["10000000", "0"]
    assert receiving.answer() == ["10000000", "0"]
    assert sending.answer() == ["10000000"]
    counts = peer.counts()
    assert counts["resets"] == counts["frmr_in"] == counts["frmr_out"] == counts["drops"] == 0
